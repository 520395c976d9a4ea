// SPDX-License-Identifier: BSL-1.0
// Runs a test many times on the simulated runtime: under many schedules, with each wait left out in
// turn, with each call failing in turn.
//
// A body is anything that can be called without arguments. It has failed if it returns false, if an
// exception leaves it, or if its work touched memory that was freed or not yet allocated; without a
// result it passes by returning. Each run starts from a fresh runtime
// (see reset()), so what the body uses it creates. It makes the same calls each time, from one host
// thread at a time. None of these functions may be called in a body, or in a host function: that
// ends the process with status 2. The results do not see the expectations of a test framework:
// return a bool.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "culvert/error.hpp"
#include "culvert/process_state.hpp"
#include "culvert/sim/sim.hpp"

namespace culvert::sim {

/// What explore() found.
struct Exploration {
  bool passed = true;
  std::uint64_t runs = 0;
  std::uint64_t failing_seed = 0;  ///< The first that failed.
  bool replayed = false;           ///< Whether that seed failed once more.
  std::string failure;             ///< The text of the exception that left the body, if one did.
};

/// A wait or synchronize of the body; a query that answered "done" is one. Queries about the same
/// work count as one.
struct Wait {
  std::uint64_t number = 0;    ///< In the order of the calls, from 1.
  std::string function;        ///< cudaStreamWaitEvent, say.
  std::string where;           ///< The line of the call, where it is known.
  bool caught = false;         ///< Whether the body failed without it.
  std::string caught_by = {};  ///< "late", or "random:SEED", the first seed of those that failed.
};

/// What for_each_wait() found.
struct WaitReport {
  bool passed = false;  ///< Whether the body passes with all of its waits, under the late schedule.
  std::string failure;  ///< Why not.
  std::vector<Wait> waits;

  /// Those without which the body passed under every schedule: they are redundant or untested.
  [[nodiscard]] std::vector<Wait> uncaught() const;
};

/// How the body went while one call failed.
struct FaultRun {
  std::uint64_t number = 0;  ///< Of the call, from 1.
  std::string function;      ///< Its name.
  bool happened = false;     ///< Whether the body made that call in this run, too.
  bool passed = false;       ///< Whether the body passed all the same.
  /// The status of the culvert::Error that left the body, or cudaSuccess.
  cudaError_t escaped = cudaSuccess;
  std::string failure = {};  ///< The text of the exception that left the body, if one did.
  /// What was alive after it, beyond what is alive after a run without a fault. What a failed
  /// destroy or free was called for is not counted, since no one can end that twice.
  Live leaked = {};

  /// Whether nothing leaked, and what left the body, if anything, is an Error with the status that
  /// was injected.
  [[nodiscard]] bool ok() const;
  cudaError_t injected = cudaSuccess;
};

/// What for_each_fault() found.
struct FaultReport {
  bool passed = false;  ///< Whether the body passes without a fault.
  std::string failure;  ///< Why not.
  std::vector<FaultRun> runs;

  [[nodiscard]] std::vector<FaultRun> unexpected() const;  ///< Those that are not ok().
};

/// How the runs are set up.
struct ExploreOptions {
  /// Of each run; its schedule and seed are chosen by the function. Host functions and everything
  /// else also run when the program is quiet for the times that it gives: for runs that are the
  /// same on every machine, set both to 0 if the body waits by CUDA calls alone.
  Config config = config_from_environment();
  std::uint64_t first_seed = 1;
  /// Of for_each_wait: how many seeds are tried when the late schedule does not catch a wait.
  std::uint64_t seeds = 100;
  /// Of for_each_fault: what the calls answer. cudaSuccess: cudaErrorMemoryAllocation where memory
  /// is asked for and cudaErrorUnknown elsewhere.
  cudaError_t error = cudaSuccess;
  /// Whether a summary, and what is not as it should be, goes to standard error.
  bool report = true;
};

namespace detail {

struct Outcome {
  bool passed = true;
  cudaError_t escaped = cudaSuccess;
  std::string failure;
};
using Runner = std::function<Outcome()>;

template <class Body>
Runner runner(Body& body) {
  return [&body] {
    forget_kept_events();  // those of the run before ended with it
    Outcome outcome;
    try {
      if constexpr (std::is_void_v<std::invoke_result_t<Body&>>) {
        body();
      } else {
        outcome.passed = static_cast<bool>(body());
      }
    } catch (const Error& error) {
      outcome = {false, error.status(), error.what()};
    } catch (const std::exception& exception) {
      outcome = {false, cudaSuccess, exception.what()};
    } catch (...) {
      outcome = {false, cudaSuccess, "an exception of an unknown type"};
    }
    return outcome;
  };
}

Exploration explore(std::uint64_t seeds, const Runner& run, const ExploreOptions& options);
WaitReport for_each_wait(const Runner& run, const ExploreOptions& options);
FaultReport for_each_fault(const Runner& run, const ExploreOptions& options);

}  // namespace detail

/// Runs the body under so many seeds of the random schedule, one after another from
/// `options.first_seed` on, until one fails. That seed is run once more and told on standard error;
/// CULVERT_SIM_SCHEDULE=random:SEED runs a program with it. Afterwards the runtime is fresh, with
/// `options.config`.
template <class Body>
[[nodiscard]] Exploration explore(std::uint64_t seeds, Body&& body,
                                  const ExploreOptions& options = {}) {
  return detail::explore(seeds, detail::runner(body), options);
}

/// Runs the body once for each wait or synchronize that it makes, with that one left out: under the
/// late schedule, and where the body passes all the same under `options.seeds` seeds of the random
/// one. A left-out synchronize does not wait; a left-out query answers "done" at once. Those that
/// nothing catches are told on standard error with their lines.
template <class Body>
[[nodiscard]] WaitReport for_each_wait(Body&& body, const ExploreOptions& options = {}) {
  return detail::for_each_wait(detail::runner(body), options);
}

/// Runs the body once for each counted runtime call that it makes (see call_count()), with that
/// call failing, under the late schedule. The number of injected faults is told on standard error,
/// and each run that is not ok().
template <class Body>
[[nodiscard]] FaultReport for_each_fault(Body&& body, const ExploreOptions& options = {}) {
  return detail::for_each_fault(detail::runner(body), options);
}

}  // namespace culvert::sim
