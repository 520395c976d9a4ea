// SPDX-License-Identifier: BSL-1.0
// How every function of the API begins and ends.
#pragma once

#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#error "The simulated runtime defines both forms of each function: compile it without this macro."
#endif

#include <new>

#include "sim/capture.hpp"
#include "sim/process.hpp"

namespace culvert::sim::detail {

// What a null stream means: the functions named _ptsz and _ptds are the per-thread forms.
enum class NullStream { legacy, per_thread };

struct Rules {
  bool counted = true;            // counted, and failed by injected faults
  bool needs_devices = true;      // fails without a driver or a device
  bool needs_health = true;       // fails when the current device failed
  bool wakes = true;              // shows that the program is not waiting without CUDA calls
  bool sets_last_error = true;    // false for driver functions
  bool in_host_function = false;  // answers there, too
  bool unsafe = false;            // prohibited during captures, as the thread's mode says
  InCapture in_capture = InCapture::recorded;
};

// For what CUDA calls potentially unsafe during a capture.
inline constexpr Rules unsafe_in_capture{.unsafe = true};
// For what tells about a stream.
inline constexpr Rules asks_stream{.in_capture = InCapture::answers};

// For what asks the runtime and not a device.
inline constexpr Rules asks_runtime{.needs_health = false};
// For queries: a program that polls is waiting.
inline constexpr Rules polls{.wakes = false};

// One call. It holds the lock from begin to end, except while host functions run.
class Call {
 public:
  Call() : process(Process::instance()), lock(process.mutex), thread(process.thread()) {}

  cudaError_t begin(const char* function, const Rules& rules);
  cudaError_t end(cudaError_t error, const Rules& rules);

  Device& device() { return process.device(thread.device); }

  // The stream of a handle, or null if there is none (any more).
  StreamPtr stream(cudaStream_t handle, NullStream null);
  std::shared_ptr<Event> event(cudaEvent_t handle);
  PoolPtr pool(cudaMemPool_t handle);

  // Waits until the operations are done and answers how the device is then.
  cudaError_t wait(const Ops& ops, int device);
  // Tells whether the operations are done, after having run those that do not block.
  bool poll(const Ops& ops);

  // Tells whether an experiment leaves out this wait, or this query, which then answers "done".
  bool leaves_out(const char* function);
  void count_answered_query(const char* function, bool was_done);
  bool leaves_out_query(const char* function);

  Process& process;
  Lock lock;
  ThreadState& thread;

 private:
  // Answers the error that it has to fail with, or 0.
  int count(const char* function);
};

// Runs `body(call)` as the function of that name. No exception leaves it.
template <class Body>
cudaError_t api(const char* function, const Rules& rules, Body&& body) noexcept {
  Call call;
  cudaError_t error = call.begin(function, rules);
  if (error == cudaSuccess) {
    try {
      error = body(call);
    } catch (const std::bad_alloc&) {
      error = cudaErrorMemoryAllocation;
    }
  }
  return call.end(error, rules);
}

template <class Body>
cudaError_t api(const char* function, Body&& body) noexcept {
  return api(function, Rules{}, static_cast<Body&&>(body));
}

// The same for a function on one stream: `body(call, stream)`. A failed device of the stream is
// answered before.
template <class Body>
cudaError_t stream_api(const char* function, const Rules& rules, cudaStream_t handle,
                       NullStream null, Body&& body) noexcept {
  return api(function, rules, [&](Call& call) -> cudaError_t {
    const StreamPtr stream = call.stream(handle, null);
    if (!stream) return cudaErrorInvalidResourceHandle;
    const cudaError_t failure = call.process.failure(stream->device);
    if (failure != cudaSuccess) return failure;
    const cudaError_t refused = check_capture(call.process, *stream, rules.in_capture);
    return refused != cudaSuccess ? refused : body(call, stream);
  });
}

template <class Body>
cudaError_t stream_api(const char* function, cudaStream_t handle, NullStream null,
                       Body&& body) noexcept {
  return stream_api(function, Rules{}, handle, null, static_cast<Body&&>(body));
}

}  // namespace culvert::sim::detail
