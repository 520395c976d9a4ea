// SPDX-License-Identifier: BSL-1.0
//
// A view of device memory.
#pragma once

#include <culvert/fwd.hpp>
#include <culvert/runtime.hpp>

#include <cstddef>
#include <cstdint>

namespace culvert::inline CULVERT_ABI {

namespace detail {

// More elements do not fit an allocation, such as a negative count that became unsigned.
template <class T>
inline constexpr std::size_t max_elements = static_cast<std::size_t>(PTRDIFF_MAX) / sizeof(T);

// Bytes of `count` elements. Refuses a size that does not fit an allocation.
template <class T>
[[nodiscard]] std::size_t size_in_bytes(std::size_t count, SourceLocation where,
                                        const char* operation) {
  if (count > max_elements<T>) [[unlikely]] {
    refuse(where, operation, [=] {
      return "the size overflows: " + std::to_string(count) + " elements of " +
             std::to_string(sizeof(T)) + " bytes";
    });
  }
  return count * sizeof(T);
}

// Refuses a part that is not inside `size` elements.
inline void check_part(std::size_t size, std::size_t offset, std::size_t count,
                       SourceLocation where, const char* operation) {
  if (offset > size || count > size - offset) [[unlikely]] {
    refuse(where, operation, [=] {
      return std::to_string(count) + " elements from element " + std::to_string(offset) +
             " on are not inside " + std::to_string(size);
    });
  }
}

}  // namespace detail

// A view of `size()` elements of T in device memory: a pointer and a count, owning nothing.
// T may be const. Host code cannot read the elements: copy them to the host.
template <class T>
class DeviceSpan {
  static_assert(std::is_trivially_copyable_v<T>,
                "culvert moves bytes: T must be trivially copyable");

 public:
  using element_type = T;
  using value_type = std::remove_cv_t<T>;
  using size_type = std::size_t;

  // A view of nothing.
  constexpr DeviceSpan() noexcept = default;

  // A view of `size` elements at `data`, a device pointer from any source.
  // @throws Error where `data` is null and `size` is not 0, or the size overflows.
  DeviceSpan(T* data, std::size_t size, SourceLocation where = SourceLocation::current())
      : data_(data), size_(size) {
    (void)detail::size_in_bytes<T>(size, where, "culvert::DeviceSpan");
    if (data == nullptr && size != 0) [[unlikely]] {
      detail::refuse(where, "culvert::DeviceSpan",
                     [=] { return "a null pointer with " + std::to_string(size) + " elements"; });
    }
  }

  // A view for reading.
  template <class U>
  requires(std::is_same_v<T, const U>) constexpr DeviceSpan(DeviceSpan<U> other) noexcept
      : data_(other.data()), size_(other.size()) {}

  // A view of a whole buffer. @throws Error where the buffer was moved from.
  template <class U>
  requires(std::is_same_v<T, U>)
      DeviceSpan(DeviceBuffer<U>& buffer, SourceLocation where = SourceLocation::current())
      : DeviceSpan(buffer.device_span(where)) {}
  template <class U>
  requires(std::is_same_v<T, const U>)
      DeviceSpan(const DeviceBuffer<U>& buffer, SourceLocation where = SourceLocation::current())
      : DeviceSpan(buffer.device_span(where)) {}
  template <class U>
  DeviceSpan(const DeviceBuffer<U>&&) = delete;  // a temporary: give the buffer a name

  // The device pointer, for CUDA and kernels.
  [[nodiscard]] constexpr T* data() const noexcept { return data_; }
  // The number of elements.
  [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
  [[nodiscard]] constexpr std::size_t size_bytes() const noexcept { return size_ * sizeof(T); }
  [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }

  // `count` elements from element `offset` on.
  // @throws Error where they are not all inside this view.
  [[nodiscard]] DeviceSpan subspan(std::size_t offset, std::size_t count,
                                   SourceLocation where = SourceLocation::current()) const {
    detail::check_part(size_, offset, count, where, "culvert::DeviceSpan::subspan");
    DeviceSpan result;
    result.data_ = data_ + offset;
    result.size_ = count;
    return result;
  }
  [[nodiscard]] DeviceSpan first(std::size_t count,
                                 SourceLocation where = SourceLocation::current()) const {
    return subspan(0, count, where);
  }
  [[nodiscard]] DeviceSpan last(std::size_t count,
                                SourceLocation where = SourceLocation::current()) const {
    return subspan(count > size_ ? size_ + 1 : size_ - count, count, where);
  }

  // This view itself: what the verbs ask of anything that has device memory.
  [[nodiscard]] DeviceSpan device_span(SourceLocation = SourceLocation::current()) const noexcept {
    return *this;
  }

  // Host code cannot dereference device memory.
  // clang-format off
  T& operator*() const = delete;              // device memory: culvert::copy it to the host first
  T* operator->() const = delete;             // device memory: culvert::copy it to the host first
  T& operator[](std::size_t) const = delete;  // device memory: culvert::copy it to the host first
  T* begin() const = delete;                  // device memory: culvert::copy it to the host first
  T* end() const = delete;                    // device memory: culvert::copy it to the host first
  // clang-format on

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

template <class T>
DeviceSpan(DeviceBuffer<T>&) -> DeviceSpan<T>;
template <class T>
DeviceSpan(const DeviceBuffer<T>&) -> DeviceSpan<const T>;

// The bytes of a view, or of a buffer.
template <class T>
[[nodiscard]] auto as_bytes(DeviceSpan<T> span) {
  using Byte = std::conditional_t<std::is_const_v<T>, const std::byte, std::byte>;
  return DeviceSpan<Byte>(reinterpret_cast<Byte*>(span.data()), span.size_bytes());
}
template <class T>
[[nodiscard]] DeviceSpan<std::byte> as_bytes(DeviceBuffer<T>& buffer,
                                             SourceLocation where = SourceLocation::current()) {
  return as_bytes(buffer.device_span(where));
}
template <class T>
[[nodiscard]] DeviceSpan<const std::byte> as_bytes(
    const DeviceBuffer<T>& buffer, SourceLocation where = SourceLocation::current()) {
  return as_bytes(buffer.device_span(where));
}
template <class T>
void as_bytes(const DeviceBuffer<T>&&) = delete;  // a temporary: give the buffer a name

}  // namespace culvert::inline CULVERT_ABI
