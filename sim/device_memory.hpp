// SPDX-License-Identifier: BSL-1.0
// The memory of the simulated devices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "sim/block.hpp"

namespace culvert::sim::detail {

// Fills memory with the poison byte; of a large range only its two ends.
void fill_with_poison(std::byte* bytes, std::size_t size);

// Which parts of one device are taken. Offsets only: it touches no memory.
class FreeRanges {
 public:
  explicit FreeRanges(std::size_t size) { insert(0, size); }

  // The smallest range that is large enough is cut. Tells whether there was one.
  bool take(std::size_t size, std::size_t& offset);
  void give_back(std::size_t offset, std::size_t size);

 private:
  void insert(std::size_t offset, std::size_t size);
  void erase(std::map<std::size_t, std::size_t>::iterator range);

  std::map<std::size_t, std::size_t> by_offset_;
  std::set<std::pair<std::size_t, std::size_t>> by_size_;
};

// Programs see addresses in a range that nobody can read or write, so a stray access faults as on a
// GPU. The simulation uses the same bytes through another mapping. A GPU puts an allocation
// together from pages anywhere; here each device has more addresses than memory, so that holes
// between allocations seldom matter.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  // Replaces everything. Tells whether the system gave the address space.
  bool map(int devices, std::size_t bytes_per_device);

  // Null if there is no room. The block is live and holds poison once poison() was called.
  BlockPtr allocate(int device, std::size_t size);
  void poison(const Block& block) const { fill_with_poison(block.bytes, block.size); }
  void release(Block& block);
  void release_all(int device);

  bool contains(std::uintptr_t address) const;
  // The block that holds the address, or null.
  BlockPtr find(std::uintptr_t address) const;
  // The last block that begins there or before, or null.
  BlockPtr below(std::uintptr_t address) const;

  std::size_t bytes_per_device() const { return bytes_per_device_; }
  // Of allocations; variables are none.
  std::size_t count() const;
  std::size_t bytes() const;
  // What the blocks of one device take.
  std::size_t used(int device) const { return used_[static_cast<std::size_t>(device)]; }

  template <class Function>
  void for_each(Function function) const {
    for (const auto& [address, block] : blocks_) function(*block);
  }

 private:
  bool map_range(std::size_t total);
  void unmap();
  void wipe(const Block& block) const;

  std::uintptr_t visible_ = 0;
  std::byte* alias_ = nullptr;
  std::size_t bytes_per_device_ = 0;
  std::size_t span_ = 0;          // of the addresses of each device
  std::size_t total_ = 0;         // of all addresses
  std::vector<FreeRanges> free_;  // of each device
  std::vector<std::size_t> used_;
  std::map<std::uintptr_t, BlockPtr> blocks_;
};

}  // namespace culvert::sim::detail
