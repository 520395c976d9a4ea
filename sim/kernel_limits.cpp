// SPDX-License-Identifier: BSL-1.0
#include "sim/kernel_limits.hpp"

#include <algorithm>

#include "sim/attributes.hpp"

namespace culvert::sim::detail {

int attribute(const Call& call, cudaDeviceAttr attribute) {
  int value = 0;
  (void)device_attribute(call.process.config, attribute, call.thread.device, value);
  return value;
}

KernelSettings settings(Call& call, const void* kernel) {
  const auto found = call.device().kernels.find(kernel);
  KernelSettings result = found == call.device().kernels.end() ? KernelSettings() : found->second;
  if (result.dynamic_shared_memory < 0) {
    result.dynamic_shared_memory = attribute(call, cudaDevAttrMaxSharedMemoryPerBlock);
  }
  return result;
}

int resident_blocks(Call& call, const void* kernel, int threads, std::size_t shared_memory) {
  const int warp = attribute(call, cudaDevAttrWarpSize);
  if (threads > attribute(call, cudaDevAttrMaxThreadsPerBlock) ||
      shared_memory > static_cast<std::size_t>(settings(call, kernel).dynamic_shared_memory)) {
    return 0;
  }
  const int whole_warps = (threads + warp - 1) / warp * warp;
  int blocks = std::min(attribute(call, cudaDevAttrMaxBlocksPerMultiprocessor),
                        attribute(call, cudaDevAttrMaxThreadsPerMultiProcessor) / whole_warps);
  const int each =
      static_cast<int>(shared_memory) + attribute(call, cudaDevAttrReservedSharedMemoryPerBlock);
  return std::min(blocks, attribute(call, cudaDevAttrMaxSharedMemoryPerMultiprocessor) / each);
}

}  // namespace culvert::sim::detail
