// SPDX-License-Identifier: BSL-1.0
//
// Host memory of other code, pinned for as long as an owner lives.
#pragma once

#include <culvert/span.hpp>
#include <culvert/unique_handle.hpp>
#include <culvert/view.hpp>

namespace culvert::inline CULVERT_ABI {

// How host memory is registered (cudaHostRegister). Every member has a default.
struct RegisterOptions {
  bool portable = false;   // pinned for every context (cudaHostRegisterPortable)
  bool mapped = false;     // has a device address: mapped_span() (cudaHostRegisterMapped)
  bool io_memory = false;  // memory-mapped I/O of another device (cudaHostRegisterIoMemory)
  bool read_only = false;  // the device only reads it (cudaHostRegisterReadOnly)
};

namespace detail {

struct RegistrationTraits {
  using handle_type = void*;
  // Not null, which an empty range has.
  static handle_type invalid() noexcept { return reinterpret_cast<void*>(~std::uintptr_t{0}); }
  static bool is_invalid(handle_type data) noexcept { return data == nullptr || data == invalid(); }
  static void destroy(handle_type data) noexcept {
    call_in_destructor("cudaHostUnregister", cudaHostUnregister, data);
  }
};

}  // namespace detail

// Owns the registration of `size()` elements of T in host memory, not the memory: that must live, at
// the same place, until this has ended. A contiguous range that copies take as pinned. Move-only.
//
// The end unregisters, which makes the memory pageable again. Complete the work that uses it first,
// for the host: no document promises that cudaHostUnregister waits.
//
//   std::vector<float> samples = load();
//   RegisteredBuffer pinned(samples);
//   copy(x, pinned, stream);
//   stream.synchronize();
template <class T>
class RegisteredBuffer {
  static_assert(std::is_trivially_copyable_v<T>,
                "culvert moves bytes: T of a RegisteredBuffer must be trivially copyable");

 public:
  using element_type = T;
  using value_type = std::remove_cv_t<T>;
  using size_type = std::size_t;
  using iterator = T*;
  using const_iterator = const T*;

  // Of nothing. Makes no call.
  RegisteredBuffer() noexcept : data_(nullptr) {}

  // Registers the elements of a vector, array, span or other contiguous range. Blocks the host while
  // the pages are pinned. No elements make no call.
  // @throws Error (712) where a part is registered already, (801) where the device cannot.
  template <detail::HostRange Range>
  explicit RegisteredBuffer(Range&& range, const RegisterOptions& options = {},
                            SourceLocation where = SourceLocation::current())
      : RegisteredBuffer() {
    static_assert(!detail::TemporaryOwner<Range>,
                  "RegisteredBuffer: the memory is a temporary that ends first: give it a name");
    const auto view = detail::view_of(range, where, "culvert::RegisteredBuffer");
    const std::size_t bytes =
        detail::size_in_bytes<T>(view.size, where, "culvert::RegisteredBuffer");
    void* const data = const_cast<value_type*>(view.data);
    if (bytes != 0) {
      const unsigned flags = (options.portable ? cudaHostRegisterPortable : 0u) |
                             (options.mapped ? cudaHostRegisterMapped : 0u) |
                             (options.io_memory ? cudaHostRegisterIoMemory : 0u) |
                             (options.read_only ? cudaHostRegisterReadOnly : 0u);
      detail::call(where, "cudaHostRegister", cudaHostRegister, data, bytes, flags);
      data_.reset(data);
    }
    size_ = view.size;
  }

  RegisteredBuffer(const RegisteredBuffer&) = delete;             // std::move it
  RegisteredBuffer& operator=(const RegisteredBuffer&) = delete;  // std::move it
  RegisteredBuffer(RegisteredBuffer&& other) noexcept
      : data_(std::move(other.data_)), size_(std::exchange(other.size_, 0)) {}
  RegisteredBuffer& operator=(RegisteredBuffer&& other) noexcept {
    const std::size_t size = std::exchange(other.size_, 0);
    data_ = std::move(other.data_);
    size_ = size;
    return *this;
  }
  ~RegisteredBuffer() = default;

  // The elements; null where there are none, or after a move.
  [[nodiscard]] T* data() const noexcept {
    return data_.owns() ? static_cast<T*>(data_.get()) : nullptr;
  }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t size_bytes() const noexcept { return size_ * sizeof(T); }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] T& operator[](std::size_t index) const noexcept { return data()[index]; }
  [[nodiscard]] T* begin() const noexcept { return data(); }
  [[nodiscard]] T* end() const noexcept { return data() + size_; }

  // All elements. @throws Error after a move.
  [[nodiscard]] std::span<T> host_span(SourceLocation where = SourceLocation::current()) const {
    check(where);
    return {data(), size_};
  }

  // `count` elements from element `offset` on. @throws Error where they are not all inside.
  [[nodiscard]] std::span<T> subspan(std::size_t offset, std::size_t count,
                                     SourceLocation where = SourceLocation::current()) const {
    check(where);
    detail::check_part(size_, offset, count, where, "culvert::RegisteredBuffer::subspan");
    return {data() + offset, count};
  }

  // The device's view of the same memory (cudaHostGetDevicePointer).
  [[nodiscard]] DeviceSpan<T> mapped_span(SourceLocation where = SourceLocation::current()) const {
    check(where);
    void* device_data = nullptr;
    if (size_ != 0) {
      detail::call(where, "cudaHostGetDevicePointer", get_device_pointer, &device_data, data_.get(),
                   0u);
    }
    return DeviceSpan<T>(static_cast<T*>(device_data), size_, where);
  }

  // Unregisters the memory now. The work that uses it must be complete.
  void reset() noexcept {
    size_ = 0;
    data_.reset();
  }

 private:
  // The runtime's own function: nvcc adds an overload of this name.
  static constexpr cudaError_t (*get_device_pointer)(void**, void*,
                                                     unsigned) = cudaHostGetDevicePointer;

  void check(SourceLocation where) const {
    if (data_.get() == detail::RegistrationTraits::invalid()) [[unlikely]] {
      detail::refuse_empty_owner(where, "culvert::RegisteredBuffer");
    }
  }

  detail::UniqueHandle<detail::RegistrationTraits> data_;
  std::size_t size_ = 0;
};

template <class Range>
RegisteredBuffer(Range&&) -> RegisteredBuffer<
    std::remove_pointer_t<decltype(std::data(std::declval<std::remove_reference_t<Range>&>()))>>;
template <class Range>
RegisteredBuffer(Range&&, RegisterOptions) -> RegisteredBuffer<
    std::remove_pointer_t<decltype(std::data(std::declval<std::remove_reference_t<Range>&>()))>>;

}  // namespace culvert::inline CULVERT_ABI
