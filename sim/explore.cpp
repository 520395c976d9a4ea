// SPDX-License-Identifier: BSL-1.0
#include "culvert/sim/explore.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <iterator>
#include <set>
#include <string_view>

#include "sim/process.hpp"
#include "sim/report.hpp"

namespace culvert::sim {
namespace detail {
namespace {

using Order = Experiment::Order;

unsigned long long printed(std::uint64_t number) { return number; }

// Starts afresh and runs under that experiment; answers what it counted.
Experiment run_under(Experiment experiment, const Config& config, const Runner& run,
                     Outcome& outcome) {
  Process& process = Process::instance();
  {
    Lock lock(process.mutex);
    std::swap(process.experiment, experiment);
    process.reset(lock, config);
  }
  outcome = run();
  // What it left behind may be wrong, too.
  run_pending();
  const Lock lock(process.mutex);
  if (outcome.passed && process.illegal_accesses != 0) {
    outcome.passed = false;
    outcome.failure = "an operation touched memory that was freed or not yet allocated";
  }
  std::swap(process.experiment, experiment);
  return experiment;
}

Outcome run_ordered(const Order& order, const Config& config, const Runner& run) {
  Outcome outcome;
  Experiment experiment;
  experiment.order = order;
  run_under(std::move(experiment), config, run, outcome);
  return outcome;
}

std::string name_of(const Order& order) {
  return order.schedule == Schedule::late ? "late" : "random:" + std::to_string(order.seed);
}

// Tells whether the body fails in that order without the wait.
bool catches(const Wait& wait, const Order& order, const Config& config, const Runner& run) {
  Experiment experiment;
  experiment.order = order;
  experiment.waits.leave_out(wait.number, wait.function);
  Outcome outcome;
  run_under(std::move(experiment), config, run, outcome);
  return !outcome.passed;
}

void look_for_catch(Wait& wait, const Runner& run, const ExploreOptions& options) {
  std::vector<Order> orders{{Schedule::late, 0}};
  for (std::uint64_t i = 0; i < options.seeds; ++i) {
    orders.push_back({Schedule::random, options.first_seed + i});
  }
  for (const Order& order : orders) {
    if (!catches(wait, order, options.config, run)) continue;
    wait.caught = true;
    wait.caught_by = name_of(order);
    return;
  }
}

// What a call of that name would have ended.
std::size_t* ended_by(std::string_view function, Live& live) {
  if (function == "cudaStreamDestroy") return &live.streams;
  if (function == "cudaEventDestroy") return &live.events;
  if (function == "cudaMemPoolDestroy") return &live.pools;
  if (function == "cudaFree" || function == "cudaFreeAsync") return &live.device_allocations;
  if (function == "cudaFreeHost") return &live.host_allocations;
  if (function == "cudaHostUnregister") return &live.host_registrations;
  if (function == "cudaGraphDestroy") return &live.graphs;
  if (function == "cudaGraphExecDestroy") return &live.graph_execs;
  return nullptr;
}

constexpr std::array counts{&Live::streams,
                            &Live::events,
                            &Live::pools,
                            &Live::device_allocations,
                            &Live::host_allocations,
                            &Live::host_registrations,
                            &Live::managed_allocations,
                            &Live::graphs,
                            &Live::graph_execs};

Live beyond(const Live& now, const Live& base, std::string_view failed) {
  Live leaked;
  for (const auto count : counts) {
    leaked.*count = now.*count > base.*count ? now.*count - base.*count : 0;
  }
  std::size_t* const ended = ended_by(failed, leaked);
  if (ended != nullptr && *ended != 0) --*ended;
  return leaked;
}

std::size_t total(const Live& live) {
  std::size_t sum = 0;
  for (const auto count : counts) sum += live.*count;
  return sum;
}

cudaError_t error_for(std::string_view function, cudaError_t wanted) {
  if (wanted != cudaSuccess) return wanted;
  const bool allocates = function.find("Malloc") != std::string_view::npos ||
                         function.find("HostAlloc") != std::string_view::npos;
  return allocates ? cudaErrorMemoryAllocation : cudaErrorUnknown;
}

FaultRun run_with_fault(std::uint64_t number, const char* function, const Live& base,
                        const Runner& run, const ExploreOptions& options) {
  FaultRun result{.number = number, .function = function};
  result.injected = error_for(function, options.error);
  Experiment experiment;
  experiment.order = Order{};
  experiment.faults.add(nullptr, result.injected, number, false);
  Outcome outcome;
  experiment = run_under(std::move(experiment), options.config, run, outcome);
  result.happened = experiment.faults.not_happened().empty();
  result.passed = outcome.passed;
  result.escaped = outcome.escaped;
  result.failure = outcome.failure;
  result.leaked = beyond(live(), base, function);
  return result;
}

void report_fault(const FaultRun& run) {
  report("  call %llu, %s: %zu leaked%s%s", printed(run.number), run.function.c_str(),
         total(run.leaked), run.failure.empty() ? "" : "; ", run.failure.c_str());
}

// One of these functions at a time, and not in a host function, which cannot start afresh.
class Alone {
 public:
  explicit Alone(const char* function) {
    if (Scheduler::in_host_function()) refuse("%s in a host function", function);
    if (running_.exchange(true)) {
      refuse("%s while explore, for_each_wait or for_each_fault runs", function);
    }
  }
  Alone(const Alone&) = delete;
  Alone& operator=(const Alone&) = delete;
  ~Alone() { running_ = false; }

 private:
  static inline std::atomic<bool> running_{false};
};

}  // namespace

Exploration explore(std::uint64_t seeds, const Runner& run, const ExploreOptions& options) {
  const Alone alone("explore");
  Exploration result;
  while (result.passed && result.runs < seeds) {
    const Order order{Schedule::random, options.first_seed + result.runs++};
    const Outcome outcome = run_ordered(order, options.config, run);
    if (outcome.passed) continue;
    result.passed = false;
    result.failing_seed = order.seed;
    result.failure = outcome.failure;
    result.replayed = !run_ordered(order, options.config, run).passed;
  }
  if (options.report && !result.passed) {
    report("explore: seed %llu fails%s (%llu of %llu run)%s%s; CULVERT_SIM_SCHEDULE=random:%llu",
           printed(result.failing_seed), result.replayed ? ", and again" : ", but not again",
           printed(result.runs), printed(seeds), result.failure.empty() ? "" : ": ",
           result.failure.c_str(), printed(result.failing_seed));
  }
  sim::reset(options.config);
  return result;
}

WaitReport for_each_wait(const Runner& run, const ExploreOptions& options) {
  const Alone alone("for_each_wait");
  WaitReport result;
  Experiment experiment;
  experiment.order = Order{};
  experiment.waits.keep();
  Outcome outcome;
  experiment = run_under(std::move(experiment), options.config, run, outcome);
  result.passed = outcome.passed;
  result.failure = outcome.failure;
  std::uint64_t number = 0;
  for (const Waits::Wait& made : experiment.waits.made()) {
    ++number;
    if (!made.waits) continue;
    result.waits.push_back(
        {.number = number, .function = made.function, .where = describe(made.where)});
  }
  if (result.passed) {
    for (Wait& wait : result.waits) look_for_catch(wait, run, options);
  }
  if (options.report) {
    if (!result.passed) {
      report("for_each_wait: the body fails with all its waits%s%s",
             result.failure.empty() ? "" : ": ", result.failure.c_str());
    }
    for (const Wait& wait : result.passed ? result.uncaught() : std::vector<Wait>()) {
      report("for_each_wait: the body passes without wait %llu, %s %s: redundant or untested",
             printed(wait.number), wait.function.c_str(), wait.where.c_str());
    }
  }
  sim::reset(options.config);
  return result;
}

FaultReport for_each_fault(const Runner& run, const ExploreOptions& options) {
  const Alone alone("for_each_fault");
  FaultReport result;
  Experiment experiment;
  experiment.order = Order{};
  experiment.faults.keep_names();
  Outcome outcome;
  experiment = run_under(std::move(experiment), options.config, run, outcome);
  const Live base = live();
  result.passed = outcome.passed;
  result.failure = outcome.failure;
  const std::vector<const char*> names = experiment.faults.names();
  if (result.passed) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      result.runs.push_back(run_with_fault(i + 1, names[i], base, run, options));
    }
  }
  if (options.report) {
    const std::set<std::string_view> functions(names.begin(), names.end());
    const std::vector<FaultRun> unexpected = result.unexpected();
    const auto happened = std::count_if(result.runs.begin(), result.runs.end(),
                                        [](const FaultRun& fault) { return fault.happened; });
    report("for_each_fault: %zu faults injected in %zu functions, %zu not as they should be%s%s",
           static_cast<std::size_t>(happened), functions.size(), unexpected.size(),
           result.passed ? "" : "; the body fails without one",
           result.passed ? "" : result.failure.c_str());
    for (const FaultRun& fault : unexpected) report_fault(fault);
    if (static_cast<std::size_t>(happened) != result.runs.size()) {
      report("for_each_fault: %zu calls were not made again: the body makes other calls each time",
             result.runs.size() - static_cast<std::size_t>(happened));
    }
  }
  sim::reset(options.config);
  return result;
}

}  // namespace detail

std::vector<Wait> WaitReport::uncaught() const {
  std::vector<Wait> left;
  std::copy_if(waits.begin(), waits.end(), std::back_inserter(left),
               [](const Wait& wait) { return !wait.caught; });
  return left;
}

bool FaultRun::ok() const {
  const bool wrong_exception = escaped == cudaSuccess ? !failure.empty() : escaped != injected;
  return !wrong_exception && detail::total(leaked) == 0;
}

std::vector<FaultRun> FaultReport::unexpected() const {
  std::vector<FaultRun> wrong;
  std::copy_if(runs.begin(), runs.end(), std::back_inserter(wrong),
               [](const FaultRun& run) { return !run.ok(); });
  return wrong;
}

}  // namespace culvert::sim
