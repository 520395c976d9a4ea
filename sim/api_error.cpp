// SPDX-License-Identifier: BSL-1.0
// Errors. None of these is counted or made to fail.
#include <utility>

#include "sim/call.hpp"
#include "sim/error_table.hpp"

namespace {

using namespace culvert::sim::detail;

constexpr Rules always_answers{.counted = false,
                               .needs_devices = false,
                               .needs_health = false,
                               .wakes = false,
                               .sets_last_error = false,
                               .in_host_function = true};

constexpr const char* unknown = "unrecognized error code";

}  // namespace

extern "C" {

cudaError_t cudaGetLastError() {
  return api("cudaGetLastError", always_answers, [](Call& call) {
    // The error of a failed device is cleared like any other (measured on an H200); the next call
    // answers it again.
    return std::exchange(call.thread.last_error, cudaSuccess);
  });
}

cudaError_t cudaPeekAtLastError() {
  return api("cudaPeekAtLastError", always_answers,
             [](Call& call) { return call.thread.last_error; });
}

const char* cudaGetErrorName(cudaError_t error) {
  const ErrorText* const found = find_error(static_cast<int>(error));
  return found == nullptr ? unknown : found->name;
}

const char* cudaGetErrorString(cudaError_t error) {
  const ErrorText* const found = find_error(static_cast<int>(error));
  return found == nullptr ? unknown : found->text;
}

}  // extern "C"
