// SPDX-License-Identifier: BSL-1.0
// Errors. None of these is counted or made to fail.
#include "sim/call.hpp"
#include "sim/error_table.hpp"

namespace {

using namespace culvert::sim::detail;

constexpr Rules always_answers{.counted = false,
                               .needs_devices = false,
                               .needs_health = false,
                               .wakes = false,
                               .sets_last_error = false};

constexpr const char* unknown = "unrecognized error code";

// The error of a failed device stays until the device is reset.
cudaError_t last_error(Call& call) {
  const cudaError_t failure = call.process.failure(call.thread.device);
  return failure != cudaSuccess ? failure : call.thread.last_error;
}

}  // namespace

extern "C" {

cudaError_t cudaGetLastError() {
  return api("cudaGetLastError", always_answers, [](Call& call) {
    const cudaError_t error = last_error(call);
    call.thread.last_error = cudaSuccess;
    return error;
  });
}

cudaError_t cudaPeekAtLastError() {
  return api("cudaPeekAtLastError", always_answers, [](Call& call) { return last_error(call); });
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
