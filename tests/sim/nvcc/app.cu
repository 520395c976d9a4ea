// SPDX-License-Identifier: BSL-1.0
#include "app.hpp"

#include "fill.cuh"

extern "C" __global__ void c_kernel() {}

namespace app {

__constant__ float table[4] = {1, 2, 3, 4};
__device__ int start = 77;
__managed__ int managed_value = 5;

namespace {

__device__ long hidden_counter;

__global__ void hidden(int* x) {
  hidden_counter += start;
  *x = static_cast<int>(table[0]);
}

int* launch_and_return(int* x, cudaStream_t stream) {
  hidden<<<1, 1, 0, stream>>>(x);
  return x;
}

}  // namespace

static __global__ void static_kernel(int* x) { *x = managed_value; }
__global__ void structure(double* x, Line line) { *x = line.slope * *x + line.offset; }
__global__ void undefined(int*, Line) {}

__global__ void scale(float* x, float factor, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) x[i] *= factor;
}

void run_scale(float* x, float factor, int count, cudaStream_t stream) {
  scale<<<dim3(2, 3), 64, 128, stream>>>(x, factor, count);
}
void run_hidden(int* x, cudaStream_t stream) { hidden<<<1, 1, 0, stream>>>(x); }
void run_static(int* x, cudaStream_t stream) { static_kernel<<<1, 1, 0, stream>>>(x); }
void run_template(int* x, cudaStream_t stream) { fill<int, 3><<<1, 1, 0, stream>>>(x); }
void run_structure(double* x, Line line, cudaStream_t stream) {
  structure<<<1, 1, 0, stream>>>(x, line);
}
void run_nested(int* x, cudaStream_t stream) {
  fill<int, 3><<<7, 1, 0, stream>>>(launch_and_return(x, stream));
}
void run_undefined(int* x, cudaStream_t stream) { undefined<<<1, 1, 0, stream>>>(x, {}); }
void run_c(cudaStream_t stream) { c_kernel<<<1, 1, 0, stream>>>(); }

cudaError_t set_table(const float (&values)[4], cudaStream_t stream) {
  return cudaMemcpyToSymbolAsync(table, values, sizeof values, 0, cudaMemcpyHostToDevice, stream);
}
cudaError_t get_table(float (&values)[4]) {
  return cudaMemcpyFromSymbol(values, table, sizeof values);
}
cudaError_t get_start(int& value) { return cudaMemcpyFromSymbol(&value, start, sizeof value); }
cudaError_t address_of_hidden_counter(void** address) {
  return cudaGetSymbolAddress(address, hidden_counter);
}
int& managed() { return managed_value; }

}  // namespace app
