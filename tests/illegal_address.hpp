// SPDX-License-Identifier: BSL-1.0
//
// An illegal address, on either runtime.
#pragma once

#include <cuda_runtime_api.h>

// Loads the kernel: its first launch does, and may then wait for all that runs.
void load_illegal_address();

// Enqueues a kernel that writes to no memory. Nothing on the simulated runtime.
void enqueue_illegal_address(cudaStream_t stream);

// Breaks the simulated device, and drops its pending work. Nothing on a GPU.
void raise_illegal_address();
