// SPDX-License-Identifier: BSL-1.0
// Graphs as a whole.
#include "sim/graph_calls.hpp"
#include "sim/graph_dot.hpp"

using namespace culvert::sim::detail;

extern "C" {

cudaError_t cudaGraphCreate(cudaGraph_t* result, unsigned flags) {
  return api("cudaGraphCreate", [&](Call& call) {
    if (result == nullptr || flags != 0) return cudaErrorInvalidValue;
    const auto graph = std::make_shared<Graph>();
    graph->device = call.thread.device;
    give_handles(call.process, graph);
    *result = graph->as_handle();
    return cudaSuccess;
  });
}

cudaError_t cudaGraphDestroy(cudaGraph_t handle) {
  return api("cudaGraphDestroy", [&](Call& call) {
    const GraphPtr graph = find_graph(call, handle);
    if (!graph || graph->is_child || graph->capturing) return cudaErrorInvalidValue;
    end_handles(call.process, *graph);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphClone(cudaGraph_t* result, cudaGraph_t handle) {
  return api("cudaGraphClone", [&](Call& call) {
    const GraphPtr graph = find_graph(call, handle);
    if (result == nullptr || !graph) return cudaErrorInvalidValue;
    if (has_memory_nodes(*graph)) return cudaErrorNotSupported;
    const GraphPtr copy = copy_graph(*graph);
    copy->is_child = false;
    give_handles(call.process, copy);
    *result = copy->as_handle();
    return cudaSuccess;
  });
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* result, cudaGraphNode_t original,
                                     cudaGraph_t clone) {
  return api("cudaGraphNodeFindInClone", [&](Call& call) {
    const GraphPtr graph = find_graph(call, clone);
    const auto value = reinterpret_cast<std::uintptr_t>(original);
    if (result == nullptr || !graph || value == 0) return cudaErrorInvalidValue;
    const Node* const found = find_copy(*graph, value);
    if (found == nullptr) return cudaErrorInvalidValue;
    *result = found->as_handle();
    return cudaSuccess;
  });
}

cudaError_t cudaGraphDebugDotPrint(cudaGraph_t handle, const char* path, unsigned flags) {
  return api("cudaGraphDebugDotPrint", [&](Call& call) {
    const GraphPtr graph = find_graph(call, handle);
    if (!graph || path == nullptr) return cudaErrorInvalidValue;
    return print_dot(*graph, path, flags) ? cudaSuccess : cudaErrorOperatingSystem;
  });
}

cudaError_t cudaGraphGetNodes(cudaGraph_t handle, cudaGraphNode_t* nodes, std::size_t* count) {
  return api("cudaGraphGetNodes", [&](Call& call) {
    const GraphPtr graph = find_graph(call, handle);
    if (!graph || count == nullptr) return cudaErrorInvalidValue;
    std::vector<cudaGraphNode_t> all;
    for (const NodePtr& node : graph->nodes) all.push_back(node->as_handle());
    hand_out(all, nodes, count);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t handle, cudaGraphNode_t* nodes, std::size_t* count) {
  return api("cudaGraphGetRootNodes", [&](Call& call) {
    const GraphPtr graph = find_graph(call, handle);
    if (!graph || count == nullptr) return cudaErrorInvalidValue;
    std::vector<cudaGraphNode_t> roots;
    for (const NodePtr& node : graph->nodes) {
      if (node->dependencies.empty()) roots.push_back(node->as_handle());
    }
    hand_out(roots, nodes, count);
    return cudaSuccess;
  });
}

}  // extern "C"
