// SPDX-License-Identifier: BSL-1.0
// Memory that the host and devices reach at one address: pinned memory, allocated by the runtime or
// the program's own and registered, and managed memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "sim/block.hpp"

namespace culvert::sim::detail {

class HostMemory {
 public:
  HostMemory() = default;
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;

  // Null if the system has no memory left.
  BlockPtr allocate(std::size_t size, unsigned flags, int device);
  BlockPtr add_registered(void* bytes, std::size_t size, unsigned flags, int device);
  void release(Block& block);
  // Those of one device, or of all devices with -1.
  void release_all(int device);

  // The block that holds the address, or null.
  BlockPtr find(std::uintptr_t address) const;
  bool overlaps(std::uintptr_t address, std::size_t size) const;

  std::size_t count(BlockKind kind) const;
  std::size_t bytes(BlockKind kind) const;

  template <class Function>
  void for_each(Function function) const {
    for (const auto& [address, block] : blocks_) function(*block);
  }

 private:
  std::map<std::uintptr_t, BlockPtr> blocks_;
};

}  // namespace culvert::sim::detail
