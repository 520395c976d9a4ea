// SPDX-License-Identifier: BSL-1.0
// A library with kernels, as a program may have it: app.cu knows nothing of a simulation.
#pragma once

#include <cuda_runtime_api.h>

namespace app {

struct Line {
  float slope;
  double offset;
};

void __global__ scale(float* x, float factor, int count);

// Each launches a kernel of app.cu by <<<...>>>.
void run_scale(float* x, float factor, int count, cudaStream_t stream);
void run_hidden(int* x, cudaStream_t stream);    // of an anonymous namespace
void run_static(int* x, cudaStream_t stream);    // a static one
void run_template(int* x, cudaStream_t stream);  // fill<int, 3>
void run_structure(double* x, Line line, cudaStream_t stream);
void run_nested(int* x, cudaStream_t stream);  // launches one in the arguments of another
void run_undefined(int* x, cudaStream_t stream);
void run_c(cudaStream_t stream);  // extern "C"

cudaError_t set_table(const float (&values)[4], cudaStream_t stream);
cudaError_t get_table(float (&values)[4]);
cudaError_t get_start(int& value);
cudaError_t address_of_hidden_counter(void** address);
int& managed();

}  // namespace app
