// SPDX-License-Identifier: BSL-1.0
// Compiled with --default-stream per-thread.
#include "fill.cuh"
#include "test_kernels.hpp"

void run_in_per_thread_stream(int* x) { app::fill<int, 3><<<1, 1>>>(x); }
