// SPDX-License-Identifier: BSL-1.0
//
// The end of what had to wait for it: owners that ended where no CUDA call may be made, in a host
// function, and objects that were retired.
#pragma once

#include <culvert/runtime.hpp>

namespace culvert::inline CULVERT_ABI {
namespace detail {

// One collector at a time in a thread: what ends may itself synchronize, and so collect.
class Collecting {
 public:
  Collecting() noexcept : allowed_(!active && !process::in_host_function) {
    if (allowed_) active = true;
  }
  Collecting(const Collecting&) = delete;
  Collecting& operator=(const Collecting&) = delete;
  ~Collecting() {
    if (allowed_) active = false;
  }
  [[nodiscard]] bool allowed() const noexcept { return allowed_; }

 private:
  static inline constinit thread_local bool active = false;
  bool allowed_;
};

[[nodiscard]] inline std::uint64_t count_to_collect() noexcept {
  return process::attention.load() & process::all_to_collect;
}

inline void make_deferred_calls() noexcept {
  process::DeferredCall* newest = process::deferred_calls.exchange(nullptr);
  // In the order in which the owners ended.
  process::DeferredCall* oldest = nullptr;
  while (newest != nullptr) {
    process::DeferredCall* const next = newest->next;
    newest->next = oldest;
    oldest = newest;
    newest = next;
  }
  while (oldest != nullptr) {
    process::DeferredCall* const next = oldest->next;
    oldest->make(oldest);
    process::attention.add(~process::one_to_collect + 1);
    oldest = next;
  }
}

// Ends an entry whose stream has passed it.
inline void end_retired(process::Retired* entry) noexcept {
  entry->passed(entry);
  process::attention.add(~process::one_to_collect + 1);
}

// After a device reset its event is gone, and so is all work. Any error but "not ready" means that
// the work will never go on.
[[nodiscard]] inline bool is_passed(const process::Retired& entry) noexcept {
  return entry.generation != process::kept_events_generation.load() ||
         try_call(cudaEventQuery, entry.event) != cudaErrorNotReady;
}

// Ends all whose streams have passed them. Where one waits, later ones of its stream do too: so a
// few streams are remembered, and few questions asked.
inline void collect_retired() noexcept {
  process::RetiredList list = process::retired.take_all();
  process::RetiredList waiting;
  constexpr int room = 16;
  cudaStream_t busy[room];
  int busy_count = 0;
  while (process::Retired* const entry = list.pop_front()) {
    bool passed = true;
    for (int i = 0; i < busy_count && passed; ++i) passed = busy[i] != entry->stream;
    if (passed) {
      passed = is_passed(*entry);
      if (!passed && busy_count < room) busy[busy_count++] = entry->stream;
    }
    if (passed) {
      end_retired(entry);
    } else {
      waiting.push_back(entry);
    }
  }
  process::retired.put_back(waiting);
}

// A little of it, in passing: as long as the next ones are done, a few.
[[gnu::cold, gnu::noinline]] inline void collect_some() noexcept {
  if (process::is_forked_child()) return;
  const Collecting collecting;
  if (!collecting.allowed()) return;
  const RelaxedCapture relaxed;
  make_deferred_calls();
  for (int most = 16; most > 0; --most) {
    process::Retired* const entry = process::retired.pop_front();
    if (entry == nullptr) return;
    if (!is_passed(*entry)) {
      process::retired.push_back(entry);  // so that one that is stuck does not stop the others
      return;
    }
    end_retired(entry);
  }
}

// What calls that block the host, or allocate, do in passing.
inline void collect_if_any() noexcept {
  if ((process::attention.load() & process::all_to_collect) != 0) [[unlikely]] {
    collect_some();
  }
}

// Waits for the oldest that was retired, and ends it. False where there is none.
inline bool wait_for_retired() noexcept {
  process::Retired* const entry = process::retired.pop_front();
  if (entry == nullptr) return false;
  if (entry->generation == process::kept_events_generation.load()) {
    (void)try_call(cudaEventSynchronize, entry->event);
  }
  end_retired(entry);
  return true;
}

}  // namespace detail

// Gives back what owners held that ended in a host function, such as a PinnedBuffer that a
// callable had captured, and ends the retired objects whose streams have passed them.
// stream.synchronize(), launch_host and the like do some of it too, so a program seldom needs to
// call this. Does nothing in a host function. A call that fails goes to the failure handler. Does
// not wait for streams, but blocks the host where a call that gives something back does
// (cudaFreeHost). It may be called by several threads at once, and while streams are captured.
inline void collect() noexcept {
  if (detail::count_to_collect() == 0 || process::is_forked_child()) return;
  const detail::Collecting collecting;
  if (!collecting.allowed()) return;
  const detail::RelaxedCapture relaxed;
  detail::make_deferred_calls();
  detail::collect_retired();
}

// The same, but waits until nothing is left, also for what other threads retired before. Blocks
// the host. At the end of main it makes sure that all retired objects have ended; without it, those
// whose streams are still at work are left to the end of the process.
inline void collect_and_wait() noexcept {
  if (process::is_forked_child()) return;
  const detail::Collecting collecting;
  if (!collecting.allowed()) return;
  const detail::RelaxedCapture relaxed;
  while (detail::count_to_collect() != 0) {
    detail::make_deferred_calls();
    (void)detail::wait_for_retired();
  }
}

}  // namespace culvert::inline CULVERT_ABI
