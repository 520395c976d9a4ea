// SPDX-License-Identifier: BSL-1.0
//
// Recording on a stream whose device its handle does not tell, and the events that are kept
// to join two streams. Used by stream.hpp.
#pragma once

#include <culvert/event.hpp>

namespace culvert::inline CULVERT_ABI::detail {

// Calls attempt(device) for the current device and then the others, until it succeeds in
// recording an event of that device. The runtime answers error 400 where the event's and the
// stream's devices differ. (cudaStreamGetDevice is newer than CUDA 12.1, and some drivers
// refuse it during a capture.)
template <class Attempt>
[[gnu::cold, gnu::noinline]] void record_on_any_device(SourceLocation where, Attempt&& attempt) {
  const int devices = Device::count(where);
  const int first = Device::current(where).ordinal();
  cudaError_t status = cudaErrorInvalidResourceHandle;
  for (int i = 0; i < devices && status == cudaErrorInvalidResourceHandle; ++i) {
    status = attempt(Device((first + i) % devices, where));
  }
  if (status != cudaSuccess) raise(status, "cudaEventRecord", where, {});
}

// Creates an event of the stream's device and records it.
template <class EventType>
[[nodiscard]] EventType record_new_event(cudaStream_t stream, SourceLocation where) {
  EventType event(where);
  const cudaError_t status = try_call(cudaEventRecord, event.get(), stream);
  if (status != cudaSuccess) [[unlikely]] {
    if (status != cudaErrorInvalidResourceHandle) raise(status, "cudaEventRecord", where, {});
    record_on_any_device(where, [&](Device device) {
      event = EventType(EventOptions{.device = device}, where);
      return try_call(cudaEventRecord, event.get(), stream);
    });
  }
  return event;
}

// Records `stream` into a kept event of its device and returns the event; the slow path.
[[nodiscard, gnu::cold, gnu::noinline]] inline cudaEvent_t record_found_event(
    cudaStream_t stream, SourceLocation where) {
  process::KeptEvents& kept = process::leased_thread_keep().events;

  const unsigned generation = process::kept_events_generation.load();
  if (kept.generation != generation) kept = process::KeptEvents{};
  kept.generation = generation;

  for (int i = 0; i < process::KeptEvents::capacity; ++i) {
    if (kept.events[i] == nullptr) continue;
    const cudaError_t status = try_call(cudaEventRecord, kept.events[i], stream);
    if (status == cudaSuccess) {
      kept.recent = i;
      return kept.events[i];
    }
    if (status != cudaErrorInvalidResourceHandle) raise(status, "cudaEventRecord", where, {});
  }

  record_on_any_device(where, [&](Device device) {
    Event event(EventOptions{.device = device}, where);
    const cudaError_t status = try_call(cudaEventRecord, event.get(), stream);
    if (status == cudaSuccess) {
      kept.recent = device.ordinal() % process::KeptEvents::capacity;
      kept.events[kept.recent] = event.release();
    }
    return status;
  });
  return kept.events[kept.recent];
}

// Makes later work of `waiter` wait for what `producer` holds now. A wait takes the event's
// state at the call, so the same event serves the next join at once.
inline void join(cudaStream_t waiter, cudaStream_t producer, SourceLocation where) {
  cudaEvent_t event = nullptr;
  if (const process::ThreadKeep* const keep = process::thread_keep;
      keep != nullptr && keep->events.generation == process::kept_events_generation.load())
      [[likely]] {
    event = keep->events.events[keep->events.recent];
  }
  cudaError_t status = cudaErrorInvalidResourceHandle;
  if (event != nullptr) [[likely]] {
    status = try_call(cudaEventRecord, event, producer);
  }
  if (status != cudaSuccess) [[unlikely]] {
    if (status != cudaErrorInvalidResourceHandle) raise(status, "cudaEventRecord", where, {});
    if (process::thread_keep_ended) {  // a late destructor of an ending thread
      const Event once = record_new_event<Event>(producer, where);
      call(where, "cudaStreamWaitEvent", cudaStreamWaitEvent, waiter, once.get(), 0u);
      return;
    }
    event = record_found_event(producer, where);
  }
  call(where, "cudaStreamWaitEvent", cudaStreamWaitEvent, waiter, event, 0u);
}

}  // namespace culvert::inline CULVERT_ABI::detail
