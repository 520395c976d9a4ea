// SPDX-License-Identifier: BSL-1.0
//
// Views of rows, in device or in host memory.
#pragma once

#include <culvert/view.hpp>

namespace culvert::inline CULVERT_ABI {

namespace detail {

enum class Side { device, host };

// A row, by the side that it is on.
template <class T, Side side>
struct RowOf {
  using type = DeviceSpan<T>;
};
template <class T>
struct RowOf<T, Side::host> {
  using type = std::span<T>;
};

// The pitch in bytes of rows that follow each other without a gap.
template <class T>
[[nodiscard]] std::size_t dense_pitch(std::size_t width, SourceLocation where,
                                      const char* operation) {
  return size_in_bytes<T>(width, where, operation);
}

// Refuses rows that no memory can hold, or that overlap.
template <class T>
void check_rows(const void* data, std::size_t width, std::size_t rows, std::size_t pitch,
                SourceLocation where, const char* operation) {
  const std::size_t row = size_in_bytes<T>(width, where, operation);
  if (pitch < row) [[unlikely]] {
    refuse(where, operation, [=] {
      return "a pitch of " + std::to_string(pitch) + " bytes is less than a row of " +
             std::to_string(row) + " bytes";
    });
  }
  if (pitch % alignof(T) != 0) [[unlikely]] {
    refuse(where, operation, [=] {
      return "a pitch of " + std::to_string(pitch) + " bytes does not keep elements aligned to " +
             std::to_string(alignof(T)) + " bytes";
    });
  }
  if (rows != 0 && pitch > static_cast<std::size_t>(PTRDIFF_MAX) / rows) [[unlikely]] {
    refuse(where, operation, [=] {
      return "the size overflows: " + std::to_string(rows) + " rows of " + std::to_string(pitch) +
             " bytes";
    });
  }
  if (data == nullptr && width != 0 && rows != 0) [[unlikely]] {
    refuse(where, operation, [=] {
      return "a null pointer with " + std::to_string(rows) + " rows of " + std::to_string(width) +
             " elements";
    });
  }
}

template <class T>
[[nodiscard]] constexpr T* advance_bytes(T* data, std::size_t bytes) noexcept {
  using Byte = std::conditional_t<std::is_const_v<T>, const unsigned char, unsigned char>;
  return reinterpret_cast<T*>(reinterpret_cast<Byte*>(data) + bytes);
}

// `height()` rows of `width()` elements of T, `pitch()` bytes apart: DeviceSpan2D, HostSpan2D.
// Owns nothing. T may be const.
template <class T, Side side>
class Span2D {
  static_assert(std::is_trivially_copyable_v<T>,
                "culvert moves bytes: T must be trivially copyable");

 public:
  using element_type = T;
  using value_type = std::remove_cv_t<T>;
  using row_type = typename RowOf<T, side>::type;

  // A view of nothing.
  constexpr Span2D() noexcept = default;

  // Rows without gaps. @throws Error where `data` is null and there are elements, or the size
  // overflows.
  Span2D(T* data, std::size_t width, std::size_t height,
         SourceLocation where = SourceLocation::current())
      : Span2D(data, width, height, dense_pitch<T>(width, where, name), where) {}

  // Rows whose first elements are `pitch` bytes apart. @throws Error also where the pitch is less
  // than a row, or breaks the alignment of T.
  Span2D(T* data, std::size_t width, std::size_t height, std::size_t pitch,
         SourceLocation where = SourceLocation::current())
      : data_(data), width_(width), height_(height), pitch_(pitch) {
    check_rows<T>(data, width, height, pitch, where, name);
  }

  // A view for reading.
  template <class U>
  requires(std::is_same_v<T, const U>) constexpr Span2D(Span2D<U, side> other) noexcept
      : data_(other.data()),
        width_(other.width()),
        height_(other.height()),
        pitch_(other.pitch()) {}

  // The first element of the first row.
  [[nodiscard]] constexpr T* data() const noexcept { return data_; }
  // Elements in a row.
  [[nodiscard]] constexpr std::size_t width() const noexcept { return width_; }
  // Rows.
  [[nodiscard]] constexpr std::size_t height() const noexcept { return height_; }
  // Bytes from a row to the next.
  [[nodiscard]] constexpr std::size_t pitch() const noexcept { return pitch_; }
  [[nodiscard]] constexpr bool empty() const noexcept { return width_ == 0 || height_ == 0; }
  // Whether the rows follow each other without a gap.
  [[nodiscard]] constexpr bool is_dense() const noexcept {
    return height_ <= 1 || pitch_ == width_ * sizeof(T);
  }

  // Row `y`: a DeviceSpan, or a std::span. @throws Error where there is no such row.
  [[nodiscard]] row_type row(std::size_t y,
                             SourceLocation where = SourceLocation::current()) const {
    check_part(height_, y, 1, where, "culvert::Span2D::row");
    T* const begin = width_ == 0 ? nullptr : advance_bytes(data_, y * pitch_);
    if constexpr (side == Side::device) {
      return row_type(begin, width_, where);
    } else {
      return row_type(begin, width_);
    }
  }

  // `width` by `height` elements, from element `x` of row `y` on.
  // @throws Error where they are not all inside.
  [[nodiscard]] Span2D rect(std::size_t x, std::size_t y, std::size_t width, std::size_t height,
                            SourceLocation where = SourceLocation::current()) const {
    check_part(width_, x, width, where, "culvert::Span2D::rect (in a row)");
    check_part(height_, y, height, where, "culvert::Span2D::rect (of rows)");
    Span2D result = *this;
    if (data_ != nullptr && x < width_ && y < height_) {
      result.data_ = advance_bytes(data_, y * pitch_) + x;
    }
    result.width_ = width;
    result.height_ = height;
    return result;
  }
  // `count` whole rows from row `y` on.
  [[nodiscard]] Span2D rows(std::size_t y, std::size_t count,
                            SourceLocation where = SourceLocation::current()) const {
    return rect(0, y, width_, count, where);
  }

  // Element `x` of row `y`, on the host. Not checked.
  [[nodiscard]] T& operator()(std::size_t x, std::size_t y) const noexcept
      requires(side == Side::host) {
    return advance_bytes(data_, y * pitch_)[x];
  }

  // This view itself: what the verbs ask of anything that has rows.
  [[nodiscard]] Span2D span_2d(SourceLocation = SourceLocation::current()) const noexcept {
    return *this;
  }

 private:
  static constexpr const char* name =
      side == Side::device ? "culvert::DeviceSpan2D" : "culvert::HostSpan2D";

  T* data_ = nullptr;
  std::size_t width_ = 0, height_ = 0, pitch_ = 0;
};

}  // namespace detail

// Views of rows: width in elements, height in rows, pitch in bytes.
template <class T>
using DeviceSpan2D = detail::Span2D<T, detail::Side::device>;
template <class T>
using HostSpan2D = detail::Span2D<T, detail::Side::host>;

namespace detail {

// Views own nothing, so they may be temporaries.
template <class T, Side side>
inline constexpr bool is_borrowed<Span2D<T, side>> = true;

template <class X>
inline constexpr Side side_of = DeviceRange<X> ? Side::device : Side::host;

// The elements of a range that has `count` of them.
template <class X>
[[nodiscard]] auto exact_view_of(X& range, std::size_t count, SourceLocation where,
                                 const char* operation) {
  const auto view = view_of(range, where, operation);
  if (view.size != count) [[unlikely]] {
    refuse(where, operation, [=, size = view.size] {
      return "the range has " + std::to_string(size) + " elements, the view " +
             std::to_string(count);
    });
  }
  return view;
}

// The product of two counts of T. Refuses one that does not fit an allocation.
template <class T>
[[nodiscard]] std::size_t product(std::size_t a, std::size_t b, SourceLocation where,
                                  const char* operation) {
  if (b != 0 && a > max_elements<T> / b) [[unlikely]] {
    refuse(where, operation, [=] {
      return "the size overflows: " + std::to_string(a) + " by " + std::to_string(b) + " elements";
    });
  }
  return a * b;
}

struct As2D {
  template <class X>
  requires(DeviceRange<X> || HostRange<X>) [[nodiscard]] auto operator()(
      X&& range, std::size_t width, std::size_t height,
      SourceLocation where = SourceLocation::current()) const {
    static_assert(!TemporaryOwner<X>, "as_2d: the range is a temporary: give it a name");
    using T = typename decltype(view_of(range, where, ""))::element_type;
    const std::size_t count = product<T>(width, height, where, "culvert::as_2d");
    const auto view = exact_view_of(range, count, where, "culvert::as_2d");
    return Span2D<T, side_of<X>>(view.data, width, height, where);
  }
};

}  // namespace detail

// as_2d(range, width, height): the elements of a DeviceBuffer, DeviceSpan, PinnedBuffer, vector or
// other contiguous range as rows without gaps. @throws Error where the range has not exactly
// width * height elements. Makes no CUDA call.
inline constexpr detail::As2D as_2d{};

}  // namespace culvert::inline CULVERT_ABI
