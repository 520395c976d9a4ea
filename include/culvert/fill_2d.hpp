// SPDX-License-Identifier: BSL-1.0
//
// Filling rows of device memory with a value, in the order of a stream.
#pragma once

#include <culvert/copy_2d.hpp>
#include <culvert/fill.hpp>

namespace culvert::inline CULVERT_ABI {

namespace detail {

// Fills rows with the bytes of one element of T. What no set of CUDA can do in one call is made in
// the first row, and doubled by copies of rows.
template <class T>
void fill_rows(SourceLocation where, DeviceSpan2D<T> rows, const unsigned char* element,
               StreamRef stream) {
  constexpr std::size_t size = sizeof(T);
  const std::uintptr_t alignment = reinterpret_cast<std::uintptr_t>(rows.data()) | rows.pitch();
  if (std::memcmp(element, element + 1, size - 1) == 0) {
    set_units(where, rows.data(), 1, element, rows.width() * size, rows.pitch(), rows.height(),
              stream.get());
  } else if ((size == 2 || size == 4) && alignment % size == 0) {
    set_units(where, rows.data(), size, element, rows.width(), rows.pitch(), rows.height(),
              stream.get());
  } else {
    fill_elements(where, rows.data(), element, size, rows.width(), stream.get());
    for (std::size_t filled = 1; filled < rows.height();) {
      const std::size_t left = rows.height() - filled;
      const std::size_t more = filled < left ? filled : left;
      copy_rows(rows.rows(filled, more, where), rows.rows(0, more, where), stream, where);
      filled += more;
    }
  }
}

struct Fill2D {
  template <class Destination, class V>
  void operator()(Destination&& destination, const V& value, StreamRef stream,
                  SourceLocation where = SourceLocation::current()) const {
    if constexpr (!Rows<Destination>) {
      static_assert(false_for<Destination>,
                    "fill_2d: the destination has no rows: pass a PitchedBuffer or DeviceSpan2D");
    } else {
      static_assert(!TemporaryOwner<Destination>,
                    "fill_2d: the destination is a temporary that nobody could read: give it a "
                    "name");
      const auto to = destination.span_2d(where);
      using T = typename decltype(to)::element_type;
      if constexpr (!std::is_same_v<std::remove_const_t<decltype(to)>, DeviceSpan2D<T>>) {
        static_assert(
            false_for<Destination>,
            "fill_2d: the destination is not device memory; for host memory use std::fill");
      } else if constexpr (std::is_const_v<T>) {
        static_assert(false_for<Destination>, "fill_2d: the destination is const");
      } else {
        static_assert(FillValue<const V&, T>,
                      "fill_2d: the value does not convert to the element type without narrowing: "
                      "write a value of that type, such as 1.0f for float");
        if constexpr (FillValue<const V&, T>) {
          if (to.empty()) return;
          T element = static_cast<T>(value);
          clear_padding(element);
          unsigned char bytes[sizeof(T)];
          std::memcpy(bytes, &element, sizeof(T));
          fill_rows(where, to, bytes, stream);
        }
      }
    }
  }
};

}  // namespace detail

// fill_2d(destination, value, stream): sets every element of a PitchedBuffer or DeviceSpan2D to the
// value, in the order of the stream, and leaves the bytes between the rows alone. The value
// converts to the element type without narrowing. Does not block the host. Values whose bytes are
// all equal, and those of 2 and 4 bytes that are aligned, take one call (cudaMemsetAsync or one of
// the driver's cuMemset functions); others fill one row and double it by copies.
//
// @throws Error where the buffer was moved from, and what CUDA answers.
inline constexpr detail::Fill2D fill_2d{};

}  // namespace culvert::inline CULVERT_ABI
