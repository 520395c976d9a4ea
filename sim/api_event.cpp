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
    *result = reinterpret_cast<cudaEvent_t>(call.process.events.add(std::move(event)));
    return cudaSuccess;
  });
}

cudaError_t record(const char* function, NullStream null, cudaEvent_t event_handle,
                   cudaStream_t stream_handle, unsigned flags) {
  return stream_api(function, stream_handle, null, [&](Call& call, const StreamPtr& stream) {
    const std::shared_ptr<Event> event = call.event(event_handle);
    if (!event || event->device != stream->device) return cudaErrorInvalidResourceHandle;
    // Outside a capture, as measured on an H200.
    if (flags == cudaEventRecordExternal) return cudaErrorIllegalState;
    if (flags != cudaEventRecordDefault) return cudaErrorInvalidValue;
    const OpPtr op = make_op(OpKind::marker, function);
    event->record = op;
    event->answers = 0;
    call.process.enqueue(call.lock, stream, op);
    return call.process.failure(stream->device);
  });
}

cudaError_t query(Call& call, Event& event) {
  const OpPtr record = event.record;
  if (!record) return cudaSuccess;
  if (!record->done() && event.answers < call.process.config.not_ready_answers) {
    ++event.answers;
    return cudaErrorNotReady;
  }
  const bool finished = call.process.scheduler.poll(call.lock, {record}, patience);
  const cudaError_t failure = call.process.failure(event.device);
  if (failure != cudaSuccess) return failure;
  return finished ? cudaSuccess : cudaErrorNotReady;
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
  return api("cudaEventSynchronize", [&](Call& call) {
    const std::shared_ptr<Event> event = call.event(handle);
    if (!event) return cudaErrorInvalidResourceHandle;
    const cudaError_t error = call.wait({event->record}, event->device);
    call.process.trim_pools();
    return error;
  });
}

cudaError_t cudaEventQuery(cudaEvent_t handle) {
  return api("cudaEventQuery", polls, [&](Call& call) {
    const std::shared_ptr<Event> event = call.event(handle);
    if (!event) return cudaErrorInvalidResourceHandle;
    const cudaError_t failure = call.process.failure(event->device);
    return failure != cudaSuccess ? failure : query(call, *event);
  });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return api("cudaEventElapsedTime", [&](Call& call) {
    if (milliseconds == nullptr) return cudaErrorInvalidValue;
    const std::shared_ptr<Event> first = call.event(start);
    const std::shared_ptr<Event> second = call.event(end);
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
