// SPDX-License-Identifier: BSL-1.0
#include "sim/place.hpp"

#include <limits>

namespace culvert::sim::detail {

bool find_place(const Process& process, const void* pointer, std::size_t size, Place& place) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  place.size = size;
  if (process.memory.contains(address)) {
    place.memory = Memory::device;
    place.block = process.memory.find(address);
  } else {
    place.block = process.host.find(address);
    if (!place.block) {
      // The program's own memory.
      place.bytes = const_cast<std::byte*>(static_cast<const std::byte*>(pointer));
      return pointer != nullptr;
    }
    place.memory = place.block->kind == BlockKind::managed ? Memory::managed : Memory::pinned;
  }
  if (!place.block || place.block->free_requested) return false;
  place.offset = address - place.block->address;
  place.bytes = place.block->bytes + place.offset;
  return size <= place.block->size - place.offset;
}

bool extent(const Layout& layout, const Box& box, std::size_t& bytes) {
  const auto add = [&](std::size_t count, std::size_t step) {
    if (step != 0 && count > (std::numeric_limits<std::size_t>::max() - bytes) / step) return false;
    bytes += count * step;
    return true;
  };
  bytes = box.width;
  return add(box.height - 1, layout.pitch) && add(box.depth - 1, layout.slice);
}

}  // namespace culvert::sim::detail
