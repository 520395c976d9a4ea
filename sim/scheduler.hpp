// SPDX-License-Identifier: BSL-1.0
// Runs operations after what they depend on. Plain C++ that knows no CUDA.
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <vector>

#include "sim/op.hpp"

namespace culvert::sim::detail {

using Lock = std::unique_lock<std::mutex>;
using Ops = std::vector<OpPtr>;

// Everything here is called with the one lock held. Host functions and kernels run without it; all
// other operations run under it. Nothing recurses along dependencies, so a chain may be of any length.
class Scheduler {
 public:
  static constexpr std::size_t max_devices = 8;

  struct Hooks {
    std::function<void()> watch;                         // there is pending work
    std::function<void()> wake;                          // there is work for the background now
    std::function<void(const Op&, const Touch&)> stale;  // the op touches what is not allocated
  };
  void set_hooks(Hooks hooks) { hooks_ = std::move(hooks); }

  // Takes an operation whose dependencies are set.
  void submit(const OpPtr& op);

  // Runs the targets and what they need, in the order in which they were enqueued, and returns
  // when they are done. Whatever another thread runs already is waited for.
  void wait(Lock& lock, const Ops& targets);

  // Runs what can run without blocking the caller and hands the rest to the background, since a
  // host function may wait for the caller. Tells whether the targets are done, after `patience` at
  // most.
  bool poll(Lock& lock, const Ops& targets, std::chrono::milliseconds patience);

  // For the background: runs those of the targets and their ancestors that can run now, until
  // `stop` says so. `before_host_function` is called before each. Tells whether any ran.
  bool run_ready(Lock& lock, const Ops& targets, const std::function<bool()>& stop,
                 const std::function<void()>& before_host_function);

  // Returns when no host function is running.
  void wait_until_quiet(Lock& lock);

  std::size_t pending() const { return unfinished_.size(); }
  Ops all() const;
  Ops on_device(int device) const;
  Ops touching(const Block& block) const;
  Ops releasing(int device) const;
  Ops host_functions() const;
  Ops urged();  // and forgets those that are done

  // A device that failed runs nothing: its pending operations are dropped, which means that they
  // finish without having run.
  void fail(int device, int error);
  int failure(int device) const { return failures_[static_cast<std::size_t>(device)]; }
  void recover(int device) { failures_[static_cast<std::size_t>(device)] = 0; }
  void drop(int device);
  void drop_all();

  // Whether this thread is inside a host function or a kernel.
  static bool in_host_function();

 private:
  static bool ready(const Op& op);
  Ops unfinished_ancestors(const Ops& targets);
  void execute(Lock& lock, OpPtr op);
  void finish(const OpPtr& op);
  void host_saw(const Ops& targets);

  Hooks hooks_;
  std::list<OpPtr> unfinished_;                    // in the order in which they were enqueued
  std::map<std::uint64_t, OpPtr> host_functions_;  // those that have not started
  Ops urged_;
  std::condition_variable finished_;
  std::array<int, max_devices> failures_{};
  std::size_t running_ = 0;
  std::uint64_t next_sequence_ = 1;
  std::uint64_t next_mark_ = 1;
  std::uint64_t host_clock_ns_ = 0;  // virtual time up to which the host has waited
};

}  // namespace culvert::sim::detail
