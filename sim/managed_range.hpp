// SPDX-License-Identifier: BSL-1.0
// Ranges of managed memory.
#pragma once

#include <cstddef>

#include "sim/call.hpp"
#include "sim/managed.hpp"

namespace culvert::sim::detail {

struct ManagedRange {
  BlockPtr block;
  std::size_t offset = 0;
  std::size_t size = 0;

  PageAdvice* begin() const { return block->managed->pages.data() + offset / managed_page; }
  PageAdvice* end() const {
    return block->managed->pages.data() + (offset + size - 1) / managed_page + 1;
  }
};

// False, with a line that says why, if the range is not inside one managed allocation.
bool find_managed(const Call& call, const char* function, const void* pointer, std::size_t size,
                  ManagedRange& range);

// A device that exists, or the host in one of its forms.
bool is_location(const Call& call, const cudaMemLocation& location);

// Enqueues that the range moves to a location, or that its bytes are lost.
void enqueue_prefetch(Call& call, const StreamPtr& stream, const char* function,
                      const ManagedRange& range, const cudaMemLocation& location);
void enqueue_discard(Call& call, const StreamPtr& stream, const char* function,
                     const ManagedRange& range);

}  // namespace culvert::sim::detail
