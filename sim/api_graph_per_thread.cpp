// SPDX-License-Identifier: BSL-1.0
// The per-thread forms of captures, graphs and callbacks: see api_per_thread.cpp.
#include "sim/entry.hpp"

using namespace culvert::sim::detail;

namespace {

constexpr NullStream null = NullStream::per_thread;

}  // namespace

extern "C" {

cudaError_t cudaStreamAddCallback_ptsz(cudaStream_t stream, cudaStreamCallback_t callback,
                                       void* data, unsigned flags) {
  return entry::add_callback(null, stream, callback, data, flags);
}

cudaError_t cudaStreamBeginCapture_ptsz(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return entry::begin_capture(null, stream, mode);
}

cudaError_t cudaStreamBeginCaptureToGraph_ptsz(cudaStream_t stream, cudaGraph_t graph,
                                               const cudaGraphNode_t* dependencies,
                                               const cudaGraphEdgeData* data, std::size_t count,
                                               cudaStreamCaptureMode mode) {
  return entry::begin_capture_to_graph(null, stream, graph, dependencies, data, count, mode);
}

cudaError_t cudaStreamEndCapture_ptsz(cudaStream_t stream, cudaGraph_t* graph) {
  return entry::end_capture(null, stream, graph);
}

cudaError_t cudaStreamIsCapturing_ptsz(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return entry::stream_is_capturing(null, stream, status);
}

#if CUDART_VERSION >= 13000
cudaError_t cudaStreamGetCaptureInfo_ptsz(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                          unsigned long long* id, cudaGraph_t* graph,
                                          const cudaGraphNode_t** dependencies,
                                          const cudaGraphEdgeData** data, std::size_t* count) {
  return entry::get_capture_info(null, stream, status, id, graph, dependencies, data, count);
}

cudaError_t cudaStreamUpdateCaptureDependencies_ptsz(cudaStream_t stream,
                                                     cudaGraphNode_t* dependencies,
                                                     const cudaGraphEdgeData* data,
                                                     std::size_t count, unsigned flags) {
  return entry::update_capture_dependencies(null, stream, dependencies, data, count, flags);
}
#else
cudaError_t cudaStreamGetCaptureInfo_ptsz(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                          unsigned long long* id) {
  return entry::get_capture_info(null, stream, status, id, nullptr, nullptr, nullptr, nullptr);
}

cudaError_t cudaStreamGetCaptureInfo_v2_ptsz(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                             unsigned long long* id, cudaGraph_t* graph,
                                             const cudaGraphNode_t** dependencies,
                                             std::size_t* count) {
  return entry::get_capture_info(null, stream, status, id, graph, dependencies, nullptr, count);
}

cudaError_t cudaStreamUpdateCaptureDependencies_ptsz(cudaStream_t stream,
                                                     cudaGraphNode_t* dependencies,
                                                     std::size_t count, unsigned flags) {
  return entry::update_capture_dependencies(null, stream, dependencies, nullptr, count, flags);
}
#endif

cudaError_t cudaGraphInstantiateWithParams_ptsz(cudaGraphExec_t* exec, cudaGraph_t graph,
                                                cudaGraphInstantiateParams* params) {
  return entry::graph_instantiate_with_params(null, exec, graph, params);
}

cudaError_t cudaGraphUpload_ptsz(cudaGraphExec_t exec, cudaStream_t stream) {
  return entry::graph_upload(null, exec, stream);
}

cudaError_t cudaGraphLaunch_ptsz(cudaGraphExec_t exec, cudaStream_t stream) {
  return entry::graph_launch(null, exec, stream);
}

}  // extern "C"
