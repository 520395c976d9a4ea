// SPDX-License-Identifier: BSL-1.0
// Streams.
#include <algorithm>

#include "sim/attributes.hpp"
#include "sim/entry.hpp"

namespace {

using namespace culvert::sim::detail;

cudaError_t create(const char* function, cudaStream_t* result, unsigned flags, int priority) {
  return api(function, [&](Call& call) {
    if (result == nullptr || (flags & ~unsigned{cudaStreamNonBlocking}) != 0) {
      return cudaErrorInvalidValue;
    }
    const StreamKind kind =
        flags == cudaStreamNonBlocking ? StreamKind::non_blocking : StreamKind::blocking;
    const int clamped = std::clamp(priority, greatest_priority, least_priority);
    const StreamPtr stream = call.process.make_stream(call.thread.device, kind, flags, clamped);
    *result = reinterpret_cast<cudaStream_t>(call.process.streams.add(stream));
    return cudaSuccess;
  });
}

// Answers "not ready" a limited number of times about the same work, then runs it.
cudaError_t query(Call& call, Stream& stream) {
  const Ops ops = call.process.device_of(stream).streams.tails(stream);
  std::uint64_t newest = 0;
  bool done = true;
  for (const OpPtr& op : ops) {
    newest = std::max(newest, op->sequence);
    done = done && op->done();
  }
  if (!done) {
    if (stream.asked_sequence != newest) stream.answers = 0;
    stream.asked_sequence = newest;
    if (stream.answers < call.process.config.not_ready_answers) {
      ++stream.answers;
      return cudaErrorNotReady;
    }
  }
  const bool finished = call.process.scheduler.poll(call.lock, ops, patience);
  const cudaError_t failure = call.process.failure(stream.device);
  if (failure != cudaSuccess) return failure;
  return finished ? cudaSuccess : cudaErrorNotReady;
}

}  // namespace

namespace culvert::sim::detail::entry {

cudaError_t stream_synchronize(NullStream null, cudaStream_t handle) {
  return stream_api("cudaStreamSynchronize", handle, null, [](Call& call, const StreamPtr& stream) {
    const Ops ops = call.process.device_of(*stream).streams.tails(*stream);
    const cudaError_t error = call.wait(ops, stream->device);
    call.process.trim_pools();
    return error;
  });
}

cudaError_t stream_query(NullStream null, cudaStream_t handle) {
  return stream_api("cudaStreamQuery", polls, handle, null,
                    [](Call& call, const StreamPtr& stream) { return query(call, *stream); });
}

cudaError_t stream_wait_event(NullStream null, cudaStream_t handle, cudaEvent_t event_handle,
                              unsigned flags) {
  return stream_api("cudaStreamWaitEvent", handle, null, [&](Call& call, const StreamPtr& stream) {
    const std::shared_ptr<Event> event = call.event(event_handle);
    if (!event) return cudaErrorInvalidResourceHandle;
    // Outside a capture, as measured on an H200.
    if (flags == cudaEventWaitExternal) return cudaErrorIllegalState;
    if (flags != cudaEventWaitDefault) return cudaErrorInvalidValue;
    if (event->record) {
      const OpPtr op = make_op(OpKind::marker, "cudaStreamWaitEvent");
      depend(*op, event->record);
      call.process.enqueue(call.lock, stream, op);
    }
    return call.process.failure(stream->device);
  });
}

cudaError_t stream_get_id(NullStream null, cudaStream_t handle, unsigned long long* id) {
  return stream_api("cudaStreamGetId", handle, null, [&](Call&, const StreamPtr& stream) {
    if (id == nullptr) return cudaErrorInvalidValue;
    *id = stream->id;
    return cudaSuccess;
  });
}

cudaError_t stream_get_flags(NullStream null, cudaStream_t handle, unsigned* flags) {
  return stream_api("cudaStreamGetFlags", handle, null, [&](Call&, const StreamPtr& stream) {
    if (flags == nullptr) return cudaErrorInvalidValue;
    *flags = stream->flags;
    return cudaSuccess;
  });
}

cudaError_t stream_get_priority(NullStream null, cudaStream_t handle, int* priority) {
  return stream_api("cudaStreamGetPriority", handle, null, [&](Call&, const StreamPtr& stream) {
    if (priority == nullptr) return cudaErrorInvalidValue;
    *priority = stream->priority;
    return cudaSuccess;
  });
}

cudaError_t stream_get_device(NullStream null, cudaStream_t handle, int* device) {
  return stream_api("cudaStreamGetDevice", handle, null, [&](Call&, const StreamPtr& stream) {
    if (device == nullptr) return cudaErrorInvalidValue;
    *device = stream->device;
    return cudaSuccess;
  });
}

cudaError_t stream_is_capturing(NullStream null, cudaStream_t handle,
                                cudaStreamCaptureStatus* status) {
  return stream_api("cudaStreamIsCapturing", handle, null, [&](Call&, const StreamPtr&) {
    if (status == nullptr) return cudaErrorInvalidValue;
    *status = cudaStreamCaptureStatusNone;
    return cudaSuccess;
  });
}

}  // namespace culvert::sim::detail::entry

extern "C" {

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return create("cudaStreamCreate", stream, cudaStreamDefault, 0);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return create("cudaStreamCreateWithFlags", stream, flags, 0);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  return create("cudaStreamCreateWithPriority", stream, flags, priority);
}

cudaError_t cudaStreamDestroy(cudaStream_t handle) {
  return api("cudaStreamDestroy", [&](Call& call) {
    const auto value = reinterpret_cast<std::uintptr_t>(handle);
    const StreamPtr stream = call.process.streams.find(value);
    if (!stream) return cudaErrorInvalidResourceHandle;
    // What was enqueued still completes; only the name is gone.
    stream->destroyed = true;
    call.process.streams.remove(value);
    return cudaSuccess;
  });
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return api("cudaThreadExchangeStreamCaptureMode", [&](Call& call) {
    if (mode == nullptr) return cudaErrorInvalidValue;
    switch (*mode) {
      case cudaStreamCaptureModeGlobal:
      case cudaStreamCaptureModeThreadLocal:
      case cudaStreamCaptureModeRelaxed:
        std::swap(*mode, call.thread.capture_mode);
        return cudaSuccess;
    }
    return cudaErrorInvalidValue;
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return entry::stream_synchronize(NullStream::legacy, stream);
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return entry::stream_query(NullStream::legacy, stream);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return entry::stream_wait_event(NullStream::legacy, stream, event, flags);
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  return entry::stream_get_id(NullStream::legacy, stream, id);
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  return entry::stream_get_flags(NullStream::legacy, stream, flags);
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return entry::stream_get_priority(NullStream::legacy, stream, priority);
}

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
  return entry::stream_get_device(NullStream::legacy, stream, device);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return entry::stream_is_capturing(NullStream::legacy, stream, status);
}

}  // extern "C"
