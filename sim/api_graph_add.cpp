// SPDX-License-Identifier: BSL-1.0
// Functions that add a node to a graph.
#include "sim/node_make.hpp"
#include "sim/report.hpp"

namespace {

using namespace culvert::sim::detail;

struct Place {
  cudaGraphNode_t* result;
  cudaGraph_t graph;
  const cudaGraphNode_t* dependencies;
  const cudaGraphEdgeData* data;
  std::size_t count;
};

// `make(call, graph, node)` makes the node. Nothing changes where it fails.
template <class Make>
cudaError_t add(const char* function, const Place& place, Make&& make) {
  return api(function, [&](Call& call) -> cudaError_t {
    const GraphPtr graph = find_graph(call, place.graph);
    std::vector<Edge> edges;
    if (place.result == nullptr || !graph ||
        !read_edges(call, *graph, place.dependencies, place.data, place.count, edges)) {
      return cudaErrorInvalidValue;
    }
    NodePtr node;
    const cudaError_t error = make(call, *graph, node);
    if (error != cudaSuccess) return error;
    *place.result = add_node(call.process, *graph, std::move(node), edges).as_handle();
    return cudaSuccess;
  });
}

#if CUDART_VERSION >= 13000
cudaError_t make_any(Call& call, Graph& graph, cudaGraphNodeParams& params, NodePtr& node) {
  switch (params.type) {
    case cudaGraphNodeTypeGraph:
      return make_child_node(call, graph, params.graph.graph,
                             params.graph.ownership == cudaGraphChildGraphOwnershipMove, node);
    case cudaGraphNodeTypeEmpty:
      return make_work_node(call, params.type, cudaSuccess, {.name = "an empty node"}, node);
    case cudaGraphNodeTypeWaitEvent:
      return make_event_node(call, params.type, params.eventWait.event, node);
    case cudaGraphNodeTypeEventRecord:
      return make_event_node(call, params.type, params.eventRecord.event, node);
    case cudaGraphNodeTypeMemAlloc: {
      cudaMemAllocNodeParams alloc{params.alloc.poolProps, params.alloc.accessDescs,
                                   params.alloc.accessDescCount, params.alloc.bytesize, nullptr};
      const cudaError_t error = make_allocation_node(call, graph, alloc, node);
      params.alloc.dptr = alloc.dptr;
      return error;
    }
    case cudaGraphNodeTypeMemFree:
      return make_free_node(call, graph, params.free.dptr, node);
    default: {
      Work work;
      const cudaError_t error = work_of(call, params, nullptr, work);
      return make_work_node(call, params.type, error, std::move(work), node);
    }
  }
}
#endif

}  // namespace

extern "C" {

#if CUDART_VERSION >= 13000
cudaError_t cudaGraphAddNode(cudaGraphNode_t* result, cudaGraph_t graph,
                             const cudaGraphNode_t* dependencies, const cudaGraphEdgeData* data,
                             std::size_t count, cudaGraphNodeParams* params) {
  return add("cudaGraphAddNode", {result, graph, dependencies, data, count},
             [&](Call& call, Graph& to, NodePtr& node) {
               return params == nullptr ? cudaErrorInvalidValue : make_any(call, to, *params, node);
             });
}
#endif

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* result, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, std::size_t count,
                                   const cudaKernelNodeParams* params) {
  return add("cudaGraphAddKernelNode", {result, graph, dependencies, nullptr, count},
             [&](Call& call, Graph&, NodePtr& node) -> cudaError_t {
               if (params == nullptr) return cudaErrorInvalidValue;
               Work work;
               const cudaError_t error = kernel_work(call, *params, {}, work);
               return make_work_node(call, cudaGraphNodeTypeKernel, error, std::move(work), node);
             });
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* result, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, std::size_t count,
                                   const cudaMemcpy3DParms* params) {
  return add("cudaGraphAddMemcpyNode", {result, graph, dependencies, nullptr, count},
             [&](Call& call, Graph&, NodePtr& node) -> cudaError_t {
               if (params == nullptr) return cudaErrorInvalidValue;
               Work work;
               const cudaError_t error = copy_work(call, *params, work);
               return make_work_node(call, cudaGraphNodeTypeMemcpy, error, std::move(work), node);
             });
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* result, cudaGraph_t graph,
                                     const cudaGraphNode_t* dependencies, std::size_t count,
                                     void* to, const void* from, std::size_t size,
                                     cudaMemcpyKind kind) {
  return add("cudaGraphAddMemcpyNode1D", {result, graph, dependencies, nullptr, count},
             [&](Call& call, Graph&, NodePtr& node) {
               Work work;
               const cudaError_t error = copy_work(call, row_copy(to, from, size, kind), work);
               return make_work_node(call, cudaGraphNodeTypeMemcpy, error, std::move(work), node);
             });
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* result, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, std::size_t count,
                                   const cudaMemsetParams* params) {
  return add("cudaGraphAddMemsetNode", {result, graph, dependencies, nullptr, count},
             [&](Call& call, Graph&, NodePtr& node) -> cudaError_t {
               if (params == nullptr) return cudaErrorInvalidValue;
               Work work;
               const cudaError_t error = fill_work(call, *params, work);
               return make_work_node(call, cudaGraphNodeTypeMemset, error, std::move(work), node);
             });
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* result, cudaGraph_t graph,
                                 const cudaGraphNode_t* dependencies, std::size_t count,
                                 const cudaHostNodeParams* params) {
  return add("cudaGraphAddHostNode", {result, graph, dependencies, nullptr, count},
             [&](Call& call, Graph&, NodePtr& node) -> cudaError_t {
               if (params == nullptr) return cudaErrorInvalidValue;
               Work work;
               const cudaError_t error = host_work(*params, work);
               return make_work_node(call, cudaGraphNodeTypeHost, error, std::move(work), node);
             });
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* result, cudaGraph_t graph,
                                       const cudaGraphNode_t* dependencies, std::size_t count,
                                       cudaGraph_t child) {
  return add("cudaGraphAddChildGraphNode", {result, graph, dependencies, nullptr, count},
             [&](Call& call, Graph& to, NodePtr& node) {
               return make_child_node(call, to, child, false, node);
             });
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* result, cudaGraph_t graph,
                                  const cudaGraphNode_t* dependencies, std::size_t count) {
  return add("cudaGraphAddEmptyNode", {result, graph, dependencies, nullptr, count},
             [&](Call& call, Graph&, NodePtr& node) {
               return make_work_node(call, cudaGraphNodeTypeEmpty, cudaSuccess,
                                     {.name = "an empty node"}, node);
             });
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* result, cudaGraph_t graph,
                                        const cudaGraphNode_t* dependencies, std::size_t count,
                                        cudaEvent_t event) {
  return add("cudaGraphAddEventRecordNode", {result, graph, dependencies, nullptr, count},
             [&](Call& call, Graph&, NodePtr& node) {
               return make_event_node(call, cudaGraphNodeTypeEventRecord, event, node);
             });
}

cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* result, cudaGraph_t graph,
                                      const cudaGraphNode_t* dependencies, std::size_t count,
                                      cudaEvent_t event) {
  return add("cudaGraphAddEventWaitNode", {result, graph, dependencies, nullptr, count},
             [&](Call& call, Graph&, NodePtr& node) {
               return make_event_node(call, cudaGraphNodeTypeWaitEvent, event, node);
             });
}

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* result, cudaGraph_t graph,
                                     const cudaGraphNode_t* dependencies, std::size_t count,
                                     cudaMemAllocNodeParams* params) {
  return add("cudaGraphAddMemAllocNode", {result, graph, dependencies, nullptr, count},
             [&](Call& call, Graph& to, NodePtr& node) {
               return params == nullptr ? cudaErrorInvalidValue
                                        : make_allocation_node(call, to, *params, node);
             });
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* result, cudaGraph_t graph,
                                    const cudaGraphNode_t* dependencies, std::size_t count,
                                    void* pointer) {
  return add("cudaGraphAddMemFreeNode", {result, graph, dependencies, nullptr, count},
             [&](Call& call, Graph& to, NodePtr& node) {
               return make_free_node(call, to, pointer, node);
             });
}

#if CUDART_VERSION >= 13000
cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle*, cudaGraph_t, unsigned,
                                             unsigned) {
  return api("cudaGraphConditionalHandleCreate",
             [](Call&) { return refuse_type(cudaGraphNodeTypeConditional); });
}
#endif

}  // extern "C"
