// SPDX-License-Identifier: BSL-1.0
#include "sim/transfer.hpp"

#include <cstring>
#include <limits>
#include <vector>

#include "sim/memory_words.hpp"
#include "sim/node_params.hpp"
#include "sim/place.hpp"
#include "sim/report.hpp"

namespace culvert::sim::detail {
namespace {

struct Rows {
  std::byte* bytes = nullptr;
  Layout layout;
};

// As measured on an H200: only for pageable memory must the kind tell the truth. Pinned and device
// memory pass as either side.
bool kind_fits(cudaMemcpyKind kind, const Place& to, const Place& from) {
  if (kind == cudaMemcpyDefault) return true;
  const bool from_host = kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice;
  const bool to_host = kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost;
  return (from.memory != Memory::pageable || from_host) &&
         (to.memory != Memory::pageable || to_host);
}

// As measured on two H200: a copy takes memory of a pool only where the current device can access
// it, whatever the stream's device. A fill is not so.
bool is_accessible(const Call& call, const Place& place) {
  return place.memory != Memory::device || !place.block->pool ||
         place.block->pool->is_accessible(call.thread.device);
}

void add_touch(Work& work, const Place& place) {
  if (place.block) work.touches.push_back({place.block, place.offset, place.size});
}

Engine engine_of(const Place& to, const Place& from) {
  if (to.on_host()) return from.on_host() ? Engine::host : Engine::to_host;
  return from.on_host() ? Engine::to_device : Engine::on_device;
}

void copy_rows(const Rows& to, const Rows& from, const Box& box) {
  // Ranges that overlap are the caller's error on a GPU; here they are at least defined.
  for (std::size_t layer = 0; layer < box.depth; ++layer) {
    for (std::size_t row = 0; row < box.height; ++row) {
      std::memmove(to.bytes + layer * to.layout.slice + row * to.layout.pitch,
                   from.bytes + layer * from.layout.slice + row * from.layout.pitch, box.width);
    }
  }
}

// As nodes of a graph tell them.
cudaMemcpy3DParms params_of(const Copy& copy) {
  const auto rows_of = [&](std::size_t slice, std::size_t pitch) {
    return copy.depth > 1 && pitch != 0 ? slice / pitch : copy.height;
  };
  cudaMemcpy3DParms params{};
  params.srcPtr = {const_cast<void*>(copy.from), copy.from_pitch, copy.width,
                   rows_of(copy.from_slice, copy.from_pitch)};
  params.dstPtr = {copy.to, copy.to_pitch, copy.width, rows_of(copy.to_slice, copy.to_pitch)};
  params.extent = {copy.width, copy.height, copy.depth};
  params.kind = copy.kind;
  return params;
}

cudaMemsetParams params_of(const Fill& fill) {
  return {fill.to,    fill.pitch, fill.value, static_cast<unsigned>(fill.element_size),
          fill.width, fill.height};
}

// Whether pageable memory is treated as pinned memory is.
bool is_late(const Process& process, CopyCall family) {
  return family == CopyCall::asynchronous && process.config.late_pageable_copies;
}

// Whether the call returns only when the copy is done.
bool waits(CopyCall family, bool late, const Place& to, const Place& from) {
  if (to.on_host() && from.on_host()) return true;
  if (to.memory == Memory::pageable) return !late;
  if (family == CopyCall::asynchronous) return false;
  // Managed memory may be on the host.
  if (to.memory == Memory::managed || from.memory == Memory::managed) return true;
  // cudaMemcpy: device to device never waits, and pageable memory is staged.
  if (!to.on_host() && !from.on_host()) return false;
  return from.memory != Memory::pageable;
}

bool is_staged(SourceRead read, bool late, const Place& to, const Place& from) {
  switch (read) {
    case SourceRead::usual:
      return !late && from.memory == Memory::pageable && !to.on_host();
    case SourceRead::in_order:
      return false;
    case SourceRead::at_call:
      return from.memory != Memory::device;
  }
  return false;
}

Box box_of(const Copy& copy) { return {copy.width, copy.height, copy.depth}; }

void report_copy(const Call& call, const Copy& copy, std::size_t to_size, std::size_t from_size,
                 const char* why) {
  report("%s: the destination is %s; the source is %s%s", copy.function,
         describe_range(call.process, copy.to, to_size).c_str(),
         describe_range(call.process, copy.from, from_size).c_str(), why);
}

// Finds out where the bytes are, and tells why it cannot be.
cudaError_t find_places(const Call& call, const Copy& copy, Place& to, Place& from) {
  std::size_t to_size = 0;
  std::size_t from_size = 0;
  if (!extent({copy.to_pitch, copy.to_slice}, box_of(copy), to_size) ||
      !extent({copy.from_pitch, copy.from_slice}, box_of(copy), from_size)) {
    return cudaErrorInvalidValue;
  }
  const bool to_found = find_place(call.process, copy.to, to_size, to);
  const bool from_found = find_place(call.process, copy.from, from_size, from);
  const char* why = nullptr;
  if (!to_found || !from_found) {
    why = "";
  } else if (!kind_fits(copy.kind, to, from)) {
    why = "; the kind of copy does not fit";
  } else if (!is_accessible(call, to) || !is_accessible(call, from)) {
    // No line: a program may try and make another device the current one.
    return cudaErrorInvalidValue;
  }
  if (why == nullptr) return cudaSuccess;
  report_copy(call, copy, to_size, from_size, why);
  return cudaErrorInvalidValue;
}

void fill_row(std::byte* begin, std::size_t bytes, const Fill& fill) {
  if (fill.element_size == 1) {
    std::memset(begin, static_cast<unsigned char>(fill.value), bytes);
    return;
  }
  // The low bytes come first, as on every machine that CUDA runs on.
  for (std::size_t at = 0; at < bytes; at += fill.element_size) {
    std::memcpy(begin + at, &fill.value, fill.element_size);
  }
}

cudaError_t check_kind(const Copy& copy) {
  const int kind = static_cast<int>(copy.kind);
  const bool known = kind >= cudaMemcpyHostToHost && kind <= cudaMemcpyDefault;
  return known ? cudaSuccess : cudaErrorInvalidMemcpyDirection;
}

}  // namespace

cudaError_t check_copy(Call& call, const Copy& copy) {
  if (box_of(copy).empty()) return cudaSuccess;
  const cudaError_t wrong = check_kind(copy);
  if (wrong != cudaSuccess) return wrong;
  Place to;
  Place from;
  return find_places(call, copy, to, from);
}

cudaError_t copy(Call& call, const StreamPtr& stream, const Copy& copy, CopyCall family) {
  const Box box = box_of(copy);
  if (box.empty()) return cudaSuccess;
  const cudaError_t wrong = check_kind(copy);
  if (wrong != cudaSuccess) return wrong;
  if (family == CopyCall::synchronous) {
    const cudaError_t refused = check_capture(call.process, *stream, InCapture::refused);
    if (refused != cudaSuccess) return refused;
  }
  Place to;
  Place from;
  const cudaError_t misplaced = find_places(call, copy, to, from);
  if (misplaced != cudaSuccess) return misplaced;

  const Rows target{to.bytes, {copy.to_pitch, copy.to_slice}};
  const Rows source{from.bytes, {copy.from_pitch, copy.from_slice}};
  const Layout dense{box.width, box.width * box.height};
  std::vector<std::byte> staged;
  const bool late = is_late(call.process, family);
  // A node reads its source when it runs.
  const bool staging = !stream->recorder && is_staged(copy.read, late, to, from);
  if (staging) {
    // CUDA synchronizes the stream before such a copy and reads the source during the call.
    if (family == CopyCall::synchronous) {
      const Ops before = call.process.device_of(*stream).streams.tails(*stream);
      const cudaError_t failure = call.wait(before, stream->device);
      if (failure != cudaSuccess) return failure;
    }
    staged.resize(box.width * box.height * box.depth);
    copy_rows({staged.data(), dense}, source, box);
  }

  const bool on_device = !to.on_host() && !from.on_host();
  const std::size_t moved = box.width * box.height * box.depth * (on_device ? 2 : 1);
  Work work{.kind = OpKind::copy,
            .name = copy.function,
            .cost = {.engine = engine_of(to, from), .bytes = moved}};
  add_touch(work, to);
  if (!staging) add_touch(work, from);
  work.action = [target, source, dense, box, staging, staged = std::move(staged)]() mutable {
    copy_rows(target, staging ? Rows{staged.data(), dense} : source, box);
  };
  if (stream->recorder) work.params = node_params(params_of(copy));
  const OpPtr op = call.process.enqueue(call.lock, stream, std::move(work));
  if (!op || !waits(family, late, to, from)) return call.process.failure(stream->device);
  return call.wait({op}, stream->device);
}

cudaError_t fill(Call& call, const StreamPtr& stream, const Fill& fill, bool wait_for_host) {
  if (wait_for_host) {
    const cudaError_t refused = check_capture(call.process, *stream, InCapture::refused);
    if (refused != cudaSuccess) return refused;
  }
  if (fill.width == 0 || fill.height == 0 || fill.depth == 0) return cudaSuccess;
  const std::size_t limit = std::numeric_limits<std::size_t>::max() / fill.element_size;
  if (fill.width > limit) return cudaErrorInvalidValue;
  const std::size_t row_bytes = fill.width * fill.element_size;
  const bool aligned = reinterpret_cast<std::uintptr_t>(fill.to) % fill.element_size == 0 &&
                       (fill.height == 1 || fill.pitch % fill.element_size == 0);
  const Box box{row_bytes, fill.height, fill.depth};
  std::size_t size = 0;
  Place to;
  if (!aligned || (fill.height > 1 && fill.pitch < row_bytes) ||
      !extent({fill.pitch, fill.slice}, box, size)) {
    return cudaErrorInvalidValue;
  }
  const bool fits = find_place(call.process, fill.to, size, to) && to.memory != Memory::pageable;
  if (!fits) {
    report("%s: the destination is %s", fill.function,
           describe_range(call.process, fill.to, size).c_str());
    // A capture takes it all the same, as measured on an H200.
    if (!stream->capture) return cudaErrorInvalidValue;
  }

  Work work{.kind = OpKind::fill,
            .name = fill.function,
            .cost = {.engine = Engine::on_device, .bytes = row_bytes * fill.height * fill.depth}};
  work.invalid = !fits;
  if (fits) add_touch(work, to);
  work.action = [bytes = to.bytes, fill, row_bytes] {
    for (std::size_t layer = 0; layer < fill.depth; ++layer) {
      for (std::size_t row = 0; row < fill.height; ++row) {
        fill_row(bytes + layer * fill.slice + row * fill.pitch, row_bytes, fill);
      }
    }
  };
  // A node's parameters have no depth.
  if (stream->recorder && fill.depth == 1) work.params = node_params(params_of(fill));
  const OpPtr op = call.process.enqueue(call.lock, stream, std::move(work));
  if (!wait_for_host || !to.on_host()) return call.process.failure(stream->device);
  return call.wait({op}, stream->device);
}

}  // namespace culvert::sim::detail
