// SPDX-License-Identifier: BSL-1.0
// Devices.
#include <algorithm>

#include "sim/attributes.hpp"
#include "sim/call.hpp"

namespace {

using namespace culvert::sim::detail;

constexpr Rules asks_version{
    .needs_devices = false, .needs_health = false, .in_host_function = true};
constexpr Rules asks_properties{.needs_health = false, .in_host_function = true};

bool is_device(const Call& call, int device) {
  return device >= 0 && device < call.process.config.devices;
}

}  // namespace

extern "C" {

cudaError_t cudaRuntimeGetVersion(int* version) {
  return api("cudaRuntimeGetVersion", asks_version, [&](Call&) {
    if (version == nullptr) return cudaErrorInvalidValue;
    *version = CUDART_VERSION;
    return cudaSuccess;
  });
}

cudaError_t cudaDriverGetVersion(int* version) {
  return api("cudaDriverGetVersion", asks_version, [&](Call& call) {
    if (version == nullptr) return cudaErrorInvalidValue;
    *version = call.process.config.driver_version;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDeviceCount(int* count) {
  constexpr Rules answers{.needs_health = false, .in_host_function = true};
  return api("cudaGetDeviceCount", answers, [&](Call& call) {
    if (count == nullptr) return cudaErrorInvalidValue;
    *count = call.process.config.devices;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDevice(int* device) {
  return api("cudaGetDevice", asks_runtime, [&](Call& call) {
    if (device == nullptr) return cudaErrorInvalidValue;
    *device = call.thread.device;
    return cudaSuccess;
  });
}

cudaError_t cudaSetDevice(int device) {
  // It leaves a failed device for another one; choosing a failed one is answered with its error.
  return api("cudaSetDevice", asks_runtime, [&](Call& call) {
    if (!is_device(call, device)) return cudaErrorInvalidDevice;
    call.thread.device = device;
    return call.process.failure(device);
  });
}

cudaError_t cudaDeviceSynchronize() {
  return api("cudaDeviceSynchronize", [](Call& call) -> cudaError_t {
    const int device = call.thread.device;
    const cudaError_t refused = check_device_wait(call.process, device);
    if (refused != cudaSuccess) return refused;
    if (call.leaves_out("cudaDeviceSynchronize")) return call.process.failure(device);
    const cudaError_t error = call.wait(call.process.scheduler.last_on_device(device), device);
    call.process.trim_pools();
    return error;
  });
}

cudaError_t cudaDeviceReset() {
  return api("cudaDeviceReset", asks_runtime, [](Call& call) {
    call.process.reset_device(call.lock, call.thread.device);
    return cudaSuccess;
  });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return api("cudaGetDeviceProperties", asks_properties, [&](Call& call) {
    if (properties == nullptr) return cudaErrorInvalidValue;
    if (!is_device(call, device)) return cudaErrorInvalidDevice;
    device_properties(call.process.config, device, *properties);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return api("cudaDeviceGetAttribute", asks_runtime, [&](Call& call) {
    if (value == nullptr) return cudaErrorInvalidValue;
    if (!is_device(call, device)) return cudaErrorInvalidDevice;
    const bool known = device_attribute(call.process.config, attribute, device, *value);
    return known ? cudaSuccess : cudaErrorInvalidValue;
  });
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return api("cudaMemGetInfo", [&](Call& call) {
    if (free != nullptr) *free = call.process.free_memory(call.thread.device);
    if (total != nullptr) *total = call.process.memory.bytes_per_device();
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return api("cudaDeviceGetStreamPriorityRange", [&](Call&) {
    if (least != nullptr) *least = least_priority;
    if (greatest != nullptr) *greatest = greatest_priority;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceCanAccessPeer(int* can_access, int device, int peer) {
  return api("cudaDeviceCanAccessPeer", [&](Call& call) {
    if (can_access == nullptr) return cudaErrorInvalidValue;
    if (!is_device(call, device) || !is_device(call, peer)) return cudaErrorInvalidDevice;
    *can_access = device != peer ? 1 : 0;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return api("cudaDeviceEnablePeerAccess", [&](Call& call) {
    if (flags != 0) return cudaErrorInvalidValue;
    if (!is_device(call, peer)) return cudaErrorInvalidDevice;
    if (peer == call.thread.device) return cudaErrorPeerAccessUnsupported;
    const bool is_new = call.device().peers.insert(peer).second;
    return is_new ? cudaSuccess : cudaErrorPeerAccessAlreadyEnabled;
  });
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return api("cudaDeviceDisablePeerAccess", [&](Call& call) {
    if (!is_device(call, peer)) return cudaErrorInvalidDevice;
    const bool was_enabled = call.device().peers.erase(peer) != 0;
    return was_enabled ? cudaSuccess : cudaErrorPeerAccessNotEnabled;
  });
}

}  // extern "C"
