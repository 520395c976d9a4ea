// SPDX-License-Identifier: BSL-1.0
// Executable graphs: from graphs, into streams.
#include <algorithm>

#include "sim/entry.hpp"
#include "sim/graph_calls.hpp"
#include "sim/report.hpp"

namespace {

using namespace culvert::sim::detail;

constexpr Rules not_captured{.in_capture = InCapture::refused};

constexpr unsigned long long known_flags = cudaGraphInstantiateFlagAutoFreeOnLaunch |
                                           cudaGraphInstantiateFlagDeviceLaunch |
                                           cudaGraphInstantiateFlagUseNodePriority;

bool has_kernels(const Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const NodePtr& node) {
    return node->type == cudaGraphNodeTypeKernel || (node->child && has_kernels(*node->child));
  });
}

cudaError_t instantiate(Call& call, cudaGraphExec_t* result, cudaGraph_t handle,
                        unsigned long long flags, Node*& bad) {
  const GraphPtr graph = find_graph(call, handle);
  if (result == nullptr || !graph || graph->moved || graph->capturing ||
      (flags & ~known_flags) != 0) {
    return cudaErrorInvalidValue;
  }
  if ((flags & cudaGraphInstantiateFlagDeviceLaunch) != 0) {
    if (graph->nodes.empty()) return cudaErrorInvalidValue;
    report("a graph that the device launches is not supported");
    return cudaErrorNotSupported;
  }
  if (has_memory_nodes(*graph) && !graph->exec.expired()) return cudaErrorNotSupported;
  const GraphExecPtr exec = make_exec(call.process, *graph, bad);
  if (!exec) return cudaErrorInvalidValue;
  exec->flags = flags;
  // Where nothing has a priority, the flag is not kept.
  if (!has_kernels(*graph)) {
    exec->flags &= ~static_cast<unsigned long long>(cudaGraphInstantiateFlagUseNodePriority);
  }
  graph->exec = exec;
  exec->handle = call.process.graphs.execs.add(exec);
  *result = reinterpret_cast<cudaGraphExec_t>(exec->handle);
  return cudaSuccess;
}

cudaError_t instantiate(const char* function, cudaGraphExec_t* result, cudaGraph_t graph,
                        unsigned long long flags) {
  return api(function, unsafe_in_capture, [&](Call& call) {
    Node* bad = nullptr;
    return instantiate(call, result, graph, flags, bad);
  });
}

}  // namespace

namespace culvert::sim::detail::entry {

cudaError_t graph_instantiate_with_params(NullStream null, cudaGraphExec_t* result,
                                          cudaGraph_t graph, cudaGraphInstantiateParams* params) {
  return api("cudaGraphInstantiateWithParams", unsafe_in_capture, [&](Call& call) -> cudaError_t {
    if (params == nullptr) return cudaErrorInvalidValue;
    params->errNode_out = nullptr;
    params->result_out = cudaGraphInstantiateError;
    const bool uploads = (params->flags & cudaGraphInstantiateFlagUpload) != 0;
    const StreamPtr stream = uploads ? call.stream(params->uploadStream, null) : nullptr;
    if (uploads && !stream) return cudaErrorInvalidResourceHandle;
    if (uploads) {
      const cudaError_t refused = check_capture(call.process, *stream, InCapture::refused);
      if (refused != cudaSuccess) return refused;
    }
    Node* bad = nullptr;
    const unsigned long long flags =
        params->flags & ~static_cast<unsigned long long>(cudaGraphInstantiateFlagUpload);
    const cudaError_t error = instantiate(call, result, graph, flags, bad);
    if (bad != nullptr) {
      params->errNode_out = bad->as_handle();
      params->result_out = cudaGraphInstantiateInvalidStructure;
    }
    if (error != cudaSuccess) return error;
    params->result_out = cudaGraphInstantiateSuccess;
    return uploads ? upload(call, find_exec(call, *result), stream) : cudaSuccess;
  });
}

cudaError_t graph_upload(NullStream null, cudaGraphExec_t handle, cudaStream_t stream_handle) {
  return stream_api("cudaGraphUpload", not_captured, stream_handle, null,
                    [&](Call& call, const StreamPtr& stream) {
                      const GraphExecPtr exec = find_exec(call, handle);
                      return exec ? upload(call, exec, stream) : cudaErrorInvalidValue;
                    });
}

cudaError_t graph_launch(NullStream null, cudaGraphExec_t handle, cudaStream_t stream_handle) {
  return stream_api("cudaGraphLaunch", not_captured, stream_handle, null,
                    [&](Call& call, const StreamPtr& stream) {
                      const GraphExecPtr exec = find_exec(call, handle);
                      return exec ? launch(call, exec, stream) : cudaErrorInvalidValue;
                    });
}

}  // namespace culvert::sim::detail::entry

extern "C" {

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                 unsigned long long flags) {
  return instantiate("cudaGraphInstantiate", exec, graph, flags);
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph,
                                          unsigned long long flags) {
  return instantiate("cudaGraphInstantiateWithFlags", exec, graph, flags);
}

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* exec, cudaGraph_t graph,
                                           cudaGraphInstantiateParams* params) {
  return entry::graph_instantiate_with_params(NullStream::legacy, exec, graph, params);
}

cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream) {
  return entry::graph_upload(NullStream::legacy, exec, stream);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  return entry::graph_launch(NullStream::legacy, exec, stream);
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t handle) {
  return api("cudaGraphExecDestroy", [&](Call& call) {
    const GraphExecPtr exec = find_exec(call, handle);
    if (!exec) return cudaErrorInvalidValue;
    // Launches that are pending keep it.
    call.process.graphs.execs.remove(exec->handle);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t handle, unsigned long long* flags) {
  return api("cudaGraphExecGetFlags", [&](Call& call) {
    const GraphExecPtr exec = find_exec(call, handle);
    if (!exec || flags == nullptr) return cudaErrorInvalidValue;
    *flags = exec->flags;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t handle, cudaGraph_t graph_handle,
                                cudaGraphExecUpdateResultInfo* result) {
  return api("cudaGraphExecUpdate", [&](Call& call) {
    const GraphExecPtr exec = find_exec(call, handle);
    const GraphPtr graph = find_graph(call, graph_handle);
    cudaGraphExecUpdateResultInfo info{};
    info.result = cudaGraphExecUpdateError;
    const bool valid = exec && graph && !graph->moved && !graph->capturing;
    if (valid) update_exec(*exec, *graph, info);
    if (result != nullptr) *result = info;
    if (!valid) return cudaErrorInvalidValue;
    return info.result == cudaGraphExecUpdateSuccess ? cudaSuccess
                                                     : cudaErrorGraphExecUpdateFailure;
  });
}

}  // extern "C"
