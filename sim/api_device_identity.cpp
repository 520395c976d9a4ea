// SPDX-License-Identifier: BSL-1.0
// Which device is which, and what two devices can do together.
#include <cstdio>
#include <string>

#include "sim/call.hpp"

namespace {

using namespace culvert::sim::detail;

bool is_device(const Call& call, int device) {
  return device >= 0 && device < call.process.config.devices;
}

// As cudaDevAttrPciBusId tells: the bus is the device's number and one more.
std::string bus_id(int device) {
  char text[16];
  std::snprintf(text, sizeof text, "0000:%02X:00.0", static_cast<unsigned>(device + 1));
  return text;
}

// domain:bus:device.function, or without the domain or the function. False for what is none of
// these.
bool parse_bus_id(const char* text, unsigned& domain, unsigned& bus, unsigned& slot,
                  unsigned& function) {
  int length = 0;
  const auto whole = [&](int read, int wanted) {
    return read == wanted && length > 0 && text[length] == '\0';
  };
  domain = function = 0;
  if (whole(std::sscanf(text, "%x:%x:%x.%x%n", &domain, &bus, &slot, &function, &length), 4)) {
    return true;
  }
  length = 0;
  function = 0;
  if (whole(std::sscanf(text, "%x:%x:%x%n", &domain, &bus, &slot, &length), 3)) return true;
  length = 0;
  domain = 0;
  return whole(std::sscanf(text, "%x:%x.%x%n", &bus, &slot, &function, &length), 3);
}

}  // namespace

extern "C" {

cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  return api("cudaDeviceGetPCIBusId", asks_runtime, [&](Call& call) {
    if (text == nullptr || length <= 0) return cudaErrorInvalidValue;
    if (!is_device(call, device)) return cudaErrorInvalidDevice;
    const std::string id = bus_id(device);
    const auto room = static_cast<std::size_t>(length);
    if (room <= id.size()) return cudaErrorInvalidValue;
    id.copy(text, id.size());
    text[id.size()] = '\0';
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* text) {
  return api("cudaDeviceGetByPCIBusId", asks_runtime, [&](Call& call) {
    unsigned domain = 0;
    unsigned bus = 0;
    unsigned slot = 0;
    unsigned function = 0;
    if (device == nullptr || text == nullptr || !parse_bus_id(text, domain, bus, slot, function)) {
      return cudaErrorInvalidValue;
    }
    const auto devices = static_cast<unsigned>(call.process.config.devices);
    if (domain != 0 || slot != 0 || function != 0 || bus == 0 || bus > devices) {
      return cudaErrorInvalidDevice;
    }
    *device = static_cast<int>(bus) - 1;
    return cudaSuccess;
  });
}

// All devices are alike.
cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* wanted) {
  return api("cudaChooseDevice", asks_runtime, [&](Call&) {
    if (device == nullptr || wanted == nullptr) return cudaErrorInvalidValue;
    *device = 0;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int from, int to) {
  return api("cudaDeviceGetP2PAttribute", asks_runtime, [&](Call& call) {
    if (value == nullptr) return cudaErrorInvalidValue;
    if (!is_device(call, from) || !is_device(call, to) || from == to) {
      return cudaErrorInvalidDevice;
    }
    switch (attribute) {
      case cudaDevP2PAttrAccessSupported:
      case cudaDevP2PAttrNativeAtomicSupported:
        *value = 1;
        return cudaSuccess;
      case cudaDevP2PAttrPerformanceRank:
      case cudaDevP2PAttrCudaArrayAccessSupported:
        *value = 0;
        return cudaSuccess;
      default:
        return cudaErrorInvalidValue;
    }
  });
}

}  // extern "C"
