// SPDX-License-Identifier: BSL-1.0
#include "sim/scheduler.hpp"

#include <algorithm>
#include <utility>

namespace culvert::sim::detail {
namespace {

thread_local const Op* inside = nullptr;

bool all_done(const Ops& ops) {
  return std::all_of(ops.begin(), ops.end(), [](const OpPtr& op) { return !op || op->done(); });
}

template <class List, class Predicate>
Ops select(const List& ops, Predicate predicate) {
  Ops selected;
  for (const Op& op : ops) {
    if (predicate(op)) selected.push_back(op.self);
  }
  return selected;
}

bool every(const Op&) { return true; }

}  // namespace

const Op* Scheduler::running_user_code() { return inside; }

// A host function is called through C: an exception has nowhere to go.
void Scheduler::run_user_code(const Op& op) noexcept {
  inside = &op;
  op.work.action();
  inside = nullptr;
}

void Scheduler::submit(const OpPtr& op) {
  op->sequence = next_sequence_++;
  op->self = op;
  unfinished_.add(*op);
  for (const OpPtr& dependency : op->dependencies) dependency->dependents.push_back(op.get());
  op->unfinished = op->dependencies.size();
  if (op->unfinished == 0) add_ready(*op);
  if (op->work.kind == OpKind::host_function) {
    op->since = std::chrono::steady_clock::now();
    host_functions_.add(*op);
  }
  if (unfinished_.size() == 1 && hooks_.watch) hooks_.watch();
}

void Scheduler::add_ready(Op& op) {
  op.ready_place = ready_.size();
  ready_.push_back(&op);
}

void Scheduler::remove_ready(Op& op) {
  const std::size_t place = op.ready_place;
  if (place >= ready_.size() || ready_[place] != &op) return;
  ready_[place] = ready_.back();
  ready_[place]->ready_place = place;
  ready_.pop_back();
}

Ops Scheduler::unfinished_ancestors(const Ops& targets) {
  search_.clear();
  const std::uint64_t mark = next_mark_++;
  for (const OpPtr& target : targets) find_unfinished(target.get(), mark);
  for (std::size_t i = 0; i < search_.size(); ++i) {
    for (const OpPtr& dependency : search_[i]->dependencies) {
      find_unfinished(dependency.get(), mark);
    }
  }
  // Those whose dependencies are all in `found`, the one that was enqueued last on top.
  std::vector<Next> next;
  for (Op* const op : search_) {
    op->not_found = op->unfinished;
    if (op->not_found == 0) next.push_back({op->sequence, op});
  }
  std::make_heap(next.begin(), next.end());
  Ops found;
  found.reserve(search_.size());
  while (!next.empty()) {
    std::pop_heap(next.begin(), next.end());
    Op* const op = next.back().op;
    next.pop_back();
    found.push_back(op->self);
    for (Op* const dependent : op->dependents) {
      if (dependent->mark != mark || --dependent->not_found != 0) continue;
      next.push_back({dependent->sequence, dependent});
      std::push_heap(next.begin(), next.end());
    }
  }
  return found;
}

void Scheduler::find_unfinished(Op* op, std::uint64_t mark) {
  if (op == nullptr || op->done() || op->mark == mark) return;
  op->mark = mark;
  search_.push_back(op);
}

bool Scheduler::may_start(const Op& op) const {
  if (op.state != OpState::pending || op.unfinished != 0) return false;
  return !one_host_function_ || op.work.kind != OpKind::host_function ||
         std::none_of(running_.begin(), running_.end(),
                      [](const OpPtr& other) { return other->work.kind == OpKind::host_function; });
}

void Scheduler::wait(Lock& lock, const Ops& targets, RandomOrder* order) {
  const Ops needed = unfinished_ancestors(targets);
  const std::uint64_t mark = next_mark_ - 1;  // of the needed ones
  while (order != nullptr && !all_done(targets) && !ready_.empty()) {
    const std::size_t place =
        order->pick(ready_.size(), [&](std::size_t at) { return ready_[at]->stream; });
    const OpPtr op = ready_[place]->self;
    if (op->mark == mark && may_start(*op)) {
      execute(lock, op);
    } else {
      run_beside(lock, op);
    }
    ++progress_;
  }
  // Each comes after its dependencies.
  for (const OpPtr& op : needed) {
    finished_.wait(lock, [&] { return op->state != OpState::pending || may_start(*op); });
    if (op->state == OpState::pending) execute(lock, op);
    finished_.wait(lock, [&] { return op->done(); });
    ++progress_;
  }
}

void Scheduler::run_some(Lock& lock, RandomOrder& order) {
  while (!ready_.empty() && order.runs_more()) {
    const std::size_t place =
        order.pick(ready_.size(), [&](std::size_t at) { return ready_[at]->stream; });
    run_beside(lock, ready_[place]->self);
  }
}

void Scheduler::run_beside(Lock& lock, OpPtr op) {
  if (!op->is_user_code()) return execute(lock, std::move(op));
  // It may wait for the caller.
  urge(op);
  finished_.wait_for(lock, patience, [&] { return op->done(); });
}

void Scheduler::urge(const OpPtr& op) {
  op->urged = true;
  remove_ready(*op);
  urged_.push_back(op);
  if (hooks_.wake) hooks_.wake();
}

bool Scheduler::poll(Lock& lock, const Ops& targets) {
  bool handed_over_earlier = false;
  for (const OpPtr& op : unfinished_ancestors(targets)) {
    if (op->work.kind != OpKind::host_function && may_start(*op)) execute(lock, op);
    if (!op->done() && (op->urged || op->state == OpState::running)) handed_over_earlier = true;
  }
  bool handed_over_now = false;
  for (const OpPtr& op : targets) {
    if (!op || op->done() || op->urged) continue;
    urge(op);
    handed_over_now = true;
  }
  // What is stuck behind a function that blocks would only waste the time.
  if (handed_over_now && !handed_over_earlier) {
    finished_.wait_for(lock, patience, [&] { return all_done(targets); });
  }
  return all_done(targets);
}

bool Scheduler::run_ready(Lock& lock, const Ops& targets, const std::function<bool()>& stop,
                          const std::function<void()>& before_host_function) {
  bool ran = false;
  // One target at a time: of many, most are never looked at if it stops soon.
  for (const OpPtr& target : targets) {
    for (const OpPtr& op : unfinished_ancestors({target})) {
      if (!may_start(*op)) continue;
      if (stop()) return ran;
      if (op->is_user_code()) before_host_function();
      // The hook may have started a thread, but it does not let go of the lock.
      execute(lock, op);
      ran = true;
    }
  }
  return ran;
}

void Scheduler::wait_until_quiet(Lock& lock) {
  finished_.wait(lock, [&] { return running_.empty(); });
}

void Scheduler::execute(Lock& lock, OpPtr op) {
  op->state = OpState::running;
  remove_ready(*op);
  host_functions_.remove(*op);
  if (failure(op->device) != 0) {
    // Enqueued before the failure was seen: dropped like the others.
  } else if (op->error != 0) {
    fail(op->device, op->error);
  } else if (op->is_user_code()) {
    op->since = std::chrono::steady_clock::now();
    op->work.if_dropped = nullptr;
    running_.push_back(op);
    lock.unlock();
    run_user_code(*op);
    lock.lock();
    std::erase(running_, op);
  } else {
    const auto gone = [&](const Touch& touch) {
      return op->work.kind != OpKind::allocate && touch.block->state != BlockState::live;
    };
    const std::vector<Touch>& touches = op->work.touches;
    const auto stale = std::find_if(touches.begin(), touches.end(), gone);
    if (stale != touches.end()) {
      if (hooks_.stale) hooks_.stale(*op, *stale);
    } else if (op->work.action) {
      op->work.action();
    }
  }
  finish(op);
}

void Scheduler::finish(const OpPtr& op) {
  op->state = OpState::done;
  remove_ready(*op);
  if (op->unfinished != 0) {
    // Dropped before what it waits for, which must not find it any more.
    for (const OpPtr& dependency : op->dependencies) std::erase(dependency->dependents, op.get());
  }
  op->dependencies.clear();
  if (op->work.if_dropped) {
    hooks_.hand_over(
        [job = std::move(op->work.if_dropped), error = failure(op->device)] { job(error); });
    op->work.if_dropped = nullptr;
  }
  op->work.touches.clear();
  op->work.action = nullptr;
  for (Op* const dependent : op->dependents) {
    if (--dependent->unfinished == 0 && dependent->state == OpState::pending && !dependent->urged) {
      add_ready(*dependent);
    }
  }
  op->dependents.clear();
  host_functions_.remove(*op);
  unfinished_.remove(*op);
  finished_.notify_all();
  // What was handed to the background may wait behind this one.
  if (!urged_.empty() && op->is_user_code() && hooks_.wake) hooks_.wake();
  op->self = nullptr;
}

Ops Scheduler::all() const { return select(unfinished_, every); }

Ops Scheduler::on_device(int device) const {
  return select(unfinished_, [&](const Op& op) { return op.device == device; });
}

Ops Scheduler::last_on_device(int device) const {
  return select(unfinished_, [&](const Op& op) {
    return op.device == device &&
           std::all_of(op.dependents.begin(), op.dependents.end(),
                       [&](const Op* dependent) { return dependent->device != device; });
  });
}

Ops Scheduler::touching(const Block& block) const {
  return select(unfinished_, [&](const Op& op) {
    // Nothing tells what a kernel touches.
    if (op.work.kind == OpKind::kernel) return true;
    return std::any_of(op.work.touches.begin(), op.work.touches.end(),
                       [&](const Touch& touch) { return touch.block.get() == &block; });
  });
}

Ops Scheduler::releasing(int device) const {
  return select(unfinished_, [&](const Op& op) {
    return op.work.kind == OpKind::release && op.work.touches.front().block->device == device;
  });
}

Ops Scheduler::host_functions() const { return select(host_functions_, every); }

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
    op->work.if_dropped = nullptr;
    if (op->state == OpState::pending) finish(op);
  }
  urged_.clear();
}

}  // namespace culvert::sim::detail
