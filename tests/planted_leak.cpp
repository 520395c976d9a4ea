// SPDX-License-Identifier: BSL-1.0
//
// Leaks device memory on purpose: a leak checker that says nothing of it checks nothing.
#include <culvert/device_buffer.hpp>

#include <cstdio>

int main() {
  culvert::DeviceBuffer<int> buffer(1000);
  std::printf("leaked %p\n", static_cast<void*>(buffer.release()));
  return 0;
}
