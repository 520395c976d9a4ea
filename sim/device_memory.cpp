// SPDX-License-Identifier: BSL-1.0
#include "sim/device_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "culvert/sim/sim.hpp"

namespace culvert::sim::detail {
namespace {

constexpr std::size_t poison_end = std::size_t{32} << 20;
constexpr std::size_t large_block = std::size_t{64} << 10;

// Addresses for each byte of memory, as long as they are not more than so many together. They are
// taken twice. ThreadSanitizer has room for little more than 1 TiB.
constexpr std::size_t most_spread = 8;
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CULVERT_SIM_FEW_ADDRESSES
#endif
#elif defined(__SANITIZE_THREAD__)
#define CULVERT_SIM_FEW_ADDRESSES
#endif
#ifdef CULVERT_SIM_FEW_ADDRESSES
constexpr std::size_t most_addresses = std::size_t{256} << 30;
#else
constexpr std::size_t most_addresses = std::size_t{8} << 40;
#endif

constexpr std::size_t round_up(std::size_t value, std::size_t unit) {
  return (value + unit - 1) / unit * unit;
}

std::size_t page_size() {
  static const std::size_t size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

}  // namespace

void fill_with_poison(std::byte* bytes, std::size_t size) {
  if (size <= 2 * poison_end) {
    std::memset(bytes, sim::poison, size);
  } else {
    std::memset(bytes, sim::poison, poison_end);
    std::memset(bytes + (size - poison_end), sim::poison, poison_end);
  }
}

bool FreeRanges::take(std::size_t size, std::size_t& offset) {
  const auto fit = by_size_.lower_bound({size, 0});
  if (fit == by_size_.end()) return false;
  const auto [available, start] = *fit;
  erase(by_offset_.find(start));
  if (available > size) insert(start + size, available - size);
  offset = start;
  return true;
}

void FreeRanges::give_back(std::size_t offset, std::size_t size) {
  const auto next = by_offset_.lower_bound(offset);
  if (next != by_offset_.begin()) {
    const auto previous = std::prev(next);
    if (previous->first + previous->second == offset) {
      offset = previous->first;
      size += previous->second;
      erase(previous);
    }
  }
  if (next != by_offset_.end() && offset + size == next->first) {
    size += next->second;
    erase(next);
  }
  insert(offset, size);
}

void FreeRanges::insert(std::size_t offset, std::size_t size) {
  by_offset_.emplace(offset, size);
  by_size_.emplace(size, offset);
}

void FreeRanges::erase(std::map<std::size_t, std::size_t>::iterator range) {
  by_size_.erase({range->second, range->first});
  by_offset_.erase(range);
}

bool DeviceMemory::map(int devices, std::size_t bytes_per_device) {
  unmap();
  const auto count = static_cast<std::size_t>(devices);
  if (count == 0) return true;
  const std::size_t memory = count * bytes_per_device;
  std::size_t spread = std::clamp(most_addresses / memory, std::size_t{1}, most_spread);
  if (!map_range(spread * memory)) {
    if (spread == 1) return false;
    spread = 1;
    if (!map_range(memory)) return false;
  }
  bytes_per_device_ = bytes_per_device;
  span_ = spread * bytes_per_device;
  free_.assign(count, FreeRanges(span_));
  used_.assign(count, 0);
  return true;
}

bool DeviceMemory::map_range(std::size_t total) {
  const int file = memfd_create("culvert-sim-device-memory", MFD_CLOEXEC);
  if (file < 0) return false;
  void* alias = MAP_FAILED;
  if (ftruncate(file, static_cast<off_t>(total)) == 0) {
    alias = mmap(nullptr, total, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
  }
  close(file);
  if (alias == MAP_FAILED) return false;
  // A core dump of gigabytes of simulated memory helps nobody.
  madvise(alias, total, MADV_DONTDUMP);

  void* visible =
      mmap(nullptr, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (visible == MAP_FAILED) {
    munmap(alias, total);
    return false;
  }
  alias_ = static_cast<std::byte*>(alias);
  visible_ = reinterpret_cast<std::uintptr_t>(visible);
  total_ = total;
  return true;
}

void DeviceMemory::unmap() {
  for (auto& [address, block] : blocks_) block->state = BlockState::freed;
  blocks_.clear();
  free_.clear();
  used_.clear();
  if (total_ != 0) {
    munmap(alias_, total_);
    munmap(reinterpret_cast<void*>(visible_), total_);
  }
  visible_ = 0;
  alias_ = nullptr;
  bytes_per_device_ = 0;
  span_ = 0;
  total_ = 0;
}

BlockPtr DeviceMemory::allocate(int device, std::size_t size) {
  if (size > bytes_per_device_) return nullptr;
  const auto index = static_cast<std::size_t>(device);
  const std::size_t capacity = round_up(size, device_alignment);
  if (capacity > bytes_per_device_ - used_[index]) return nullptr;
  std::size_t offset = 0;
  if (!free_[index].take(capacity, offset)) return nullptr;

  used_[index] += capacity;
  offset += index * span_;
  auto block = std::make_shared<Block>();
  block->address = visible_ + offset;
  block->bytes = alias_ + offset;
  block->size = size;
  block->capacity = capacity;
  block->device = device;
  block->made = CallSite::here();
  blocks_.emplace(block->address, block);
  return block;
}

void DeviceMemory::release(Block& block) {
  wipe(block);
  block.state = BlockState::freed;
  const auto index = static_cast<std::size_t>(block.device);
  used_[index] -= block.capacity;
  const std::uintptr_t address = block.address;
  free_[index].give_back(address - visible_ - index * span_, block.capacity);
  blocks_.erase(address);
}

void DeviceMemory::release_all(int device) {
  std::vector<BlockPtr> blocks;
  for (const auto& [address, block] : blocks_) {
    if (block->device == device) blocks.push_back(block);
  }
  for (const BlockPtr& block : blocks) release(*block);
}

void DeviceMemory::wipe(const Block& block) const {
  // Whole pages of a large block go back to the system; only its ragged ends are filled.
  std::byte* const begin = block.bytes;
  std::byte* const end = begin + block.capacity;
  if (block.capacity >= large_block) {
    const auto offset = static_cast<std::size_t>(begin - alias_);
    const std::size_t first = round_up(offset, page_size());
    const std::size_t last = (offset + block.capacity) / page_size() * page_size();
    if (first < last && madvise(alias_ + first, last - first, MADV_REMOVE) == 0) {
      fill_with_poison(begin, first - offset);
      fill_with_poison(alias_ + last, static_cast<std::size_t>(end - (alias_ + last)));
      return;
    }
  }
  fill_with_poison(begin, block.capacity);
}

bool DeviceMemory::contains(std::uintptr_t address) const {
  return address >= visible_ && address - visible_ < total_;
}

BlockPtr DeviceMemory::below(std::uintptr_t address) const {
  const auto next = blocks_.upper_bound(address);
  return next == blocks_.begin() ? nullptr : std::prev(next)->second;
}

BlockPtr DeviceMemory::find(std::uintptr_t address) const {
  const BlockPtr block = below(address);
  return block && address - block->address < block->size ? block : nullptr;
}

std::size_t DeviceMemory::count() const {
  std::size_t count = 0;
  for (const auto& [address, block] : blocks_) count += block->is_variable ? 0 : 1;
  return count;
}

std::size_t DeviceMemory::bytes() const {
  std::size_t bytes = 0;
  for (const auto& [address, block] : blocks_) bytes += block->is_variable ? 0 : block->size;
  return bytes;
}

}  // namespace culvert::sim::detail
