// SPDX-License-Identifier: BSL-1.0
//
// Calls CUDA directly, on the simulated runtime.
#include <cuda_runtime_api.h>

#include <culvert/sim/sim.hpp>

int main() {
  void* data = nullptr;
  unsigned char byte = 0;
  const bool right = culvert::sim::is_simulated() && cudaMalloc(&data, 1) == cudaSuccess &&
                     cudaMemset(data, 0x5a, 1) == cudaSuccess &&
                     cudaMemcpy(&byte, data, 1, cudaMemcpyDeviceToHost) == cudaSuccess &&
                     byte == 0x5a && cudaFree(data) == cudaSuccess;
  return right ? 0 : 1;
}
