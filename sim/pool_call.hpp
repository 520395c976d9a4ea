// SPDX-License-Identifier: BSL-1.0
// How functions on memory pools begin.
#pragma once

#include "sim/call.hpp"
#include "sim/report.hpp"

namespace culvert::sim::detail {

// For a function that only devices with memory pools have.
template <class Body>
cudaError_t pool_api(const char* function, Body&& body) {
  return api(function, [&](Call& call) -> cudaError_t {
    return call.process.config.memory_pools ? body(call) : cudaErrorNotSupported;
  });
}

// The same for a function on one pool: `body(call, pool)`.
template <class Body>
cudaError_t pool_api(const char* function, cudaMemPool_t handle, Body&& body) {
  return pool_api(function, [&](Call& call) -> cudaError_t {
    const PoolPtr pool = call.pool(handle);
    return pool ? body(call, pool) : cudaErrorInvalidValue;
  });
}

// Tells that pools hold memory of devices only.
inline cudaError_t refuse_pool(const char* function) {
  report("%s: the simulated runtime has pools of device memory only", function);
  return cudaErrorNotSupported;
}

}  // namespace culvert::sim::detail
