// SPDX-License-Identifier: BSL-1.0
// What nodes tell of themselves, and what changes it.
#include "sim/node_make.hpp"
#include "sim/report.hpp"

namespace {

using namespace culvert::sim::detail;

// Null, with a report, for work that another function enqueued than those that nodes describe.
template <class Params>
const Params* params_of(const Node& node) {
  if (node.work.params) return std::get_if<Params>(&node.work.params->value);
  report("a node that %s made does not tell its parameters", node.work.name);
  return nullptr;
}

template <class Params>
cudaError_t get(const char* function, cudaGraphNode_t handle, cudaGraphNodeType type,
                Params* params) {
  return node_api(function, handle, type, [&](Call&, const Node& node) {
    if (params == nullptr) return cudaErrorInvalidValue;
    const Params* const known = params_of<Params>(node);
    if (known == nullptr) return cudaErrorNotSupported;
    *params = *known;
    return cudaSuccess;
  });
}

cudaError_t set(Node& node, cudaError_t error, Work work) {
  if (error == cudaSuccess) node.work = std::move(work);
  return error;
}

bool is_attribute(cudaLaunchAttributeID id) {
  switch (id) {
    case cudaLaunchAttributeAccessPolicyWindow:
    case cudaLaunchAttributeCooperative:
    case cudaLaunchAttributeClusterDimension:
    case cudaLaunchAttributeClusterSchedulingPolicyPreference:
    case cudaLaunchAttributePriority:
    case cudaLaunchAttributeMemSyncDomainMap:
    case cudaLaunchAttributeMemSyncDomain:
      return true;
    default:
      return false;
  }
}

cudaKernelNodeParams told(const KernelParams& params) {
  return {const_cast<void*>(params.function),
          params.grid,
          params.block,
          params.shared_memory,
          params.arguments->pointers.empty() ? nullptr : params.arguments->pointers.data(),
          nullptr};
}

cudaError_t set_attributes(Call& call, Node& node,
                           const std::vector<cudaLaunchAttribute>& attributes) {
  const auto* const params = params_of<KernelParams>(node);
  if (params == nullptr) return cudaErrorNotSupported;
  Work work;
  const cudaError_t error = kernel_work(call, told(*params), attributes, work);
  return set(node, error, std::move(work));
}

cudaError_t set_event(const char* function, cudaGraphNode_t handle, cudaGraphNodeType type,
                      cudaEvent_t event) {
  return node_api(function, handle, type, [&](Call& call, Node& node) -> cudaError_t {
    NodePtr made;
    const cudaError_t error = make_event_node(call, type, event, made);
    if (error != cudaSuccess) return error;
    node.event = made->event;
    node.event_handle = event;
    node.device = made->device;
    return cudaSuccess;
  });
}

cudaError_t get_event(const char* function, cudaGraphNode_t handle, cudaGraphNodeType type,
                      cudaEvent_t* event) {
  return node_api(function, handle, type, [&](Call&, const Node& node) {
    if (event == nullptr) return cudaErrorInvalidValue;
    *event = node.event_handle;
    return cudaSuccess;
  });
}

}  // namespace

extern "C" {

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t handle, cudaKernelNodeParams* params) {
  return node_api("cudaGraphKernelNodeGetParams", handle, cudaGraphNodeTypeKernel,
                  [&](Call&, const Node& node) {
                    if (params == nullptr) return cudaErrorInvalidValue;
                    const auto* const known = params_of<KernelParams>(node);
                    if (known == nullptr) return cudaErrorNotSupported;
                    *params = told(*known);
                    return cudaSuccess;
                  });
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t handle,
                                         const cudaKernelNodeParams* params) {
  return node_api("cudaGraphKernelNodeSetParams", handle, cudaGraphNodeTypeKernel,
                  [&](Call& call, Node& node) -> cudaError_t {
                    if (params == nullptr) return cudaErrorInvalidValue;
                    Work work;
                    const cudaError_t error = kernel_work(call, *params, attributes_of(node), work);
                    return set(node, error, std::move(work));
                  });
}

cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t handle, cudaLaunchAttributeID id,
                                            cudaLaunchAttributeValue* value) {
  return node_api("cudaGraphKernelNodeGetAttribute", handle, cudaGraphNodeTypeKernel,
                  [&](Call&, const Node& node) {
                    if (value == nullptr || !is_attribute(id)) return cudaErrorInvalidValue;
                    *value = cudaLaunchAttributeValue{};
                    for (const cudaLaunchAttribute& attribute : attributes_of(node)) {
                      if (attribute.id == id) *value = attribute.val;
                    }
                    return cudaSuccess;
                  });
}

cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t handle, cudaLaunchAttributeID id,
                                            const cudaLaunchAttributeValue* value) {
  return node_api("cudaGraphKernelNodeSetAttribute", handle, cudaGraphNodeTypeKernel,
                  [&](Call& call, Node& node) -> cudaError_t {
                    if (value == nullptr || !is_attribute(id)) return cudaErrorInvalidValue;
                    std::vector<cudaLaunchAttribute> attributes = attributes_of(node);
                    std::erase_if(attributes, [&](const auto& known) { return known.id == id; });
                    cudaLaunchAttribute added{};
                    added.id = id;
                    added.val = *value;
                    attributes.push_back(added);
                    return set_attributes(call, node, attributes);
                  });
}

cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to, cudaGraphNode_t from) {
  return node_api("cudaGraphKernelNodeCopyAttributes", to, cudaGraphNodeTypeKernel,
                  [&](Call& call, Node& node) -> cudaError_t {
                    const NodePtr source = find_node(call, from);
                    if (!source || source->type != cudaGraphNodeTypeKernel) {
                      return cudaErrorInvalidValue;
                    }
                    return set_attributes(call, node, attributes_of(*source));
                  });
}

cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t handle, cudaMemcpy3DParms* params) {
  return get("cudaGraphMemcpyNodeGetParams", handle, cudaGraphNodeTypeMemcpy, params);
}

cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t handle, const cudaMemcpy3DParms* params) {
  return node_api("cudaGraphMemcpyNodeSetParams", handle, cudaGraphNodeTypeMemcpy,
                  [&](Call& call, Node& node) -> cudaError_t {
                    if (params == nullptr) return cudaErrorInvalidValue;
                    Work work;
                    const cudaError_t error = copy_work(call, *params, work);
                    return set(node, error, std::move(work));
                  });
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t handle, void* to, const void* from,
                                           std::size_t size, cudaMemcpyKind kind) {
  return node_api("cudaGraphMemcpyNodeSetParams1D", handle, cudaGraphNodeTypeMemcpy,
                  [&](Call& call, Node& node) {
                    Work work;
                    const cudaError_t error = copy_work(call, row_copy(to, from, size, kind), work);
                    return set(node, error, std::move(work));
                  });
}

cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t handle, cudaMemsetParams* params) {
  return get("cudaGraphMemsetNodeGetParams", handle, cudaGraphNodeTypeMemset, params);
}

cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t handle, const cudaMemsetParams* params) {
  return node_api("cudaGraphMemsetNodeSetParams", handle, cudaGraphNodeTypeMemset,
                  [&](Call& call, Node& node) -> cudaError_t {
                    if (params == nullptr) return cudaErrorInvalidValue;
                    Work work;
                    const cudaError_t error = fill_work(call, *params, work);
                    return set(node, error, std::move(work));
                  });
}

cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t handle, cudaHostNodeParams* params) {
  return get("cudaGraphHostNodeGetParams", handle, cudaGraphNodeTypeHost, params);
}

cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t handle, const cudaHostNodeParams* params) {
  return node_api("cudaGraphHostNodeSetParams", handle, cudaGraphNodeTypeHost,
                  [&](Call&, Node& node) -> cudaError_t {
                    if (params == nullptr) return cudaErrorInvalidValue;
                    Work work;
                    const cudaError_t error = host_work(*params, work);
                    return set(node, error, std::move(work));
                  });
}

cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t handle, cudaGraph_t* graph) {
  return node_api("cudaGraphChildGraphNodeGetGraph", handle, cudaGraphNodeTypeGraph,
                  [&](Call&, const Node& node) {
                    if (graph == nullptr) return cudaErrorInvalidValue;
                    *graph = node.child->as_handle();
                    return cudaSuccess;
                  });
}

cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return get_event("cudaGraphEventRecordNodeGetEvent", node, cudaGraphNodeTypeEventRecord, event);
}

cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return set_event("cudaGraphEventRecordNodeSetEvent", node, cudaGraphNodeTypeEventRecord, event);
}

cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return get_event("cudaGraphEventWaitNodeGetEvent", node, cudaGraphNodeTypeWaitEvent, event);
}

cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return set_event("cudaGraphEventWaitNodeSetEvent", node, cudaGraphNodeTypeWaitEvent, event);
}

cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t handle, cudaMemAllocNodeParams* params) {
  return node_api("cudaGraphMemAllocNodeGetParams", handle, cudaGraphNodeTypeMemAlloc,
                  [&](Call&, const Node& node) {
                    if (params == nullptr) return cudaErrorInvalidValue;
                    const Block& block = *node.memory->block;
                    *params = cudaMemAllocNodeParams{};
                    params->poolProps.allocType = cudaMemAllocationTypePinned;
                    params->poolProps.location = {cudaMemLocationTypeDevice, block.device};
                    params->bytesize = block.size;
                    params->dptr = reinterpret_cast<void*>(block.address);
                    return cudaSuccess;
                  });
}

cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t handle, void* pointer) {
  return node_api("cudaGraphMemFreeNodeGetParams", handle, cudaGraphNodeTypeMemFree,
                  [&](Call&, const Node& node) {
                    if (pointer == nullptr) return cudaErrorInvalidValue;
                    *static_cast<void**>(pointer) =
                        reinterpret_cast<void*>(node.memory->block->address);
                    return cudaSuccess;
                  });
}

#if CUDART_VERSION >= 13000
cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t handle, cudaGraphNodeParams* params) {
  constexpr const char* function = "cudaGraphNodeSetParams";
  const cudaGraphNodeType type = params != nullptr ? params->type : cudaGraphNodeTypeCount;
  switch (type) {
    case cudaGraphNodeTypeWaitEvent:
      return set_event(function, handle, type, params->eventWait.event);
    case cudaGraphNodeTypeEventRecord:
      return set_event(function, handle, type, params->eventRecord.event);
    case cudaGraphNodeTypeMemAlloc:
    case cudaGraphNodeTypeMemFree:
    case cudaGraphNodeTypeGraph:
      return api(function, [](Call&) { return cudaErrorNotSupported; });
    default:
      return node_api(function, handle, type, [&](Call& call, Node& node) {
        Work work;
        const cudaError_t error = work_of(call, *params, &node, work);
        return set(node, error, std::move(work));
      });
  }
}
#endif

}  // extern "C"
