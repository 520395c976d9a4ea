// SPDX-License-Identifier: BSL-1.0
//
// Copies between host and device memory, in the order of a stream.
#pragma once

#include <culvert/stream.hpp>
#include <culvert/view.hpp>

namespace culvert::inline CULVERT_ABI {

namespace detail {

// What copy and copy_and_wait share. A function object, not a function template, since
// argument-dependent lookup would otherwise also find std::copy for a DeviceBuffer<std::byte>.
template <class Destination, class Source>
void enqueue_copy(Destination&& destination, Source&& source, StreamRef stream, const char* name,
                  SourceLocation where) {
  static_assert(DeviceRange<Destination> || HostRange<Destination>,
                "copy: the destination is neither device memory (DeviceBuffer, DeviceSpan) nor a "
                "contiguous host range (PinnedBuffer, std::span, std::vector, std::array)");
  static_assert(DeviceRange<Source> || HostRange<Source>,
                "copy: the source is neither device memory (DeviceBuffer, DeviceSpan) nor a "
                "contiguous host range (PinnedBuffer, std::span, std::vector, std::array)");
  static_assert(!TemporaryOwner<Destination>,
                "copy: the destination is a temporary that would be gone before the copy runs: "
                "give it a name, and keep it until the copy is complete");
  static_assert(!TemporaryOwner<Source>,
                "copy: the source is a temporary that would be gone before the copy runs: "
                "give it a name, and keep it until the copy is complete");
  const auto to = view_of(destination, where, name);
  const auto from = view_of(source, where, name);
  using To = typename decltype(to)::element_type;
  using From = typename decltype(from)::element_type;
  static_assert(!std::is_const_v<To>, "copy: the destination is const; it comes first");
  static_assert(std::is_same_v<To, std::remove_const_t<From>>,
                "copy: the elements of source and destination differ in type: copy does not "
                "convert (see as_bytes for bytes)");
  static_assert(std::is_trivially_copyable_v<To>, "copy: the elements must be trivially copyable");
  if (to.size != from.size) [[unlikely]] {
    refuse(where, name,
           "the destination has " + std::to_string(to.size) + " elements, the source " +
               std::to_string(from.size));
  }
  if (to.size == 0) return;
  constexpr cudaMemcpyKind kind =
      DeviceRange<Destination>
          ? (DeviceRange<Source> ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice)
          : (DeviceRange<Source> ? cudaMemcpyDeviceToHost : cudaMemcpyHostToHost);
  call(where, "cudaMemcpyAsync", cudaMemcpyAsync, static_cast<void*>(to.data),
       static_cast<const void*>(from.data), to.size * sizeof(To), kind, stream.get());
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
// device memory, of any device; PinnedBuffer, std::span, std::vector, std::array and other
// contiguous ranges are host memory. Both have the same number of elements, of the same
// trivially copyable type. Zero elements make no call.
//
// Does not block the host where the host memory is pinned. With pageable memory CUDA may
// block: to pageable memory the copy is complete on return, from pageable memory it has at
// least been read (CUDA Runtime API, "API synchronization behavior"). Rely on neither:
// keep both sides until the stream has passed the copy.
//
// @throws Error where the sizes differ, memory is null, or a buffer was moved from, before
// any CUDA call; and what CUDA answers.
inline constexpr detail::Copy copy{};

// copy_and_wait(destination, source, stream): copy, then stream.synchronize(). Blocks the
// host until the stream's work, the copy included, is complete.
inline constexpr detail::CopyAndWait copy_and_wait{};

}  // namespace culvert::inline CULVERT_ABI
