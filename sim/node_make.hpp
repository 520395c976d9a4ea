// SPDX-License-Identifier: BSL-1.0
// New nodes of each kind, and what changes them.
#pragma once

#include "sim/graph_calls.hpp"
#include "sim/node_work.hpp"

namespace culvert::sim::detail {

// Make a node for this graph that is not in it yet.
cudaError_t make_work_node(Call& call, cudaGraphNodeType type, cudaError_t error, Work work,
                           NodePtr& node);
cudaError_t make_event_node(Call& call, cudaGraphNodeType type, cudaEvent_t event, NodePtr& node);
cudaError_t make_child_node(Call& call, Graph& graph, cudaGraph_t child, bool moves, NodePtr& node);
cudaError_t make_allocation_node(Call& call, const Graph& graph, cudaMemAllocNodeParams& params,
                                 NodePtr& node);
cudaError_t make_free_node(Call& call, const Graph& graph, void* pointer, NodePtr& node);

// CUDA 12 describes nodes of any type in other ways.
#if CUDART_VERSION >= 13000
// The work of a node of one of the kinds whose parameters the program describes, by type.
cudaError_t work_of(Call& call, const cudaGraphNodeParams& params, const Node* before, Work& work);

// The same structures under the names of the later functions.
cudaKernelNodeParams plain(const cudaKernelNodeParamsV2& params);
cudaMemsetParams plain(const cudaMemsetParamsV2& params);
cudaHostNodeParams plain(const cudaHostNodeParamsV2& params);

// What a type of node that is not supported answers.
cudaError_t refuse_type(cudaGraphNodeType type);
#endif

// Those of a kernel node.
std::vector<cudaLaunchAttribute> attributes_of(const Node& node);

// Gives a child graph node of an executable graph what another graph does.
cudaError_t update_child(const GraphExec& exec, Node& node, const Graph& graph);

}  // namespace culvert::sim::detail
