// SPDX-License-Identifier: BSL-1.0
// One enqueued operation. Plain data that knows no CUDA.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <vector>

#include "sim/block.hpp"

namespace culvert::sim::detail {

struct Op;
using OpPtr = std::shared_ptr<Op>;

enum class OpKind { marker, copy, fill, allocate, release, host_function, kernel };

enum class OpState { pending, running, done };

// A range that the operation reads or writes.
struct Touch {
  BlockPtr block;
  std::size_t offset = 0;
  std::size_t size = 0;
};

struct Op {
  OpKind kind = OpKind::marker;
  const char* name = "";  // the function that enqueued it
  std::vector<Touch> touches;
  std::function<void()> action;
  std::uint64_t duration_ns = 1000;

  // The rest is filled in when it is enqueued and when it runs.
  std::uint64_t sequence = 0;
  int device = 0;
  unsigned long long stream = 0;  // its id, for reports
  OpState state = OpState::pending;
  bool urged = false;                              // handed to the background, to run soon
  std::vector<OpPtr> dependencies;                 // unfinished ones; empty once it is done
  std::uint64_t start_ns = 0;                      // virtual time: not before this
  std::uint64_t finish_ns = 0;                     // virtual time, once it is done
  std::uint64_t mark = 0;                          // the last search that found it
  std::list<OpPtr>::iterator place;                // in the scheduler's list, until it is done
  std::chrono::steady_clock::time_point enqueued;  // host functions only

  bool done() const { return state == OpState::done; }
  // The program's own code, which runs without the lock.
  bool is_user_code() const { return kind == OpKind::host_function || kind == OpKind::kernel; }
};

// The virtual time that moving so many bytes takes.
constexpr std::uint64_t duration_of_bytes(std::size_t bytes) { return 1000 + bytes / 16; }

// Makes `op` run after `dependency`, which may be null. A finished one only gives its time: so no
// chain of finished operations is kept.
inline void depend(Op& op, const OpPtr& dependency) {
  if (!dependency) return;
  if (!dependency->done()) {
    op.dependencies.push_back(dependency);
  } else if (op.start_ns < dependency->finish_ns) {
    op.start_ns = dependency->finish_ns;
  }
}

}  // namespace culvert::sim::detail
