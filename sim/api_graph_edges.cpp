// SPDX-License-Identifier: BSL-1.0
// Nodes in their graph: their kinds, the edges between them, and their end.
#include <set>
#include <utility>

#include "sim/graph_calls.hpp"

namespace {

using namespace culvert::sim::detail;

struct EdgeList {
  std::vector<cudaGraphNode_t> nodes;
  std::vector<cudaGraphNode_t> others;
  std::vector<cudaGraphEdgeData> data;

  void add(const Node& node, const Node& other, const cudaGraphEdgeData& edge) {
    nodes.push_back(node.as_handle());
    others.push_back(other.as_handle());
    data.push_back(edge);
  }
  // Whether data would be lost without a place for it.
  bool needs_data() const {
    return std::any_of(data.begin(), data.end(), [](const auto& edge) { return !is_plain(edge); });
  }
};

cudaError_t hand_out_list(const EdgeList& list, cudaGraphNode_t* to, cudaGraphEdgeData* data,
                          std::size_t* count) {
  if (to != nullptr && data == nullptr && list.needs_data()) return cudaErrorLossyQuery;
  std::size_t room = *count;
  if (data != nullptr && to != nullptr) hand_out(list.data, data, &room);
  hand_out(list.nodes, to, count);
  return cudaSuccess;
}

// The two ends of an edge. False if they are no nodes of the graph.
bool find_ends(const Call& call, const Graph& graph, cudaGraphNode_t from, cudaGraphNode_t to,
               NodePtr& first, NodePtr& second) {
  first = find_node(call, from);
  second = find_node(call, to);
  return first && second && first != second && first->graph == &graph && second->graph == &graph;
}

cudaError_t get_edges(cudaGraph_t handle, cudaGraphNode_t* from, cudaGraphNode_t* to,
                      cudaGraphEdgeData* data, std::size_t* count) {
  return api("cudaGraphGetEdges", [&](Call& call) -> cudaError_t {
    const GraphPtr graph = find_graph(call, handle);
    if (!graph || count == nullptr || (from == nullptr) != (to == nullptr)) {
      return cudaErrorInvalidValue;
    }
    EdgeList list;
    for (const NodePtr& node : graph->nodes) {
      for (const Edge& edge : node->dependencies) list.add(*edge.from, *node, edge.data);
    }
    std::size_t room = *count;
    const cudaError_t error = hand_out_list(list, from, data, count);
    if (error == cudaSuccess && to != nullptr) hand_out(list.others, to, &room);
    return error;
  });
}

cudaError_t get_dependencies(cudaGraphNode_t handle, cudaGraphNode_t* nodes,
                             cudaGraphEdgeData* data, std::size_t* count) {
  return api("cudaGraphNodeGetDependencies", [&](Call& call) -> cudaError_t {
    const NodePtr node = find_node(call, handle);
    if (!node || count == nullptr) return cudaErrorInvalidValue;
    EdgeList list;
    for (const Edge& edge : node->dependencies) list.add(*edge.from, *node, edge.data);
    return hand_out_list(list, nodes, data, count);
  });
}

cudaError_t get_dependents(cudaGraphNode_t handle, cudaGraphNode_t* nodes, cudaGraphEdgeData* data,
                           std::size_t* count) {
  return api("cudaGraphNodeGetDependentNodes", [&](Call& call) -> cudaError_t {
    const NodePtr node = find_node(call, handle);
    if (!node || count == nullptr) return cudaErrorInvalidValue;
    EdgeList list;
    for (const Node* const dependent : node->dependents) {
      list.add(*dependent, *node, find_edge(*node, *dependent)->data);
    }
    return hand_out_list(list, nodes, data, count);
  });
}

cudaError_t add_dependencies(cudaGraph_t handle, const cudaGraphNode_t* from,
                             const cudaGraphNode_t* to, const cudaGraphEdgeData* data,
                             std::size_t count) {
  return api("cudaGraphAddDependencies", [&](Call& call) {
    const GraphPtr graph = find_graph(call, handle);
    if (!graph || (count != 0 && (from == nullptr || to == nullptr))) return cudaErrorInvalidValue;
    // All or none.
    std::set<std::pair<cudaGraphNode_t, cudaGraphNode_t>> added;
    for (std::size_t i = 0; i < count; ++i) {
      NodePtr first;
      NodePtr second;
      if (!find_ends(call, *graph, from[i], to[i], first, second) || find_edge(*first, *second) ||
          (data != nullptr && !is_valid(data[i], *first))) {
        return cudaErrorInvalidValue;
      }
      if (!added.emplace(from[i], to[i]).second) return cudaErrorInvalidValue;
    }
    for (std::size_t i = 0; i < count; ++i) {
      add_edge(*find_node(call, from[i]), *find_node(call, to[i]),
               data != nullptr ? data[i] : cudaGraphEdgeData{});
    }
    return cudaSuccess;
  });
}

cudaError_t remove_dependencies(cudaGraph_t handle, const cudaGraphNode_t* from,
                                const cudaGraphNode_t* to, const cudaGraphEdgeData* data,
                                std::size_t count) {
  return api("cudaGraphRemoveDependencies", [&](Call& call) {
    const GraphPtr graph = find_graph(call, handle);
    if (!graph || (count != 0 && (from == nullptr || to == nullptr))) return cudaErrorInvalidValue;
    if (count != 0 && has_memory_nodes(*graph)) return cudaErrorNotSupported;
    std::set<std::pair<cudaGraphNode_t, cudaGraphNode_t>> removed;
    for (std::size_t i = 0; i < count; ++i) {
      NodePtr first;
      NodePtr second;
      if (!find_ends(call, *graph, from[i], to[i], first, second) ||
          !removed.emplace(from[i], to[i]).second) {
        return cudaErrorInvalidValue;
      }
      const Edge* const edge = find_edge(*first, *second);
      if (edge == nullptr) return cudaErrorInvalidValue;
      // An edge with data is named with it.
      const cudaGraphEdgeData named = data != nullptr ? data[i] : cudaGraphEdgeData{};
      if (named.from_port != edge->data.from_port || named.type != edge->data.type) {
        return cudaErrorInvalidValue;
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      remove_edge(*find_node(call, from[i]), *find_node(call, to[i]));
    }
    return cudaSuccess;
  });
}

}  // namespace

extern "C" {

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t handle, cudaGraphNodeType* type) {
  return api("cudaGraphNodeGetType", [&](Call& call) {
    const NodePtr node = find_node(call, handle);
    if (!node || type == nullptr) return cudaErrorInvalidValue;
    *type = node->type;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t handle) {
  return api("cudaGraphDestroyNode", [&](Call& call) {
    const NodePtr node = find_node(call, handle);
    if (!node || node->graph->capturing) return cudaErrorInvalidValue;
    if (has_memory_nodes(*node->graph)) return cudaErrorNotSupported;
    remove_node(call.process, *node);
    return cudaSuccess;
  });
}

#if CUDART_VERSION >= 13000
cudaError_t cudaGraphGetEdges(cudaGraph_t handle, cudaGraphNode_t* from, cudaGraphNode_t* to,
                              cudaGraphEdgeData* data, std::size_t* count) {
  return get_edges(handle, from, to, data, count);
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t handle, cudaGraphNode_t* nodes,
                                         cudaGraphEdgeData* data, std::size_t* count) {
  return get_dependencies(handle, nodes, data, count);
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t handle, cudaGraphNode_t* nodes,
                                           cudaGraphEdgeData* data, std::size_t* count) {
  return get_dependents(handle, nodes, data, count);
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t handle, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, const cudaGraphEdgeData* data,
                                     std::size_t count) {
  return add_dependencies(handle, from, to, data, count);
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t handle, const cudaGraphNode_t* from,
                                        const cudaGraphNode_t* to, const cudaGraphEdgeData* data,
                                        std::size_t count) {
  return remove_dependencies(handle, from, to, data, count);
}

#else  // without data
cudaError_t cudaGraphGetEdges(cudaGraph_t handle, cudaGraphNode_t* from, cudaGraphNode_t* to,
                              std::size_t* count) {
  return get_edges(handle, from, to, nullptr, count);
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t handle, cudaGraphNode_t* nodes,
                                         std::size_t* count) {
  return get_dependencies(handle, nodes, nullptr, count);
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t handle, cudaGraphNode_t* nodes,
                                           std::size_t* count) {
  return get_dependents(handle, nodes, nullptr, count);
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t handle, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, std::size_t count) {
  return add_dependencies(handle, from, to, nullptr, count);
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t handle, const cudaGraphNode_t* from,
                                        const cudaGraphNode_t* to, std::size_t count) {
  return remove_dependencies(handle, from, to, nullptr, count);
}
#endif

}  // extern "C"
