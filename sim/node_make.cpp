// SPDX-License-Identifier: BSL-1.0
#include "sim/node_make.hpp"

#include <utility>

#include "sim/report.hpp"

namespace culvert::sim::detail {
namespace {

NodePtr new_node(cudaGraphNodeType type, int device) {
  auto node = std::make_shared<Node>();
  node->type = type;
  node->device = device;
  return node;
}

}  // namespace

#if CUDART_VERSION >= 13000
cudaKernelNodeParams plain(const cudaKernelNodeParamsV2& params) {
  return {params.func,
          {params.gridDim.x, params.gridDim.y, params.gridDim.z},
          {params.blockDim.x, params.blockDim.y, params.blockDim.z},
          params.sharedMemBytes,
          params.kernelParams,
          params.extra};
}

cudaMemsetParams plain(const cudaMemsetParamsV2& params) {
  return {params.dst, params.pitch, params.value, params.elementSize, params.width, params.height};
}

cudaHostNodeParams plain(const cudaHostNodeParamsV2& params) {
  return {params.fn, params.userData};
}

cudaError_t refuse_type(cudaGraphNodeType type) {
  switch (type) {
    case cudaGraphNodeTypeExtSemaphoreSignal:
    case cudaGraphNodeTypeExtSemaphoreWait:
      report("nodes for external semaphores are not supported");
      return cudaErrorNotSupported;
    case cudaGraphNodeTypeConditional:
      report("conditional nodes are not supported");
      return cudaErrorNotSupported;
    default:
      return cudaErrorInvalidValue;
  }
}
#endif

cudaError_t make_work_node(Call& call, cudaGraphNodeType type, cudaError_t error, Work work,
                           NodePtr& node) {
  if (error != cudaSuccess) return error;
  node = new_node(type, call.thread.device);
  node->work = std::move(work);
  return cudaSuccess;
}

cudaError_t make_event_node(Call& call, cudaGraphNodeType type, cudaEvent_t handle, NodePtr& node) {
  const std::shared_ptr<Event> event = call.event(handle);
  if (!event) return cudaErrorInvalidValue;
  node = new_node(type, event->device);
  node->event = event;
  node->event_handle = handle;
  return cudaSuccess;
}

cudaError_t make_child_node(Call& call, Graph& graph, cudaGraph_t handle, bool moves,
                            NodePtr& node) {
  const GraphPtr child = find_graph(call, handle);
  if (!child || child.get() == &graph || child->moved || child->capturing) {
    return cudaErrorInvalidValue;
  }
  node = new_node(cudaGraphNodeTypeGraph, call.thread.device);
  if (moves) {
    if (child->is_child) return cudaErrorInvalidValue;
    child->is_child = true;
    child->moved = true;
    node->child = child;
    return cudaSuccess;
  }
  // A copy of what allocates would allocate the same memory twice.
  if (has_memory_nodes(*child)) return cudaErrorNotSupported;
  adopt_child(call.process, *node, copy_graph(*child));
  return cudaSuccess;
}

cudaError_t make_allocation_node(Call& call, const Graph& graph, cudaMemAllocNodeParams& params,
                                 NodePtr& node) {
  const cudaMemPoolProps& pool = params.poolProps;
  const int device = pool.location.id;
  if (pool.allocType != cudaMemAllocationTypePinned ||
      pool.location.type != cudaMemLocationTypeDevice ||
      pool.handleTypes != cudaMemHandleTypeNone || params.bytesize == 0 || device < 0 ||
      device >= call.process.config.devices || graph.moved ||
      (params.accessDescCount != 0 && params.accessDescs == nullptr)) {
    return cudaErrorInvalidValue;
  }
  if (!call.process.config.memory_pools) return cudaErrorNotSupported;
  const BlockPtr block = call.process.allocate(call.lock, device, params.bytesize, nullptr);
  if (!block) return cudaErrorMemoryAllocation;
  block->made_by = "a memory allocation node";
  params.dptr = reinterpret_cast<void*>(block->address);
  Work work{.kind = OpKind::allocate,
            .name = "a memory allocation node",
            .touches = {{block, 0, block->size}},
            .action =
                [&process = call.process, taken = block.get()] {
                  taken->state = BlockState::live;
                  process.memory.poison(*taken);
                },
            .params = node_params(params)};
  node = node_of(std::move(work), graph, device);
  return cudaSuccess;
}

cudaError_t make_free_node(Call& call, const Graph& graph, void* pointer, NodePtr& node) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const BlockPtr block = call.process.memory.find(address);
  if (!block || block->address != address || !block->of_graph || graph.moved) {
    return cudaErrorInvalidValue;
  }
  const GraphMemoryPtr memory = block->graph_memory.lock();
  if (!memory || !may_free(*memory, graph)) return cudaErrorInvalidValue;
  Work work{.kind = OpKind::release,
            .name = "a memory free node",
            .touches = {{block, 0, block->size}},
            .action = [&process = call.process, freed = block.get()] { process.release(*freed); }};
  node = node_of(std::move(work), graph, block->device);
  return cudaSuccess;
}

std::vector<cudaLaunchAttribute> attributes_of(const Node& node) {
  const auto* const params =
      node.work.params ? std::get_if<KernelParams>(&node.work.params->value) : nullptr;
  return params != nullptr ? params->attributes : std::vector<cudaLaunchAttribute>();
}

#if CUDART_VERSION >= 13000
cudaError_t work_of(Call& call, const cudaGraphNodeParams& params, const Node* before, Work& work) {
  switch (params.type) {
    case cudaGraphNodeTypeKernel: {
      // A node keeps its attributes when its parameters change.
      const auto attributes =
          before != nullptr ? attributes_of(*before) : std::vector<cudaLaunchAttribute>();
      return kernel_work(call, plain(params.kernel), attributes, work);
    }
    case cudaGraphNodeTypeMemcpy:
      return copy_work(call, params.memcpy.copyParams, work);
    case cudaGraphNodeTypeMemset:
      return fill_work(call, plain(params.memset), work);
    case cudaGraphNodeTypeHost:
      return host_work(plain(params.host), work);
    default:
      return refuse_type(params.type);
  }
}
#endif

cudaError_t update_child(const GraphExec& exec, Node& node, const Graph& graph) {
  GraphExec inner;
  inner.flags = exec.flags;
  inner.graph = node.child;
  cudaGraphExecUpdateResultInfo info{};
  update_exec(inner, graph, info);
  return info.result == cudaGraphExecUpdateSuccess ? cudaSuccess : cudaErrorInvalidValue;
}

}  // namespace culvert::sim::detail
