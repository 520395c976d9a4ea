// SPDX-License-Identifier: BSL-1.0
#include "sim/scheduler.hpp"

#include <algorithm>
#include <utility>

namespace culvert::sim::detail {
namespace {

thread_local bool inside_host_function = false;

// A host function is called through C: an exception has nowhere to go.
void call_host_function(const std::function<void()>& function) noexcept {
  inside_host_function = true;
  function();
  inside_host_function = false;
}

bool all_done(const Ops& ops) {
  return std::all_of(ops.begin(), ops.end(), [](const OpPtr& op) { return !op || op->done(); });
}

template <class Predicate>
Ops select(const std::list<OpPtr>& ops, Predicate predicate) {
  Ops selected;
  for (const OpPtr& op : ops) {
    if (predicate(*op)) selected.push_back(op);
  }
  return selected;
}

}  // namespace

bool Scheduler::in_host_function() { return inside_host_function; }

void Scheduler::submit(const OpPtr& op) {
  op->sequence = next_sequence_++;
  // What the host enqueues comes after what the host has waited for.
  op->start_ns = std::max(op->start_ns, host_clock_ns_);
  op->place = unfinished_.insert(unfinished_.end(), op);
  if (op->kind == OpKind::host_function) {
    op->enqueued = std::chrono::steady_clock::now();
    host_functions_.emplace(op->sequence, op);
  }
  if (unfinished_.size() == 1 && hooks_.watch) hooks_.watch();
}

Ops Scheduler::unfinished_ancestors(const Ops& targets) {
  const std::uint64_t mark = next_mark_++;
  Ops found;
  const auto add = [&](const OpPtr& op) {
    if (!op || op->done() || op->mark == mark) return;
    op->mark = mark;
    found.push_back(op);
  };
  for (const OpPtr& target : targets) add(target);
  for (std::size_t i = 0; i < found.size(); ++i) {
    // By pointer: adding moves the elements of `found`, not the operations.
    const Op* op = found[i].get();
    for (const OpPtr& dependency : op->dependencies) add(dependency);
  }
  const auto earlier = [](const OpPtr& a, const OpPtr& b) { return a->sequence < b->sequence; };
  std::sort(found.begin(), found.end(), earlier);
  return found;
}

bool Scheduler::ready(const Op& op) {
  return op.state == OpState::pending && all_done(op.dependencies);
}

void Scheduler::wait(Lock& lock, const Ops& targets) {
  // A dependency was enqueued before what depends on it, so this order meets no unfinished one.
  for (const OpPtr& op : unfinished_ancestors(targets)) {
    if (op->state == OpState::pending) execute(lock, op);
    finished_.wait(lock, [&] { return op->done(); });
  }
  host_saw(targets);
}

bool Scheduler::poll(Lock& lock, const Ops& targets, std::chrono::milliseconds patience) {
  bool handed_over_earlier = false;
  for (const OpPtr& op : unfinished_ancestors(targets)) {
    if (op->kind != OpKind::host_function && ready(*op)) execute(lock, op);
    if (!op->done() && (op->urged || op->state == OpState::running)) handed_over_earlier = true;
  }
  bool handed_over_now = false;
  for (const OpPtr& op : targets) {
    if (!op || op->done() || op->urged) continue;
    op->urged = true;
    urged_.push_back(op);
    handed_over_now = true;
  }
  if (handed_over_now) {
    if (hooks_.wake) hooks_.wake();
    // What is stuck behind a function that blocks would only waste the time.
    if (!handed_over_earlier) {
      finished_.wait_for(lock, patience, [&] { return all_done(targets); });
    }
  }
  if (!all_done(targets)) return false;
  host_saw(targets);
  return true;
}

bool Scheduler::run_ready(Lock& lock, const Ops& targets, const std::function<bool()>& stop,
                          const std::function<void()>& before_host_function) {
  bool ran = false;
  for (const OpPtr& op : unfinished_ancestors(targets)) {
    if (!ready(*op)) continue;
    if (stop()) break;
    if (op->is_user_code()) before_host_function();
    // The hook may have started a thread, but it does not let go of the lock.
    execute(lock, op);
    ran = true;
  }
  return ran;
}

void Scheduler::wait_until_quiet(Lock& lock) {
  finished_.wait(lock, [&] { return running_ == 0; });
}

void Scheduler::execute(Lock& lock, OpPtr op) {
  op->state = OpState::running;
  ++running_;
  host_functions_.erase(op->sequence);
  if (failure(op->device) != 0) {
    // Enqueued before the failure was seen: dropped like the others.
  } else if (op->is_user_code()) {
    lock.unlock();
    call_host_function(op->action);
    lock.lock();
  } else {
    const auto gone = [&](const Touch& touch) {
      return op->kind != OpKind::allocate && touch.block->state != BlockState::live;
    };
    const auto stale = std::find_if(op->touches.begin(), op->touches.end(), gone);
    if (stale != op->touches.end()) {
      if (hooks_.stale) hooks_.stale(*op, *stale);
    } else if (op->action) {
      op->action();
    }
  }
  --running_;
  finish(op);
}

void Scheduler::finish(const OpPtr& op) {
  std::uint64_t start = op->start_ns;
  for (const OpPtr& dependency : op->dependencies) start = std::max(start, dependency->finish_ns);
  op->finish_ns = start + op->duration_ns;
  op->state = OpState::done;
  op->dependencies.clear();
  op->touches.clear();
  op->action = nullptr;
  host_functions_.erase(op->sequence);
  unfinished_.erase(op->place);
  finished_.notify_all();
  // What was handed to the background may wait behind this one.
  if (!urged_.empty() && op->is_user_code() && hooks_.wake) hooks_.wake();
}

void Scheduler::host_saw(const Ops& targets) {
  for (const OpPtr& op : targets) {
    if (op) host_clock_ns_ = std::max(host_clock_ns_, op->finish_ns);
  }
}

Ops Scheduler::all() const { return Ops(unfinished_.begin(), unfinished_.end()); }

Ops Scheduler::on_device(int device) const {
  return select(unfinished_, [&](const Op& op) { return op.device == device; });
}

Ops Scheduler::touching(const Block& block) const {
  return select(unfinished_, [&](const Op& op) {
    // Nothing tells what a kernel touches.
    if (op.kind == OpKind::kernel) return true;
    return std::any_of(op.touches.begin(), op.touches.end(),
                       [&](const Touch& touch) { return touch.block.get() == &block; });
  });
}

Ops Scheduler::releasing(int device) const {
  return select(unfinished_, [&](const Op& op) {
    return op.kind == OpKind::release && op.touches.front().block->device == device;
  });
}

Ops Scheduler::host_functions() const {
  Ops ops;
  for (const auto& [sequence, op] : host_functions_) ops.push_back(op);
  return ops;
}

Ops Scheduler::urged() {
  std::erase_if(urged_, [](const OpPtr& op) { return op->done(); });
  return urged_;
}

void Scheduler::fail(int device, int error) {
  failures_[static_cast<std::size_t>(device)] = error;
  drop(device);
}

void Scheduler::drop(int device) {
  for (const OpPtr& op : on_device(device)) {
    if (op->state == OpState::pending) finish(op);
  }
}

void Scheduler::drop_all() {
  for (const OpPtr& op : all()) {
    if (op->state == OpState::pending) finish(op);
  }
  urged_.clear();
}

}  // namespace culvert::sim::detail
