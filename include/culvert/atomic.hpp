// SPDX-License-Identifier: BSL-1.0
//
// An atomic value for culvert's own state. <atomic> would add about 0.8 times the parse cost of
// cuda_runtime_api.h to every header (g++ 12), for four operations.
#pragma once

#include <culvert/version.hpp>

#if !defined(__GNUC__)
#include <atomic>
#endif

namespace culvert::process {

// `load` and `store` are relaxed; `exchange` acquires and `release` releases; `add` is relaxed.
template <class T>
class Atomic {
 public:
  constexpr explicit Atomic(T value) noexcept : value_(value) {}
  Atomic(const Atomic&) = delete;
  Atomic& operator=(const Atomic&) = delete;

#if defined(__GNUC__)
  [[nodiscard]] T load() const noexcept { return __atomic_load_n(&value_, __ATOMIC_RELAXED); }
  void store(T value) noexcept { __atomic_store_n(&value_, value, __ATOMIC_RELAXED); }
  void release(T value) noexcept { __atomic_store_n(&value_, value, __ATOMIC_RELEASE); }
  T exchange(T value) noexcept { return __atomic_exchange_n(&value_, value, __ATOMIC_ACQ_REL); }
  void add(T value) noexcept { __atomic_fetch_add(&value_, value, __ATOMIC_RELAXED); }

 private:
  T value_;
#else
  [[nodiscard]] T load() const noexcept { return value_.load(std::memory_order_relaxed); }
  void store(T value) noexcept { value_.store(value, std::memory_order_relaxed); }
  void release(T value) noexcept { value_.store(value, std::memory_order_release); }
  T exchange(T value) noexcept { return value_.exchange(value, std::memory_order_acq_rel); }
  void add(T value) noexcept { value_.fetch_add(value, std::memory_order_relaxed); }

 private:
  std::atomic<T> value_;
#endif
};

}  // namespace culvert::process
