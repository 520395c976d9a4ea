// SPDX-License-Identifier: BSL-1.0
// The functions of culvert/sim/sim.hpp, but for config_from_environment.
#include "culvert/sim/sim.hpp"
#include "sim/process.hpp"
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

}  // namespace

void reset(const Config& wanted) {
  with_process([&](Process& process, detail::Lock& lock) { process.reset(lock, wanted); });
}

Config config() {
  return with_process([](Process& process, detail::Lock&) { return process.config; });
}

void set_schedule(Schedule schedule) {
  with_process([&](Process& process, detail::Lock&) { process.config.schedule = schedule; });
}

void run_pending() {
  with_process([](Process& process, detail::Lock& lock) {
    process.scheduler.wait(lock, process.scheduler.all());
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

void fail_nth_call(const char* function, cudaError_t error, std::uint64_t nth) {
  with_process([&](Process& process, detail::Lock&) { process.faults.add(function, error, nth); });
}

void clear_faults() {
  with_process([](Process& process, detail::Lock&) { process.faults.clear_faults(); });
}

void raise_sticky(int device, cudaError_t error) {
  with_process([&](Process& process, detail::Lock&) {
    if (device < 0 || device >= process.config.devices) {
      detail::refuse("raise_sticky: there is no device %d", device);
    }
    process.scheduler.fail(device, error);
  });
}

Live live() {
  return with_process([](Process& process, detail::Lock&) {
    Live live;
    live.streams = process.streams.size();
    live.events = process.events.size();
    live.pools = process.pools.size() - process.devices.size();
    live.device_allocations = process.memory.count();
    live.device_bytes = process.memory.bytes();
    live.host_allocations = process.host.count(detail::BlockKind::host);
    live.host_bytes = process.host.allocated_bytes();
    live.host_registrations = process.host.count(detail::BlockKind::registered);
    return live;
  });
}

bool is_simulated() { return true; }

}  // namespace culvert::sim
