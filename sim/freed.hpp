// SPDX-License-Identifier: BSL-1.0
// What was freed lately, so that a wrong use of it can be told as such. Plain data that knows no
// CUDA.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "sim/block.hpp"

namespace culvert::sim::detail {

// The last ones only: a program may free for ever.
class FreedBlocks {
 public:
  void add(const Block& block) {
    if (blocks_.size() == most) blocks_.pop_front();
    blocks_.push_back(block);
    blocks_.back().pool = nullptr;
  }

  // The one that was freed last of those that held the address, or null.
  const Block* find(std::uintptr_t address) const {
    for (auto block = blocks_.rbegin(); block != blocks_.rend(); ++block) {
      if (address >= block->address && address - block->address < block->size) return &*block;
    }
    return nullptr;
  }

  void clear() { blocks_.clear(); }

 private:
  static constexpr std::size_t most = 1024;

  std::deque<Block> blocks_;
};

}  // namespace culvert::sim::detail
