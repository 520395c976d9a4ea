// SPDX-License-Identifier: BSL-1.0
#include "sim/internal_thread.hpp"

#include <system_error>
#include <thread>
#include <utility>

namespace culvert::sim::detail {

void InternalThread::add(std::function<void()> job) {
  jobs_.push_back(std::move(job));
  changed_.notify_all();
  if (started_) return;
  try {
    std::thread([this] { work(); }).detach();
    started_ = true;
  } catch (const std::system_error&) {
    // The next job tries again.
  }
}

void InternalThread::work() {
  Lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return !jobs_.empty(); });
    Op op;
    op.work.kind = OpKind::host_function;
    op.work.action = std::move(jobs_.front());
    jobs_.pop_front();
    busy_ = true;
    lock.unlock();
    Scheduler::run_user_code(op);
    lock.lock();
    op.work.action = nullptr;
    busy_ = false;
    changed_.notify_all();
  }
}

void InternalThread::wait_until_idle(Lock& lock) {
  // A job that waits for itself would wait for ever.
  if (!started_ || Scheduler::in_host_function()) return;
  changed_.wait(lock, [this] { return jobs_.empty() && !busy_; });
}

void InternalThread::drop(Lock& lock) {
  jobs_.clear();
  wait_until_idle(lock);
}

void InternalThread::forked() {
  jobs_.clear();
  started_ = false;
  busy_ = false;
}

}  // namespace culvert::sim::detail
