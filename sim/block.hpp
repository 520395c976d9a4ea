// SPDX-License-Identifier: BSL-1.0
// One allocation, of a device or of the host. Plain data that knows no CUDA.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "sim/call_site.hpp"

namespace culvert::sim::detail {

struct GraphMemory;  // graph_memory.hpp
struct Managed;      // managed.hpp
struct Pool;

enum class BlockState {
  reserved,  // has an address, but the operation that allocates it has not run
  live,
  freed,
};

enum class BlockKind { device, host, registered, managed };

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
  bool is_variable = false;     // a __device__ variable, which no program frees
  // Of a graph's allocation node: the address stays the graph's when it is freed.
  bool of_graph = false;
  std::weak_ptr<GraphMemory> graph_memory;
  bool graph_live = false;           // ... and a launch allocated it that no later call frees
  unsigned flags = 0;                // of cudaHostAlloc and cudaHostRegister
  std::shared_ptr<Pool> pool;        // null for cudaMalloc
  std::shared_ptr<Managed> managed;  // of managed memory
  const char* made_by = "";          // the functions that allocate and free it
  const char* freed_by = "";
  CallSite made;
};

using BlockPtr = std::shared_ptr<Block>;

// Why an operation cannot touch it, or null.
inline const char* why_not_live(const Block& block) {
  if (block.state == BlockState::reserved) return "before its allocation in stream order";
  if (block.state == BlockState::freed) return "after it was freed";
  return nullptr;
}

}  // namespace culvert::sim::detail
