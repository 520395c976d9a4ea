// SPDX-License-Identifier: BSL-1.0
// Pinned host memory: allocated by the runtime, or the program's own and registered.
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
  std::size_t allocated_bytes() const;

 private:
  std::map<std::uintptr_t, BlockPtr> blocks_;
};

}  // namespace culvert::sim::detail
