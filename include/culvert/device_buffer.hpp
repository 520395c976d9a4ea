// SPDX-License-Identifier: BSL-1.0
//
// An owned array in device memory.
#pragma once

#include <culvert/memory_pool.hpp>
#include <culvert/span.hpp>
#include <culvert/stream.hpp>

namespace culvert::inline CULVERT_ABI {

namespace detail {

// A block of device memory and how it goes back.
struct DeviceAllocation {
  enum class Kind : unsigned char {
    moved_from,      // owns nothing, and must not be used
    stream_ordered,  // cudaFreeAsync on the home stream
    plain,           // cudaFree
  };
  void* data;
  cudaStream_t home;  // null where there is none
  Kind kind;
};

struct DeviceAllocationTraits {
  using handle_type = DeviceAllocation;
  using Kind = DeviceAllocation::Kind;
  static handle_type invalid() noexcept { return {nullptr, nullptr, Kind::moved_from}; }
  static bool is_invalid(const handle_type& allocation) noexcept {
    return allocation.data == nullptr;
  }
  static void destroy(const handle_type& allocation) noexcept {
    if (allocation.kind == Kind::plain) {
      call_in_destructor("cudaFree", cudaFree, allocation.data);
      return;
    }
    call_in_destructor("cudaFreeAsync", free_on_home, allocation.data, allocation.home);
  }

 private:
  static cudaError_t free_on_home(void* data, cudaStream_t home) noexcept {
    const cudaError_t status = try_call(cudaFreeAsync, data, home);
    if (status != cudaErrorNotSupported) return status;
    // A device without pools. Nothing promises that cudaFree waits for work in streams.
    call_in_destructor("cudaStreamSynchronize", cudaStreamSynchronize, home);
    call_in_destructor("cudaFree", cudaFree, data);
    return cudaSuccess;
  }
};

// The runtime's own functions: nvcc adds overloads of these names.
inline constexpr cudaError_t (*malloc_plain)(void**, std::size_t) = cudaMalloc;
inline constexpr cudaError_t (*malloc_async)(void**, std::size_t, cudaStream_t) = cudaMallocAsync;
inline constexpr cudaError_t (*malloc_from_pool)(void**, std::size_t, cudaMemPool_t,
                                                 cudaStream_t) = cudaMallocFromPoolAsync;

// Allocates plainly on the device of `home`, which has no pools.
[[nodiscard, gnu::cold, gnu::noinline]] inline cudaError_t allocate_without_pools(
    void** data, std::size_t bytes, [[maybe_unused]] cudaStream_t home) noexcept {
  int current = 0;
  cudaError_t status = try_call(cudaGetDevice, &current);
  int device = current;
#if CUDART_VERSION >= 12080
  if (status == cudaSuccess) status = try_call(cudaStreamGetDevice, home, &device);
#endif
  if (status == cudaSuccess && device != current) status = try_call(cudaSetDevice, device);
  if (status == cudaSuccess) status = try_call(malloc_plain, data, bytes);
  if (device != current) call_in_destructor("cudaSetDevice", cudaSetDevice, current);
  return status;
}

// Allocates in stream order, or plainly on a device without pools. Zero bytes make no call.
// `name` is the function that answered.
[[nodiscard]] inline cudaError_t allocate_in_stream(DeviceAllocation& result, std::size_t bytes,
                                                    cudaStream_t home, const char*& name) noexcept {
  result = {nullptr, home, DeviceAllocation::Kind::stream_ordered};
  name = "cudaMallocAsync";
  if (bytes == 0) return cudaSuccess;
  cudaError_t status = try_call(malloc_async, &result.data, bytes, home);
  if (status == cudaErrorNotSupported) [[unlikely]] {
    name = "cudaMalloc";
    status = allocate_without_pools(&result.data, bytes, home);
  }
  if (status != cudaSuccess) result.data = nullptr;
  return status;
}

[[noreturn, gnu::cold, gnu::noinline]] inline void fail_allocation(SourceLocation where,
                                                                   const char* name,
                                                                   cudaError_t status,
                                                                   std::size_t bytes) {
  fail(where, name, status, "for " + std::to_string(bytes) + " bytes");
}

}  // namespace detail

// Owns `size()` elements of T in device memory; their values are unspecified until written.
// Move-only. T is trivially copyable.
//
// With a home stream the memory is allocated and freed in the order of that stream, which
// must outlive the buffer: work in other streams must be ordered before the free, with
// home().wait(other). Destroying the buffer does not block the host. Declare the stream
// before the buffer.
//
// A default stream as home means, at the end of the buffer too, that of the current device
// (StreamRef::legacy()) or of the calling thread (StreamRef::per_thread()): end such a buffer
// there. A Stream is the better home.
//
// Without a stream the memory is for long-lived data: usable in every stream at once, and
// freed with cudaFree. Complete the work that uses it first.
//
//   Stream stream;
//   DeviceBuffer<float> x(1024, stream);
template <class T>
class DeviceBuffer {
  static_assert(std::is_trivially_copyable_v<T>,
                "culvert moves bytes: T of a DeviceBuffer must be trivially copyable");
  static_assert(alignof(T) <= 256,
                "a DeviceBuffer is aligned to 256 bytes, as cudaMalloc promises");
  static_assert(!std::is_const_v<T>, "a DeviceBuffer of const elements could never be written");
  using Kind = detail::DeviceAllocation::Kind;

 public:
  using element_type = T;
  using value_type = T;
  using size_type = std::size_t;

  // An empty buffer. Makes no call.
  DeviceBuffer() noexcept : allocation_({nullptr, nullptr, Kind::plain}) {}

  // `size` elements on the current device, without a stream (cudaMalloc). Zero makes no call.
  // @throws OutOfMemory, and Error where `size * sizeof(T)` overflows.
  explicit DeviceBuffer(std::size_t size, SourceLocation where = SourceLocation::current())
      : DeviceBuffer() {
    allocate_plain(size, DeviceChoice(), where);
  }

  // The same on a named device. The current device stays as it was.
  DeviceBuffer(std::size_t size, Device device, SourceLocation where = SourceLocation::current())
      : DeviceBuffer() {
    allocate_plain(size, device, where);
  }

  // `size` elements allocated in the order of `home`, from the current pool of its device
  // (cudaMallocAsync). Usable in other streams once they wait for `home`. Does not block the
  // host. On a device without pools it falls back to cudaMalloc. Zero makes no call.
  // @throws OutOfMemory, and Error where `size * sizeof(T)` overflows.
  DeviceBuffer(std::size_t size, StreamRef home, SourceLocation where = SourceLocation::current())
      : allocation_({nullptr, home.get(), Kind::stream_ordered}), size_(size) {
    const std::size_t bytes = detail::size_in_bytes<T>(size, where, "culvert::DeviceBuffer");
    const char* name = "";
    const cudaError_t status =
        detail::allocate_in_stream(*allocation_.address(), bytes, home.get(), name);
    if (status != cudaSuccess) [[unlikely]] {
      detail::fail_allocation(where, name, status, bytes);
    }
  }

  // The same from a given pool (cudaMallocFromPoolAsync).
  DeviceBuffer(std::size_t size, StreamRef home, MemoryPoolRef pool,
               SourceLocation where = SourceLocation::current())
      : DeviceBuffer() {
    const std::size_t bytes = detail::size_in_bytes<T>(size, where, "culvert::DeviceBuffer");
    detail::DeviceAllocation allocation{nullptr, home.get(), Kind::stream_ordered};
    if (bytes != 0) {
      const cudaError_t status = detail::try_call(detail::malloc_from_pool, &allocation.data, bytes,
                                                  pool.get(), home.get());
      if (status != cudaSuccess) [[unlikely]] {
        detail::fail_allocation(where, "cudaMallocFromPoolAsync", status, bytes);
      }
    }
    take(allocation, size);
  }

  // Allocates in stream order into `result`, which frees what it held, and returns the
  // status: for code where running out of memory is an answer. On failure `result` is empty
  // and the runtime's last error clear. A size that overflows is cudaErrorMemoryAllocation.
  [[nodiscard]] static cudaError_t try_allocate(DeviceBuffer& result, std::size_t size,
                                                StreamRef home) noexcept {
    result = DeviceBuffer();
    if (size > detail::max_elements<T>) return cudaErrorMemoryAllocation;
    detail::DeviceAllocation allocation;
    const char* name = "";
    const cudaError_t status =
        detail::allocate_in_stream(allocation, size * sizeof(T), home.get(), name);
    if (status == cudaSuccess) result.take(allocation, size);
    return status;
  }

  DeviceBuffer(const DeviceBuffer&) = delete;             // std::move it, or pass a DeviceSpan
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;  // std::move it, or pass a DeviceSpan
  DeviceBuffer(DeviceBuffer&& other) noexcept
      : allocation_(std::move(other.allocation_)), size_(std::exchange(other.size_, 0)) {}
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    const std::size_t size = std::exchange(other.size_, 0);
    allocation_ = std::move(other.allocation_);
    size_ = size;
    return *this;
  }
  ~DeviceBuffer() = default;

  // Takes ownership of `size` elements at `data`, from cudaMalloc, freed with cudaFree.
  // @throws Error where `data` is null and `size` is not 0.
  [[nodiscard]] static DeviceBuffer from_handle(T* data, std::size_t size,
                                                SourceLocation where = SourceLocation::current()) {
    return adopt({data, nullptr, Kind::plain}, size, where);
  }
  // Takes ownership of memory from cudaMallocAsync, freed in the order of `home`.
  [[nodiscard]] static DeviceBuffer from_handle(T* data, std::size_t size, StreamRef home,
                                                SourceLocation where = SourceLocation::current()) {
    return adopt({data, home.get(), Kind::stream_ordered}, size, where);
  }

  // The device pointer, for CUDA and kernels; null where the buffer is empty or moved from.
  [[nodiscard]] T* data() const noexcept { return static_cast<T*>(allocation_.get().data); }
  // The number of elements.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t size_bytes() const noexcept { return size_ * sizeof(T); }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

  // The whole buffer as a view, to which it also converts. @throws Error where the buffer was
  // moved from. A temporary buffer has no views: they would outlive it.
  [[nodiscard]] DeviceSpan<T> device_span(SourceLocation where = SourceLocation::current()) & {
    check(where);
    return DeviceSpan<T>(data(), size_, where);
  }
  [[nodiscard]] DeviceSpan<const T> device_span(
      SourceLocation where = SourceLocation::current()) const& {
    check(where);
    return DeviceSpan<const T>(data(), size_, where);
  }
  // clang-format off
  void device_span(SourceLocation = SourceLocation::current()) const&& = delete;  // a temporary: give the buffer a name
  // clang-format on

  // `count` elements from element `offset` on, the first, or the last.
  // @throws Error where they are not all inside.
  [[nodiscard]] DeviceSpan<T> subspan(std::size_t offset, std::size_t count,
                                      SourceLocation where = SourceLocation::current()) & {
    return device_span(where).subspan(offset, count, where);
  }
  [[nodiscard]] DeviceSpan<const T> subspan(
      std::size_t offset, std::size_t count,
      SourceLocation where = SourceLocation::current()) const& {
    return device_span(where).subspan(offset, count, where);
  }
  [[nodiscard]] DeviceSpan<T> first(std::size_t count,
                                    SourceLocation where = SourceLocation::current()) & {
    return device_span(where).first(count, where);
  }
  [[nodiscard]] DeviceSpan<const T> first(std::size_t count,
                                          SourceLocation where = SourceLocation::current()) const& {
    return device_span(where).first(count, where);
  }
  [[nodiscard]] DeviceSpan<T> last(std::size_t count,
                                   SourceLocation where = SourceLocation::current()) & {
    return device_span(where).last(count, where);
  }
  [[nodiscard]] DeviceSpan<const T> last(std::size_t count,
                                         SourceLocation where = SourceLocation::current()) const& {
    return device_span(where).last(count, where);
  }
  // clang-format off
  void subspan(std::size_t, std::size_t, SourceLocation = SourceLocation::current()) const&& = delete;  // a temporary: give the buffer a name
  void first(std::size_t, SourceLocation = SourceLocation::current()) const&& = delete;                 // a temporary: give the buffer a name
  void last(std::size_t, SourceLocation = SourceLocation::current()) const&& = delete;                  // a temporary: give the buffer a name
  // clang-format on

  // Whether the buffer is freed in the order of a stream.
  [[nodiscard]] bool has_home() const noexcept { return allocation_.get().home != nullptr; }

  // The home stream. @throws Error where there is none.
  [[nodiscard]] StreamRef home(SourceLocation where = SourceLocation::current()) const {
    check_home(where);
    return StreamRef(allocation_.get().home, where);
  }

  // Moves the buffer to another home stream: `stream` waits, on the device, for what the old
  // home holds now, and the free follows `stream`. Does not block the host.
  // @throws Error where the buffer has no home stream.
  void rebind(StreamRef stream, SourceLocation where = SourceLocation::current()) {
    check_home(where);
    stream.wait(StreamRef(allocation_.get().home, where), where);
    allocation_.address()->home = stream.get();
  }

  // Gives the memory, and the duty to free it, to the caller. The buffer is then moved from.
  [[nodiscard]] T* release() noexcept {
    size_ = 0;
    return static_cast<T*>(allocation_.release().data);
  }
  // Frees the memory now, in the order of the home stream. The buffer is then moved from.
  void reset() noexcept {
    size_ = 0;
    allocation_.reset();
  }

 private:
  void take(const detail::DeviceAllocation& allocation, std::size_t size) noexcept {
    allocation_.reset(allocation);
    size_ = size;
  }

  void allocate_plain(std::size_t size, DeviceChoice device, SourceLocation where) {
    const std::size_t bytes = detail::size_in_bytes<T>(size, where, "culvert::DeviceBuffer");
    detail::DeviceAllocation allocation{nullptr, nullptr, Kind::plain};
    if (bytes != 0) {
      device.with(where, [&] {
        const cudaError_t status = detail::try_call(detail::malloc_plain, &allocation.data, bytes);
        if (status != cudaSuccess) [[unlikely]] {
          detail::fail_allocation(where, "cudaMalloc", status, bytes);
        }
      });
    }
    take(allocation, size);
  }

  static DeviceBuffer adopt(const detail::DeviceAllocation& allocation, std::size_t size,
                            SourceLocation where) {
    (void)DeviceSpan<T>(static_cast<T*>(allocation.data), size, where);
    DeviceBuffer result;
    result.take(allocation, size);
    return result;
  }

  void check(SourceLocation where) const {
    if (allocation_.get().kind == Kind::moved_from) [[unlikely]] {
      detail::refuse_empty_owner(where, "culvert::DeviceBuffer");
    }
  }

  void check_home(SourceLocation where) const {
    check(where);
    if (!has_home()) [[unlikely]] {
      detail::refuse(where, "culvert::DeviceBuffer",
                     "the buffer was allocated without a stream, so it has no home");
    }
  }

  detail::UniqueHandle<detail::DeviceAllocationTraits> allocation_;
  std::size_t size_ = 0;
};

}  // namespace culvert::inline CULVERT_ABI
