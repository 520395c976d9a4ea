// SPDX-License-Identifier: BSL-1.0
// One allocation, of a device or of the host. Plain data that knows no CUDA.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace culvert::sim::detail {

struct Pool;

enum class BlockState {
  reserved,  // has an address, but the operation that allocates it has not run
  live,
  freed,
};

enum class BlockKind { device, host, registered };

// Operations share it, so that one which runs late still knows what it was meant to touch, even
// when the address has been given to another allocation.
struct Block {
  std::uintptr_t address = 0;  // as the program sees it
  std::byte* bytes = nullptr;  // as the simulation reads and writes it
  std::size_t size = 0;        // as asked for
  std::size_t capacity = 0;    // as taken from the device
  int device = 0;
  BlockKind kind = BlockKind::device;
  BlockState state = BlockState::live;
  bool free_requested = false;  // cudaFreeAsync was called: new work may not use it
  unsigned flags = 0;           // of cudaHostAlloc and cudaHostRegister
  std::shared_ptr<Pool> pool;   // null for cudaMalloc
};

using BlockPtr = std::shared_ptr<Block>;

}  // namespace culvert::sim::detail
