// SPDX-License-Identifier: BSL-1.0
// The forms that a program calls when it is compiled with CUDA_API_PER_THREAD_DEFAULT_STREAM: in
// them a null stream is the calling thread's default stream. CUDA's headers do not declare them
// under these names.
#include "sim/entry.hpp"

using namespace culvert::sim::detail;

namespace {

constexpr NullStream null = NullStream::per_thread;

}  // namespace

extern "C" {

cudaError_t cudaMemcpy_ptds(void* to, const void* from, std::size_t count, cudaMemcpyKind kind) {
  return entry::memcpy(null, to, from, count, kind);
}

cudaError_t cudaMemset_ptds(void* to, int value, std::size_t count) {
  return entry::memset(null, to, value, count);
}

cudaError_t cudaMemcpy2D_ptds(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t width, std::size_t height,
                              cudaMemcpyKind kind) {
  return entry::memcpy_2d(null, to, to_pitch, from, from_pitch, width, height, kind);
}

cudaError_t cudaMemset2D_ptds(void* to, std::size_t pitch, int value, std::size_t width,
                              std::size_t height) {
  return entry::memset_2d(null, to, pitch, value, width, height);
}

cudaError_t cudaMemcpyAsync_ptsz(void* to, const void* from, std::size_t count, cudaMemcpyKind kind,
                                 cudaStream_t stream) {
  return entry::memcpy_async(null, to, from, count, kind, stream);
}

cudaError_t cudaMemcpy2DAsync_ptsz(void* to, std::size_t to_pitch, const void* from,
                                   std::size_t from_pitch, std::size_t width, std::size_t height,
                                   cudaMemcpyKind kind, cudaStream_t stream) {
  return entry::memcpy_2d_async(null, to, to_pitch, from, from_pitch, width, height, kind, stream);
}

cudaError_t cudaMemsetAsync_ptsz(void* to, int value, std::size_t count, cudaStream_t stream) {
  return entry::memset_async(null, to, value, count, stream);
}

cudaError_t cudaMemset2DAsync_ptsz(void* to, std::size_t pitch, int value, std::size_t width,
                                   std::size_t height, cudaStream_t stream) {
  return entry::memset_2d_async(null, to, pitch, value, width, height, stream);
}

cudaError_t cudaStreamSynchronize_ptsz(cudaStream_t stream) {
  return entry::stream_synchronize(null, stream);
}

cudaError_t cudaStreamQuery_ptsz(cudaStream_t stream) { return entry::stream_query(null, stream); }

cudaError_t cudaStreamWaitEvent_ptsz(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return entry::stream_wait_event(null, stream, event, flags);
}

cudaError_t cudaStreamGetId_ptsz(cudaStream_t stream, unsigned long long* id) {
  return entry::stream_get_id(null, stream, id);
}

cudaError_t cudaStreamGetFlags_ptsz(cudaStream_t stream, unsigned* flags) {
  return entry::stream_get_flags(null, stream, flags);
}

cudaError_t cudaStreamGetPriority_ptsz(cudaStream_t stream, int* priority) {
  return entry::stream_get_priority(null, stream, priority);
}

cudaError_t cudaStreamGetDevice_ptsz(cudaStream_t stream, int* device) {
  return entry::stream_get_device(null, stream, device);
}

cudaError_t cudaEventRecord_ptsz(cudaEvent_t event, cudaStream_t stream) {
  return entry::event_record(null, event, stream);
}

cudaError_t cudaEventRecordWithFlags_ptsz(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  return entry::event_record_with_flags(null, event, stream, flags);
}

cudaError_t cudaMallocAsync_ptsz(void** pointer, std::size_t size, cudaStream_t stream) {
  return entry::malloc_async(null, pointer, size, stream);
}

cudaError_t cudaMallocFromPoolAsync_ptsz(void** pointer, std::size_t size, cudaMemPool_t pool,
                                         cudaStream_t stream) {
  return entry::malloc_from_pool_async(null, pointer, size, pool, stream);
}

cudaError_t cudaFreeAsync_ptsz(void* pointer, cudaStream_t stream) {
  return entry::free_async(null, pointer, stream);
}

cudaError_t cudaLaunchHostFunc_ptsz(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return entry::launch_host_function(null, stream, function, data);
}

cudaError_t cudaLaunchKernel_ptsz(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                  std::size_t shared_memory, cudaStream_t stream) {
  return entry::launch_kernel(null, kernel, grid, block, arguments, shared_memory, stream);
}

cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t* config, const void* kernel,
                                     void** arguments) {
  return entry::launch_kernel_ex(null, config, kernel, arguments);
}

cudaError_t cudaLaunchCooperativeKernel_ptsz(const void* kernel, dim3 grid, dim3 block,
                                             void** arguments, std::size_t shared_memory,
                                             cudaStream_t stream) {
  return entry::launch_cooperative_kernel(null, kernel, grid, block, arguments, shared_memory,
                                          stream);
}

cudaError_t cudaMemcpyToSymbol_ptds(const void* symbol, const void* from, std::size_t count,
                                    std::size_t offset, cudaMemcpyKind kind) {
  return entry::memcpy_to_symbol(null, symbol, from, count, offset, kind);
}

cudaError_t cudaMemcpyFromSymbol_ptds(void* to, const void* symbol, std::size_t count,
                                      std::size_t offset, cudaMemcpyKind kind) {
  return entry::memcpy_from_symbol(null, to, symbol, count, offset, kind);
}

cudaError_t cudaMemcpyToSymbolAsync_ptsz(const void* symbol, const void* from, std::size_t count,
                                         std::size_t offset, cudaMemcpyKind kind,
                                         cudaStream_t stream) {
  return entry::memcpy_to_symbol_async(null, symbol, from, count, offset, kind, stream);
}

cudaError_t cudaMemcpyFromSymbolAsync_ptsz(void* to, const void* symbol, std::size_t count,
                                           std::size_t offset, cudaMemcpyKind kind,
                                           cudaStream_t stream) {
  return entry::memcpy_from_symbol_async(null, to, symbol, count, offset, kind, stream);
}

cudaError_t cudaGetDriverEntryPointByVersion_ptsz(const char* symbol, void** pointer,
                                                  unsigned version, unsigned long long flags,
                                                  cudaDriverEntryPointQueryResult* status) {
  return entry::get_driver_entry_point(null, "cudaGetDriverEntryPointByVersion", symbol, pointer,
                                       version, flags, status);
}

cudaError_t cudaGetDriverEntryPoint_ptsz(const char* symbol, void** pointer,
                                         unsigned long long flags,
                                         cudaDriverEntryPointQueryResult* status) {
  return entry::get_driver_entry_point(null, "cudaGetDriverEntryPoint", symbol, pointer,
                                       CUDART_VERSION, flags, status);
}

}  // extern "C"
