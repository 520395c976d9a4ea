// SPDX-License-Identifier: BSL-1.0
// Where the bytes of a copy or a fill are.
#pragma once

#include <cstddef>

#include "sim/process.hpp"

namespace culvert::sim::detail {

enum class Memory { device, managed, pinned, pageable };

// A range as the simulation reaches it.
struct Place {
  Memory memory = Memory::pageable;
  BlockPtr block;  // null for pageable memory
  std::byte* bytes = nullptr;
  std::size_t offset = 0;
  std::size_t size = 0;

  bool on_host() const { return memory == Memory::pinned || memory == Memory::pageable; }
};

// Finds out what kind of memory it is. False if the range is not inside one usable allocation.
bool find_place(const Process& process, const void* pointer, std::size_t size, Place& place);

// The rows of a box: `slice` bytes from one layer of rows to the next.
struct Layout {
  std::size_t pitch = 0;
  std::size_t slice = 0;
};

// In bytes, rows and layers.
struct Box {
  std::size_t width = 0;
  std::size_t height = 1;
  std::size_t depth = 1;

  bool empty() const { return width == 0 || height == 0 || depth == 0; }
};

// The bytes from the first to the last of a box. False if they are too many to count.
bool extent(const Layout& layout, const Box& box, std::size_t& bytes);

}  // namespace culvert::sim::detail
