// SPDX-License-Identifier: BSL-1.0
#include "sim/transfer.hpp"

#include <cstring>
#include <limits>
#include <vector>

namespace culvert::sim::detail {
namespace {

enum class Memory { device, pinned, pageable };

// A range as the simulation reaches it.
struct Place {
  Memory memory = Memory::pageable;
  BlockPtr block;  // null for pageable memory
  std::byte* bytes = nullptr;
  std::size_t offset = 0;
  std::size_t size = 0;

  bool on_host() const { return memory != Memory::device; }
};

struct Rows {
  std::byte* bytes = nullptr;
  std::size_t pitch = 0;
};

// The bytes from the first to the last of all rows. False if they are too many to count.
bool extent(std::size_t pitch, std::size_t width, std::size_t height, std::size_t& bytes) {
  if (pitch != 0 && height - 1 > (std::numeric_limits<std::size_t>::max() - width) / pitch) {
    return false;
  }
  bytes = (height - 1) * pitch + width;
  return true;
}

// Finds out what kind of memory it is. False if the range is not inside one usable allocation.
bool find_place(Process& process, const void* pointer, std::size_t size, Place& place) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  place.size = size;
  if (process.memory.contains(address)) {
    place.memory = Memory::device;
    place.block = process.memory.find(address);
  } else {
    place.block = process.host.find(address);
    if (!place.block) {
      // The program's own memory: it is used during the call or copied, never later.
      place.bytes = const_cast<std::byte*>(static_cast<const std::byte*>(pointer));
      return pointer != nullptr;
    }
    place.memory = Memory::pinned;
  }
  if (!place.block || place.block->free_requested) return false;
  place.offset = address - place.block->address;
  place.bytes = place.block->bytes + place.offset;
  return size <= place.block->size - place.offset;
}

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
         place.block->device == call.thread.device;
}

void add_touch(Op& op, const Place& place) {
  if (place.block) op.touches.push_back({place.block, place.offset, place.size});
}

void copy_rows(const Rows& to, const Rows& from, std::size_t width, std::size_t height) {
  // Ranges that overlap are the caller's error on a GPU; here they are at least defined.
  for (std::size_t row = 0; row < height; ++row) {
    std::memmove(to.bytes + row * to.pitch, from.bytes + row * from.pitch, width);
  }
}

// Whether the call returns only when the copy is done.
bool waits(CopyCall family, const Place& to, const Place& from) {
  if (to.on_host() && from.on_host()) return true;
  if (to.memory == Memory::pageable) return true;
  if (family == CopyCall::asynchronous) return false;
  // cudaMemcpy: device to device never waits, and pageable memory is staged.
  if (!to.on_host() && !from.on_host()) return false;
  return from.memory != Memory::pageable;
}

}  // namespace

cudaError_t copy(Call& call, const StreamPtr& stream, const Copy& copy, CopyCall family) {
  const int kind = static_cast<int>(copy.kind);
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) {
    return cudaErrorInvalidMemcpyDirection;
  }
  if (copy.width == 0 || copy.height == 0) return cudaSuccess;
  std::size_t to_size = 0;
  std::size_t from_size = 0;
  Place to;
  Place from;
  if (!extent(copy.to_pitch, copy.width, copy.height, to_size) ||
      !extent(copy.from_pitch, copy.width, copy.height, from_size) ||
      !find_place(call.process, copy.to, to_size, to) ||
      !find_place(call.process, copy.from, from_size, from) || !kind_fits(copy.kind, to, from) ||
      !is_accessible(call, to) || !is_accessible(call, from)) {
    return cudaErrorInvalidValue;
  }

  const Rows target{to.bytes, copy.to_pitch};
  Rows source{from.bytes, copy.from_pitch};
  std::vector<std::byte> staged;
  const bool staging = from.memory == Memory::pageable && !to.on_host();
  if (staging) {
    // CUDA synchronizes the stream before such a copy and reads the source during the call.
    if (family == CopyCall::synchronous) {
      const Ops before = call.process.device_of(*stream).streams.tails(*stream);
      const cudaError_t failure = call.wait(before, stream->device);
      if (failure != cudaSuccess) return failure;
    }
    staged.resize(copy.width * copy.height);
    copy_rows({staged.data(), copy.width}, source, copy.width, copy.height);
  }

  const OpPtr op = make_op(OpKind::copy, copy.function);
  op->duration_ns = duration_of_bytes(copy.width * copy.height);
  add_touch(*op, to);
  add_touch(*op, from);
  op->action = [target, source, width = copy.width, height = copy.height, staging,
                staged = std::move(staged)]() mutable {
    if (staging) source = {staged.data(), width};
    copy_rows(target, source, width, height);
  };
  call.process.enqueue(call.lock, stream, op);
  if (!waits(family, to, from)) return call.process.failure(stream->device);
  return call.wait({op}, stream->device);
}

cudaError_t fill(Call& call, const StreamPtr& stream, const Fill& fill, bool wait_for_host) {
  if (fill.width == 0 || fill.height == 0) return cudaSuccess;
  const std::size_t limit = std::numeric_limits<std::size_t>::max() / fill.element_size;
  if (fill.width > limit) return cudaErrorInvalidValue;
  const std::size_t row_bytes = fill.width * fill.element_size;
  const bool aligned = reinterpret_cast<std::uintptr_t>(fill.to) % fill.element_size == 0 &&
                       (fill.height == 1 || fill.pitch % fill.element_size == 0);
  std::size_t size = 0;
  Place to;
  if (!aligned || (fill.height > 1 && fill.pitch < row_bytes) ||
      !extent(fill.pitch, row_bytes, fill.height, size) ||
      !find_place(call.process, fill.to, size, to) || to.memory == Memory::pageable) {
    return cudaErrorInvalidValue;
  }

  const OpPtr op = make_op(OpKind::fill, fill.function);
  op->duration_ns = duration_of_bytes(row_bytes * fill.height);
  add_touch(*op, to);
  op->action = [bytes = to.bytes, fill, row_bytes] {
    for (std::size_t row = 0; row < fill.height; ++row) {
      std::byte* const begin = bytes + row * fill.pitch;
      if (fill.element_size == 1) {
        std::memset(begin, static_cast<unsigned char>(fill.value), row_bytes);
        continue;
      }
      // The low bytes come first, as on every machine that CUDA runs on.
      for (std::size_t at = 0; at < row_bytes; at += fill.element_size) {
        std::memcpy(begin + at, &fill.value, fill.element_size);
      }
    }
  };
  call.process.enqueue(call.lock, stream, op);
  if (!wait_for_host || !to.on_host()) return call.process.failure(stream->device);
  return call.wait({op}, stream->device);
}

}  // namespace culvert::sim::detail
