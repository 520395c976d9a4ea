// SPDX-License-Identifier: BSL-1.0
//
// Errors: one exception type over std::system_error, with the CUDA status, the call and the
// caller's place.
#pragma once

#include <culvert/process_state.hpp>

#include <cstdlib>
#include <string>
#include <system_error>

namespace culvert::inline CULVERT_ABI {

// The category named "cuda". A code's value is the cudaError_t.
[[nodiscard]] inline const std::error_category& cuda_category() noexcept {
  class Category final : public std::error_category {
   public:
    const char* name() const noexcept override { return "cuda"; }

    // "cudaErrorInvalidValue (1): invalid argument"
    std::string message(int value) const override {
      const auto status = static_cast<cudaError_t>(value);
      return std::string(cudaGetErrorName(status)) + " (" + std::to_string(value) +
             "): " + cudaGetErrorString(status);
    }

    // The few codes with a portable meaning compare equal to the std::errc of that meaning.
    std::error_condition default_error_condition(int value) const noexcept override {
      switch (static_cast<cudaError_t>(value)) {
        case cudaErrorInvalidValue:
          return std::errc::invalid_argument;
        case cudaErrorMemoryAllocation:
          return std::errc::not_enough_memory;
        case cudaErrorNotReady:
          return std::errc::resource_unavailable_try_again;
        case cudaErrorNotSupported:
          return std::errc::not_supported;
        case cudaErrorNotPermitted:
          return std::errc::operation_not_permitted;
        case cudaErrorInvalidDevice:
        case cudaErrorNoDevice:
          return std::errc::no_such_device;
        default:
          return {value, *this};
      }
    }
  };
  static const Category category;
  return category;
}

[[nodiscard]] inline std::error_code make_error_code(cudaError_t status) noexcept {
  return {static_cast<int>(status), cuda_category()};
}

// True for the errors after which "the process is in an inconsistent state and any further
// CUDA work will return the same error" (CUDA Runtime API, cudaError). They come from work
// that ran on the device, so the call that reports one need not be the call that caused it.
// The process must end; neither cudaGetLastError nor cudaDeviceReset brings CUDA back
// (measured on an H200: after an illegal address and a reset, cudaMalloc answers error 46).
[[nodiscard]] constexpr bool is_sticky(cudaError_t status) noexcept {
  constexpr int contained = 226;           // cudaErrorContained, newer than CUDA 12.0
  constexpr int tensor_memory_leak = 721;  // cudaErrorTensorMemoryLeak, likewise
  if (status == contained || status == tensor_memory_leak) return true;
  switch (status) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorLaunchFailure:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorECCUncorrectable:
    case cudaErrorExternalDevice:
      return true;
    default:
      return false;
  }
}

// What every culvert function throws. what() names the caller's file and line, the runtime
// call, and CUDA's name, number and text.
class Error : public std::system_error {
 public:
  Error(cudaError_t status, const char* function, SourceLocation where,
        const std::string& detail = {})
      : std::system_error(make_error_code(status), describe(status, function, where, detail)),
        function_(function),
        where_(where) {}

  // CUDA's own code.
  [[nodiscard]] cudaError_t status() const noexcept {
    return static_cast<cudaError_t>(code().value());
  }

  // Whether every later CUDA call in this process fails too; see is_sticky.
  [[nodiscard]] bool sticky() const noexcept { return is_sticky(status()); }

  // The runtime call that failed, or culvert's operation where it refused the arguments
  // before any CUDA call. A string with static lifetime.
  [[nodiscard]] const char* function() const noexcept { return function_; }

  // Where the caller called culvert.
  [[nodiscard]] SourceLocation where() const noexcept { return where_; }

 private:
  static std::string describe(cudaError_t status, const char* function, SourceLocation where,
                              const std::string& detail) {
    std::string text = std::string(where.file) + ":" + std::to_string(where.line) + ": " + function;
    if (!detail.empty()) text += ": " + detail;
    if (status == cudaErrorInvalidResourceHandle && detail.empty()) {
      text += " (a handle is of another device than the call needs, or of nothing that exists)";
    }
    if (status == cudaErrorNotPermitted && process::in_host_function) {
      text +=
          " (inside a host function, where no CUDA call may be made: enqueue the work in the "
          "stream, or do it in a thread that the host function wakes)";
    }
    if (is_sticky(status)) {
      text +=
          " (sticky: every later CUDA call in this process fails. The error may come from "
          "earlier asynchronous work: run with CUDA_LAUNCH_BLOCKING=1 to find which)";
    }
    return text;
  }

  const char* function_;
  SourceLocation where_;
};

// Device or pinned host memory ran out. The program can go on: free something and try again.
class OutOfMemory : public Error {
 public:
  using Error::Error;
};

// Returns the thread's last CUDA error and clears it (cudaGetLastError). Errors that culvert
// threw are cleared already. Does not block.
[[nodiscard]] inline cudaError_t last_error() noexcept { return cudaGetLastError(); }

// Returns the thread's last CUDA error and leaves it (cudaPeekAtLastError). Does not block.
[[nodiscard]] inline cudaError_t peek_last_error() noexcept { return cudaPeekAtLastError(); }

namespace detail {

// A call of CUDA's failed. After an error that stops CUDA's work for good, host functions that wait
// for their turn are never called: what they hold is ended now.
[[gnu::cold, gnu::noinline]] inline void saw_failure(cudaError_t status) noexcept {
  if (is_sticky(status)) process::drop_host_functions();
}

// Every failure that may be thrown ends here.
[[noreturn, gnu::cold, gnu::noinline]] inline void raise(cudaError_t status, const char* function,
                                                         SourceLocation where,
                                                         const std::string& detail) {
#if CULVERT_HAS_EXCEPTIONS
  if (status == cudaErrorMemoryAllocation) throw OutOfMemory(status, function, where, detail);
  throw Error(status, function, where, detail);
#else
  process::failure_handler.load()(Failure{status, function, detail.c_str(), where});
  std::abort();
#endif
}

// culvert refuses an operation before any CUDA call.
[[noreturn, gnu::cold, gnu::noinline]] inline void refuse(
    SourceLocation where, const char* operation, const std::string& detail,
    cudaError_t status = cudaErrorInvalidValue) {
  raise(status, operation, where, detail);
}

// The same with a function that makes the text, so that the callers' hot code does not.
template <class Text>
requires requires(const Text& text) { {text()}; }
[[noreturn, gnu::cold, gnu::noinline]] void refuse(SourceLocation where, const char* operation,
                                                   const Text& text,
                                                   cudaError_t status = cudaErrorInvalidValue) {
  raise(status, operation, where, text());
}

// A number of any integer type as 32 bits. Refuses one that is negative or does not fit.
template <class Number>
[[nodiscard]] constexpr unsigned checked_unsigned(Number number, const char* operation,
                                                  SourceLocation where) {
  bool fits = static_cast<unsigned long long>(number) <= 0xffff'ffffULL;
  if constexpr (std::is_signed_v<Number>) fits = fits && number >= 0;
  if (!fits) [[unlikely]] {
    refuse(where, operation,
           [=] { return std::to_string(number) + " is negative, or more than 32 bits hold"; });
  }
  return static_cast<unsigned>(number);
}

// The use of an owner that was moved from, released or reset.
[[noreturn, gnu::cold, gnu::noinline]] inline void refuse_empty_owner(SourceLocation where,
                                                                      const char* type) {
  raise(cudaErrorInvalidResourceHandle, type, where,
        "used after it was moved from, released or reset");
}

// A failure where nothing may be thrown. A runtime that is unloading at exit is none.
[[gnu::cold, gnu::noinline]] inline void report(cudaError_t status, const char* function) noexcept {
  (void)cudaGetLastError();
  if (status == cudaErrorCudartUnloading) return;
  saw_failure(status);
  process::failure_handler.load()(Failure{status, function, "", SourceLocation::none()});
}

}  // namespace detail
}  // namespace culvert::inline CULVERT_ABI
