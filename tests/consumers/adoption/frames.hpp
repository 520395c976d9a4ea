// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

// Brightens `count` bytes of pinned memory on the device: out is in, with the rows that are not lit
// replaced. Asynchronous: the result is there when `read` is done.
class Frames {
 public:
  explicit Frames(std::size_t count);
  ~Frames();
  Frames(const Frames&) = delete;
  Frames& operator=(const Frames&) = delete;

  cudaError_t process(unsigned char* out, const unsigned char* in, unsigned char light);
  cudaError_t wait();

 private:
  std::size_t count_;
  void* device_ = nullptr;
  cudaStream_t write_ = nullptr;
  cudaStream_t read_ = nullptr;
  cudaEvent_t written_ = nullptr;
};
