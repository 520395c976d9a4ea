// SPDX-License-Identifier: BSL-1.0
//
// Copies between host and device memory, in the order of a stream.
#pragma once

#include <culvert/stream.hpp>
#include <culvert/view.hpp>

namespace culvert::inline CULVERT_ABI {

namespace detail {

template <class X>
inline constexpr bool false_for = false;

// Whether X can be one side of a copy. Where it cannot, one assertion says why.
template <class X>
[[nodiscard]] consteval bool is_copy_side() {
  using Plain = std::remove_cvref_t<X>;
  if constexpr (std::is_pointer_v<Plain>) {
    static_assert(false_for<X>,
                  "copy: a pointer does not tell its size: pass std::span(pointer, count) for host "
                  "memory, or DeviceSpan(pointer, count) for device memory");
  } else if constexpr (!DeviceRange<X> && !HostRange<X>) {
    static_assert(false_for<X>,
                  "copy: a side is neither device memory (DeviceBuffer, DeviceSpan) nor a "
                  "contiguous host range (PinnedBuffer, std::span, std::array, std::vector of "
                  "anything but bool)");
  } else if constexpr (TemporaryOwner<X>) {
    static_assert(false_for<X>,
                  "copy: a side is a temporary that would be gone before the copy runs: "
                  "give it a name, and keep it until the copy is complete");
  } else {
    return true;
  }
  return false;
}

// Whether a To can be copied from a From. Where it cannot, one assertion says why.
template <class To, class From>
[[nodiscard]] consteval bool is_copyable() {
  if constexpr (std::is_const_v<To>) {
    static_assert(false_for<To>, "copy: the destination is const; it comes first");
  } else if constexpr (!std::is_same_v<To, std::remove_const_t<From>>) {
    static_assert(false_for<To>,
                  "copy: the elements of source and destination differ in type: copy does not "
                  "convert (see as_bytes for bytes)");
  } else if constexpr (!std::is_trivially_copyable_v<To>) {
    static_assert(false_for<To>, "copy: the elements must be trivially copyable");
  } else {
    return true;
  }
  return false;
}

// cudaMemcpyAsync takes stream-ordered memory only where the current device can access it, and
// answers error 1 otherwise, whatever the stream's device (measured on two H200; cudaMemsetAsync
// is not so). So a copy that was refused is tried once more on the stream's device.
[[gnu::cold, gnu::noinline]] inline void copy_on_stream_device(SourceLocation where,
                                                               cudaError_t status, void* to,
                                                               const void* from, std::size_t bytes,
                                                               cudaMemcpyKind kind,
                                                               StreamRef stream) {
  if (status == cudaErrorInvalidValue) {
    const Device device = stream.device(where);
    if (device != Device::current(where)) {
      const DeviceGuard guard(device, where);
      status = try_call(cudaMemcpyAsync, to, from, bytes, kind, stream.get());
    }
  }
  if (status != cudaSuccess) raise(status, "cudaMemcpyAsync", where, {});
}

// What copy and copy_and_wait share. They are function objects, not function templates, since
// argument-dependent lookup would otherwise also find std::copy for a DeviceBuffer<std::byte>.
template <class Destination, class Source>
void enqueue_copy(Destination&& destination, Source&& source, StreamRef stream, const char* name,
                  SourceLocation where) {
  if constexpr (is_copy_side<Destination>() && is_copy_side<Source>()) {
    const auto to = view_of(destination, where, name);
    const auto from = view_of(source, where, name);
    using To = typename decltype(to)::element_type;
    using From = typename decltype(from)::element_type;
    if constexpr (is_copyable<To, From>()) {
      if (to.size != from.size) [[unlikely]] {
        refuse(where, name, [a = to.size, b = from.size] {
          return "the destination has " + std::to_string(a) + " elements, the source " +
                 std::to_string(b);
        });
      }
      if (to.size == 0) return;
      constexpr cudaMemcpyKind kind =
          DeviceRange<Destination>
              ? (DeviceRange<Source> ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice)
              : (DeviceRange<Source> ? cudaMemcpyDeviceToHost : cudaMemcpyHostToHost);
      const std::size_t bytes = to.size * sizeof(To);
      const cudaError_t status =
          try_call(cudaMemcpyAsync, to.data, from.data, bytes, kind, stream.get());
      if (status != cudaSuccess) [[unlikely]] {
        copy_on_stream_device(where, status, to.data, from.data, bytes, kind, stream);
      }
    }
  }
}

struct Copy {
  template <class Destination, class Source>
  void operator()(Destination&& destination, Source&& source, StreamRef stream,
                  SourceLocation where = SourceLocation::current()) const {
    enqueue_copy(static_cast<Destination&&>(destination), static_cast<Source&&>(source), stream,
                 "culvert::copy", where);
  }
};

struct CopyAndWait {
  template <class Destination, class Source>
  void operator()(Destination&& destination, Source&& source, StreamRef stream,
                  SourceLocation where = SourceLocation::current()) const {
    enqueue_copy(static_cast<Destination&&>(destination), static_cast<Source&&>(source), stream,
                 "culvert::copy_and_wait", where);
    stream.synchronize(where);
  }
};

}  // namespace detail

// copy(destination, source, stream): copies all elements in the order of the stream
// (cudaMemcpyAsync). The direction follows from the types: DeviceBuffer and DeviceSpan are
// device memory; PinnedBuffer, std::span, std::vector, std::array and other
// contiguous ranges are host memory. Both have the same number of elements, of the same
// trivially copyable type. Zero elements make no call.
//
// Does not block the host where the host memory is pinned. With pageable memory CUDA may
// block: to pageable memory the copy is complete on return, from pageable memory it has at
// least been read (CUDA Runtime API, "API synchronization behavior"). Rely on neither:
// keep both sides until the stream has passed the copy.
//
// The current device need not be the stream's. Between stream-ordered memory of two devices CUDA
// refuses the copy (error 1); memory without a stream (DeviceBuffer(n, device)) copies freely.
//
// @throws Error where the sizes differ, memory is null, or a buffer was moved from, before
// any CUDA call; and what CUDA answers.
inline constexpr detail::Copy copy{};

// copy_and_wait(destination, source, stream): copy, then stream.synchronize(). Blocks the
// host until the stream's work, the copy included, is complete.
inline constexpr detail::CopyAndWait copy_and_wait{};

}  // namespace culvert::inline CULVERT_ABI
