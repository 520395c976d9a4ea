// SPDX-License-Identifier: BSL-1.0
//
// Owned rows in device memory, each of which begins at an address that is good for the device.
#pragma once

#include <culvert/device_buffer.hpp>
#include <culvert/span_2d.hpp>

namespace culvert::inline CULVERT_ABI {

namespace detail {

// Bytes that rows in stream-ordered memory are a multiple of. cudaMallocPitch gives the same on an
// H200, and textures over rows ask for less (cudaDevAttrTexturePitchAlignment, 32 there).
inline constexpr std::size_t pitch_alignment = 512;

// The runtime's own function: nvcc adds an overload of this name.
inline constexpr cudaError_t (*malloc_pitch)(void**, std::size_t*, std::size_t,
                                             std::size_t) = cudaMallocPitch;

}  // namespace detail

// Owns `height()` rows of `width()` elements of T in device memory; their values are unspecified
// until written. Row `y` begins `y * pitch()` bytes after data(). Move-only. T is trivially copyable.
//
// With a home stream the memory is allocated and freed in the order of that stream, without one it
// is for long-lived data; all that DeviceBuffer says of both holds here too.
//
//   PitchedBuffer<float> image(1920, 1080, stream);
//   copy_2d(image, as_2d(host, 1920, 1080), stream);
template <class T>
class PitchedBuffer {
  static_assert(std::is_trivially_copyable_v<T>,
                "culvert moves bytes: T of a PitchedBuffer must be trivially copyable");
  static_assert(alignof(T) <= 256,
                "a PitchedBuffer is aligned to 256 bytes, as cudaMalloc promises");
  static_assert(!std::is_const_v<T>, "a PitchedBuffer of const elements could never be written");
  using Kind = detail::DeviceAllocation::Kind;

 public:
  using element_type = T;
  using value_type = T;

  // An empty buffer. Makes no call.
  PitchedBuffer() noexcept : allocation_({nullptr, nullptr, Kind::plain}) {}

  // `height` rows of `width` elements on the current device, without a stream
  // (cudaMallocPitch, which chooses the pitch). No elements make no call.
  // @throws OutOfMemory, and Error where the size overflows.
  PitchedBuffer(std::size_t width, std::size_t height,
                SourceLocation where = SourceLocation::current())
      : PitchedBuffer() {
    allocate_plain(width, height, DeviceChoice(), where);
  }

  // The same on a named device. The current device stays as it was.
  PitchedBuffer(std::size_t width, std::size_t height, Device device,
                SourceLocation where = SourceLocation::current())
      : PitchedBuffer() {
    allocate_plain(width, height, device, where);
  }

  // The same in the order of `home` (cudaMallocAsync). The pitch is the next multiple of 512 bytes.
  // Does not block the host. On a device without pools it falls back to cudaMalloc.
  PitchedBuffer(std::size_t width, std::size_t height, StreamRef home,
                SourceLocation where = SourceLocation::current())
      : PitchedBuffer() {
    const std::size_t pitch = aligned_pitch(width, height, where);
    const std::size_t bytes = width == 0 ? 0 : pitch * height;
    detail::DeviceAllocation allocation;
    const char* name = "";
    const cudaError_t status = detail::allocate_in_stream(allocation, bytes, home.get(), name);
    if (status != cudaSuccess) [[unlikely]] {
      detail::fail_allocation(where, name, status, bytes);
    }
    take(allocation, width, height, pitch);
  }

  // Allocates in stream order into `result`, which frees what it held, and returns the status: for
  // code where running out of memory is an answer. On failure `result` is empty and the runtime's
  // last error clear. A size that overflows is cudaErrorMemoryAllocation.
  [[nodiscard]] static cudaError_t try_allocate(PitchedBuffer& result, std::size_t width,
                                                std::size_t height, StreamRef home) noexcept {
    result = PitchedBuffer();
    std::size_t pitch = 0;
    if (!fits(width, height, pitch)) return cudaErrorMemoryAllocation;
    detail::DeviceAllocation allocation;
    const char* name = "";
    const cudaError_t status =
        detail::allocate_in_stream(allocation, width == 0 ? 0 : pitch * height, home.get(), name);
    if (status == cudaSuccess) result.take(allocation, width, height, pitch);
    return status;
  }

  PitchedBuffer(const PitchedBuffer&) = delete;             // std::move it, or pass a DeviceSpan2D
  PitchedBuffer& operator=(const PitchedBuffer&) = delete;  // std::move it, or pass a DeviceSpan2D
  PitchedBuffer(PitchedBuffer&& other) noexcept
      : allocation_(std::move(other.allocation_)), shape_(std::exchange(other.shape_, Shape())) {}
  PitchedBuffer& operator=(PitchedBuffer&& other) noexcept {
    const Shape shape = std::exchange(other.shape_, Shape());
    allocation_ = std::move(other.allocation_);
    shape_ = shape;
    return *this;
  }
  ~PitchedBuffer() = default;

  // The device pointer of the first row, for CUDA and kernels; null where the buffer is empty or
  // moved from.
  [[nodiscard]] T* data() const noexcept { return static_cast<T*>(allocation_.get().data); }
  // Elements in a row.
  [[nodiscard]] std::size_t width() const noexcept { return shape_.width; }
  // Rows.
  [[nodiscard]] std::size_t height() const noexcept { return shape_.height; }
  // Bytes from a row to the next.
  [[nodiscard]] std::size_t pitch() const noexcept { return shape_.pitch; }
  [[nodiscard]] bool empty() const noexcept { return shape_.width == 0 || shape_.height == 0; }

  // The whole buffer as a view. @throws Error where the buffer was moved from. A temporary buffer
  // has no views: they would outlive it.
  [[nodiscard]] DeviceSpan2D<T> span_2d(SourceLocation where = SourceLocation::current()) & {
    check(where);
    return DeviceSpan2D<T>(data(), width(), height(), pitch(), where);
  }
  [[nodiscard]] DeviceSpan2D<const T> span_2d(
      SourceLocation where = SourceLocation::current()) const& {
    check(where);
    return DeviceSpan2D<const T>(data(), width(), height(), pitch(), where);
  }

  // Row `y`. @throws Error where there is no such row.
  [[nodiscard]] DeviceSpan<T> row(std::size_t y,
                                  SourceLocation where = SourceLocation::current()) & {
    return span_2d(where).row(y, where);
  }
  [[nodiscard]] DeviceSpan<const T> row(std::size_t y,
                                        SourceLocation where = SourceLocation::current()) const& {
    return span_2d(where).row(y, where);
  }

  // `width` by `height` elements, from element `x` of row `y` on.
  // @throws Error where they are not all inside.
  [[nodiscard]] DeviceSpan2D<T> rect(std::size_t x, std::size_t y, std::size_t width,
                                     std::size_t height,
                                     SourceLocation where = SourceLocation::current()) & {
    return span_2d(where).rect(x, y, width, height, where);
  }
  [[nodiscard]] DeviceSpan2D<const T> rect(
      std::size_t x, std::size_t y, std::size_t width, std::size_t height,
      SourceLocation where = SourceLocation::current()) const& {
    return span_2d(where).rect(x, y, width, height, where);
  }
  // clang-format off
  void span_2d(SourceLocation = SourceLocation::current()) const&& = delete;           // a temporary: give the buffer a name
  void row(std::size_t, SourceLocation = SourceLocation::current()) const&& = delete;  // a temporary: give the buffer a name
  void rect(std::size_t, std::size_t, std::size_t, std::size_t, SourceLocation = SourceLocation::current()) const&& = delete;  // a temporary: give the buffer a name
  // clang-format on

  // Whether the buffer is freed in the order of a stream.
  [[nodiscard]] bool has_home() const noexcept { return allocation_.get().home != nullptr; }

  // The home stream. @throws Error where there is none.
  [[nodiscard]] StreamRef home(SourceLocation where = SourceLocation::current()) const {
    check(where);
    if (!has_home()) [[unlikely]] {
      detail::refuse(where, "culvert::PitchedBuffer",
                     "the buffer was allocated without a stream, so it has no home");
    }
    return StreamRef(allocation_.get().home, where);
  }

  // Moves the buffer to another home stream: `stream` waits, on the device, for what the old home
  // holds now, and the free follows `stream`. Does not block the host.
  // @throws Error where the buffer has no home stream.
  void rebind(StreamRef stream, SourceLocation where = SourceLocation::current()) {
    stream.wait(home(where), where);
    allocation_.address()->home = stream.get();
  }

  // Gives the memory, and the duty to free it, to the caller. The buffer is then moved from.
  [[nodiscard]] T* release() noexcept {
    shape_ = Shape();
    return static_cast<T*>(allocation_.release().data);
  }
  // Frees the memory now, in the order of the home stream. The buffer is then moved from.
  void reset() noexcept {
    shape_ = Shape();
    allocation_.reset();
  }

 private:
  struct Shape {
    std::size_t width = 0, height = 0, pitch = 0;
  };

  void take(const detail::DeviceAllocation& allocation, std::size_t width, std::size_t height,
            std::size_t pitch) noexcept {
    allocation_.reset(allocation);
    shape_ = {width, height, pitch};
  }

  // Whether rows of `width` elements fit an allocation, and then their pitch.
  [[nodiscard]] static bool fits(std::size_t width, std::size_t height,
                                 std::size_t& pitch) noexcept {
    constexpr std::size_t limit = static_cast<std::size_t>(PTRDIFF_MAX);
    if (width > (limit - detail::pitch_alignment) / sizeof(T)) return false;
    pitch = (width * sizeof(T) + detail::pitch_alignment - 1) / detail::pitch_alignment *
            detail::pitch_alignment;
    return height == 0 || pitch <= limit / height;
  }

  [[nodiscard]] static std::size_t aligned_pitch(std::size_t width, std::size_t height,
                                                 SourceLocation where) {
    std::size_t pitch = 0;
    if (!fits(width, height, pitch)) [[unlikely]] {
      detail::refuse(where, "culvert::PitchedBuffer", [=] {
        return "the size overflows: " + std::to_string(height) + " rows of " +
               std::to_string(width) + " elements of " + std::to_string(sizeof(T)) + " bytes";
      });
    }
    return pitch;
  }

  void allocate_plain(std::size_t width, std::size_t height, DeviceChoice device,
                      SourceLocation where) {
    std::size_t pitch = aligned_pitch(width, height, where);
    detail::DeviceAllocation allocation{nullptr, nullptr, Kind::plain};
    if (width != 0 && height != 0) {
      device.with(where, [&] {
        const cudaError_t status = detail::try_call(detail::malloc_pitch, &allocation.data, &pitch,
                                                    width * sizeof(T), height);
        if (status != cudaSuccess) [[unlikely]] {
          detail::fail_allocation(where, "cudaMallocPitch", status, width * sizeof(T) * height);
        }
      });
    }
    take(allocation, width, height, pitch);
  }

  void check(SourceLocation where) const {
    if (allocation_.get().kind == Kind::moved_from) [[unlikely]] {
      detail::refuse_empty_owner(where, "culvert::PitchedBuffer");
    }
  }

  detail::UniqueHandle<detail::DeviceAllocationTraits> allocation_;
  Shape shape_;
};

}  // namespace culvert::inline CULVERT_ABI
