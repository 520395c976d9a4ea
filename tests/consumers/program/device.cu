// SPDX-License-Identifier: BSL-1.0
//
// As main.cpp, in a CUDA file and with a kernel.
#include "work.hpp"

#include <iostream>

namespace {

__global__ void add(int* data, int count, int value) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) data[i] += value;
}

}  // namespace

int main() {
  const culvert::Environment environment = culvert::Environment::probe();
  if (!environment.usable()) {
    std::cout << "CUDA cannot be used: " << environment.reason() << '\n';
    return 0;
  }
  culvert::Stream stream;
  culvert::DeviceBuffer<int> device(3, stream);
  culvert::fill(device, 40, stream);
  add<<<1, 32, 0, stream.get()>>>(device.data(), 3, 2);
  std::vector<int> host(3);
  culvert::copy_and_wait(host, device, stream);
  if (host != std::vector<int>(3, 42) || filled(3, 42, stream) != host) {
    std::cout << "the device did something else\n";
    return 1;
  }
  std::cout << "the device did its work\n";
}
