// SPDX-License-Identifier: BSL-1.0
// Flags, limits and preferences of a device.
#include <algorithm>

#include "sim/attributes.hpp"
#include "sim/call.hpp"

namespace {

using namespace culvert::sim::detail;

bool are_flags(unsigned flags) {
  const unsigned schedule = flags & cudaDeviceScheduleMask;
  return (flags & ~unsigned{cudaDeviceMask}) == 0 && (schedule & (schedule - 1)) == 0;
}

// Null if there is no such limit.
std::size_t* limit_of(Device& device, cudaLimit limit) {
  const auto index = static_cast<std::size_t>(limit);
  return index < device.settings.limits.size() ? &device.settings.limits[index] : nullptr;
}

// Devices of this compute capability have no synchronization inside kernels.
bool is_supported(cudaLimit limit) { return limit != cudaLimitDevRuntimeSyncDepth; }

}  // namespace

extern "C" {

cudaError_t cudaSetDeviceFlags(unsigned flags) {
  return api("cudaSetDeviceFlags", [&](Call& call) {
    if (!are_flags(flags)) return cudaErrorInvalidValue;
    call.device().settings.flags = flags;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  return api("cudaGetDeviceFlags", [&](Call& call) {
    if (flags == nullptr) return cudaErrorInvalidValue;
    // The runtime always maps pinned memory.
    *flags = call.device().settings.flags | cudaDeviceMapHost;
    return cudaSuccess;
  });
}

cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags) {
  return api("cudaInitDevice", [&](Call& call) {
    if (device < 0 || device >= call.process.config.devices) return cudaErrorInvalidDevice;
    if ((flags & ~unsigned{cudaInitDeviceFlagsAreValid}) != 0) return cudaErrorInvalidValue;
    if ((flags & cudaInitDeviceFlagsAreValid) != 0) {
      if (!are_flags(device_flags)) return cudaErrorInvalidValue;
      call.process.device(device).settings.flags = device_flags;
    }
    return call.process.failure(device);
  });
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value) {
  return api("cudaDeviceSetLimit", [&](Call& call) {
    std::size_t* const place = limit_of(call.device(), limit);
    if (place == nullptr) return cudaErrorInvalidValue;
    if (!is_supported(limit)) return cudaErrorUnsupportedLimit;
    // The driver takes what fits.
    if (limit == cudaLimitMaxL2FetchGranularity) value = std::min<std::size_t>(value, 128);
    if (limit == cudaLimitPersistingL2CacheSize) {
      value = std::min<std::size_t>(value, max_persisting_l2_cache);
    }
    *place = value;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit) {
  return api("cudaDeviceGetLimit", [&](Call& call) {
    const std::size_t* const place = limit_of(call.device(), limit);
    if (value == nullptr || place == nullptr) return cudaErrorInvalidValue;
    if (!is_supported(limit)) return cudaErrorUnsupportedLimit;
    *value = *place;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache cache) {
  return api("cudaDeviceSetCacheConfig", [&](Call& call) {
    if (cache < cudaFuncCachePreferNone || cache > cudaFuncCachePreferEqual) {
      return cudaErrorInvalidValue;
    }
    call.device().settings.cache = cache;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* cache) {
  return api("cudaDeviceGetCacheConfig", [&](Call& call) {
    if (cache == nullptr) return cudaErrorInvalidValue;
    *cache = call.device().settings.cache;
    return cudaSuccess;
  });
}

// There is no cache to reset.
cudaError_t cudaCtxResetPersistingL2Cache() {
  return api("cudaCtxResetPersistingL2Cache", [](Call&) { return cudaSuccess; });
}

}  // extern "C"
