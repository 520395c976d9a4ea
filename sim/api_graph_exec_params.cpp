// SPDX-License-Identifier: BSL-1.0
// What changes single nodes of an executable graph.
#include "sim/node_make.hpp"

namespace {

using namespace culvert::sim::detail;

// Only later launches are changed. `make(call, node, work)` makes the new work.
template <class Make>
cudaError_t set_work(const char* function, cudaGraphExec_t exec, cudaGraphNode_t handle,
                     cudaGraphNodeType type, Make&& make) {
  return exec_node_api(function, exec, handle, [&](Call& call, Node& node) -> cudaError_t {
    if (node.type != type) return cudaErrorInvalidValue;
    Work work;
    const cudaError_t error = make(call, node, work);
    if (error != cudaSuccess) return error;
    if (!may_become(node, work)) return cudaErrorInvalidValue;
    node.work = std::move(work);
    return cudaSuccess;
  });
}

cudaError_t set_event(const char* function, cudaGraphExec_t exec, cudaGraphNode_t handle,
                      cudaGraphNodeType type, cudaEvent_t event) {
  return exec_node_api(function, exec, handle, [&](Call& call, Node& node) -> cudaError_t {
    NodePtr made;
    if (node.type != type) return cudaErrorInvalidValue;
    const cudaError_t error = make_event_node(call, type, event, made);
    if (error != cudaSuccess) return error;
    // The node stays on its device.
    if (type == cudaGraphNodeTypeEventRecord && made->device != node.device) {
      return cudaErrorInvalidValue;
    }
    node.event = made->event;
    node.event_handle = event;
    return cudaSuccess;
  });
}

cudaError_t set_child(const char* function, cudaGraphExec_t exec_handle, cudaGraphNode_t handle,
                      cudaGraph_t child) {
  return exec_node_api(function, exec_handle, handle, [&](Call& call, Node& node) {
    const GraphPtr graph = find_graph(call, child);
    if (!graph || node.type != cudaGraphNodeTypeGraph) return cudaErrorInvalidValue;
    return update_child(*find_exec(call, exec_handle), node, *graph);
  });
}

bool can_be_disabled(const Node& node) {
  return node.type == cudaGraphNodeTypeKernel || node.type == cudaGraphNodeTypeMemset ||
         node.type == cudaGraphNodeTypeMemcpy;
}

}  // namespace

extern "C" {

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t handle,
                                             const cudaKernelNodeParams* params) {
  return set_work("cudaGraphExecKernelNodeSetParams", exec, handle, cudaGraphNodeTypeKernel,
                  [&](Call& call, const Node& node, Work& work) {
                    return params == nullptr
                               ? cudaErrorInvalidValue
                               : kernel_work(call, *params, attributes_of(node), work);
                  });
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t handle,
                                             const cudaMemcpy3DParms* params) {
  return set_work("cudaGraphExecMemcpyNodeSetParams", exec, handle, cudaGraphNodeTypeMemcpy,
                  [&](Call& call, const Node&, Work& work) {
                    return params == nullptr ? cudaErrorInvalidValue
                                             : copy_work(call, *params, work);
                  });
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t handle,
                                               void* to, const void* from, std::size_t size,
                                               cudaMemcpyKind kind) {
  return set_work("cudaGraphExecMemcpyNodeSetParams1D", exec, handle, cudaGraphNodeTypeMemcpy,
                  [&](Call& call, const Node&, Work& work) {
                    return copy_work(call, row_copy(to, from, size, kind), work);
                  });
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t handle,
                                             const cudaMemsetParams* params) {
  return set_work("cudaGraphExecMemsetNodeSetParams", exec, handle, cudaGraphNodeTypeMemset,
                  [&](Call& call, const Node&, Work& work) {
                    return params == nullptr ? cudaErrorInvalidValue
                                             : fill_work(call, *params, work);
                  });
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t handle,
                                           const cudaHostNodeParams* params) {
  return set_work("cudaGraphExecHostNodeSetParams", exec, handle, cudaGraphNodeTypeHost,
                  [&](Call&, const Node&, Work& work) {
                    return params == nullptr ? cudaErrorInvalidValue : host_work(*params, work);
                  });
}

cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                 cudaGraph_t child) {
  return set_child("cudaGraphExecChildGraphNodeSetParams", exec, node, child);
}

cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                 cudaEvent_t event) {
  return set_event("cudaGraphExecEventRecordNodeSetEvent", exec, node, cudaGraphNodeTypeEventRecord,
                   event);
}

cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node,
                                               cudaEvent_t event) {
  return set_event("cudaGraphExecEventWaitNodeSetEvent", exec, node, cudaGraphNodeTypeWaitEvent,
                   event);
}

#if CUDART_VERSION >= 13000
cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                       cudaGraphNodeParams* params) {
  constexpr const char* function = "cudaGraphExecNodeSetParams";
  const cudaGraphNodeType type = params != nullptr ? params->type : cudaGraphNodeTypeCount;
  switch (type) {
    case cudaGraphNodeTypeWaitEvent:
      return set_event(function, exec, node, type, params->eventWait.event);
    case cudaGraphNodeTypeEventRecord:
      return set_event(function, exec, node, type, params->eventRecord.event);
    case cudaGraphNodeTypeGraph:
      return set_child(function, exec, node, params->graph.graph);
    case cudaGraphNodeTypeMemAlloc:
    case cudaGraphNodeTypeMemFree:
      return api(function, [](Call&) { return cudaErrorNotSupported; });
    default:
      return set_work(function, exec, node, type, [&](Call& call, const Node& before, Work& work) {
        return work_of(call, *params, &before, work);
      });
  }
}
#endif

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t handle,
                                    unsigned enabled) {
  return exec_node_api("cudaGraphNodeSetEnabled", exec, handle, [&](Call&, Node& node) {
    if (!can_be_disabled(node)) return cudaErrorInvalidValue;
    node.enabled = enabled != 0;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t handle,
                                    unsigned* enabled) {
  return exec_node_api("cudaGraphNodeGetEnabled", exec, handle, [&](Call&, const Node& node) {
    if (enabled == nullptr || !can_be_disabled(node)) return cudaErrorInvalidValue;
    *enabled = node.enabled ? 1 : 0;
    return cudaSuccess;
  });
}

}  // extern "C"
