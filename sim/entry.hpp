// SPDX-License-Identifier: BSL-1.0
// The functions that exist in two forms: what a null stream means is their first argument.
// Otherwise their arguments are CUDA's.
#pragma once

#include <cstddef>

#include "cuda_runtime_api.h"
#include "sim/call.hpp"
#include "sim/edge_data.hpp"

namespace culvert::sim::detail::entry {

// api_stream.cpp
cudaError_t stream_synchronize(NullStream null, cudaStream_t stream);
cudaError_t stream_query(NullStream null, cudaStream_t stream);
cudaError_t stream_wait_event(NullStream null, cudaStream_t stream, cudaEvent_t event,
                              unsigned flags);
cudaError_t stream_get_id(NullStream null, cudaStream_t stream, unsigned long long* id);
cudaError_t stream_get_flags(NullStream null, cudaStream_t stream, unsigned* flags);
cudaError_t stream_get_priority(NullStream null, cudaStream_t stream, int* priority);
cudaError_t stream_get_device(NullStream null, cudaStream_t stream, int* device);

// api_event.cpp
cudaError_t event_record(NullStream null, cudaEvent_t event, cudaStream_t stream);
cudaError_t event_record_with_flags(NullStream null, cudaEvent_t event, cudaStream_t stream,
                                    unsigned flags);

// api_copy.cpp
cudaError_t memcpy(NullStream null, void* to, const void* from, std::size_t count,
                   cudaMemcpyKind kind);
cudaError_t memcpy_async(NullStream null, void* to, const void* from, std::size_t count,
                         cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t memcpy_2d_async(NullStream null, void* to, std::size_t to_pitch, const void* from,
                            std::size_t from_pitch, std::size_t width, std::size_t height,
                            cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t memcpy_2d(NullStream null, void* to, std::size_t to_pitch, const void* from,
                      std::size_t from_pitch, std::size_t width, std::size_t height,
                      cudaMemcpyKind kind);
cudaError_t memset(NullStream null, void* to, int value, std::size_t count);
cudaError_t memset_2d(NullStream null, void* to, std::size_t pitch, int value, std::size_t width,
                      std::size_t height);
cudaError_t memset_async(NullStream null, void* to, int value, std::size_t count,
                         cudaStream_t stream);
cudaError_t memset_2d_async(NullStream null, void* to, std::size_t pitch, int value,
                            std::size_t width, std::size_t height, cudaStream_t stream);

// api_malloc_async.cpp
cudaError_t malloc_async(NullStream null, void** pointer, std::size_t size, cudaStream_t stream);
cudaError_t malloc_from_pool_async(NullStream null, void** pointer, std::size_t size,
                                   cudaMemPool_t pool, cudaStream_t stream);
cudaError_t free_async(NullStream null, void* pointer, cudaStream_t stream);

// api_host_function.cpp
cudaError_t launch_host_function(NullStream null, cudaStream_t stream, cudaHostFn_t function,
                                 void* data);

// api_kernel.cpp
cudaError_t launch_kernel(NullStream null, const void* kernel, dim3 grid, dim3 block,
                          void** arguments, std::size_t shared_memory, cudaStream_t stream);
// For a stream that is known, and a node.
cudaError_t launch_kernel_on(Call& call, const StreamPtr& stream, const char* name,
                             const cudaLaunchConfig_t& config, const void* kernel,
                             void** arguments);
cudaError_t launch_kernel_ex(NullStream null, const cudaLaunchConfig_t* config, const void* kernel,
                             void** arguments);
cudaError_t launch_cooperative_kernel(NullStream null, const void* kernel, dim3 grid, dim3 block,
                                      void** arguments, std::size_t shared_memory,
                                      cudaStream_t stream);

// api_symbol.cpp
cudaError_t memcpy_to_symbol(NullStream null, const void* symbol, const void* from,
                             std::size_t count, std::size_t offset, cudaMemcpyKind kind);
cudaError_t memcpy_from_symbol(NullStream null, void* to, const void* symbol, std::size_t count,
                               std::size_t offset, cudaMemcpyKind kind);
cudaError_t memcpy_to_symbol_async(NullStream null, const void* symbol, const void* from,
                                   std::size_t count, std::size_t offset, cudaMemcpyKind kind,
                                   cudaStream_t stream);
cudaError_t memcpy_from_symbol_async(NullStream null, void* to, const void* symbol,
                                     std::size_t count, std::size_t offset, cudaMemcpyKind kind,
                                     cudaStream_t stream);

// api_callback.cpp
cudaError_t add_callback(NullStream null, cudaStream_t stream, cudaStreamCallback_t callback,
                         void* data, unsigned flags);

// api_capture.cpp
cudaError_t begin_capture(NullStream null, cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t begin_capture_to_graph(NullStream null, cudaStream_t stream, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies,
                                   const cudaGraphEdgeData* data, std::size_t count,
                                   cudaStreamCaptureMode mode);
cudaError_t end_capture(NullStream null, cudaStream_t stream, cudaGraph_t* graph);
cudaError_t stream_is_capturing(NullStream null, cudaStream_t stream,
                                cudaStreamCaptureStatus* status);
cudaError_t get_capture_info(NullStream null, cudaStream_t stream, cudaStreamCaptureStatus* status,
                             unsigned long long* id, cudaGraph_t* graph,
                             const cudaGraphNode_t** dependencies, const cudaGraphEdgeData** data,
                             std::size_t* count);
cudaError_t update_capture_dependencies(NullStream null, cudaStream_t stream,
                                        cudaGraphNode_t* dependencies,
                                        const cudaGraphEdgeData* data, std::size_t count,
                                        unsigned flags);

// api_graph_exec.cpp
cudaError_t graph_instantiate_with_params(NullStream null, cudaGraphExec_t* exec, cudaGraph_t graph,
                                          cudaGraphInstantiateParams* params);
cudaError_t graph_upload(NullStream null, cudaGraphExec_t exec, cudaStream_t stream);
cudaError_t graph_launch(NullStream null, cudaGraphExec_t exec, cudaStream_t stream);

// api_driver.cpp
cudaError_t get_driver_entry_point(NullStream null, const char* function, const char* symbol,
                                   void** pointer, unsigned version, unsigned long long flags,
                                   cudaDriverEntryPointQueryResult* status);

}  // namespace culvert::sim::detail::entry
