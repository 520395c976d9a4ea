// SPDX-License-Identifier: BSL-1.0
// Prefetches and discards of managed memory, in both forms. CUDA 13 changed their parameters.
#include <vector>

#include "sim/batch.hpp"
#include "sim/managed_range.hpp"

#if CUDART_VERSION >= 13000

namespace {

using namespace culvert::sim::detail;

struct Request {
  ManagedRange range;
  cudaMemLocation location = {cudaMemLocationTypeInvalid, 0};
};

cudaError_t check_location(const Call& call, const cudaMemLocation& location) {
  if (is_location(call, location)) return cudaSuccess;
  return location.type == cudaMemLocationTypeDevice ? cudaErrorInvalidDevice
                                                    : cudaErrorInvalidValue;
}

cudaError_t prefetch(NullStream null, const void* pointer, std::size_t count,
                     const cudaMemLocation& location, unsigned flags, cudaStream_t handle) {
  constexpr const char* function = "cudaMemPrefetchAsync";
  return stream_api(function, handle, null,
                    [&](Call& call, const StreamPtr& stream) -> cudaError_t {
                      ManagedRange range;
                      if (flags != 0 || !find_managed(call, function, pointer, count, range)) {
                        return cudaErrorInvalidValue;
                      }
                      const cudaError_t error = check_location(call, location);
                      if (error != cudaSuccess) return error;
                      enqueue_prefetch(call, stream, function, range, location);
                      return call.process.failure(stream->device);
                    });
}

// The arguments of a batch. Only prefetches have locations.
struct Batch {
  void** pointers;
  std::size_t* sizes;
  std::size_t count;
  cudaMemLocation* locations;
  std::size_t* firsts;
  std::size_t groups;
  unsigned long long flags;
};

enum class Does { prefetch, discard, both };

cudaError_t requests_of(const Call& call, const char* function, const Batch& batch, Does does,
                        std::vector<Request>& requests) {
  if (batch.pointers == nullptr || batch.sizes == nullptr || batch.count == 0 || batch.flags != 0) {
    return cudaErrorInvalidValue;
  }
  const bool located = does != Does::discard;
  if (located &&
      (batch.locations == nullptr || !is_grouping(batch.firsts, batch.groups, batch.count))) {
    return cudaErrorInvalidValue;
  }
  requests.resize(batch.count);
  for (std::size_t i = 0; i < batch.count; ++i) {
    Request& request = requests[i];
    if (!find_managed(call, function, batch.pointers[i], batch.sizes[i], request.range)) {
      return cudaErrorInvalidValue;
    }
    if (!located) continue;
    request.location = batch.locations[group_of(batch.firsts, batch.groups, i)];
    const cudaError_t error = check_location(call, request.location);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

// All or none.
cudaError_t run(const char* function, NullStream null, const Batch& batch, Does does,
                cudaStream_t handle) {
  return stream_api(function, handle, null,
                    [&](Call& call, const StreamPtr& stream) -> cudaError_t {
                      // As CUDA demands of batches.
                      if (stream->kind == StreamKind::legacy) return cudaErrorInvalidValue;
                      std::vector<Request> requests;
                      const cudaError_t error = requests_of(call, function, batch, does, requests);
                      if (error != cudaSuccess) return error;
                      for (const Request& each : requests) {
                        if (does != Does::prefetch)
                          enqueue_discard(call, stream, function, each.range);
                      }
                      for (const Request& each : requests) {
                        if (does == Does::discard) break;
                        enqueue_prefetch(call, stream, function, each.range, each.location);
                      }
                      return call.process.failure(stream->device);
                    });
}

cudaError_t prefetch_batch(NullStream null, const Batch& batch, cudaStream_t stream) {
  return run("cudaMemPrefetchBatchAsync", null, batch, Does::prefetch, stream);
}

cudaError_t discard_batch(NullStream null, const Batch& batch, cudaStream_t stream) {
  return run("cudaMemDiscardBatchAsync", null, batch, Does::discard, stream);
}

cudaError_t discard_and_prefetch_batch(NullStream null, const Batch& batch, cudaStream_t stream) {
  return run("cudaMemDiscardAndPrefetchBatchAsync", null, batch, Does::both, stream);
}

}  // namespace

extern "C" {

cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t count, cudaMemLocation location,
                                 unsigned flags, cudaStream_t stream) {
  return prefetch(NullStream::legacy, pointer, count, location, flags, stream);
}

cudaError_t cudaMemPrefetchAsync_ptsz(const void* pointer, std::size_t count,
                                      cudaMemLocation location, unsigned flags,
                                      cudaStream_t stream) {
  return prefetch(NullStream::per_thread, pointer, count, location, flags, stream);
}

cudaError_t cudaMemPrefetchBatchAsync(void** pointers, std::size_t* sizes, std::size_t count,
                                      cudaMemLocation* locations, std::size_t* firsts,
                                      std::size_t groups, unsigned long long flags,
                                      cudaStream_t stream) {
  return prefetch_batch(NullStream::legacy,
                        {pointers, sizes, count, locations, firsts, groups, flags}, stream);
}

cudaError_t cudaMemPrefetchBatchAsync_ptsz(void** pointers, std::size_t* sizes, std::size_t count,
                                           cudaMemLocation* locations, std::size_t* firsts,
                                           std::size_t groups, unsigned long long flags,
                                           cudaStream_t stream) {
  return prefetch_batch(NullStream::per_thread,
                        {pointers, sizes, count, locations, firsts, groups, flags}, stream);
}

cudaError_t cudaMemDiscardBatchAsync(void** pointers, std::size_t* sizes, std::size_t count,
                                     unsigned long long flags, cudaStream_t stream) {
  return discard_batch(NullStream::legacy, {pointers, sizes, count, nullptr, nullptr, 0, flags},
                       stream);
}

cudaError_t cudaMemDiscardBatchAsync_ptsz(void** pointers, std::size_t* sizes, std::size_t count,
                                          unsigned long long flags, cudaStream_t stream) {
  return discard_batch(NullStream::per_thread, {pointers, sizes, count, nullptr, nullptr, 0, flags},
                       stream);
}

cudaError_t cudaMemDiscardAndPrefetchBatchAsync(void** pointers, std::size_t* sizes,
                                                std::size_t count, cudaMemLocation* locations,
                                                std::size_t* firsts, std::size_t groups,
                                                unsigned long long flags, cudaStream_t stream) {
  return discard_and_prefetch_batch(
      NullStream::legacy, {pointers, sizes, count, locations, firsts, groups, flags}, stream);
}

cudaError_t cudaMemDiscardAndPrefetchBatchAsync_ptsz(void** pointers, std::size_t* sizes,
                                                     std::size_t count, cudaMemLocation* locations,
                                                     std::size_t* firsts, std::size_t groups,
                                                     unsigned long long flags,
                                                     cudaStream_t stream) {
  return discard_and_prefetch_batch(
      NullStream::per_thread, {pointers, sizes, count, locations, firsts, groups, flags}, stream);
}

}  // extern "C"

#endif
