// SPDX-License-Identifier: BSL-1.0
#include "illegal_address.hpp"

namespace {

__global__ void write_to(int* address) {
  if (address != nullptr) *address = 1;
}

}  // namespace

void load_illegal_address() {
  write_to<<<1, 1>>>(nullptr);
  (void)cudaDeviceSynchronize();
}

void enqueue_illegal_address(cudaStream_t stream) {
  write_to<<<1, 1, 0, stream>>>(reinterpret_cast<int*>(0x10));
}

void raise_illegal_address() {}
