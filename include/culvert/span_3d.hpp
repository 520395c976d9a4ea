// SPDX-License-Identifier: BSL-1.0
//
// Views of layers of rows, in device or in host memory.
#pragma once

#include <culvert/span_2d.hpp>

namespace culvert::inline CULVERT_ABI {

namespace detail {

// `depth()` layers of `height()` rows: DeviceSpan3D, HostSpan3D. All rows of all layers are
// `pitch()` bytes apart; a layer begins `layer_rows()` rows after the one before. Owns nothing.
template <class T, Side side>
class Span3D {
 public:
  using element_type = T;
  using value_type = std::remove_cv_t<T>;
  using layer_type = Span2D<T, side>;

  constexpr Span3D() noexcept = default;

  // Rows and layers without gaps. @throws as Span2D.
  Span3D(T* data, std::size_t width, std::size_t height, std::size_t depth,
         SourceLocation where = SourceLocation::current())
      : Span3D(data, width, height, depth, dense_pitch<T>(width, where, name), height, where) {}

  // @throws Error also where a layer has more rows than `layer_rows`.
  Span3D(T* data, std::size_t width, std::size_t height, std::size_t depth, std::size_t pitch,
         std::size_t layer_rows, SourceLocation where = SourceLocation::current())
      : data_(data),
        width_(width),
        height_(height),
        depth_(depth),
        pitch_(pitch),
        layer_rows_(layer_rows) {
    if (layer_rows < height) [[unlikely]] {
      refuse(where, name, [=] {
        return "layers " + std::to_string(layer_rows) + " rows apart cannot have " +
               std::to_string(height) + " rows";
      });
    }
    if (depth != 0 && layer_rows > static_cast<std::size_t>(PTRDIFF_MAX) / depth) [[unlikely]] {
      refuse(where, name, [=] {
        return "the size overflows: " + std::to_string(depth) + " layers of " +
               std::to_string(layer_rows) + " rows";
      });
    }
    check_rows<T>(data, width, layer_rows * depth, pitch, where, name);
  }

  // The rows of a 2D view as layers of `height` rows each.
  // @throws Error where that leaves rows over.
  Span3D(Span2D<T, side> rows, std::size_t height, SourceLocation where = SourceLocation::current())
      : Span3D(rows.data(), rows.width(), height, layers_of(rows.height(), height, where),
               rows.pitch(), height, where) {}

  template <class U>
  requires(std::is_same_v<T, const U>) constexpr Span3D(Span3D<U, side> other) noexcept
      : data_(other.data()),
        width_(other.width()),
        height_(other.height()),
        depth_(other.depth()),
        pitch_(other.pitch()),
        layer_rows_(other.layer_rows()) {}

  [[nodiscard]] constexpr T* data() const noexcept { return data_; }
  // Elements in a row, rows in a layer, layers.
  [[nodiscard]] constexpr std::size_t width() const noexcept { return width_; }
  [[nodiscard]] constexpr std::size_t height() const noexcept { return height_; }
  [[nodiscard]] constexpr std::size_t depth() const noexcept { return depth_; }
  // Bytes from a row to the next, rows from a layer to the next.
  [[nodiscard]] constexpr std::size_t pitch() const noexcept { return pitch_; }
  [[nodiscard]] constexpr std::size_t layer_rows() const noexcept { return layer_rows_; }
  [[nodiscard]] constexpr bool empty() const noexcept {
    return width_ == 0 || height_ == 0 || depth_ == 0;
  }

  // Layer `z`. @throws Error where there is no such layer.
  [[nodiscard]] layer_type layer(std::size_t z,
                                 SourceLocation where = SourceLocation::current()) const {
    check_part(depth_, z, 1, where, "culvert::Span3D::layer");
    return layer_type(empty() ? data_ : advance_bytes(data_, z * layer_rows_ * pitch_), width_,
                      height_, pitch_, where);
  }

  // `width` by `height` by `depth` elements, from element `x` of row `y` of layer `z` on.
  // @throws Error where they are not all inside.
  [[nodiscard]] Span3D box(std::size_t x, std::size_t y, std::size_t z, std::size_t width,
                           std::size_t height, std::size_t depth,
                           SourceLocation where = SourceLocation::current()) const {
    check_part(width_, x, width, where, "culvert::Span3D::box (in a row)");
    check_part(height_, y, height, where, "culvert::Span3D::box (of rows)");
    check_part(depth_, z, depth, where, "culvert::Span3D::box (of layers)");
    Span3D result = *this;
    if (data_ != nullptr && x < width_ && y < height_ && z < depth_) {
      result.data_ = advance_bytes(data_, (z * layer_rows_ + y) * pitch_) + x;
    }
    result.width_ = width;
    result.height_ = height;
    result.depth_ = depth;
    return result;
  }

  [[nodiscard]] Span3D span_3d(SourceLocation = SourceLocation::current()) const noexcept {
    return *this;
  }

 private:
  static constexpr const char* name =
      side == Side::device ? "culvert::DeviceSpan3D" : "culvert::HostSpan3D";

  static std::size_t layers_of(std::size_t rows, std::size_t height, SourceLocation where) {
    if (height == 0 ? rows != 0 : rows % height != 0) [[unlikely]] {
      refuse(where, name, [=] {
        return std::to_string(rows) + " rows are no whole layers of " + std::to_string(height) +
               " rows";
      });
    }
    return height == 0 ? 0 : rows / height;
  }

  T* data_ = nullptr;
  std::size_t width_ = 0, height_ = 0, depth_ = 0, pitch_ = 0, layer_rows_ = 0;
};

template <class T, Side side>
inline constexpr bool is_borrowed<Span3D<T, side>> = true;

struct As3D {
  template <class X>
  requires(DeviceRange<X> || HostRange<X>) [[nodiscard]] auto operator()(
      X&& range, std::size_t width, std::size_t height, std::size_t depth,
      SourceLocation where = SourceLocation::current()) const {
    static_assert(!TemporaryOwner<X>, "as_3d: the range is a temporary: give it a name");
    using T = typename decltype(view_of(range, where, ""))::element_type;
    const std::size_t rows = product<T>(height, depth, where, "culvert::as_3d");
    const std::size_t count = product<T>(width, rows, where, "culvert::as_3d");
    const auto view = exact_view_of(range, count, where, "culvert::as_3d");
    return Span3D<T, side_of<X>>(view.data, width, height, depth, where);
  }
};

}  // namespace detail

// Views of layers of rows.
template <class T>
using DeviceSpan3D = detail::Span3D<T, detail::Side::device>;
template <class T>
using HostSpan3D = detail::Span3D<T, detail::Side::host>;

// as_3d(range, width, height, depth): the elements of a range, as as_2d takes them, as layers of
// rows without gaps. @throws Error where the range has not exactly width * height * depth elements.
// Makes no CUDA call.
inline constexpr detail::As3D as_3d{};

}  // namespace culvert::inline CULVERT_ABI
