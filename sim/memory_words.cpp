// SPDX-License-Identifier: BSL-1.0
#include "sim/memory_words.hpp"

#include <cstdarg>
#include <cstdio>

#include "sim/report.hpp"

namespace culvert::sim::detail {
namespace {

[[gnu::format(printf, 1, 2)]] std::string text(const char* format, ...) {
  char buffer[256];
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(buffer, sizeof buffer, format, arguments);
  va_end(arguments);
  return buffer;
}

std::string name_of_address(std::uintptr_t address) {
  return text("0x%llx", static_cast<unsigned long long>(address));
}

std::string kind_of(const Block& block) {
  switch (block.kind) {
    case BlockKind::host:
      return "pinned allocation";
    case BlockKind::registered:
      return "registered memory";
    case BlockKind::managed:
      return "managed allocation";
    case BlockKind::device:
      break;
  }
  return text("device %d allocation", block.device);
}

// The live block that holds the address, or null.
BlockPtr holder(const Process& process, std::uintptr_t address) {
  const BlockPtr block = process.memory.find(address);
  return block ? block : process.host.find(address);
}

std::string describe_no_block(const Process& process, std::uintptr_t address) {
  if (const Block* const freed = process.freed.find(address)) {
    return "in the " + name_of(*freed) + ", which was freed (by " + freed->freed_by + ")";
  }
  if (!process.memory.contains(address)) return "which is pageable host memory";
  const BlockPtr below = process.memory.below(address);
  if (!below) return "where no allocation is";
  return "where no allocation is; the nearest below, the " + name_of(*below) + ", ends " +
         std::to_string(address - below->address - below->size) + " bytes before";
}

}  // namespace

std::string name_of(const Block& block) {
  return kind_of(block) + " of " + std::to_string(block.size) + " bytes at " +
         name_of_address(block.address) + " (" + block.made_by + ")";
}

std::string describe_range(const Process& process, const void* pointer, std::size_t size) {
  if (pointer == nullptr) return "a null pointer";
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const std::string range = std::to_string(size) + " bytes at " + name_of_address(address) + ", ";
  const BlockPtr block = holder(process, address);
  if (!block) return range + describe_no_block(process, address);
  if (block->free_requested) {
    return range + "in the " + name_of(*block) + ", which " + block->freed_by + " frees";
  }
  const std::size_t left = block->size - (address - block->address);
  if (size <= left) return range + "inside the " + name_of(*block);
  return range + std::to_string(size - left) + " of them past the end of the " + name_of(*block);
}

void report_wrong_free(const Process& process, const char* function, const void* pointer,
                       const char* frees) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const BlockPtr block = holder(process, address);
  const Block* const freed = block ? nullptr : process.freed.find(address);
  std::string why;
  if (block && block->free_requested) {
    why = "freed twice: " + std::string(block->freed_by) + " frees the " + name_of(*block);
  } else if (block && block->address != address) {
    why = std::to_string(address - block->address) + " bytes behind the beginning of the " +
          name_of(*block);
  } else if (block) {
    why = "the " + name_of(*block) + "; it frees " + frees;
  } else if (freed != nullptr && freed->address == address) {
    why = "freed twice: " + std::string(freed->freed_by) + " freed the " + name_of(*freed);
  } else {
    why = describe_no_block(process, address) + "; it frees " + frees;
  }
  report("%s(%s): %s", function, name_of_address(address).c_str(), why.c_str());
}

}  // namespace culvert::sim::detail
