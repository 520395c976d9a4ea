// SPDX-License-Identifier: BSL-1.0
//
// Copies of rows and of layers of rows, in the order of a stream.
#pragma once

#include <culvert/copy.hpp>
#include <culvert/span_3d.hpp>

namespace culvert::inline CULVERT_ABI {

namespace detail {

// Anything that gives a Span2D: PitchedBuffer, DeviceSpan2D, HostSpan2D.
template <class X>
concept Rows = requires(X& x, SourceLocation where) {
  {x.span_2d(where)};
};

// Anything that gives a Span3D.
template <class X>
concept Layers = requires(X& x, SourceLocation where) {
  {x.span_3d(where)};
};

// Whether X can be one side of a copy of rows. Where it cannot, one assertion says why.
template <class X>
[[nodiscard]] consteval bool is_rows_side() {
  if constexpr (!Rows<X>) {
    static_assert(false_for<X>,
                  "copy_2d: a side has no rows: pass a PitchedBuffer, DeviceSpan2D or HostSpan2D; "
                  "as_2d(range, width, height) makes one of a buffer, span or vector");
  } else if constexpr (TemporaryOwner<X>) {
    static_assert(false_for<X>,
                  "copy_2d: a side is a temporary that would be gone before the copy runs: "
                  "give it a name, and keep it until the copy is complete");
  } else {
    return true;
  }
  return false;
}

template <class X>
[[nodiscard]] consteval bool is_layers_side() {
  if constexpr (!Layers<X>) {
    static_assert(false_for<X>,
                  "copy_3d: a side has no layers: pass a DeviceSpan3D or HostSpan3D; as_3d(range, "
                  "width, height, depth) makes one of a buffer, span or vector");
    return false;
  } else {
    return true;
  }
}

template <Side to, Side from>
inline constexpr cudaMemcpyKind kind_between =
    to == Side::device ? (from == Side::device ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice)
                       : (from == Side::device ? cudaMemcpyDeviceToHost : cudaMemcpyHostToHost);

template <class T, Side to_side, class U, Side from_side>
void copy_rows(Span2D<T, to_side> to, Span2D<U, from_side> from, StreamRef stream,
               SourceLocation where) {
  if (to.width() != from.width() || to.height() != from.height()) [[unlikely]] {
    refuse(where, "culvert::copy_2d", [=] {
      return "the destination is " + std::to_string(to.width()) + " by " +
             std::to_string(to.height()) + " elements, the source " + std::to_string(from.width()) +
             " by " + std::to_string(from.height());
    });
  }
  if (to.empty()) return;
  const auto again = [=] {
    return try_call(cudaMemcpy2DAsync, to.data(), to.pitch(), from.data(), from.pitch(),
                    to.width() * sizeof(T), to.height(), kind_between<to_side, from_side>,
                    stream.get());
  };
  const cudaError_t status = again();
  if (status != cudaSuccess) [[unlikely]] {
    retry_on_stream_device(where, "cudaMemcpy2DAsync", status, stream, again);
  }
}

template <class T, Side to_side, class U, Side from_side>
void copy_layers(Span3D<T, to_side> to, Span3D<U, from_side> from, StreamRef stream,
                 SourceLocation where) {
  if (to.width() != from.width() || to.height() != from.height() || to.depth() != from.depth())
      [[unlikely]] {
    refuse(where, "culvert::copy_3d", [=] {
      const auto text = [](const auto& view) {
        return std::to_string(view.width()) + " by " + std::to_string(view.height()) + " by " +
               std::to_string(view.depth());
      };
      return "the destination is " + text(to) + " elements, the source " + text(from);
    });
  }
  if (to.empty()) return;
  cudaMemcpy3DParms params{};
  params.dstPtr = {to.data(), to.pitch(), to.width() * sizeof(T), to.layer_rows()};
  params.srcPtr = {const_cast<std::remove_const_t<U>*>(from.data()), from.pitch(),
                   from.width() * sizeof(T), from.layer_rows()};
  params.extent = {to.width() * sizeof(T), to.height(), to.depth()};
  params.kind = kind_between<to_side, from_side>;
  const auto again = [&] { return try_call(cudaMemcpy3DAsync, &params, stream.get()); };
  const cudaError_t status = again();
  if (status != cudaSuccess) [[unlikely]] {
    retry_on_stream_device(where, "cudaMemcpy3DAsync", status, stream, again);
  }
}

struct Copy2D {
  template <class Destination, class Source>
  void operator()(Destination&& destination, Source&& source, StreamRef stream,
                  SourceLocation where = SourceLocation::current()) const {
    if constexpr (is_rows_side<Destination>() && is_rows_side<Source>()) {
      const auto to = destination.span_2d(where);
      const auto from = source.span_2d(where);
      if constexpr (is_copyable<typename decltype(to)::element_type,
                                typename decltype(from)::element_type>()) {
        copy_rows(to, from, stream, where);
      }
    }
  }
};

struct Copy3D {
  template <class Destination, class Source>
  void operator()(Destination&& destination, Source&& source, StreamRef stream,
                  SourceLocation where = SourceLocation::current()) const {
    if constexpr (is_layers_side<Destination>() && is_layers_side<Source>()) {
      const auto to = destination.span_3d(where);
      const auto from = source.span_3d(where);
      if constexpr (is_copyable<typename decltype(to)::element_type,
                                typename decltype(from)::element_type>()) {
        copy_layers(to, from, stream, where);
      }
    }
  }
};

}  // namespace detail

// copy_2d(destination, source, stream): copies all rows in the order of the stream
// (cudaMemcpy2DAsync). Each side is a PitchedBuffer, a DeviceSpan2D or a HostSpan2D, such as
// as_2d(host, width, height) or image.rect(x, y, width, height). Both have the same width and
// height, of the same trivially copyable type; their pitches may differ. The direction follows
// from the types. No elements make no call. When it blocks the host is as for copy.
//
// @throws Error where the extents differ or a buffer was moved from, before any CUDA call; and
// what CUDA answers.
inline constexpr detail::Copy2D copy_2d{};

// copy_3d(destination, source, stream): the same for layers of rows, DeviceSpan3D and HostSpan3D
// (cudaMemcpy3DAsync).
inline constexpr detail::Copy3D copy_3d{};

}  // namespace culvert::inline CULVERT_ABI
