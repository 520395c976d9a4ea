// SPDX-License-Identifier: BSL-1.0
// Managed memory: allocating it, and what it is associated with. cudaFree frees it.
#include "sim/managed_range.hpp"

namespace {

using namespace culvert::sim::detail;

cudaError_t attach(NullStream null, cudaStream_t handle, void* pointer, std::size_t length,
                   unsigned flags) {
  constexpr const char* function = "cudaStreamAttachMemAsync";
  return stream_api(
      function, handle, null, [&](Call& call, const StreamPtr& stream) -> cudaError_t {
        if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost &&
            flags != cudaMemAttachSingle) {
          return cudaErrorInvalidValue;
        }
        // The legacy default stream is no single stream.
        if (flags == cudaMemAttachSingle && stream->kind == StreamKind::legacy) {
          return cudaErrorInvalidValue;
        }
        ManagedRange range;
        if (!find_managed(call, function, pointer, length == 0 ? 1 : length, range) ||
            range.offset != 0 || (length != 0 && length != range.block->size)) {
          return cudaErrorInvalidValue;
        }
        // Every device here lets host and device use the memory at the same time.
        call.process.enqueue(call.lock, stream,
                             {.name = function, .touches = {{range.block, 0, range.block->size}}});
        return call.process.failure(stream->device);
      });
}

}  // namespace

extern "C" {

cudaError_t cudaMallocManaged(void** pointer, std::size_t size, unsigned flags) {
  constexpr const char* function = "cudaMallocManaged";
  return api(function, unsafe_in_capture, [&](Call& call) {
    if (pointer == nullptr) return cudaErrorInvalidValue;
    *pointer = nullptr;
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost) return cudaErrorInvalidValue;
    if (size == 0) return cudaSuccess;
    // It may be more than a device has.
    const BlockPtr block = call.process.host.allocate(size, flags, call.thread.device);
    if (!block) return cudaErrorMemoryAllocation;
    block->kind = BlockKind::managed;
    block->made_by = function;
    block->managed = std::make_shared<Managed>(size);
    *pointer = block->bytes;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer, std::size_t length,
                                     unsigned flags) {
  return attach(NullStream::legacy, stream, pointer, length, flags);
}

cudaError_t cudaStreamAttachMemAsync_ptsz(cudaStream_t stream, void* pointer, std::size_t length,
                                          unsigned flags) {
  return attach(NullStream::per_thread, stream, pointer, length, flags);
}

}  // extern "C"
