// SPDX-License-Identifier: BSL-1.0
#include <cstdio>

#include "frames.hpp"

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess) return 77;
  Frames frames(4096);
  std::puts(cudaGetErrorString(frames.wait()));
}
