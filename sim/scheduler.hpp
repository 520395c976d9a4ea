// SPDX-License-Identifier: BSL-1.0
// Runs operations after what they depend on. Plain C++ that knows no CUDA.
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "sim/op.hpp"
#include "sim/op_list.hpp"
#include "sim/random_order.hpp"

namespace culvert::sim::detail {

using Lock = std::unique_lock<std::mutex>;
using Ops = std::vector<OpPtr>;

// How long a call waits for a host function that it handed to the background.
inline constexpr std::chrono::milliseconds patience{5};

// Everything here is called with the one lock held. Host functions and kernels run without it; all
// other operations run under it. Nothing recurses along dependencies, so a chain may be of any
// length.
class Scheduler {
 public:
  static constexpr std::size_t max_devices = 8;

  struct Hooks {
    std::function<void()> watch;                           // there is pending work
    std::function<void()> wake;                            // there is work for the background now
    std::function<void(const Op&, const Touch&)> stale;    // the op touches what is not allocated
    std::function<void(std::function<void()>)> hand_over;  // a job for the internal thread
  };
  void set_hooks(Hooks hooks) { hooks_ = std::move(hooks); }
  void serialize_host_functions(bool on) { one_host_function_ = on; }

  // Takes an operation whose dependencies are set.
  void submit(const OpPtr& op);

  // Runs the targets and what they need, and returns when they are done. Whatever another thread
  // runs already is waited for. What nothing orders runs last one first, the order least kind to a
  // program that forgot a wait; or, with `order`, in that order, and others beside them.
  void wait(Lock& lock, const Ops& targets, RandomOrder* order);

  // Runs as many as `order` wants of those that can run, each for `patience` at most.
  void run_some(Lock& lock, RandomOrder& order);

  // Runs what can run without blocking the caller and hands the rest to the background, since a
  // host function may wait for the caller. Tells whether the targets are done, after `patience` at
  // most.
  bool poll(Lock& lock, const Ops& targets);

  // For the background: runs those of the targets and their ancestors that can run now, until
  // `stop` says so. `before_host_function` is called before each. Tells whether any ran.
  bool run_ready(Lock& lock, const Ops& targets, const std::function<bool()>& stop,
                 const std::function<void()>& before_host_function);

  // Returns when no host function is running.
  void wait_until_quiet(Lock& lock);

  std::size_t pending() const { return unfinished_.size(); }
  Ops all() const;
  Ops on_device(int device) const;
  // Those without which nothing on the device is left: all others come before one of them.
  Ops last_on_device(int device) const;
  Ops touching(const Block& block) const;
  Ops releasing(int device) const;
  Ops host_functions() const;  // those that have not started
  // The one of them that was enqueued first, or null.
  const Op* oldest_host_function() const { return host_functions_.first(); }
  // Changes whenever a waiting thread has run an operation: then it is not stuck.
  std::uint64_t progress() const { return progress_; }
  const Ops& running_user_codes() const { return running_; }
  Ops urged();  // and forgets those that are done

  // A device that failed runs nothing: its pending operations are dropped, which means that they
  // finish without having run.
  void fail(int device, int error);
  int failure(int device) const { return failures_[static_cast<std::size_t>(device)]; }
  void recover(int device) { failures_[static_cast<std::size_t>(device)] = 0; }
  void drop(int device);
  void drop_all();

  // The host function or kernel inside which this thread is, or null.
  static const Op* running_user_code();
  // Runs the program's code on this thread as a host function.
  static void run_user_code(const Op& op) noexcept;
  static bool in_host_function() { return running_user_code() != nullptr; }

 private:
  bool may_start(const Op& op) const;
  // Each after its dependencies, the targets with them. Of those that nothing orders the one that
  // was enqueued last comes first.
  Ops unfinished_ancestors(const Ops& targets);
  void find_unfinished(Op* op, std::uint64_t mark);
  void execute(Lock& lock, OpPtr op);
  void urge(const OpPtr& op);
  void run_beside(Lock& lock, OpPtr op);  // by value: another thread may finish it
  void add_ready(Op& op);
  void remove_ready(Op& op);
  void finish(const OpPtr& op);

  // The number beside the operation, so that comparing reads no operation.
  struct Next {
    std::uint64_t sequence;
    Op* op;
    bool operator<(const Next& other) const { return sequence < other.sequence; }
  };

  Hooks hooks_;
  OpList<&Op::in_unfinished> unfinished_;
  OpList<&Op::in_host_functions> host_functions_;  // those that have not started
  std::vector<Op*> ready_;                         // those that can run and are not urged
  Ops urged_;
  Ops running_;  // host functions and kernels
  std::condition_variable finished_;
  std::array<int, max_devices> failures_{};
  bool one_host_function_ = false;
  std::uint64_t next_sequence_ = 1;
  std::vector<Op*> search_;  // of the search that goes on
  std::uint64_t next_mark_ = 1;
  std::uint64_t progress_ = 0;
};

}  // namespace culvert::sim::detail
