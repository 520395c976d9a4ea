// SPDX-License-Identifier: BSL-1.0
#include "sim/background.hpp"

#include <algorithm>
#include <system_error>
#include <thread>

#include "sim/stuck.hpp"

namespace culvert::sim::detail {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t max_threads = 64;

}  // namespace

void Background::set_limits(const Config& config) {
  host_functions_after_ = milliseconds(config.idle_host_functions_ms);
  everything_after_ = milliseconds(config.idle_everything_ms);
  stuck_after_ = milliseconds(config.host_function_limit_ms);
  wake_.notify_all();
}

void Background::watch() {
  // A thread that looks at the clock sees it by itself, so most operations wake nobody.
  if (threads_ == 0) {
    start_thread();
  } else if (!watching_) {
    wake_.notify_one();
  }
}

void Background::forked() {
  stopping_ = true;
  threads_ = 0;
}

void Background::wake() {
  if (threads_ == 0) start_thread();
  wake_.notify_one();
}

void Background::start_thread() {
  if (stopping_ || threads_ == max_threads) return;
  try {
    std::thread([this] { work(); }).detach();
    ++threads_;
  } catch (const std::system_error&) {
    // Without a thread only a program that waits with CUDA calls goes on.
  }
}

void Background::work() {
  Lock lock(mutex_);
  while (!stopping_) {
    look_for_stuck();
    if (run_urged(lock) || run_when_quiet(lock)) continue;
    if (resting_ >= 2) break;
    rest(lock);
  }
  --threads_;
  left_.notify_all();
}

void Background::rest(Lock& lock) {
  // Only the first that rests watches the time.
  const milliseconds time = tick();
  ++resting_;
  if (watching_ || scheduler_.pending() == 0 || time.count() == 0) {
    wake_.wait(lock);
  } else {
    watching_ = true;
    wake_.wait_for(lock, time);
    watching_ = false;
  }
  --resting_;
}

milliseconds Background::tick() const {
  milliseconds shortest(0);
  for (const milliseconds limit : {host_functions_after_, everything_after_, stuck_after_}) {
    if (limit.count() != 0 && (shortest.count() == 0 || limit < shortest)) shortest = limit;
  }
  if (shortest.count() == 0) return shortest;
  return std::clamp(shortest / 2, milliseconds(1), milliseconds(50));
}

void Background::keep_one_free() {
  if (resting_ == 0) {
    start_thread();
  } else {
    wake_.notify_one();
  }
}

bool Background::run_urged(Lock& lock) {
  const Ops urged = scheduler_.urged();
  if (urged.empty()) return false;
  return scheduler_.run_ready(
      lock, urged, [this] { return stopping_; }, [this] { keep_one_free(); });
}

void Background::look_for_stuck() const {
  if (stuck_after_.count() == 0) return;
  const Clock::time_point now = Clock::now();
  for (const OpPtr& op : scheduler_.running_user_codes()) {
    if (now - op->since >= stuck_after_) end_stuck_program(scheduler_, *op, stuck_after_);
  }
}

bool Background::run_when_quiet(Lock& lock) {
  if (scheduler_.pending() == 0) return false;
  const Clock::time_point now = Clock::now();
  if (activity() != activity_seen_) {
    activity_seen_ = activity();
    quiet_since_ = now;
  }
  const auto passed = [&](milliseconds limit, Clock::time_point since) {
    return limit.count() != 0 && now - since >= limit;
  };
  const auto stop = [this] { return stopping_ || activity() != activity_seen_; };
  const auto keep = [this] { keep_one_free(); };
  if (passed(everything_after_, quiet_since_)) {
    return scheduler_.run_ready(lock, scheduler_.all(), stop, keep);
  }
  const Op* const oldest = scheduler_.oldest_host_function();
  if (oldest == nullptr) return false;
  if (passed(host_functions_after_, quiet_since_)) {
    return scheduler_.run_ready(lock, scheduler_.host_functions(), stop, keep);
  }
  if (!passed(everything_after_, oldest->since)) return false;
  // All that are old: the oldest may wait for one that is running.
  Ops old = scheduler_.host_functions();
  std::erase_if(old, [&](const OpPtr& op) { return !passed(everything_after_, op->since); });
  return scheduler_.run_ready(
      lock, old, [this] { return stopping_; }, keep);
}

void Background::stop() {
  Lock lock(mutex_);
  if (stopping_) return;
  stopping_ = true;
  wake_.notify_all();
  // A host function that blocks may keep one for ever.
  left_.wait_for(lock, milliseconds(100), [this] { return threads_ == 0; });
}

}  // namespace culvert::sim::detail
