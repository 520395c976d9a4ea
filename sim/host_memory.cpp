// SPDX-License-Identifier: BSL-1.0
#include "sim/host_memory.hpp"

#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "sim/device_memory.hpp"

namespace culvert::sim::detail {
namespace {

constexpr std::size_t host_alignment = 4096;

// Pinned memory cannot be more than there is.
std::size_t physical_memory() {
  static const std::size_t size = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
                                  static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

}  // namespace

BlockPtr HostMemory::allocate(std::size_t size, unsigned flags, int device) {
  if (size > physical_memory()) return nullptr;
  // The exact size, so that an address sanitizer sees the first byte past the end.
  void* bytes = nullptr;
  if (posix_memalign(&bytes, host_alignment, size) != 0) return nullptr;
  fill_with_poison(static_cast<std::byte*>(bytes), size);
  BlockPtr block = add_registered(bytes, size, flags, device);
  block->kind = BlockKind::host;
  return block;
}

BlockPtr HostMemory::add_registered(void* bytes, std::size_t size, unsigned flags, int device) {
  auto block = std::make_shared<Block>();
  block->address = reinterpret_cast<std::uintptr_t>(bytes);
  block->bytes = static_cast<std::byte*>(bytes);
  block->size = size;
  block->capacity = size;
  block->device = device;
  block->made = CallSite::here();
  block->kind = BlockKind::registered;
  block->flags = flags;
  blocks_.emplace(block->address, block);
  return block;
}

void HostMemory::release(Block& block) {
  block.state = BlockState::freed;
  void* const bytes = block.bytes;
  const bool allocated = block.kind != BlockKind::registered;
  const std::uintptr_t address = block.address;
  blocks_.erase(address);
  if (allocated) std::free(bytes);
}

void HostMemory::release_all(int device) {
  std::vector<BlockPtr> blocks;
  for (const auto& [address, block] : blocks_) {
    if (device == -1 || block->device == device) blocks.push_back(block);
  }
  for (const BlockPtr& block : blocks) release(*block);
}

BlockPtr HostMemory::find(std::uintptr_t address) const {
  auto next = blocks_.upper_bound(address);
  if (next == blocks_.begin()) return nullptr;
  const BlockPtr& block = std::prev(next)->second;
  return address - block->address < block->size ? block : nullptr;
}

bool HostMemory::overlaps(std::uintptr_t address, std::size_t size) const {
  const auto next = blocks_.lower_bound(address);
  if (next != blocks_.end() && next->first - address < size) return true;
  return find(address) != nullptr;
}

std::size_t HostMemory::count(BlockKind kind) const {
  std::size_t count = 0;
  for (const auto& [address, block] : blocks_) count += block->kind == kind ? 1U : 0U;
  return count;
}

std::size_t HostMemory::bytes(BlockKind kind) const {
  std::size_t bytes = 0;
  for (const auto& [address, block] : blocks_) {
    if (block->kind == kind) bytes += block->size;
  }
  return bytes;
}

}  // namespace culvert::sim::detail
