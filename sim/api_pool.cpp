// SPDX-License-Identifier: BSL-1.0
// Memory pools.
#include "sim/pool_call.hpp"

namespace {

using namespace culvert::sim::detail;

bool is_device(const Call& call, int device) {
  return device >= 0 && device < call.process.config.devices;
}

}  // namespace

extern "C" {

cudaError_t cudaMemPoolCreate(cudaMemPool_t* result, const cudaMemPoolProps* properties) {
  return pool_api("cudaMemPoolCreate", [&](Call& call) {
    if (result == nullptr || properties == nullptr ||
        properties->allocType != cudaMemAllocationTypePinned ||
        properties->location.type != cudaMemLocationTypeDevice) {
      return cudaErrorInvalidValue;
    }
    if (!is_device(call, properties->location.id)) return cudaErrorInvalidValue;
    constexpr int known_types = cudaMemHandleTypePosixFileDescriptor | cudaMemHandleTypeWin32 |
                                cudaMemHandleTypeWin32Kmt | cudaMemHandleTypeFabric;
    if ((static_cast<int>(properties->handleTypes) & ~known_types) != 0) {
      return cudaErrorInvalidValue;
    }
    // There is no other process to share it with.
    if (properties->handleTypes != cudaMemHandleTypeNone) return cudaErrorNotSupported;
    auto pool = std::make_shared<Pool>();
    pool->made = CallSite::here();
    pool->device = properties->location.id;
#if CUDART_VERSION >= 12030
    pool->max_size = properties->maxSize;
#endif
    pool->handle = call.process.pools.add(pool);
    *result = reinterpret_cast<cudaMemPool_t>(pool->handle);
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t handle) {
  return pool_api("cudaMemPoolDestroy", handle, [](Call& call, const PoolPtr& pool) {
    if (pool->is_default) return cudaErrorInvalidValue;
    // Its allocations stay valid and keep its books.
    pool->trim(0);
    Device& device = call.process.device(pool->device);
    if (device.current_pool == pool) device.current_pool = device.default_pool;
    call.process.pools.remove(pool->handle);
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t handle, cudaMemPoolAttr attribute, void* value) {
  return pool_api("cudaMemPoolSetAttribute", handle, [&](Call&, const PoolPtr& pool) {
    if (value == nullptr) return cudaErrorInvalidValue;
    const auto number = [&] { return *static_cast<const std::uint64_t*>(value); };
    const auto flag = [&] { return *static_cast<const int*>(value) != 0 ? 1 : 0; };
    switch (attribute) {
      case cudaMemPoolReuseFollowEventDependencies:
        pool->reuse_follow_event_dependencies = flag();
        return cudaSuccess;
      case cudaMemPoolReuseAllowOpportunistic:
        pool->reuse_allow_opportunistic = flag();
        return cudaSuccess;
      case cudaMemPoolReuseAllowInternalDependencies:
        pool->reuse_allow_internal_dependencies = flag();
        return cudaSuccess;
      case cudaMemPoolAttrReleaseThreshold:
        pool->release_threshold = number();
        return cudaSuccess;
      // A high-water mark can only be started afresh.
      case cudaMemPoolAttrReservedMemHigh:
        if (number() != 0) return cudaErrorInvalidValue;
        pool->reserved_high = pool->reserved;
        return cudaSuccess;
      case cudaMemPoolAttrUsedMemHigh:
        if (number() != 0) return cudaErrorInvalidValue;
        pool->used_high = pool->used;
        return cudaSuccess;
      default:
        return cudaErrorInvalidValue;
    }
  });
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t handle, cudaMemPoolAttr attribute, void* value) {
  return pool_api("cudaMemPoolGetAttribute", handle, [&](Call&, const PoolPtr& pool) {
    if (value == nullptr) return cudaErrorInvalidValue;
    const auto number = [&](std::uint64_t answer) {
      *static_cast<std::uint64_t*>(value) = answer;
      return cudaSuccess;
    };
    const auto flag = [&](int answer) {
      *static_cast<int*>(value) = answer;
      return cudaSuccess;
    };
    switch (attribute) {
      case cudaMemPoolReuseFollowEventDependencies:
        return flag(pool->reuse_follow_event_dependencies);
      case cudaMemPoolReuseAllowOpportunistic:
        return flag(pool->reuse_allow_opportunistic);
      case cudaMemPoolReuseAllowInternalDependencies:
        return flag(pool->reuse_allow_internal_dependencies);
      case cudaMemPoolAttrReleaseThreshold:
        return number(pool->release_threshold);
      case cudaMemPoolAttrReservedMemCurrent:
        return number(pool->reserved);
      case cudaMemPoolAttrReservedMemHigh:
        return number(pool->reserved_high);
      case cudaMemPoolAttrUsedMemCurrent:
        return number(pool->used);
      case cudaMemPoolAttrUsedMemHigh:
        return number(pool->used_high);
      default:
        return cudaErrorInvalidValue;
    }
  });
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t handle, std::size_t keep) {
  return pool_api("cudaMemPoolTrimTo", handle, [&](Call& call, const PoolPtr& pool) {
    const cudaError_t refused = check_unsafe(call.process, call.thread);
    if (refused == cudaSuccess) pool->trim(keep);
    return refused;
  });
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* result, int device) {
  return pool_api("cudaDeviceGetDefaultMemPool", [&](Call& call) {
    if (result == nullptr) return cudaErrorInvalidValue;
    if (!is_device(call, device)) return cudaErrorInvalidDevice;
    *result = reinterpret_cast<cudaMemPool_t>(call.process.device(device).default_pool->handle);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* result, int device) {
  return pool_api("cudaDeviceGetMemPool", [&](Call& call) {
    if (result == nullptr) return cudaErrorInvalidValue;
    if (!is_device(call, device)) return cudaErrorInvalidValue;
    *result = reinterpret_cast<cudaMemPool_t>(call.process.device(device).current_pool->handle);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t handle) {
  return pool_api("cudaDeviceSetMemPool", handle, [&](Call& call, const PoolPtr& pool) {
    if (!is_device(call, device)) return cudaErrorInvalidValue;
    if (pool->device != device) return cudaErrorInvalidValue;
    call.process.device(device).current_pool = pool;
    return cudaSuccess;
  });
}

}  // extern "C"
