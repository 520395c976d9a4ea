// SPDX-License-Identifier: BSL-1.0
// What test_kernels.cu does for the tests.
#pragma once

#include <cuda_runtime_api.h>

// Defines an instance of a template, which only .cu files can name.
void define_fill();
// Defines and launches a kernel of the same file that uses a variable of the file, by its symbol.
// Answers what the body found in it.
int found_in_symbol(cudaStream_t stream);
// Whether all that takes a kernel takes it, and its handle, too.
bool handles_are_taken(cudaStream_t stream);
// Launches into the null stream of a file with per-thread default streams.
void run_in_per_thread_stream(int* x);
