// SPDX-License-Identifier: BSL-1.0
// Events.
#include "sim/entry.hpp"

namespace {

using namespace culvert::sim::detail;

cudaError_t create(const char* function, cudaEvent_t* result, unsigned flags) {
  return api(function, [&](Call& call) {
    constexpr unsigned known =
        cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
    if (result == nullptr || (flags & ~known) != 0) return cudaErrorInvalidValue;
    const bool timing = (flags & cudaEventDisableTiming) == 0;
    if ((flags & cudaEventInterprocess) != 0 && timing) return cudaErrorInvalidValue;
    auto event = std::make_shared<Event>();
    event->device = call.thread.device;
    event->timing = timing;
    event->made = CallSite::here();
    *result = reinterpret_cast<cudaEvent_t>(call.process.events.add(std::move(event)));
    return cudaSuccess;
  });
}

cudaError_t record(const char* function, NullStream null, cudaEvent_t event_handle,
                   cudaStream_t stream_handle, unsigned flags) {
  return stream_api(function, stream_handle, null, [&](Call& call, const StreamPtr& stream) {
    const std::shared_ptr<Event> event = call.event(event_handle);
    if (!event || event->device != stream->device) return cudaErrorInvalidResourceHandle;
    if (stream->capture) {
      return record_in_capture(call.process, stream, event, event_handle, flags);
    }
    // Outside a capture, as measured on an H200.
    if (flags == cudaEventRecordExternal) return cudaErrorIllegalState;
    if (flags != cudaEventRecordDefault) return cudaErrorInvalidValue;
    event->answers = 0;
    event->captured = nullptr;
    event->record = call.process.enqueue(call.lock, stream,
                                         {.name = function, .cost = {.engine = Engine::event}});
    return call.process.failure(stream->device);
  });
}

bool is_being_captured(const Event& event) {
  return event.captured && !event.captured->capture->ended && !event.captured->capture->invalid;
}

cudaError_t query(Call& call, Event& event) {
  constexpr const char* function = "cudaEventQuery";
  const OpPtr record = event.record;
  if (call.leaves_out_query(function) || !record) return cudaSuccess;
  const bool was_done = record->done();
  if (!was_done && event.answers < call.process.config.not_ready_answers) {
    ++event.answers;
    return cudaErrorNotReady;
  }
  const bool finished = call.poll({record});
  const cudaError_t failure = call.process.failure(event.device);
  if (failure != cudaSuccess) return failure;
  if (!finished) return cudaErrorNotReady;
  call.count_answered_query(function, was_done);
  return cudaSuccess;
}

}  // namespace

namespace culvert::sim::detail::entry {

cudaError_t event_record(NullStream null, cudaEvent_t event, cudaStream_t stream) {
  return record("cudaEventRecord", null, event, stream, 0);
}

cudaError_t event_record_with_flags(NullStream null, cudaEvent_t event, cudaStream_t stream,
                                    unsigned flags) {
  return record("cudaEventRecordWithFlags", null, event, stream, flags);
}

}  // namespace culvert::sim::detail::entry

extern "C" {

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return create("cudaEventCreate", event, cudaEventDefault);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return create("cudaEventCreateWithFlags", event, flags);
}

cudaError_t cudaEventDestroy(cudaEvent_t handle) {
  return api("cudaEventDestroy", [&](Call& call) {
    if (!call.event(handle)) return cudaErrorInvalidResourceHandle;
    call.process.events.remove(reinterpret_cast<std::uintptr_t>(handle));
    return cudaSuccess;
  });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return entry::event_record(NullStream::legacy, event, stream);
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  return entry::event_record_with_flags(NullStream::legacy, event, stream, flags);
}

cudaError_t cudaEventSynchronize(cudaEvent_t handle) {
  return api("cudaEventSynchronize", [&](Call& call) -> cudaError_t {
    const std::shared_ptr<Event> event = call.event(handle);
    if (!event) return cudaErrorInvalidResourceHandle;
    const cudaError_t refused = check_event_use(call.process, call.thread, *event);
    if (refused != cudaSuccess) return refused;
    if (call.leaves_out("cudaEventSynchronize")) return call.process.failure(event->device);
    const cudaError_t error = call.wait({event->record}, event->device);
    if (event->record) call.process.trim_pools(event->record->stream);
    return error;
  });
}

cudaError_t cudaEventQuery(cudaEvent_t handle) {
  return api("cudaEventQuery", polls, [&](Call& call) {
    const std::shared_ptr<Event> event = call.event(handle);
    if (!event) return cudaErrorInvalidResourceHandle;
    const cudaError_t failure = call.process.failure(event->device);
    if (failure != cudaSuccess) return failure;
    const cudaError_t refused = check_event_use(call.process, call.thread, *event);
    return refused != cudaSuccess ? refused : query(call, *event);
  });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  constexpr Rules rules{.in_host_function = true};
  return api("cudaEventElapsedTime", rules, [&](Call& call) -> cudaError_t {
    if (milliseconds == nullptr) return cudaErrorInvalidValue;
    const std::shared_ptr<Event> first = call.event(start);
    const std::shared_ptr<Event> second = call.event(end);
    if (first && second && (first->captured || second->captured)) {
      return is_being_captured(*first) || is_being_captured(*second) ? cudaErrorCapturedEvent
                                                                     : cudaErrorInvalidValue;
    }
    if (!first || !second || !first->timing || !second->timing || !first->record ||
        !second->record || first->device != second->device) {
      return cudaErrorInvalidResourceHandle;
    }
    if (!first->record->done() || !second->record->done()) return cudaErrorNotReady;
    const auto time = [](const Event& event) {
      return static_cast<double>(event.record->finish_ns);
    };
    *milliseconds = static_cast<float>((time(*second) - time(*first)) / 1e6);
    return cudaSuccess;
  });
}

}  // extern "C"
