// SPDX-License-Identifier: BSL-1.0
#include "sim/graph_calls.hpp"

namespace culvert::sim::detail {

bool is_plain(const cudaGraphEdgeData& data) {
  return data.from_port == 0 && data.to_port == 0 && data.type == 0;
}

bool is_valid(const cudaGraphEdgeData& data, const Node& from) {
  const auto is_zero = [](unsigned char byte) { return byte == 0; };
  if (data.to_port != 0 || data.type > cudaGraphDependencyTypeProgrammatic ||
      !std::all_of(std::begin(data.reserved), std::end(data.reserved), is_zero)) {
    return false;
  }
  // Only kernels have more than one port, and only those others are programmatic.
  const bool other_port = data.from_port != cudaGraphKernelNodePortDefault;
  const bool programmatic = data.type == cudaGraphDependencyTypeProgrammatic;
  return data.from_port <= cudaGraphKernelNodePortLaunchCompletion &&
         (!(other_port || programmatic) || from.type == cudaGraphNodeTypeKernel) &&
         (!programmatic || other_port);
}

bool read_edges(const Call& call, const Graph& graph, const cudaGraphNode_t* from,
                const cudaGraphEdgeData* data, std::size_t count, std::vector<Edge>& edges) {
  if (count != 0 && from == nullptr) return false;
  for (std::size_t i = 0; i < count; ++i) {
    const NodePtr node = find_node(call, from[i]);
    if (!node || node->graph != &graph) return false;
    const cudaGraphEdgeData edge = data != nullptr ? data[i] : cudaGraphEdgeData{};
    const bool twice = std::any_of(edges.begin(), edges.end(),
                                   [&](const Edge& known) { return known.from == node.get(); });
    if (twice || !is_valid(edge, *node)) return false;
    edges.push_back({node.get(), edge});
  }
  return true;
}

}  // namespace culvert::sim::detail
