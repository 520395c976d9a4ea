// SPDX-License-Identifier: BSL-1.0
#include "work.hpp"

std::vector<int> filled(std::size_t count, int value, culvert::StreamRef stream) {
  culvert::DeviceBuffer<int> device(count, stream);
  culvert::fill(device, value, stream);
  std::vector<int> host(count);
  culvert::copy_and_wait(host, device, stream);
  return host;
}
