// SPDX-License-Identifier: BSL-1.0
// Copies and fills as operations.
#pragma once

#include <cstddef>

#include "sim/call.hpp"

namespace culvert::sim::detail {

// When the source of a copy is read.
enum class SourceRead {
  usual,     // pageable memory at the call, and all else in the order of the stream
  in_order,  // all in the order of the stream
  at_call,   // host memory at the call, and all else in the order of the stream
};

// Rows of `width` bytes, whose beginnings are a pitch apart, in layers that are a slice apart. A
// plain copy is one row.
struct Copy {
  const char* function = "";
  void* to = nullptr;
  std::size_t to_pitch = 0;
  const void* from = nullptr;
  std::size_t from_pitch = 0;
  std::size_t width = 0;
  std::size_t height = 1;
  cudaMemcpyKind kind = cudaMemcpyDefault;
  std::size_t depth = 1;
  std::size_t to_slice = 0;
  std::size_t from_slice = 0;
  SourceRead read = SourceRead::usual;
};

// Which of the two families a function belongs to: cudaMemcpy, or cudaMemcpyAsync.
enum class CopyCall { synchronous, asynchronous };

// What copy() would refuse.
cudaError_t check_copy(Call& call, const Copy& copy);

cudaError_t copy(Call& call, const StreamPtr& stream, const Copy& copy, CopyCall family);

// Rows of `width` elements, each of which becomes the low bytes of `value`.
struct Fill {
  const char* function = "";
  void* to = nullptr;
  std::size_t pitch = 0;  // in bytes
  unsigned value = 0;
  std::size_t element_size = 1;  // 1, 2 or 4
  std::size_t width = 0;
  std::size_t height = 1;
  std::size_t depth = 1;
  std::size_t slice = 0;  // in bytes
};

// `wait_for_host` is set for cudaMemset, which returns only when pinned memory has been filled.
cudaError_t fill(Call& call, const StreamPtr& stream, const Fill& fill, bool wait_for_host);

}  // namespace culvert::sim::detail
