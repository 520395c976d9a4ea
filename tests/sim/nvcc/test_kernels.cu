// SPDX-License-Identifier: BSL-1.0
// Kernels that are defined in the .cu file that has them.
#include "test_kernels.hpp"

#include <culvert/sim/sim.hpp>

#include "fill.cuh"

namespace sim = culvert::sim;

namespace {

__device__ int symbol = 12;
__global__ void use_symbol(int* x) { *x = symbol; }
__global__ void take(int) {}

}  // namespace

void define_fill() {
  sim::define_kernel(app::fill<int, 3>, [](int* x) { *sim::memory(x) += 3; });
}

int found_in_symbol(cudaStream_t stream) {
  int found = 0;
  sim::define_kernel(use_symbol, [&](int*) { found = *sim::memory(&symbol); });
  use_symbol<<<1, 1, 0, stream>>>(nullptr);
  return cudaStreamSynchronize(stream) == cudaSuccess ? found : -1;
}

bool handles_are_taken(cudaStream_t stream) {
  int sum = 0;
  sim::define_kernel(take, [&](int value) { sum += value; });
  int value = 1;
  void* arguments[] = {&value};
  cudaLaunchConfig_t config{};
  config.gridDim = 1;
  config.blockDim = 1;
  config.stream = stream;
  cudaKernel_t handle = nullptr;
  cudaFuncAttributes attributes{};
  const char* name = nullptr;
  int blocks = 0;
  int size = 0;
  const bool answers =
      cudaGetKernel(&handle, take) == cudaSuccess &&
      cudaLaunchKernel(take, 1, 1, arguments, 0, stream) == cudaSuccess &&
      cudaLaunchKernel(handle, 1, 1, arguments, 0, stream) == cudaSuccess &&
      cudaLaunchKernelEx(&config, take, 10) == cudaSuccess &&
      cudaLaunchKernelEx(&config, reinterpret_cast<void (*)(int)>(handle), 10) == cudaSuccess &&
      cudaLaunchCooperativeKernel(take, 1, 1, arguments, 0, stream) == cudaSuccess &&
      cudaFuncGetAttributes(&attributes, take) == cudaSuccess &&
      cudaFuncSetAttribute(take, cudaFuncAttributeMaxDynamicSharedMemorySize, 100) == cudaSuccess &&
      cudaFuncSetCacheConfig(take, cudaFuncCachePreferShared) == cudaSuccess &&
      cudaFuncGetName(&name, take) == cudaSuccess && name != nullptr &&
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, take, 64, 0) == cudaSuccess &&
      cudaOccupancyMaxPotentialBlockSize(&blocks, &size, take) == cudaSuccess;
  return answers && cudaStreamSynchronize(stream) == cudaSuccess && sum == 23;
}
