// SPDX-License-Identifier: BSL-1.0
// Which devices may use the memory of a pool, and pools by their location.
#include "sim/pool_call.hpp"

namespace {

using namespace culvert::sim::detail;

bool is_device(const Call& call, const cudaMemLocation& location) {
  return location.type == cudaMemLocationTypeDevice && location.id >= 0 &&
         location.id < call.process.config.devices;
}

bool is_access(cudaMemAccessFlags flags) {
  return flags == cudaMemAccessFlagsProtNone || flags == cudaMemAccessFlagsProtRead ||
         flags == cudaMemAccessFlagsProtReadWrite;
}

}  // namespace

extern "C" {

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t handle, const cudaMemAccessDesc* descriptions,
                                 std::size_t count) {
  return pool_api("cudaMemPoolSetAccess", handle, [&](Call& call, const PoolPtr& pool) {
    if (descriptions == nullptr && count != 0) return cudaErrorInvalidValue;
    for (std::size_t i = 0; i < count; ++i) {
      const cudaMemAccessDesc& each = descriptions[i];
      if (!is_access(each.flags)) return cudaErrorInvalidValue;
      if (!is_device(call, each.location)) {
        return each.location.type == cudaMemLocationTypeDevice ? cudaErrorInvalidDevice
                                                               : cudaErrorInvalidValue;
      }
      // A device keeps the access to its own memory.
      if (each.location.id == pool->device && each.flags != cudaMemAccessFlagsProtReadWrite) {
        return cudaErrorInvalidValue;
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      pool->access[descriptions[i].location.id] = static_cast<int>(descriptions[i].flags);
    }
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t handle,
                                 cudaMemLocation* location) {
  return pool_api("cudaMemPoolGetAccess", handle, [&](Call& call, const PoolPtr& pool) {
    if (flags == nullptr || location == nullptr) return cudaErrorInvalidValue;
    if (!is_device(call, *location)) return cudaErrorInvalidValue;
    const auto found = pool->access.find(location->id);
    if (location->id == pool->device) {
      *flags = cudaMemAccessFlagsProtReadWrite;
    } else {
      *flags = found == pool->access.end() ? cudaMemAccessFlagsProtNone
                                           : static_cast<cudaMemAccessFlags>(found->second);
    }
    return cudaSuccess;
  });
}

#if CUDART_VERSION >= 13000

cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t* result, cudaMemLocation* location,
                                     cudaMemAllocationType type) {
  return pool_api("cudaMemGetDefaultMemPool", [&](Call& call) -> cudaError_t {
    if (result == nullptr || location == nullptr) return cudaErrorInvalidValue;
    if (type != cudaMemAllocationTypePinned) return refuse_pool("cudaMemGetDefaultMemPool");
    if (!is_device(call, *location)) return cudaErrorInvalidValue;
    *result =
        reinterpret_cast<cudaMemPool_t>(call.process.device(location->id).default_pool->handle);
    return cudaSuccess;
  });
}

cudaError_t cudaMemGetMemPool(cudaMemPool_t* result, cudaMemLocation* location,
                              cudaMemAllocationType type) {
  return pool_api("cudaMemGetMemPool", [&](Call& call) -> cudaError_t {
    if (result == nullptr || location == nullptr) return cudaErrorInvalidValue;
    if (type != cudaMemAllocationTypePinned) return refuse_pool("cudaMemGetMemPool");
    if (!is_device(call, *location)) return cudaErrorInvalidValue;
    *result =
        reinterpret_cast<cudaMemPool_t>(call.process.device(location->id).current_pool->handle);
    return cudaSuccess;
  });
}

cudaError_t cudaMemSetMemPool(cudaMemLocation* location, cudaMemAllocationType type,
                              cudaMemPool_t handle) {
  return pool_api("cudaMemSetMemPool", handle, [&](Call& call, const PoolPtr& pool) -> cudaError_t {
    if (location == nullptr) return cudaErrorInvalidValue;
    if (type != cudaMemAllocationTypePinned) return refuse_pool("cudaMemSetMemPool");
    if (!is_device(call, *location) || pool->device != location->id) {
      return cudaErrorInvalidValue;
    }
    call.process.device(location->id).current_pool = pool;
    return cudaSuccess;
  });
}

#endif

}  // extern "C"
