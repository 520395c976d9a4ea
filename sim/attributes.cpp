// SPDX-License-Identifier: BSL-1.0
#include "sim/attributes.hpp"

#include <cstring>

namespace culvert::sim::detail {
namespace {

constexpr int last_attribute = 147;  // the last that CUDA 13.0 knows

// As a Hopper device answers, as far as host code may ask.
constexpr int max_threads_per_block = 1024;
constexpr int max_block[3] = {1024, 1024, 64};
constexpr int max_grid[3] = {2147483647, 65535, 65535};
constexpr int shared_memory_per_block = 49152;
constexpr int shared_memory_per_block_optin = 232448;
constexpr int shared_memory_per_multiprocessor = 233472;
constexpr int constant_memory = 65536;
constexpr int warp_size = 32;
constexpr int registers = 65536;
constexpr int multiprocessors = 132;
constexpr int threads_per_multiprocessor = 2048;
constexpr int blocks_per_multiprocessor = 32;
constexpr int l2_cache = 62914560;
constexpr int bus_width = 6144;
constexpr int copy_engines = 3;
constexpr int compute_major = 9;
constexpr int compute_minor = 0;

}  // namespace

bool device_attribute(const Config& config, cudaDeviceAttr attribute, int device, int& value) {
  if (static_cast<int>(attribute) < 1 || static_cast<int>(attribute) > last_attribute) return false;
  const auto answer = [&]() -> int {
    switch (attribute) {
      case cudaDevAttrMaxThreadsPerBlock:
        return max_threads_per_block;
      case cudaDevAttrMaxBlockDimX:
        return max_block[0];
      case cudaDevAttrMaxBlockDimY:
        return max_block[1];
      case cudaDevAttrMaxBlockDimZ:
        return max_block[2];
      case cudaDevAttrMaxGridDimX:
        return max_grid[0];
      case cudaDevAttrMaxGridDimY:
        return max_grid[1];
      case cudaDevAttrMaxGridDimZ:
        return max_grid[2];
      case cudaDevAttrMaxSharedMemoryPerBlock:
        return shared_memory_per_block;
      case cudaDevAttrMaxSharedMemoryPerBlockOptin:
        return shared_memory_per_block_optin;
      case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
        return shared_memory_per_multiprocessor;
      case cudaDevAttrReservedSharedMemoryPerBlock:
        return 1024;
      case cudaDevAttrTotalConstantMemory:
        return constant_memory;
      case cudaDevAttrWarpSize:
        return warp_size;
      case cudaDevAttrMaxPitch:
        return max_pitch;
      case cudaDevAttrMaxRegistersPerBlock:
      case cudaDevAttrMaxRegistersPerMultiprocessor:
        return registers;
      case cudaDevAttrClockRate:
        return 1980000;
      case cudaDevAttrMemoryClockRate:
        return 3201000;
      case cudaDevAttrTextureAlignment:
      case cudaDevAttrSurfaceAlignment:
        return 512;
      case cudaDevAttrTexturePitchAlignment:
        return 32;
      case cudaDevAttrMultiProcessorCount:
        return multiprocessors;
      case cudaDevAttrMaxThreadsPerMultiProcessor:
        return threads_per_multiprocessor;
      case cudaDevAttrMaxBlocksPerMultiprocessor:
        return blocks_per_multiprocessor;
      case cudaDevAttrL2CacheSize:
        return l2_cache;
      case cudaDevAttrGlobalMemoryBusWidth:
        return bus_width;
      case cudaDevAttrAsyncEngineCount:
        return copy_engines;
      case cudaDevAttrPciBusId:
        return device + 1;
      case cudaDevAttrComputeCapabilityMajor:
        return compute_major;
      case cudaDevAttrComputeCapabilityMinor:
        return compute_minor;
      case cudaDevAttrMemSyncDomainCount:
        return static_cast<int>(memory_sync_domains);
      case cudaDevAttrMaxAccessPolicyWindowSize:
        return max_access_policy_window;
      case cudaDevAttrMaxPersistingL2CacheSize:
        return max_persisting_l2_cache;
      case cudaDevAttrMemoryPoolsSupported:
        return config.memory_pools ? 1 : 0;
      case cudaDevAttrGpuOverlap:
      case cudaDevAttrCanMapHostMemory:
      case cudaDevAttrConcurrentKernels:
      case cudaDevAttrUnifiedAddressing:
      case cudaDevAttrStreamPrioritiesSupported:
      case cudaDevAttrGlobalL1CacheSupported:
      case cudaDevAttrLocalL1CacheSupported:
      case cudaDevAttrCanUseHostPointerForRegisteredMem:
      case cudaDevAttrHostRegisterSupported:
      case cudaDevAttrHostRegisterReadOnlySupported:
      case cudaDevAttrComputePreemptionSupported:
      case cudaDevAttrCooperativeLaunch:
      case cudaDevAttrClusterLaunch:
      case cudaDevAttrManagedMemory:
      case cudaDevAttrConcurrentManagedAccess:
        return 1;
      default:
        return 0;
    }
  };
  value = answer();
  return true;
}

void device_properties(const Config& config, int device, cudaDeviceProp& properties) {
  properties = cudaDeviceProp{};
  constexpr char name[] = "culvert simulated device";
  std::memcpy(properties.name, name, sizeof name);
  std::memcpy(properties.uuid.bytes, "culvert-sim-dev", 15);
  properties.uuid.bytes[15] = static_cast<char>(device);
  properties.totalGlobalMem = config.device_memory;
  properties.sharedMemPerBlock = shared_memory_per_block;
  properties.sharedMemPerBlockOptin = shared_memory_per_block_optin;
  properties.sharedMemPerMultiprocessor = shared_memory_per_multiprocessor;
  properties.reservedSharedMemPerBlock = 1024;
  properties.regsPerBlock = registers;
  properties.regsPerMultiprocessor = registers;
  properties.warpSize = warp_size;
  properties.memPitch = max_pitch;
  properties.maxThreadsPerBlock = max_threads_per_block;
  for (int axis = 0; axis < 3; ++axis) {
    properties.maxThreadsDim[axis] = max_block[axis];
    properties.maxGridSize[axis] = max_grid[axis];
  }
  properties.totalConstMem = constant_memory;
  properties.major = compute_major;
  properties.minor = compute_minor;
  properties.textureAlignment = 512;
  properties.surfaceAlignment = 512;
  properties.texturePitchAlignment = 32;
  properties.multiProcessorCount = multiprocessors;
  properties.maxThreadsPerMultiProcessor = threads_per_multiprocessor;
  properties.maxBlocksPerMultiProcessor = blocks_per_multiprocessor;
  properties.canMapHostMemory = 1;
  properties.concurrentKernels = 1;
  properties.pciBusID = device + 1;
  properties.asyncEngineCount = copy_engines;
  properties.unifiedAddressing = 1;
  properties.memoryBusWidth = bus_width;
  properties.l2CacheSize = l2_cache;
  properties.streamPrioritiesSupported = 1;
  properties.globalL1CacheSupported = 1;
  properties.localL1CacheSupported = 1;
  properties.computePreemptionSupported = 1;
  properties.canUseHostPointerForRegisteredMem = 1;
  properties.cooperativeLaunch = 1;
  properties.clusterLaunch = 1;
  properties.managedMemory = 1;
  properties.concurrentManagedAccess = 1;
  properties.accessPolicyMaxWindowSize = max_access_policy_window;
  properties.persistingL2CacheMaxSize = max_persisting_l2_cache;
  properties.hostRegisterSupported = 1;
  properties.hostRegisterReadOnlySupported = 1;
  properties.memoryPoolsSupported = config.memory_pools ? 1 : 0;
}

}  // namespace culvert::sim::detail
