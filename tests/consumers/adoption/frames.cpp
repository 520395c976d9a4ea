// SPDX-License-Identifier: BSL-1.0
#include "frames.hpp"

Frames::Frames(std::size_t count) : count_(count) {
  cudaMalloc(&device_, count);
  cudaStreamCreateWithFlags(&write_, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&read_, cudaStreamNonBlocking);
  cudaEventCreateWithFlags(&written_, cudaEventDisableTiming);
}

Frames::~Frames() {
  cudaStreamSynchronize(read_);
  cudaEventDestroy(written_);
  cudaStreamDestroy(read_);
  cudaStreamDestroy(write_);
  cudaFree(device_);
}

cudaError_t Frames::process(unsigned char* out, const unsigned char* in, unsigned char light) {
  cudaMemcpyAsync(device_, in, count_, cudaMemcpyHostToDevice, write_);
  cudaMemsetAsync(device_, light, count_ / 2, write_);
  cudaEventRecord(written_, write_);
  cudaStreamWaitEvent(read_, written_, 0);
  return cudaMemcpyAsync(out, device_, count_, cudaMemcpyDeviceToHost, read_);
}

cudaError_t Frames::wait() { return cudaStreamSynchronize(read_); }
