// SPDX-License-Identifier: BSL-1.0
//
// Filling device memory with a value of any trivially copyable type, in the order of a stream.
#pragma once

#include <culvert/driver.hpp>
#include <culvert/stream.hpp>
#include <culvert/view.hpp>

#include <cstring>

namespace culvert::inline CULVERT_ABI {

namespace detail {

// A value of type V can fill elements of type T: it converts, and does not narrow.
template <class V, class T>
concept FillValue = std::is_same_v<std::remove_cvref_t<V>, T> ||
    (std::is_convertible_v<V, T> &&
     (std::is_aggregate_v<T> || requires(V && value) { T{static_cast<V&&>(value)}; }));

// Sets a run of `width` units of `unit` bytes in each of `rows` rows, `pitch` bytes apart.
inline void set_units(SourceLocation where, void* data, std::size_t unit,
                      const unsigned char* value, std::size_t width, std::size_t pitch,
                      std::size_t rows, cudaStream_t stream) {
  const auto address = reinterpret_cast<CUdeviceptr>(data);
  const bool one_row = rows == 1 || width * unit == pitch;
  if (unit == 4) {
    unsigned bits;
    std::memcpy(&bits, value, 4);
    if (one_row) {
      call_driver(where, "cuMemsetD32Async", driver_sets(where).set_32, address, bits, width * rows,
                  stream);
    } else {
      call_driver(where, "cuMemsetD2D32Async", driver_sets(where).set_2d_32, address, pitch, bits,
                  width, rows, stream);
    }
  } else if (unit == 2) {
    unsigned short bits;
    std::memcpy(&bits, value, 2);
    if (one_row) {
      call_driver(where, "cuMemsetD16Async", driver_sets(where).set_16, address, bits, width * rows,
                  stream);
    } else {
      call_driver(where, "cuMemsetD2D16Async", driver_sets(where).set_2d_16, address, pitch, bits,
                  width, rows, stream);
    }
  } else if (one_row) {
    call(where, "cudaMemsetAsync", cudaMemsetAsync, data, *value, width * rows, stream);
  } else {
    call_driver(where, "cuMemsetD2D8Async", driver_sets(where).set_2d_8, address, pitch, *value,
                width, rows, stream);
  }
}

// The driver's strided set is slow, so a pattern is set over this many bytes at most and then
// doubled by copies. Measured on an H200, 256 MiB of 8-byte values: 42 ms by strided sets
// alone, 0.16 ms so, 0.065 ms for cudaMemset.
inline constexpr std::size_t fill_block_bytes = std::size_t{64} * 1024;

// Fills `count` elements of `size` bytes with the bytes of one element, which are not all equal.
[[gnu::noinline]] inline void fill_pattern(SourceLocation where, void* data,
                                           const unsigned char* element, std::size_t size,
                                           std::size_t count, cudaStream_t stream) {
  const auto same = [&](std::size_t unit, std::size_t a, std::size_t b) {
    return std::memcmp(element + a * unit, element + b * unit, unit) == 0;
  };

  // The widest unit that the size and the address allow.
  const std::uintptr_t alignment = reinterpret_cast<std::uintptr_t>(data) | size;
  const std::size_t unit = alignment % 4 == 0 ? 4 : alignment % 2 == 0 ? 2 : 1;
  const std::size_t units = size / unit;

  // Runs of equal units, each set over the first rows. One run of all units needs no rows.
  std::size_t rows = count;
  for (std::size_t begin = 0; begin < units;) {
    std::size_t end = begin + 1;
    while (end < units && same(unit, end, begin)) ++end;
    const bool whole = end - begin == units;
    if (!whole && rows * size > fill_block_bytes) {
      rows = size < fill_block_bytes ? fill_block_bytes / size : 1;
    }
    set_units(where, static_cast<unsigned char*>(data) + begin * unit, unit, element + begin * unit,
              end - begin, size, rows, stream);
    begin = end;
  }

  for (std::size_t filled = rows; filled < count;) {
    const std::size_t more = filled < count - filled ? filled : count - filled;
    call(where, "cudaMemcpyAsync", cudaMemcpyAsync,
         static_cast<void*>(static_cast<unsigned char*>(data) + filled * size),
         static_cast<const void*>(data), more * size, cudaMemcpyDeviceToDevice, stream);
    filled += more;
  }
}

// Fills `count` elements of `size` bytes with the bytes of one element. Inline, since `size` is
// then known and one set is left where that is enough.
inline void fill_elements(SourceLocation where, void* data, const unsigned char* element,
                          std::size_t size, std::size_t count, cudaStream_t stream) {
  // All bytes are equal where each is as the next one; the last one mostly tells that they are not.
  if (element[0] == element[size - 1] && std::memcmp(element, element + 1, size - 1) == 0) {
    set_units(where, data, 1, element, size * count, size, 1, stream);
  } else if (size == 4 && reinterpret_cast<std::uintptr_t>(data) % 4 == 0) [[likely]] {
    set_units(where, data, 4, element, count, size, 1, stream);
  } else {
    fill_pattern(where, data, element, size, count, stream);
  }
}

// Whether X can be filled. Where it cannot, one assertion says why.
template <class X>
[[nodiscard]] consteval bool is_fill_destination() {
  if constexpr (!DeviceRange<X>) {
    static_assert(!std::is_same_v<X, X>,
                  "fill: the destination is not device memory (DeviceBuffer, DeviceSpan); for host "
                  "memory use std::fill or std::memset");
  } else if constexpr (TemporaryOwner<X>) {
    static_assert(!std::is_same_v<X, X>,
                  "fill: the destination is a temporary that nobody could read: give it a name");
  } else {
    using T =
        typename decltype(view_of(std::declval<X&>(), SourceLocation::none(), ""))::element_type;
    static_assert(!std::is_const_v<T>, "fill: the destination is const");
    return !std::is_const_v<T>;
  }
  return false;
}

// Padding has no value: it is cleared, where the compiler can, so that equal values are filled
// in the same way.
template <class T>
void clear_padding([[maybe_unused]] T& value) noexcept {
#if defined(__has_builtin)
#if __has_builtin(__builtin_clear_padding)
  if constexpr (!std::has_unique_object_representations_v<T>) __builtin_clear_padding(&value);
#endif
#endif
}

struct Fill {
  template <class Destination, class V>
  void operator()(Destination&& destination, const V& value, StreamRef stream,
                  SourceLocation where = SourceLocation::current()) const {
    if constexpr (is_fill_destination<Destination>()) {
      const auto to = view_of(destination, where, "culvert::fill");
      using T = typename decltype(to)::element_type;
      static_assert(FillValue<const V&, T>,
                    "fill: the value does not convert to the element type without narrowing: write "
                    "a value of that type, such as 1.0f for float; fill_bytes(x, 0, stream) zeroes "
                    "any type");
      if constexpr (FillValue<const V&, T>) {
        if (to.size == 0) return;
        T element = static_cast<T>(value);
        clear_padding(element);
        unsigned char bytes[sizeof(T)];
        std::memcpy(bytes, &element, sizeof(T));
        fill_elements(where, to.data, bytes, sizeof(T), to.size, stream.get());
      }
    }
  }
};

struct FillBytes {
  template <class Destination, class Byte>
  void operator()(Destination&& destination, Byte value, StreamRef stream,
                  SourceLocation where = SourceLocation::current()) const {
    static_assert(std::is_integral_v<Byte> || std::is_same_v<Byte, std::byte>,
                  "fill_bytes: the value is no byte: write an integer, 0 to 255, or a std::byte");
    if constexpr (is_fill_destination<Destination>()) {
      const auto to = view_of(destination, where, "culvert::fill_bytes");
      using T = typename decltype(to)::element_type;
      const auto wide = static_cast<long long>(value);
      if (wide < 0 || wide > 255) [[unlikely]] {
        refuse(where, "culvert::fill_bytes",
               "the value " + std::to_string(wide) + " is no byte, 0 to 255");
      }
      if (to.size == 0) return;
      call(where, "cudaMemsetAsync", cudaMemsetAsync, static_cast<void*>(to.data),
           static_cast<int>(wide), to.size * sizeof(T), stream.get());
    }
  }
};

}  // namespace detail

// fill(destination, value, stream): sets every element to the value, in the order of the
// stream. The destination is device memory; the value converts to its element type without
// narrowing. Does not block the host, and keeps nothing of the value. Zero elements make no
// call.
//
// Values of 1, 2 and 4 bytes, and larger ones made of one repeated 1, 2 or 4-byte pattern,
// are one set at memset speed. Others set a first block and double it by copies: 8 and
// 16-byte values at 256 MiB take 2.6 times a memset (measured on an H200). A large value costs
// one call for each run of equal 4-byte units in it.
//
// @throws Error where the buffer was moved from; and what CUDA answers.
inline constexpr detail::Fill fill{};

// fill_bytes(destination, value, stream): sets every byte to the value, 0 to 255
// (cudaMemsetAsync). Otherwise as fill.
// @throws Error where the value is outside 0 to 255 or the buffer was moved from.
inline constexpr detail::FillBytes fill_bytes{};

}  // namespace culvert::inline CULVERT_ABI
