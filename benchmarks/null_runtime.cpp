// SPDX-License-Identifier: BSL-1.0
//
// The functions of CUDA that instructions.cpp needs, each answering success at once, so that
// what is counted is the caller's. Nothing is checked. Host functions run when the host waits.
#include "empty_kernel.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

alignas(256) unsigned char memory[16 * 4096];
std::size_t used = 0;

struct HostFunction {
  cudaHostFn_t function;
  void* data;
};
HostFunction pending[1024];
std::size_t pending_count = 0;

// A new address, aligned as CUDA's are.
void* take(std::size_t bytes) {
  void* const result = memory + used;
  used += (bytes + 255) / 256 * 256;
  if (used > sizeof(memory)) std::abort();
  return result;
}

template <class Handle>
cudaError_t new_handle(Handle* handle) {
  static std::uintptr_t last = 0x1000;
  *handle = reinterpret_cast<Handle>(++last);
  return cudaSuccess;
}

cudaError_t run_pending() {
  for (std::size_t i = 0; i < pending_count; ++i) pending[i].function(pending[i].data);
  pending_count = 0;
  return cudaSuccess;
}

CUresult set_32(CUdeviceptr, unsigned, std::size_t, CUstream) { return CUDA_SUCCESS; }

cudaError_t entry_point(void** function, cudaDriverEntryPointQueryResult* found) {
  *function = reinterpret_cast<void*>(set_32);  // the only one that is called
  *found = cudaDriverEntryPointSuccess;
  return cudaSuccess;
}

}  // namespace

void empty_kernel(float*, float, int) {}

extern "C" {

cudaError_t cudaGetLastError() { return cudaSuccess; }
const char* cudaGetErrorName(cudaError_t) { return ""; }
const char* cudaGetErrorString(cudaError_t) { return ""; }

cudaError_t cudaGetDeviceCount(int* count) { return *count = 1, cudaSuccess; }
cudaError_t cudaGetDevice(int* device) { return *device = 0, cudaSuccess; }
cudaError_t cudaSetDevice(int) { return cudaSuccess; }
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode*) { return cudaSuccess; }
cudaError_t cudaDeviceGetStreamPriorityRange(int* lowest, int* highest) {
  *lowest = *highest = 0;
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) { return new_handle(stream); }
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int) {
  return new_handle(stream);
}
cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamQuery(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamSynchronize(cudaStream_t) { return run_pending(); }
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return cudaSuccess; }
cudaError_t cudaStreamGetDevice(cudaStream_t, int* device) { return *device = 0, cudaSuccess; }

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) { return new_handle(event); }
cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaEventQuery(cudaEvent_t) { return run_pending(); }
cudaError_t cudaEventSynchronize(cudaEvent_t) { return run_pending(); }

cudaError_t cudaMemcpyAsync(void*, const void*, std::size_t, cudaMemcpyKind, cudaStream_t) {
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void*, int, std::size_t, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaMalloc(void** data, std::size_t bytes) { return *data = take(bytes), cudaSuccess; }
cudaError_t cudaFree(void*) { return cudaSuccess; }
// The memory that is freed is the last that was allocated, except at the program's end.
cudaError_t cudaMallocAsync(void** data, std::size_t bytes, cudaStream_t) {
  return *data = take(bytes), cudaSuccess;
}
cudaError_t cudaFreeAsync(void* data, cudaStream_t) {
  used = static_cast<std::size_t>(static_cast<unsigned char*>(data) - memory);
  return cudaSuccess;
}
cudaError_t cudaHostAlloc(void** data, std::size_t bytes, unsigned) {
  return *data = take(bytes), cudaSuccess;
}
cudaError_t cudaFreeHost(void*) { return cudaSuccess; }

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t*, const void*, void**) {
  return cudaSuccess;
}
cudaError_t cudaLaunchHostFunc(cudaStream_t, cudaHostFn_t function, void* data) {
  pending[pending_count++] = {function, data};
  return cudaSuccess;
}

#if CUDART_VERSION >= 12050
cudaError_t cudaGetDriverEntryPointByVersion(const char*, void** function, unsigned,
                                             unsigned long long,
                                             cudaDriverEntryPointQueryResult* found) {
  return entry_point(function, found);
}
#else
cudaError_t cudaGetDriverEntryPoint(const char*, void** function, unsigned long long,
                                    cudaDriverEntryPointQueryResult* found) {
  return entry_point(function, found);
}
#endif

}  // extern "C"
