// SPDX-License-Identifier: BSL-1.0
#include "sim/call.hpp"

namespace culvert::sim::detail {
namespace {

bool driver_is_sufficient(int version) { return version / 1000 >= CUDART_VERSION / 1000; }

// Not ready is an answer and does not become the thread's last error.
bool is_failure(cudaError_t error) { return error != cudaSuccess && error != cudaErrorNotReady; }

}  // namespace

cudaError_t Call::begin(const char* function, const Rules& rules) {
  if (rules.wakes) process.background.note_call();
  const int fault = rules.counted ? count(function) : 0;
  if (Scheduler::in_host_function() && !rules.in_host_function) return cudaErrorNotPermitted;
  if (rules.needs_devices) {
    if (process.forked) return cudaErrorInitializationError;
    if (!driver_is_sufficient(process.config.driver_version)) return cudaErrorInsufficientDriver;
    if (process.config.devices == 0) return cudaErrorNoDevice;
  }
  if (fault != 0) return static_cast<cudaError_t>(fault);
  if (rules.unsafe) {
    const cudaError_t refused = check_unsafe(process, thread);
    if (refused != cudaSuccess) return refused;
  }
  if (rules.needs_devices && rules.needs_health) return process.failure(thread.device);
  return cudaSuccess;
}

int Call::count(const char* function) {
  const int own = process.faults.count_call(function);
  if (own != 0 || !process.experiment.faults.is_wanted()) return own;
  return process.experiment.faults.count_call(function);
}

cudaError_t Call::end(cudaError_t error, const Rules& rules) {
  if (rules.sets_last_error && is_failure(error)) thread.last_error = error;
  return error;
}

StreamPtr Call::stream(cudaStream_t handle, NullStream null) {
  const auto value = reinterpret_cast<std::uintptr_t>(handle);
  const bool legacy = handle == cudaStreamLegacy || (value == 0 && null == NullStream::legacy);
  if (legacy) return device().streams.legacy();
  if (value == 0 || handle == cudaStreamPerThread) {
    return process.per_thread_stream(thread, thread.device);
  }
  return process.streams.find(value);
}

std::shared_ptr<Event> Call::event(cudaEvent_t handle) {
  return process.events.find(reinterpret_cast<std::uintptr_t>(handle));
}

PoolPtr Call::pool(cudaMemPool_t handle) {
  return process.pools.find(reinterpret_cast<std::uintptr_t>(handle));
}

cudaError_t Call::wait(const Ops& ops, int device_index) {
  process.wait(lock, ops);
  return process.failure(device_index);
}

bool Call::leaves_out(const char* function) { return process.experiment.waits.skip(function); }

void Call::count_answered_query(const char* function, bool was_done) {
  process.experiment.waits.skip(function, !was_done);
}

bool Call::leaves_out_query(const char* function) {
  return process.experiment.waits.skip_query(function);
}

bool Call::poll(const Ops& ops) {
  if (!process.scheduler.poll(lock, ops)) return false;
  process.wait(lock, ops);
  return true;
}

}  // namespace culvert::sim::detail
