// SPDX-License-Identifier: BSL-1.0
// Device memory in stream order.
#include "sim/entry.hpp"
#include "sim/memory_words.hpp"
#include "sim/report.hpp"

namespace {

using namespace culvert::sim::detail;

std::uintptr_t address_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

cudaError_t allocate(Call& call, const StreamPtr& stream, const char* function, void** pointer,
                     std::size_t size, const PoolPtr& pool) {
  if (!stream->capture) {
    const cudaError_t refused = check_unsafe(call.process, call.thread);
    if (refused != cudaSuccess) return refused;
  }
  *pointer = nullptr;
  if (size == 0) return cudaSuccess;
  const BlockPtr block = call.process.allocate(call.lock, pool->device, size, pool);
  if (!block) return cudaErrorMemoryAllocation;
  // The address is known now; it may be used once this operation has run.
  block->state = BlockState::reserved;
  block->made_by = function;
  *pointer = reinterpret_cast<void*>(block->address);
  call.process.enqueue(call.lock, stream,
                       {.kind = OpKind::allocate,
                        .name = function,
                        .touches = {{block, 0, block->size}},
                        .action = [&process = call.process, block = block.get()] {
                          // cudaFree came first. That of a graph begins anew at each launch.
                          if (block->state == BlockState::freed && !block->of_graph) return;
                          block->state = BlockState::live;
                          process.memory.poison(*block);
                        }});
  return call.process.failure(stream->device);
}

// A graph frees what a graph allocates, and a stream what a launch has allocated.
bool may_be_freed(const Block& block, const Stream& stream) {
  if (!stream.capture) return !block.of_graph || block.graph_live;
  const GraphMemoryPtr memory = block.graph_memory.lock();
  return memory && may_free(*memory, *stream.capture->capture->graph);
}

cudaError_t release(Call& call, const StreamPtr& stream, const char* function, void* pointer) {
  const BlockPtr block = call.process.memory.find(address_of(pointer));
  const BlockPtr of_host = block ? nullptr : call.process.host.find(address_of(pointer));
  if (of_host && of_host->kind == BlockKind::managed) {
    report_wrong_free(call.process, function, pointer, "memory of a device");
    return cudaErrorNotSupported;
  }
  if (!block || block->address != address_of(pointer) || block->free_requested ||
      block->is_variable || !may_be_freed(*block, *stream)) {
    report_wrong_free(call.process, function, pointer, "memory of a device");
    return cudaErrorInvalidValue;
  }
  block->freed_by = function;
  if (block->of_graph) {
    if (!stream->recorder) block->graph_live = false;
  } else {
    block->free_requested = true;
    if (block->pool) block->pool->give_back(block->size, stream->id);
  }
  call.process.enqueue(
      call.lock, stream,
      {.kind = OpKind::release,
       .name = function,
       .touches = {{block, 0, block->size}},
       .action = [&process = call.process, block = block.get()] { process.release(*block); }});
  return call.process.failure(stream->device);
}

}  // namespace

namespace culvert::sim::detail::entry {

cudaError_t malloc_async(NullStream null, void** pointer, std::size_t size, cudaStream_t handle) {
  constexpr const char* function = "cudaMallocAsync";
  return stream_api(function, handle, null, [&](Call& call, const StreamPtr& stream) {
    if (!call.process.config.memory_pools) return cudaErrorNotSupported;
    if (pointer == nullptr) return cudaErrorInvalidValue;
    const PoolPtr pool = call.process.device_of(*stream).current_pool;
    return allocate(call, stream, function, pointer, size, pool);
  });
}

cudaError_t malloc_from_pool_async(NullStream null, void** pointer, std::size_t size,
                                   cudaMemPool_t pool_handle, cudaStream_t handle) {
  constexpr const char* function = "cudaMallocFromPoolAsync";
  return stream_api(function, handle, null, [&](Call& call, const StreamPtr& stream) {
    if (!call.process.config.memory_pools) return cudaErrorNotSupported;
    if (pointer == nullptr) return cudaErrorInvalidValue;
    const PoolPtr pool = call.pool(pool_handle);
    if (!pool) return cudaErrorInvalidValue;
    return allocate(call, stream, function, pointer, size, pool);
  });
}

cudaError_t free_async(NullStream null, void* pointer, cudaStream_t handle) {
  constexpr const char* function = "cudaFreeAsync";
  return api(function, [&](Call& call) -> cudaError_t {
    if (!call.process.config.memory_pools) return cudaErrorNotSupported;
    const StreamPtr stream = call.stream(handle, null);
    if (!stream) {
      // The usual reason is a buffer that outlives its stream. CUDA gives handles to new streams at
      // once, so there the free could join a stranger unseen.
      const auto value = reinterpret_cast<std::uintptr_t>(handle);
      report("%s(0x%llx, 0x%llx): %s; the memory is not freed", function,
             static_cast<unsigned long long>(address_of(pointer)),
             static_cast<unsigned long long>(value),
             call.process.streams.issued(value) ? "the stream was destroyed before"
                                                : "there is no such stream");
      return cudaErrorInvalidResourceHandle;
    }
    const cudaError_t failure = call.process.failure(stream->device);
    if (failure != cudaSuccess || pointer == nullptr) return failure;  // null is no error
    const cudaError_t refused = check_capture(call.process, *stream, InCapture::recorded);
    if (refused != cudaSuccess) return refused;
    if (!stream->capture) {
      const cudaError_t unsafe = check_unsafe(call.process, call.thread);
      if (unsafe != cudaSuccess) return unsafe;
    }
    return release(call, stream, function, pointer);
  });
}

}  // namespace culvert::sim::detail::entry

extern "C" {

cudaError_t cudaMallocAsync(void** pointer, std::size_t size, cudaStream_t stream) {
  return entry::malloc_async(NullStream::legacy, pointer, size, stream);
}

cudaError_t cudaMallocFromPoolAsync(void** pointer, std::size_t size, cudaMemPool_t pool,
                                    cudaStream_t stream) {
  return entry::malloc_from_pool_async(NullStream::legacy, pointer, size, pool, stream);
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  return entry::free_async(NullStream::legacy, pointer, stream);
}

}  // extern "C"
