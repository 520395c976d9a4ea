// SPDX-License-Identifier: BSL-1.0
//
// An owned array in pinned host memory, which copies to and from the device asynchronously.
#pragma once

#include <culvert/span.hpp>
#include <culvert/unique_handle.hpp>

#include <span>

namespace culvert::inline CULVERT_ABI {

// How pinned memory is allocated (cudaHostAlloc). Every member has a default.
struct PinnedOptions {
  bool portable = false;        // pinned for every context (cudaHostAllocPortable)
  bool mapped = false;          // has a device address: mapped_span() (cudaHostAllocMapped)
  bool write_combined = false;  // fast for the device to read, slow for the host to read
                                // (cudaHostAllocWriteCombined)
};

namespace detail {

struct PinnedTraits {
  using handle_type = void*;
  // Not null, which an empty buffer has.
  static handle_type invalid() noexcept { return reinterpret_cast<void*>(~std::uintptr_t{0}); }
  static bool is_invalid(handle_type data) noexcept { return data == nullptr || data == invalid(); }
  static void destroy(handle_type data) noexcept {
    call_in_destructor("cudaFreeHost", cudaFreeHost, data);
  }
};

// The runtime's own function: nvcc adds overloads of this name.
inline constexpr cudaError_t (*host_get_device_pointer)(void**, void*,
                                                        unsigned) = cudaHostGetDevicePointer;
inline constexpr cudaError_t (*host_alloc)(void**, std::size_t, unsigned) = cudaHostAlloc;

}  // namespace detail

// Owns `size()` elements of T in pinned host memory; their values are unspecified until
// written. A contiguous range, and converts to std::span. Move-only. T is trivially copyable.
//
// Copies between it and the device run while the host goes on. Do not touch, free or move
// from it before such a copy is complete *for the host*: an event or stream synchronized, or
// is_done() true. Allocation is slow, milliseconds for large blocks, so keep buffers. Freeing
// calls cudaFreeHost, of which no document promises that it waits.
//
//   PinnedBuffer<float> host(1024);
//   copy(host, device_buffer, stream);
//   stream.synchronize();
//   use(host[0]);
template <class T>
class PinnedBuffer {
  static_assert(std::is_trivially_copyable_v<T>,
                "culvert moves bytes: T of a PinnedBuffer must be trivially copyable");
  static_assert(alignof(T) <= 4096, "a PinnedBuffer is aligned to a page of 4096 bytes");
  static_assert(!std::is_const_v<T>, "a PinnedBuffer of const elements could never be written");

 public:
  using element_type = T;
  using value_type = T;
  using size_type = std::size_t;
  using iterator = T*;
  using const_iterator = const T*;

  // An empty buffer. Makes no call.
  PinnedBuffer() noexcept : data_(nullptr) {}

  // `size` elements. Blocks the host while the pages are pinned. Zero makes no call.
  // @throws OutOfMemory, and Error where `size * sizeof(T)` overflows.
  explicit PinnedBuffer(std::size_t size, SourceLocation where = SourceLocation::current())
      : PinnedBuffer(size, PinnedOptions{}, where) {}
  PinnedBuffer(std::size_t size, const PinnedOptions& options,
               SourceLocation where = SourceLocation::current())
      : PinnedBuffer() {
    const std::size_t bytes = detail::size_in_bytes<T>(size, where, "culvert::PinnedBuffer");
    const cudaError_t status = allocate(size, options);
    if (status != cudaSuccess) [[unlikely]] {
      detail::raise(status, "cudaHostAlloc", where, "for " + std::to_string(bytes) + " bytes");
    }
  }

  // Allocates into `result`, which frees what it held, and returns the status: for code where
  // running out of memory is an answer. On failure `result` is empty and the runtime's last
  // error clear. A size that overflows is cudaErrorMemoryAllocation.
  [[nodiscard]] static cudaError_t try_allocate(PinnedBuffer& result, std::size_t size,
                                                const PinnedOptions& options = {}) noexcept {
    result = PinnedBuffer();
    if (size > detail::max_elements<T>) return cudaErrorMemoryAllocation;
    return result.allocate(size, options);
  }

  PinnedBuffer(const PinnedBuffer&) = delete;             // std::move it, or pass a std::span
  PinnedBuffer& operator=(const PinnedBuffer&) = delete;  // std::move it, or pass a std::span
  PinnedBuffer(PinnedBuffer&& other) noexcept
      : data_(std::move(other.data_)), size_(std::exchange(other.size_, 0)) {}
  PinnedBuffer& operator=(PinnedBuffer&& other) noexcept {
    const std::size_t size = std::exchange(other.size_, 0);
    data_ = std::move(other.data_);
    size_ = size;
    return *this;
  }
  ~PinnedBuffer() = default;

  // Takes ownership of `size` elements at `data`, from cudaHostAlloc or cudaMallocHost.
  // @throws Error where `data` is null and `size` is not 0.
  [[nodiscard]] static PinnedBuffer from_handle(T* data, std::size_t size,
                                                SourceLocation where = SourceLocation::current()) {
    if (data == nullptr && size != 0) {
      detail::refuse(where, "culvert::PinnedBuffer::from_handle", "the pointer is null");
    }
    PinnedBuffer result;
    result.data_.reset(data);
    result.size_ = size;
    return result;
  }

  // The elements; null where the buffer is empty or moved from.
  [[nodiscard]] T* data() noexcept { return pointer(); }
  [[nodiscard]] const T* data() const noexcept { return pointer(); }
  // The number of elements.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t size_bytes() const noexcept { return size_ * sizeof(T); }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

  [[nodiscard]] T& operator[](std::size_t index) noexcept { return pointer()[index]; }
  [[nodiscard]] const T& operator[](std::size_t index) const noexcept { return pointer()[index]; }
  [[nodiscard]] T* begin() noexcept { return pointer(); }
  [[nodiscard]] T* end() noexcept { return pointer() + size_; }
  [[nodiscard]] const T* begin() const noexcept { return pointer(); }
  [[nodiscard]] const T* end() const noexcept { return pointer() + size_; }

  // The whole buffer as a view, to which it also converts as a range does. @throws Error where
  // the buffer was moved from. A temporary buffer has no views: they would outlive it.
  [[nodiscard]] std::span<T> host_span(SourceLocation where = SourceLocation::current()) & {
    check(where);
    return {pointer(), size_};
  }
  [[nodiscard]] std::span<const T> host_span(
      SourceLocation where = SourceLocation::current()) const& {
    check(where);
    return {pointer(), size_};
  }

  // `count` elements from element `offset` on, the first, or the last.
  // @throws Error where they are not all inside.
  [[nodiscard]] std::span<T> subspan(std::size_t offset, std::size_t count,
                                     SourceLocation where = SourceLocation::current()) & {
    check_part(offset, count, where);
    return {pointer() + offset, count};
  }
  [[nodiscard]] std::span<const T> subspan(
      std::size_t offset, std::size_t count,
      SourceLocation where = SourceLocation::current()) const& {
    check_part(offset, count, where);
    return {pointer() + offset, count};
  }
  [[nodiscard]] std::span<T> first(std::size_t count,
                                   SourceLocation where = SourceLocation::current()) & {
    return subspan(0, count, where);
  }
  [[nodiscard]] std::span<const T> first(std::size_t count,
                                         SourceLocation where = SourceLocation::current()) const& {
    return subspan(0, count, where);
  }
  [[nodiscard]] std::span<T> last(std::size_t count,
                                  SourceLocation where = SourceLocation::current()) & {
    return subspan(count > size_ ? size_ + 1 : size_ - count, count, where);
  }
  [[nodiscard]] std::span<const T> last(std::size_t count,
                                        SourceLocation where = SourceLocation::current()) const& {
    return subspan(count > size_ ? size_ + 1 : size_ - count, count, where);
  }
  // clang-format off
  void host_span(SourceLocation = SourceLocation::current()) const&& = delete;                          // a temporary: give the buffer a name
  void subspan(std::size_t, std::size_t, SourceLocation = SourceLocation::current()) const&& = delete;  // a temporary: give the buffer a name
  void first(std::size_t, SourceLocation = SourceLocation::current()) const&& = delete;                 // a temporary: give the buffer a name
  void last(std::size_t, SourceLocation = SourceLocation::current()) const&& = delete;                  // a temporary: give the buffer a name
  // clang-format on

  // The device's view of the same memory, for buffers allocated as mapped
  // (cudaHostGetDevicePointer).
  [[nodiscard]] DeviceSpan<T> mapped_span(SourceLocation where = SourceLocation::current()) & {
    check(where);
    void* device_data = nullptr;
    if (size_ != 0) {
      detail::call(where, "cudaHostGetDevicePointer", detail::host_get_device_pointer, &device_data,
                   static_cast<void*>(pointer()), 0u);
    }
    return DeviceSpan<T>(static_cast<T*>(device_data), size_, where);
  }

  // Gives the memory, and the duty to free it with cudaFreeHost, to the caller.
  [[nodiscard]] T* release() noexcept {
    T* const data = pointer();
    (void)data_.release();
    size_ = 0;
    return data;
  }
  // Frees the memory now. The buffer is then moved from.
  void reset() noexcept {
    size_ = 0;
    data_.reset();
  }

 private:
  [[nodiscard]] cudaError_t allocate(std::size_t size, const PinnedOptions& options) noexcept {
    void* data = nullptr;
    if (size != 0) {
      const unsigned flags = (options.portable ? cudaHostAllocPortable : 0u) |
                             (options.mapped ? cudaHostAllocMapped : 0u) |
                             (options.write_combined ? cudaHostAllocWriteCombined : 0u);
      const cudaError_t status =
          detail::try_call(detail::host_alloc, &data, size * sizeof(T), flags);
      if (status != cudaSuccess) return status;
    }
    data_.reset(data);
    size_ = size;
    return cudaSuccess;
  }

  T* pointer() const noexcept { return data_.owns() ? static_cast<T*>(data_.get()) : nullptr; }
  void check(SourceLocation where) const {
    if (data_.get() == detail::PinnedTraits::invalid()) [[unlikely]] {
      detail::refuse_empty_owner(where, "culvert::PinnedBuffer");
    }
  }
  void check_part(std::size_t offset, std::size_t count, SourceLocation where) const {
    check(where);
    detail::check_part(size_, offset, count, where, "culvert::PinnedBuffer::subspan");
  }

  detail::UniqueHandle<detail::PinnedTraits> data_;
  std::size_t size_ = 0;
};

}  // namespace culvert::inline CULVERT_ABI
