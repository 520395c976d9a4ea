// SPDX-License-Identifier: BSL-1.0
// The thread that calls destructors of user objects, and callbacks whose device failed.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>

#include "sim/scheduler.hpp"

namespace culvert::sim::detail {

// Jobs are the program's own code and run one at a time, in order and without the lock. CUDA calls
// in them answer as in a host function. Started when there is first a job; detached.
class InternalThread {
 public:
  explicit InternalThread(std::mutex& mutex) : mutex_(mutex) {}
  InternalThread(const InternalThread&) = delete;
  InternalThread& operator=(const InternalThread&) = delete;

  // All members are called with the mutex held.
  void add(std::function<void()> job);
  void wait_until_idle(Lock& lock);
  // Forgets the jobs that have not begun, and waits for the one that has.
  void drop(Lock& lock);
  void forked();  // called in the child of a fork, which does not have the thread

 private:
  void work();

  std::mutex& mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  bool started_ = false;
  bool busy_ = false;
};

}  // namespace culvert::sim::detail
