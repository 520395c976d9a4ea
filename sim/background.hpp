// SPDX-License-Identifier: BSL-1.0
// Threads that run pending work for a program that waits without a CUDA call, and that end a
// program whose host function never returns.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "culvert/sim/sim.hpp"
#include "sim/scheduler.hpp"

namespace culvert::sim::detail {

// Started when there is first something to do. One thread watches; another is started when a host
// function might block it, so that a function which never returns does not stop the rest. They are
// detached, and use only what is never destroyed.
class Background {
 public:
  Background(std::mutex& mutex, Scheduler& scheduler) : mutex_(mutex), scheduler_(scheduler) {}
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  // All members are called with the mutex held, except stop().
  void set_limits(const Config& config);
  void note_call() { ++calls_; }
  void watch();   // there is pending work
  void wake();    // there is work to do now
  void forked();  // called in the child of a fork, which has none of the threads

  // For the end of the process: no further work is started. Waits a little for the threads.
  void stop();

 private:
  using Clock = std::chrono::steady_clock;

  void start_thread();
  void work();
  bool run_urged(Lock& lock);
  bool run_when_quiet(Lock& lock);
  void look_for_stuck() const;
  void rest(Lock& lock);
  void keep_one_free();
  std::chrono::milliseconds tick() const;
  // Changes while the program makes calls or gets on in one that waits.
  std::uint64_t activity() const { return calls_ + scheduler_.progress(); }

  std::mutex& mutex_;
  Scheduler& scheduler_;
  std::condition_variable wake_;
  std::condition_variable left_;
  std::chrono::milliseconds host_functions_after_{0};
  std::chrono::milliseconds everything_after_{0};
  std::chrono::milliseconds stuck_after_{0};
  std::uint64_t calls_ = 0;
  std::uint64_t activity_seen_ = 0;
  Clock::time_point quiet_since_ = Clock::now();
  std::size_t threads_ = 0;
  std::size_t resting_ = 0;
  bool watching_ = false;  // one of those that rest looks at the clock
  bool stopping_ = false;
};

}  // namespace culvert::sim::detail
