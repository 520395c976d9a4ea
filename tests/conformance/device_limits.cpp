// SPDX-License-Identifier: BSL-1.0
//
// Devices: flags, limits, addresses, versions.
#include "facts.hpp"
#include "groups.hpp"

namespace facts {
namespace {

void flags() {
  unsigned value = 99;
  error("cudaGetDeviceFlags", cudaGetDeviceFlags(&value));
  number("flags", value);
  error("cudaGetDeviceFlags null", cudaGetDeviceFlags(nullptr));
  error("cudaSetDeviceFlags 0x1000", cudaSetDeviceFlags(0x1000));
  error("cudaSetDeviceFlags blocking sync", cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync));
  need(cudaGetDeviceFlags(&value));
  number("flags after that", value);
  error("cudaSetDeviceFlags 0", cudaSetDeviceFlags(0));
  error("cudaInitDevice", cudaInitDevice(0, 0, 0));
  error("cudaInitDevice -1", cudaInitDevice(-1, 0, 0));
}

void limits() {
  std::size_t value = 0;
  for (const int limit : {0, 1, 2, 3, 4, 5, 6, 99, -1}) {
    error("cudaDeviceGetLimit " + std::to_string(limit),
          cudaDeviceGetLimit(&value, number_as<cudaLimit>(limit)));
  }
  error("cudaDeviceGetLimit null", cudaDeviceGetLimit(nullptr, cudaLimitStackSize));
  error("cudaDeviceSetLimit 99", cudaDeviceSetLimit(number_as<cudaLimit>(99), 1));
}

void addresses() {
  char text_of_device[32] = "";
  int device = 99;
  error("cudaDeviceGetPCIBusId", cudaDeviceGetPCIBusId(text_of_device, 32, 0));
  error("cudaDeviceGetPCIBusId of device 99", cudaDeviceGetPCIBusId(text_of_device, 32, 99));
  error("cudaDeviceGetByPCIBusId of no device", cudaDeviceGetByPCIBusId(&device, "ffff:ff:ff.f"));
}

}  // namespace

void device_limits() {
  section("flags", flags);
  section("limits", limits);
  section("addresses", addresses);
}

}  // namespace facts
