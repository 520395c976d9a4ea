// SPDX-License-Identifier: BSL-1.0
//
// The one move-only handle under every owning type.
#pragma once

#include <culvert/runtime.hpp>

#include <utility>

namespace culvert::inline CULVERT_ABI::detail {

// Owns one handle, as large as that handle. Traits gives:
//   handle_type                        a trivially copyable type
//   static handle_type invalid()       the handle of an owner that owns nothing
//   static bool is_invalid(handle)     whether a handle is that one
//   static void destroy(handle)        noexcept: gives the resource back
template <class Traits>
class UniqueHandle {
 public:
  using handle_type = typename Traits::handle_type;

  UniqueHandle() noexcept : handle_(Traits::invalid()) {}
  explicit UniqueHandle(handle_type handle) noexcept : handle_(handle) {}
  UniqueHandle(UniqueHandle&& other) noexcept : handle_(other.release()) {}
  UniqueHandle& operator=(UniqueHandle&& other) noexcept {
    // release() first: assigning an owner to itself leaves it as it was.
    reset(other.release());
    return *this;
  }
  UniqueHandle(const UniqueHandle&) = delete;
  UniqueHandle& operator=(const UniqueHandle&) = delete;
  ~UniqueHandle() {
    if (!Traits::is_invalid(handle_)) Traits::destroy(handle_);
  }

  [[nodiscard]] handle_type get() const noexcept { return handle_; }
  [[nodiscard]] handle_type* address() noexcept { return &handle_; }
  [[nodiscard]] bool owns() const noexcept { return !Traits::is_invalid(handle_); }

  // Gives the handle to the caller.
  [[nodiscard]] handle_type release() noexcept { return std::exchange(handle_, Traits::invalid()); }

  // Gives the resource back and owns `handle` instead.
  void reset(handle_type handle = Traits::invalid()) noexcept {
    const handle_type old = std::exchange(handle_, handle);
    if (!Traits::is_invalid(old)) Traits::destroy(old);
  }

 private:
  handle_type handle_;
};

}  // namespace culvert::inline CULVERT_ABI::detail
