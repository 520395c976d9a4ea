// SPDX-License-Identifier: BSL-1.0
#include "frames.hpp"

#include <cstring>

int main() {
  constexpr std::size_t count = 4096;
  void* in = nullptr;
  void* out = nullptr;
  cudaMallocHost(&in, count);
  cudaMallocHost(&out, count);
  std::memset(in, 1, count);
  bool right = false;
  {
    Frames frames(count);
    frames.process(static_cast<unsigned char*>(out), static_cast<unsigned char*>(in), 9);
    const auto* const bytes = static_cast<unsigned char*>(out);
    right = frames.wait() == cudaSuccess && bytes[0] == 9 && bytes[count - 1] == 1;
  }
  cudaFreeHost(in);
  cudaFreeHost(out);
  return right ? 0 : 1;
}
