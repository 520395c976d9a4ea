// SPDX-License-Identifier: BSL-1.0
// Streams.
#include <algorithm>

#include "sim/attributes.hpp"
#include "sim/entry.hpp"

namespace {

using namespace culvert::sim::detail;

constexpr Rules host_waits{.in_capture = InCapture::refused};
constexpr Rules polls_stream{.wakes = false, .in_capture = InCapture::refused};

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
  constexpr const char* function = "cudaStreamQuery";
  if (call.leaves_out_query(function)) return cudaSuccess;
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
  const bool finished = call.poll(ops);
  const cudaError_t failure = call.process.failure(stream.device);
  if (failure != cudaSuccess) return failure;
  if (!finished) return cudaErrorNotReady;
  call.count_answered_query(function, done);
  return cudaSuccess;
}

}  // namespace

namespace culvert::sim::detail::entry {

cudaError_t stream_synchronize(NullStream null, cudaStream_t handle) {
  return stream_api("cudaStreamSynchronize", host_waits, handle, null,
                    [](Call& call, const StreamPtr& stream) -> cudaError_t {
                      const cudaError_t refused = check_unsafe(call.process, call.thread);
                      if (refused != cudaSuccess) return refused;
                      if (call.leaves_out("cudaStreamSynchronize"))
                        return call.process.failure(stream->device);
                      const Ops ops = call.process.device_of(*stream).streams.tails(*stream);
                      const cudaError_t error = call.wait(ops, stream->device);
                      if (stream->kind == StreamKind::legacy) {
                        call.process.trim_pools();
                      } else {
                        call.process.trim_pools(stream->id);
                      }
                      return error;
                    });
}

cudaError_t stream_query(NullStream null, cudaStream_t handle) {
  return stream_api("cudaStreamQuery", polls_stream, handle, null,
                    [](Call& call, const StreamPtr& stream) {
                      const cudaError_t refused = check_unsafe(call.process, call.thread);
                      return refused != cudaSuccess ? refused : query(call, *stream);
                    });
}

cudaError_t stream_wait_event(NullStream null, cudaStream_t handle, cudaEvent_t event_handle,
                              unsigned flags) {
  return stream_api("cudaStreamWaitEvent", handle, null, [&](Call& call, const StreamPtr& stream) {
    const std::shared_ptr<Event> event = call.event(event_handle);
    if (!event) return cudaErrorInvalidResourceHandle;
    if (stream->capture || event->captured) {
      return wait_in_capture(call.process, stream, event, event_handle, flags);
    }
    // Outside a capture, as measured on an H200.
    if (flags == cudaEventWaitExternal) return cudaErrorIllegalState;
    if (flags != cudaEventWaitDefault) return cudaErrorInvalidValue;
    if (call.leaves_out("cudaStreamWaitEvent")) return call.process.failure(stream->device);
    if (event->record) {
      call.process.enqueue(call.lock, stream, {.name = "cudaStreamWaitEvent"}, {event->record});
    }
    return call.process.failure(stream->device);
  });
}

cudaError_t stream_get_id(NullStream null, cudaStream_t handle, unsigned long long* id) {
  return stream_api("cudaStreamGetId", asks_stream, handle, null,
                    [&](Call&, const StreamPtr& stream) {
                      if (id == nullptr) return cudaErrorInvalidValue;
                      *id = stream->id;
                      return cudaSuccess;
                    });
}

cudaError_t stream_get_flags(NullStream null, cudaStream_t handle, unsigned* flags) {
  return stream_api("cudaStreamGetFlags", asks_stream, handle, null,
                    [&](Call&, const StreamPtr& stream) {
                      if (flags == nullptr) return cudaErrorInvalidValue;
                      *flags = stream->flags;
                      return cudaSuccess;
                    });
}

cudaError_t stream_get_priority(NullStream null, cudaStream_t handle, int* priority) {
  return stream_api("cudaStreamGetPriority", asks_stream, handle, null,
                    [&](Call&, const StreamPtr& stream) {
                      if (priority == nullptr) return cudaErrorInvalidValue;
                      *priority = stream->priority;
                      return cudaSuccess;
                    });
}

cudaError_t stream_get_device(NullStream null, cudaStream_t handle, int* device) {
  return stream_api("cudaStreamGetDevice", asks_stream, handle, null,
                    [&](Call&, const StreamPtr& stream) {
                      if (device == nullptr) return cudaErrorInvalidValue;
                      *device = stream->device;
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
    if (stream->capture) leave_capture(call.process, *stream);
    // What was enqueued still completes; only the name is gone.
    stream->destroyed = true;
    call.process.streams.remove(value);
    return cudaSuccess;
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

}  // extern "C"
