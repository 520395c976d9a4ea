// SPDX-License-Identifier: BSL-1.0
// What the functions of the API on graphs share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "sim/call.hpp"
#include "sim/graph.hpp"
#include "sim/graph_exec.hpp"

namespace culvert::sim::detail {

// Null for what is none (any more).
inline GraphPtr find_graph(const Call& call, cudaGraph_t handle) {
  return call.process.graphs.graphs.find(reinterpret_cast<std::uintptr_t>(handle));
}
inline NodePtr find_node(const Call& call, cudaGraphNode_t handle) {
  return call.process.graphs.nodes.find(reinterpret_cast<std::uintptr_t>(handle));
}
inline GraphExecPtr find_exec(const Call& call, cudaGraphExec_t handle) {
  return call.process.graphs.execs.find(reinterpret_cast<std::uintptr_t>(handle));
}

// Reads the edges that lead from nodes of the graph to a new node. False if any is invalid.
bool read_edges(const Call& call, const Graph& graph, const cudaGraphNode_t* from,
                const cudaGraphEdgeData* data, std::size_t count, std::vector<Edge>& edges);
// Whether an edge may have this data.
bool is_valid(const cudaGraphEdgeData& data, const Node& from);
// Whether it says more than that one node follows another.
bool is_plain(const cudaGraphEdgeData& data);

// Hands out a list as CUDA does: its size where there is no place for it.
template <class Value>
void hand_out(const std::vector<Value>& values, Value* to, std::size_t* count) {
  if (to == nullptr) {
    *count = values.size();
    return;
  }
  for (std::size_t i = 0; i < *count; ++i) to[i] = i < values.size() ? values[i] : Value{};
  *count = std::min(*count, values.size());
}

// Runs `body(call, node)` for a node of this type.
template <class Body>
cudaError_t node_api(const char* function, cudaGraphNode_t handle, cudaGraphNodeType type,
                     Body&& body) noexcept {
  return api(function, [&](Call& call) -> cudaError_t {
    const NodePtr node = find_node(call, handle);
    if (!node || node->type != type) return cudaErrorInvalidValue;
    return body(call, *node);
  });
}

// Runs `body(call, node)` for the node of an executable graph that was made of the node.
template <class Body>
cudaError_t exec_node_api(const char* function, cudaGraphExec_t exec_handle, cudaGraphNode_t handle,
                          Body&& body) noexcept {
  return api(function, [&](Call& call) -> cudaError_t {
    const GraphExecPtr exec = find_exec(call, exec_handle);
    // One that was removed from its graph names nothing any more.
    if (!exec || !find_node(call, handle)) return cudaErrorInvalidValue;
    Node* const node = find_copy(*exec->graph, reinterpret_cast<std::uintptr_t>(handle));
    return node == nullptr ? cudaErrorInvalidValue : body(call, *node);
  });
}

}  // namespace culvert::sim::detail
