// SPDX-License-Identifier: BSL-1.0
//
// The one way to the CUDA runtime: every header calls it through these functions, which call,
// check and clear. (Only error.hpp and process_state.hpp read error names and the last error
// directly, which cannot fail.)
#pragma once

#include <culvert/error.hpp>

#include <type_traits>

namespace culvert::inline CULVERT_ABI::detail {

// A runtime call failed. Clears the error from the runtime's last error.
[[gnu::cold, gnu::noinline]] inline void clear_error(cudaError_t status) noexcept {
  (void)cudaGetLastError();
  saw_failure(status);
}

// A runtime call failed: its error is cleared from the runtime's last error and thrown.
[[noreturn, gnu::cold, gnu::noinline]] inline void fail(SourceLocation where, const char* name,
                                                        cudaError_t status,
                                                        const std::string& detail = {}) {
  clear_error(status);
  raise(status, name, where, detail);
}

// Calls a runtime function; throws what it answers unless that is success.
// `name` is the function's name, for the error text.
template <class... Parameters>
inline void call(SourceLocation where, const char* name, cudaError_t (*function)(Parameters...),
                 std::type_identity_t<Parameters>... arguments) {
  const cudaError_t status = function(arguments...);
  if (status != cudaSuccess) [[unlikely]] {
    fail(where, name, status);
  }
}

// Calls a runtime function whose failure is an answer. The error is cleared from the
// runtime's last error.
template <class... Parameters>
[[nodiscard]] inline cudaError_t try_call(cudaError_t (*function)(Parameters...),
                                          std::type_identity_t<Parameters>... arguments) noexcept {
  const cudaError_t status = function(arguments...);
  if (status != cudaSuccess) [[unlikely]] {
    clear_error(status);
  }
  return status;
}

// For calls that the runtime does not refuse in a host function: cudaEventSynchronize and
// cudaEventQuery work there (measured on an H200), and waiting for what comes after the function
// would never end.
inline void refuse_in_host_function(SourceLocation where, const char* name) {
  if (process::in_host_function) [[unlikely]] {
    raise(cudaErrorNotPermitted, name, where, {});
  }
}

// Calls a query: true for success, false for cudaErrorNotReady, which the runtime does not
// keep as its last error (measured on an H200). Throws anything else.
template <class... Parameters>
[[nodiscard]] inline bool query(SourceLocation where, const char* name,
                                cudaError_t (*function)(Parameters...),
                                std::type_identity_t<Parameters>... arguments) {
  const cudaError_t status = function(arguments...);
  if (status == cudaSuccess) return true;
  if (status == cudaErrorNotReady) return false;
  fail(where, name, status);
}

template <class Make>
struct Deferred : process::DeferredCall {
  explicit Deferred(const Make& call) noexcept
      : DeferredCall{nullptr, &make_and_delete}, call_(call) {}

 private:
  static void make_and_delete(DeferredCall* self) noexcept {
    auto* const deferred = static_cast<Deferred*>(self);
    deferred->call_();
    delete deferred;
  }
  Make call_;
};

// Keeps a call that gives a resource back for a thread that may make it; see collect.hpp.
template <class Make>
[[gnu::cold, gnu::noinline]] void defer_call(const char* name, const Make& make) noexcept {
  process::DeferredCall* const deferred = new (std::nothrow) Deferred<Make>(make);
  if (deferred == nullptr) {
    report(cudaErrorMemoryAllocation, name);  // the resource leaks
    return;
  }
  process::push_front(process::deferred_calls, deferred);
}

// Calls a runtime function that gives a resource back. Never throws: a failure goes to the
// failure handler. Makes no call in a forked child; in a host function the call is made later.
template <class... Parameters>
inline void call_in_destructor(const char* name, cudaError_t (*function)(Parameters...),
                               std::type_identity_t<Parameters>... arguments) noexcept {
  if (process::forked_child.load()) [[unlikely]] {
    return;
  }
  if (process::in_host_function) [[unlikely]] {
    defer_call(name, [=] { call_in_destructor(name, function, arguments...); });
    return;
  }
  const cudaError_t status = function(arguments...);
  if (status != cudaSuccess) [[unlikely]] {
    report(status, name);
  }
}

}  // namespace culvert::inline CULVERT_ABI::detail
