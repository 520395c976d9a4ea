// SPDX-License-Identifier: BSL-1.0
//
// An atomic value for culvert's own state. <atomic> would add about 0.8 times the parse cost of
// cuda_runtime_api.h to every header (g++ 12), for a few operations.
#pragma once

#include <culvert/version.hpp>

#if !defined(__GNUC__)
#include <atomic>
#endif

namespace culvert::process {

// `load` and `store` are relaxed; `acquire` and `release` are the load and the store that
// acquire and release; `exchange`, `add` (which gives the value before) and `compare_exchange`
// do both.
template <class T>
class Atomic {
 public:
  constexpr Atomic() noexcept : value_() {}
  constexpr explicit Atomic(T value) noexcept : value_(value) {}
  Atomic(const Atomic&) = delete;
  Atomic& operator=(const Atomic&) = delete;

#if defined(__GNUC__)
  [[nodiscard]] T load() const noexcept { return __atomic_load_n(&value_, __ATOMIC_RELAXED); }
  [[nodiscard]] T acquire() const noexcept { return __atomic_load_n(&value_, __ATOMIC_ACQUIRE); }
  void store(T value) noexcept { __atomic_store_n(&value_, value, __ATOMIC_RELAXED); }
  void release(T value) noexcept { __atomic_store_n(&value_, value, __ATOMIC_RELEASE); }
  T exchange(T value) noexcept { return __atomic_exchange_n(&value_, value, __ATOMIC_ACQ_REL); }
  T add(T value) noexcept { return __atomic_fetch_add(&value_, value, __ATOMIC_ACQ_REL); }
  // Where the value is not `expected`, that becomes what it is.
  [[nodiscard]] bool compare_exchange(T& expected, T desired) noexcept {
    return __atomic_compare_exchange_n(&value_, &expected, desired, true, __ATOMIC_ACQ_REL,
                                       __ATOMIC_ACQUIRE);
  }

 private:
  T value_;
#else
  [[nodiscard]] T load() const noexcept { return value_.load(std::memory_order_relaxed); }
  [[nodiscard]] T acquire() const noexcept { return value_.load(std::memory_order_acquire); }
  void store(T value) noexcept { value_.store(value, std::memory_order_relaxed); }
  void release(T value) noexcept { value_.store(value, std::memory_order_release); }
  T exchange(T value) noexcept { return value_.exchange(value, std::memory_order_acq_rel); }
  T add(T value) noexcept { return value_.fetch_add(value, std::memory_order_acq_rel); }
  [[nodiscard]] bool compare_exchange(T& expected, T desired) noexcept {
    return value_.compare_exchange_weak(expected, desired, std::memory_order_acq_rel,
                                        std::memory_order_acquire);
  }

 private:
  std::atomic<T> value_;
#endif
};

// Puts an element, which has a member `next`, in front of a list. Other threads may do so too, or
// take the whole list by an exchange.
template <class T>
void push_front(Atomic<T*>& list, T* element) noexcept {
  T* first = list.load();
  do {
    element->next = first;
  } while (!list.compare_exchange(first, element));
}

}  // namespace culvert::process
