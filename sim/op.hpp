// SPDX-License-Identifier: BSL-1.0
// One enqueued operation. Plain data that knows no CUDA.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "sim/block.hpp"

namespace culvert::sim::detail {

struct NodeParams;  // node_params.hpp
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

// What decides how long an operation takes in virtual time.
enum class Engine { none, event, to_device, to_host, on_device, kernel, host };

struct Cost {
  Engine engine = Engine::none;
  std::size_t bytes = 0;      // read and written on a device, or moved between it and the host
  std::uint64_t time_ns = 0;  // beside that
};

// What an operation is, apart from its place in a stream. A graph keeps it and enqueues it again at
// every launch, so the action may run many times.
struct Work {
  OpKind kind = OpKind::marker;
  const char* name = "";  // the function that enqueued it
  std::vector<Touch> touches = {};
  std::function<void()> action = {};
  Cost cost = {};
  // Called on the internal thread with the error where its device fails before it runs.
  std::function<void(int)> if_dropped = {};
  // What a graph tells about it as a node. Filled in only while work is recorded.
  std::shared_ptr<const NodeParams> params = {};
  bool invalid = false;  // captured, but no graph with it can be instantiated
};

// The neighbours of an operation in a list of operations.
struct OpLinks {
  Op* previous = nullptr;
  Op* next = nullptr;
  bool in_list = false;
};

struct Op {
  Work work;

  // The rest is filled in when it is enqueued and when it runs.
  std::uint64_t sequence = 0;
  int device = 0;
  unsigned long long stream = 0;  // its id
  OpState state = OpState::pending;
  bool urged = false;               // handed to the background, to run soon
  bool reported = false;            // as one that runs for too long
  int error = 0;                    // not 0: it breaks its device instead of running
  std::vector<OpPtr> dependencies;  // unfinished ones; empty once it is done
  std::vector<Op*> dependents;      // those whose dependency it is
  std::size_t unfinished = 0;       // how many of its dependencies are
  std::size_t not_found = 0;        // of these, in the scheduler's search that goes on
  std::size_t ready_place = 0;      // in the scheduler's list of those that can run
  std::uint64_t start_ns = 0;       // virtual time: not before this
  std::uint64_t finish_ns = 0;      // virtual time, known once it is enqueued
  std::uint64_t mark = 0;           // the last search that found it
  OpPtr self;                       // the scheduler's hold on it, until it is done
  OpLinks in_unfinished;            // places in the scheduler's lists
  OpLinks in_host_functions;
  std::chrono::steady_clock::time_point since;  // host functions: enqueued, then started

  bool done() const { return state == OpState::done; }
  // The program's own code, which runs without the lock.
  bool is_user_code() const {
    return work.kind == OpKind::host_function || work.kind == OpKind::kernel;
  }
};

// Makes `op` run after `dependency`, which may be null. A finished one only gives its time: so no
// chain of finished operations is kept.
inline void depend(Op& op, const OpPtr& dependency) {
  if (!dependency) return;
  if (!dependency->done()) op.dependencies.push_back(dependency);
  if (op.start_ns < dependency->finish_ns) op.start_ns = dependency->finish_ns;
}

}  // namespace culvert::sim::detail
