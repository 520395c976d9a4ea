// SPDX-License-Identifier: BSL-1.0
// Executable graphs.
#pragma once

#include <cstdint>
#include <memory>

#include "sim/call.hpp"
#include "sim/call_site.hpp"
#include "sim/graph.hpp"

namespace culvert::sim::detail {

struct GraphExec {
  std::uintptr_t handle = 0;
  int device = 0;
  CallSite made = CallSite::here();
  unsigned long long flags = 0;
  GraphPtr graph;  // its own copy
  OpPtr last;      // the end of the last launch or upload
};

using GraphExecPtr = std::shared_ptr<GraphExec>;

// Null where the structure is invalid: then `bad` is one of the nodes.
GraphExecPtr make_exec(Process& process, const Graph& graph, Node*& bad);

cudaError_t launch(Call& call, const GraphExecPtr& exec, const StreamPtr& stream);
cudaError_t upload(Call& call, const GraphExecPtr& exec, const StreamPtr& stream);

// Gives the nodes of an executable graph what those of another graph do, if that is allowed.
void update_exec(GraphExec& exec, const Graph& graph, cudaGraphExecUpdateResultInfo& info);
// Whether a node of an executable graph may do this from now on.
bool may_become(const Node& node, const Work& work);

}  // namespace culvert::sim::detail
