// SPDX-License-Identifier: BSL-1.0
//
// The queue of what was retired: objects that wait for streams to pass a point.
#pragma once

#include <culvert/atomic.hpp>

#include <cstddef>

namespace culvert::process {

// Waits until a stream has passed the point at which its event was recorded. Where several
// streams use an object, each has one of these.
struct Retired {
  Retired* next = nullptr;
  cudaEvent_t event = nullptr;
  unsigned generation = 0;                      // of the event; see forget_kept_events
  cudaStream_t stream = nullptr;                // only to be compared
  void (*passed)(Retired*) noexcept = nullptr;  // ends this, and the object with the last one
};

// Some of them, the oldest first.
class RetiredList {
 public:
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }

  void push_back(Retired* entry) noexcept {
    entry->next = nullptr;
    (first_ == nullptr ? first_ : last_->next) = entry;
    last_ = entry;
  }
  [[nodiscard]] Retired* pop_front() noexcept {
    Retired* const entry = first_;
    if (entry != nullptr) first_ = entry->next;
    return entry;
  }
  // Puts all of `other`, which is then empty, in front of these.
  void prepend(RetiredList& other) noexcept {
    if (other.empty()) return;
    other.last_->next = first_;
    if (first_ == nullptr) last_ = other.last_;
    first_ = other.first_;
    other.first_ = nullptr;
  }

 private:
  Retired* first_ = nullptr;
  Retired* last_ = nullptr;
};

// The process's own, for all threads.
class RetiredQueue {
 public:
  void push_back(Retired* entry) noexcept {
    const SpinLock lock(locked_);
    list_.push_back(entry);
  }
  [[nodiscard]] Retired* pop_front() noexcept {
    const SpinLock lock(locked_);
    return list_.pop_front();
  }
  [[nodiscard]] RetiredList take_all() noexcept {
    const SpinLock lock(locked_);
    const RetiredList all = list_;
    list_ = RetiredList();
    return all;
  }
  void put_back(RetiredList& waiting) noexcept {
    const SpinLock lock(locked_);
    list_.prepend(waiting);
  }
  // Whoever held the lock is not in a child made by fork().
  void unlock_in_child() noexcept { locked_.release(false); }

 private:
  RetiredList list_;
  Atomic<bool> locked_{false};
};

}  // namespace culvert::process
