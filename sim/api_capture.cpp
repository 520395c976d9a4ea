// SPDX-License-Identifier: BSL-1.0
// Captures of streams.
#include <algorithm>
#include <utility>

#include "sim/entry.hpp"
#include "sim/graph_calls.hpp"

namespace culvert::sim::detail::entry {
namespace {

bool is_mode(cudaStreamCaptureMode mode) {
  return mode == cudaStreamCaptureModeGlobal || mode == cudaStreamCaptureModeThreadLocal ||
         mode == cudaStreamCaptureModeRelaxed;
}

cudaStreamCaptureStatus status_of(const Stream& stream) {
  if (!stream.capture) return cudaStreamCaptureStatusNone;
  return stream.capture->capture->invalid ? cudaStreamCaptureStatusInvalidated
                                          : cudaStreamCaptureStatusActive;
}

// Asking about the legacy stream while a blocking one is captured is an error, which changes
// nothing.
bool is_unusable(const Process& process, const Stream& stream) {
  const auto& captures = process.graphs.captures;
  return stream.kind == StreamKind::legacy &&
         std::any_of(captures.begin(), captures.end(), [&](const CapturePtr& capture) {
           return blocks_legacy(*capture, stream.device);
         });
}

}  // namespace

cudaError_t begin_capture(NullStream null, cudaStream_t handle, cudaStreamCaptureMode mode) {
  return stream_api("cudaStreamBeginCapture", asks_stream, handle, null,
                    [&](Call& call, const StreamPtr& stream) -> cudaError_t {
                      if (!is_mode(mode)) return cudaErrorInvalidValue;
                      return detail::begin_capture(call.process, stream, mode, nullptr, {});
                    });
}

cudaError_t begin_capture_to_graph(NullStream null, cudaStream_t handle, cudaGraph_t graph_handle,
                                   const cudaGraphNode_t* dependencies,
                                   const cudaGraphEdgeData* data, std::size_t count,
                                   cudaStreamCaptureMode mode) {
  return stream_api("cudaStreamBeginCaptureToGraph", asks_stream, handle, null,
                    [&](Call& call, const StreamPtr& stream) -> cudaError_t {
                      const GraphPtr graph = find_graph(call, graph_handle);
                      std::vector<Edge> first;
                      if (!is_mode(mode) || !graph || graph->capturing ||
                          !read_edges(call, *graph, dependencies, data, count, first)) {
                        return cudaErrorInvalidValue;
                      }
                      return detail::begin_capture(call.process, stream, mode, graph,
                                                   std::move(first));
                    });
}

cudaError_t end_capture(NullStream null, cudaStream_t handle, cudaGraph_t* graph) {
  return stream_api("cudaStreamEndCapture", asks_stream, handle, null,
                    [&](Call& call, const StreamPtr& stream) -> cudaError_t {
                      if (is_unusable(call.process, *stream)) return cudaErrorStreamCaptureImplicit;
                      cudaGraph_t made = nullptr;
                      const cudaError_t error = detail::end_capture(call.process, stream, &made);
                      if (graph != nullptr) {
                        *graph = made;
                      } else if (made != nullptr) {
                        // Nobody can reach it.
                        end_handles(call.process, *find_graph(call, made));
                      }
                      return error;
                    });
}

cudaError_t stream_is_capturing(NullStream null, cudaStream_t handle,
                                cudaStreamCaptureStatus* status) {
  return stream_api("cudaStreamIsCapturing", asks_stream, handle, null,
                    [&](Call& call, const StreamPtr& stream) {
                      if (status == nullptr) return cudaErrorInvalidValue;
                      if (is_unusable(call.process, *stream)) return cudaErrorStreamCaptureImplicit;
                      *status = status_of(*stream);
                      return cudaSuccess;
                    });
}

cudaError_t get_capture_info(NullStream null, cudaStream_t handle, cudaStreamCaptureStatus* status,
                             unsigned long long* id, cudaGraph_t* graph,
                             const cudaGraphNode_t** dependencies, const cudaGraphEdgeData** data,
                             std::size_t* count) {
  return stream_api("cudaStreamGetCaptureInfo", asks_stream, handle, null,
                    [&](Call& call, const StreamPtr& stream) -> cudaError_t {
                      if (status == nullptr || (data != nullptr && dependencies == nullptr)) {
                        return cudaErrorInvalidValue;
                      }
                      if (is_unusable(call.process, *stream)) return cudaErrorStreamCaptureImplicit;
                      *status = status_of(*stream);
                      if (*status != cudaStreamCaptureStatusActive) return cudaSuccess;
                      StreamCapture& part = *stream->capture;
                      part.told_nodes.clear();
                      part.told_data.clear();
                      for (const Edge& edge : part.next) {
                        if (dependencies != nullptr && data == nullptr && !is_plain(edge.data)) {
                          return cudaErrorLossyQuery;
                        }
                        part.told_nodes.push_back(edge.from->as_handle());
                        part.told_data.push_back(edge.data);
                      }
                      if (id != nullptr) *id = part.capture->id;
                      if (graph != nullptr) *graph = part.capture->graph->as_handle();
                      if (dependencies != nullptr) *dependencies = part.told_nodes.data();
                      if (data != nullptr) *data = part.told_data.data();
                      if (count != nullptr) *count = part.next.size();
                      return cudaSuccess;
                    });
}

cudaError_t update_capture_dependencies(NullStream null, cudaStream_t handle,
                                        cudaGraphNode_t* dependencies,
                                        const cudaGraphEdgeData* data, std::size_t count,
                                        unsigned flags) {
  return stream_api(
      "cudaStreamUpdateCaptureDependencies", handle, null,
      [&](Call& call, const StreamPtr& stream) -> cudaError_t {
        if (!stream->capture) return cudaErrorIllegalState;
        StreamCapture& part = *stream->capture;
        std::vector<Edge> edges;
        if (flags > cudaStreamSetCaptureDependencies ||
            !read_edges(call, *part.capture->graph, dependencies, data, count, edges)) {
          return cudaErrorInvalidValue;
        }
        if (flags == cudaStreamSetCaptureDependencies) {
          auto& let_go = part.capture->let_go;
          let_go.insert(let_go.end(), part.next.begin(), part.next.end());
          part.next.clear();
        }
        for (const Edge& edge : edges) {
          std::erase_if(part.next, [&](const Edge& known) { return known.from == edge.from; });
          part.next.push_back(edge);
        }
        return cudaSuccess;
      });
}

}  // namespace culvert::sim::detail::entry

extern "C" {

using namespace culvert::sim::detail;

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return api("cudaThreadExchangeStreamCaptureMode", [&](Call& call) {
    if (mode == nullptr) return cudaErrorInvalidValue;
    // Other numbers are not refused, as measured on an H200.
    std::swap(*mode, call.thread.capture_mode);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return entry::begin_capture(NullStream::legacy, stream, mode);
}

#if CUDART_VERSION >= 12030
cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                          const cudaGraphNode_t* dependencies,
                                          const cudaGraphEdgeData* data, std::size_t count,
                                          cudaStreamCaptureMode mode) {
  return entry::begin_capture_to_graph(NullStream::legacy, stream, graph, dependencies, data, count,
                                       mode);
}
#endif

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return entry::end_capture(NullStream::legacy, stream, graph);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return entry::stream_is_capturing(NullStream::legacy, stream, status);
}

#if CUDART_VERSION >= 13000
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                     unsigned long long* id, cudaGraph_t* graph,
                                     const cudaGraphNode_t** dependencies,
                                     const cudaGraphEdgeData** data, std::size_t* count) {
  return entry::get_capture_info(NullStream::legacy, stream, status, id, graph, dependencies, data,
                                 count);
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* dependencies,
                                                const cudaGraphEdgeData* data, std::size_t count,
                                                unsigned flags) {
  return entry::update_capture_dependencies(NullStream::legacy, stream, dependencies, data, count,
                                            flags);
}
#else
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                     unsigned long long* id) {
  return entry::get_capture_info(NullStream::legacy, stream, status, id, nullptr, nullptr, nullptr,
                                 nullptr);
}

cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                        unsigned long long* id, cudaGraph_t* graph,
                                        const cudaGraphNode_t** dependencies, std::size_t* count) {
  return entry::get_capture_info(NullStream::legacy, stream, status, id, graph, dependencies,
                                 nullptr, count);
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* dependencies,
                                                std::size_t count, unsigned flags) {
  return entry::update_capture_dependencies(NullStream::legacy, stream, dependencies, nullptr,
                                            count, flags);
}
#endif

}  // extern "C"
