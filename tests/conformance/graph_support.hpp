// SPDX-License-Identifier: BSL-1.0
//
// What the groups about captures and graphs share.
#pragma once

#include "facts.hpp"

namespace facts {

inline constexpr cudaStreamCaptureMode capture_modes_in_order[] = {
    cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeRelaxed};

inline const char* name_of_mode(cudaStreamCaptureMode mode) {
  return mode == cudaStreamCaptureModeGlobal        ? "global"
         : mode == cudaStreamCaptureModeThreadLocal ? "thread-local"
                                                    : "relaxed";
}

inline void begin(cudaStream_t stream, cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) {
  need(cudaStreamBeginCapture(stream, mode));
}

// "none", "active" or "invalidated".
inline std::string capture_status(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  const cudaError_t answer = cudaStreamIsCapturing(stream, &status);
  if (answer != cudaSuccess) return name_of(answer);
  return status == cudaStreamCaptureStatusNone     ? "none"
         : status == cudaStreamCaptureStatusActive ? "active"
                                                   : "invalidated";
}

inline std::size_t node_count(cudaGraph_t graph) {
  std::size_t count = 0;
  need(cudaGraphGetNodes(graph, nullptr, &count));
  return count;
}

inline std::size_t edge_count(cudaGraph_t graph) {
  std::size_t count = 0;
  need(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &count));
  return count;
}

inline std::size_t root_count(cudaGraph_t graph) {
  std::size_t count = 0;
  need(cudaGraphGetRootNodes(graph, nullptr, &count));
  return count;
}

// "3 nodes, 1 root, 2 edges".
inline std::string shape(cudaGraph_t graph) {
  return std::to_string(node_count(graph)) + " nodes, " + std::to_string(root_count(graph)) +
         " roots, " + std::to_string(edge_count(graph)) + " edges";
}

// Ends a capture and its graph: what the end answered, and what the graph was.
inline std::string end_and_tell(cudaStream_t stream) {
  int marker = 0;
  auto* const untouched = reinterpret_cast<cudaGraph_t>(&marker);
  cudaGraph_t graph = untouched;
  const cudaError_t answer = cudaStreamEndCapture(stream, &graph);
  std::string told = name_of(answer) + ", graph ";
  if (graph == nullptr || graph == untouched) {
    return told + (graph == nullptr ? "null" : "as before");
  }
  told += "of " + shape(graph);
  need(cudaGraphDestroy(graph));
  return told;
}

// The graph of a capture.
inline cudaGraph_t end(cudaStream_t stream) {
  cudaGraph_t graph = nullptr;
  need(cudaStreamEndCapture(stream, &graph));
  return graph;
}

class Graph {
 public:
  Graph() { need(cudaGraphCreate(&graph_, 0)); }
  explicit Graph(cudaGraph_t graph) : graph_(graph) {}
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph() {
    if (graph_ != nullptr) (void)cudaGraphDestroy(graph_);
  }
  operator cudaGraph_t() const { return graph_; }

 private:
  cudaGraph_t graph_ = nullptr;
};

class Exec {
 public:
  explicit Exec(cudaGraph_t graph, unsigned long long flags = 0) {
    need(cudaGraphInstantiate(&exec_, graph, flags));
  }
  Exec(const Exec&) = delete;
  Exec& operator=(const Exec&) = delete;
  ~Exec() { (void)cudaGraphExecDestroy(exec_); }
  operator cudaGraphExec_t() const { return exec_; }

 private:
  cudaGraphExec_t exec_ = nullptr;
};

}  // namespace facts
