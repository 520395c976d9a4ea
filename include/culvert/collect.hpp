// SPDX-License-Identifier: BSL-1.0
//
// The ends of owners that ended where no CUDA call may be made: in a host function.
#pragma once

#include <culvert/runtime.hpp>

namespace culvert::inline CULVERT_ABI {

// Gives back what owners held that ended in a host function, such as a PinnedBuffer that a
// callable had captured. stream.synchronize(), launch_host and the like do so too, so a program
// seldom needs to call this. Does nothing in a host function. A call that fails goes to the
// failure handler. Blocks the host where a call that gives something back does (cudaFreeHost).
[[gnu::cold, gnu::noinline]] inline void collect() noexcept {
  if (process::in_host_function || process::forked_child.load()) return;
  process::DeferredCall* newest = process::deferred_calls.exchange(nullptr);
  if (newest == nullptr) return;

  // Some of the calls would end another thread's capture of a stream otherwise.
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  const cudaError_t relaxed = detail::try_call(cudaThreadExchangeStreamCaptureMode, &mode);

  // In the order in which the owners ended.
  process::DeferredCall* oldest = nullptr;
  while (newest != nullptr) {
    process::DeferredCall* const next = newest->next;
    newest->next = oldest;
    oldest = newest;
    newest = next;
  }
  while (oldest != nullptr) {
    process::DeferredCall* const next = oldest->next;
    oldest->make(oldest);
    oldest = next;
  }
  if (relaxed == cudaSuccess) {
    (void)detail::try_call(cudaThreadExchangeStreamCaptureMode, &mode);
  }
}

namespace detail {

// What calls that block the host, or allocate, do in passing.
inline void collect_if_any() noexcept {
  if (process::deferred_calls.load() != nullptr) [[unlikely]] {
    collect();
  }
}

}  // namespace detail
}  // namespace culvert::inline CULVERT_ABI
