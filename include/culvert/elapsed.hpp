// SPDX-License-Identifier: BSL-1.0
//
// The time between two timed events, in std::chrono.
#pragma once

#include <culvert/event.hpp>

#include <chrono>
#include <optional>

namespace culvert::inline CULVERT_ABI {

// What CUDA measures in: milliseconds as a float, with a resolution of about half a
// microsecond (CUDA Runtime API, cudaEventElapsedTime).
using Milliseconds = std::chrono::duration<float, std::milli>;

// The time on the device from the record of `start` to that of `stop`. Does not block: both
// must be complete, so synchronize with the later one first.
// @throws Error: cudaErrorInvalidResourceHandle where one was never recorded or the events
// are of different devices, cudaErrorNotReady where one is not complete yet.
[[nodiscard]] inline Milliseconds elapsed(const TimedEvent& start, const TimedEvent& stop,
                                          SourceLocation where = SourceLocation::current());

// The same, where "not complete yet" is an answer: nullopt.
// @throws Error where one was never recorded.
[[nodiscard]] inline std::optional<Milliseconds> try_elapsed(
    const TimedEvent& start, const TimedEvent& stop,
    SourceLocation where = SourceLocation::current());

// An Event takes no time.
// clang-format off
template <class Start, class Stop>
Milliseconds elapsed(const Start&, const Stop&) = delete;  // only a TimedEvent takes the time: use stream.record_timed()
template <class Start, class Stop>
std::optional<Milliseconds> try_elapsed(const Start&, const Stop&) = delete;  // only a TimedEvent takes the time: use stream.record_timed()
// clang-format on

namespace detail {

[[nodiscard]] inline cudaError_t elapsed_status(const TimedEvent& start, const TimedEvent& stop,
                                                float& milliseconds, SourceLocation where) {
  return try_call(cudaEventElapsedTime, &milliseconds, EventRef(start, where).get(),
                  EventRef(stop, where).get());
}

[[noreturn, gnu::cold, gnu::noinline]] inline void fail_elapsed(cudaError_t status,
                                                                SourceLocation where) {
  std::string detail;
  if (status == cudaErrorNotReady) {
    detail = "an event is not complete: synchronize with the later one first, or use try_elapsed";
  } else if (status == cudaErrorInvalidResourceHandle) {
    detail = "an event was never recorded, or the events are of different devices";
  }
  raise(status, "cudaEventElapsedTime", where, detail);
}

}  // namespace detail

inline Milliseconds elapsed(const TimedEvent& start, const TimedEvent& stop, SourceLocation where) {
  float milliseconds = 0.0f;
  const cudaError_t status = detail::elapsed_status(start, stop, milliseconds, where);
  if (status != cudaSuccess) detail::fail_elapsed(status, where);
  return Milliseconds(milliseconds);
}

inline std::optional<Milliseconds> try_elapsed(const TimedEvent& start, const TimedEvent& stop,
                                               SourceLocation where) {
  float milliseconds = 0.0f;
  const cudaError_t status = detail::elapsed_status(start, stop, milliseconds, where);
  if (status == cudaErrorNotReady) return std::nullopt;
  if (status != cudaSuccess) detail::fail_elapsed(status, where);
  return Milliseconds(milliseconds);
}

}  // namespace culvert::inline CULVERT_ABI
