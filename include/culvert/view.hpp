// SPDX-License-Identifier: BSL-1.0
//
// How the verbs see their arguments: as views of device or of host memory. One place decides
// what copy and fill take, and says so where they refuse.
#pragma once

#include <culvert/span.hpp>

#include <span>

namespace culvert::inline CULVERT_ABI::detail {

// Device memory: anything that gives a DeviceSpan.
template <class X>
concept DeviceRange = requires(X& x, SourceLocation where) {
  {x.device_span(where)};
  typename std::remove_reference_t<X>::element_type;
};

// Host memory: arrays, std::array, std::vector, std::span, PinnedBuffer and other contiguous
// ranges.
template <class X>
concept HostRange = !DeviceRange<X> && requires(X & x) {
  {std::data(x)};
  {std::size(x)};
  requires std::is_pointer_v<decltype(std::data(x))>;
};

// Views that may be temporaries, since they do not own their elements.
template <class X>
inline constexpr bool is_borrowed = std::ranges::enable_borrowed_range<X>;
template <class T>
inline constexpr bool is_borrowed<DeviceSpan<T>> = true;

// A temporary that owns its elements. They would be gone before the stream gets to them.
template <class X>
concept TemporaryOwner = !std::is_lvalue_reference_v<X> && !is_borrowed<std::remove_cv_t<X>>;

// Pointer, element count, and on which side the memory is.
template <class T>
struct View {
  using element_type = T;
  T* data;
  std::size_t size;
};

template <DeviceRange X>
[[nodiscard]] auto view_of(X& x, SourceLocation where, const char*) {
  const auto span = x.device_span(where);
  return View<typename decltype(span)::element_type>{span.data(), span.size()};
}

template <HostRange X>
[[nodiscard]] auto view_of(X& x, SourceLocation where, const char* operation) {
  if constexpr (requires { x.host_span(where); }) (void)x.host_span(where);  // not moved from
  using T = std::remove_pointer_t<decltype(std::data(x))>;
  const View<T> view{std::data(x), static_cast<std::size_t>(std::size(x))};
  if (view.data == nullptr && view.size != 0) [[unlikely]] {
    refuse(where, operation, [size = view.size] {
      return "a null host pointer with " + std::to_string(size) + " elements";
    });
  }
  return view;
}

}  // namespace culvert::inline CULVERT_ABI::detail
