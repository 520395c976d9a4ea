// SPDX-License-Identifier: BSL-1.0
// The functions of culvert/sim/sim.hpp, but for config_from_environment.
#include "culvert/sim/sim.hpp"

#include <string_view>

#include "sim/call.hpp"
#include "sim/config.hpp"
#include "sim/leaks.hpp"
#include "sim/report.hpp"

namespace culvert::sim {
namespace {

using detail::Process;

// Runs `body(process, lock)` with the lock.
template <class Body>
auto with_process(Body&& body) {
  Process& process = Process::instance();
  detail::Lock lock(process.mutex);
  return body(process, lock);
}

// Either would wait for the host function that calls it.
void refuse_in_host_function(const char* function) {
  if (detail::Scheduler::in_host_function()) {
    detail::refuse("%s in a host function or a kernel's body", function);
  }
}

}  // namespace

void reset(const Config& wanted) {
  refuse_in_host_function("reset");
  with_process([&](Process& process, detail::Lock& lock) { process.reset(lock, wanted); });
}

Config config() {
  return with_process([](Process& process, detail::Lock&) { return process.config; });
}

void set_schedule(Schedule schedule) {
  with_process([&](Process& process, detail::Lock&) {
    Config next = process.config;
    next.schedule = schedule;
    process.config = detail::checked(next);
  });
}

void run_pending() {
  refuse_in_host_function("run_pending");
  with_process([](Process& process, detail::Lock& lock) {
    process.wait(lock, process.scheduler.all());
    process.internal_thread.wait_until_idle(lock);
  });
}

std::size_t pending() {
  return with_process([](Process& process, detail::Lock&) { return process.scheduler.pending(); });
}

std::uint64_t call_count() {
  return with_process([](Process& process, detail::Lock&) { return process.faults.calls(); });
}

std::uint64_t call_count(const char* function) {
  return with_process(
      [&](Process& process, detail::Lock&) { return process.faults.calls(function); });
}

void fail(const char* function, cudaError_t error, std::uint64_t nth, Repeat repeat) {
  if (nth == 0) detail::refuse("fail: nth is 0: 1 is the next call");
  if (error == cudaSuccess) detail::refuse("fail: cudaSuccess is no error");
  if (function != nullptr && std::string_view(function).substr(0, 2) != "cu") {
    detail::refuse("fail: \"%s\" is no function of CUDA's", function);
  }
  with_process([&](Process& process, detail::Lock&) {
    process.faults.add(function, error, nth, repeat == Repeat::from_then_on);
  });
}

void fail_operation(cudaStream_t stream, cudaError_t error, std::uint64_t nth) {
  if (nth == 0) detail::refuse("fail_operation: nth is 0: 1 is the next operation");
  if (error == cudaSuccess) detail::refuse("fail_operation: cudaSuccess is no error");
  detail::Call call;
  const detail::StreamPtr found = call.stream(stream, detail::NullStream::legacy);
  if (!found) detail::refuse("fail_operation: there is no such stream");
  found->fails_in = nth;
  found->fails_with = error;
}

void clear_faults() {
  with_process([](Process& process, detail::Lock&) { process.faults.clear_faults(); });
}

void raise_sticky(int device, cudaError_t error) {
  with_process([&](Process& process, detail::Lock&) {
    if (device < 0 || device >= process.config.devices) {
      detail::refuse("raise_sticky: there is no device %d", device);
    }
    if (error == cudaSuccess) detail::refuse("raise_sticky: cudaSuccess is no error");
    process.scheduler.fail(device, error);
  });
}

Live live() {
  return with_process([](Process& process, detail::Lock&) {
    Live live;
    live.streams = process.streams.size();
    live.events = process.events.size();
    live.graphs = process.graphs.count_graphs();
    live.graph_execs = process.graphs.execs.size();
    live.pools = process.pools.size() - process.devices.size();
    live.device_allocations = process.memory.count();
    live.device_bytes = process.memory.bytes();
    live.host_allocations = process.host.count(detail::BlockKind::host);
    live.host_bytes = process.host.bytes(detail::BlockKind::host);
    live.managed_allocations = process.host.count(detail::BlockKind::managed);
    live.managed_bytes = process.host.bytes(detail::BlockKind::managed);
    live.host_registrations = process.host.count(detail::BlockKind::registered);
    return live;
  });
}

std::size_t report_leaks() {
  return with_process([](Process& process, detail::Lock&) { return detail::print_leaks(process); });
}

bool is_simulated() { return true; }

}  // namespace culvert::sim
