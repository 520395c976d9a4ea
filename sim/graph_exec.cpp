// SPDX-License-Identifier: BSL-1.0
#include "sim/graph_exec.hpp"

#include <unordered_map>
#include <utility>

namespace culvert::sim::detail {
namespace {

// Each node has a stream of its own: only edges order them.
void give_branches(Process& process, Graph& graph) {
  for (const NodePtr& node : graph.nodes) {
    node->branch =
        process.make_stream(node->device, StreamKind::non_blocking, cudaStreamNonBlocking, 0);
    if (node->child) give_branches(process, *node->child);
  }
}

// Whatever a graph allocates or frees, and whether.
template <class Function>
void for_each_memory(const Graph& graph, Function function) {
  for (const NodePtr& node : graph.nodes) {
    if (node->memory) function(*node->memory, node->type == cudaGraphNodeTypeMemAlloc);
    if (node->child) for_each_memory(*node->child, function);
  }
}

// Memory of an earlier launch is freed before the next, by the program or by the launch.
bool memory_is_ready(Call& call, const GraphExec& exec, const StreamPtr& stream) {
  bool ready = true;
  std::vector<BlockPtr> held;
  for_each_memory(*exec.graph, [&](const GraphMemory& memory, bool allocates) {
    const bool live = memory.block->graph_live;
    if (allocates && live) held.push_back(memory.block);
    if (!allocates && !live && !memory.freed_by_owner) ready = false;
  });
  if (!ready) return false;
  if (held.empty()) return true;
  if ((exec.flags & cudaGraphInstantiateFlagAutoFreeOnLaunch) == 0) return false;
  for (const BlockPtr& block : held) {
    block->graph_live = false;
    call.process.enqueue(
        call.lock, stream,
        {.kind = OpKind::release,
         .name = "a graph's automatic free",
         .touches = {{block, 0, block->size}},
         .action = [&process = call.process, freed = block.get()] { process.release(*freed); }});
  }
  return true;
}

Ops run(Process& process, Lock& lock, const Graph& graph, const OpPtr& begin);

OpPtr run(Process& process, Lock& lock, Node& node, Ops after) {
  const StreamPtr branch = node.branch;
  if (!node.enabled) return process.enqueue(lock, branch, {.name = node.work.name}, after);
  switch (node.type) {
    case cudaGraphNodeTypeGraph: {
      const OpPtr begin = process.enqueue(lock, branch, {.name = "a child graph node"}, after);
      const Ops ends = run(process, lock, *node.child, begin);
      return process.enqueue(lock, branch, {.name = "a child graph node"}, ends);
    }
    case cudaGraphNodeTypeEventRecord: {
      const std::shared_ptr<Event> event = node.event;
      const OpPtr op = process.enqueue(
          lock, branch, {.name = "an event record node", .cost = {.engine = Engine::event}}, after);
      event->record = op;
      event->captured = nullptr;
      event->answers = 0;
      return op;
    }
    case cudaGraphNodeTypeWaitEvent:
      after.push_back(node.event->record);
      return process.enqueue(lock, branch, {.name = "an event wait node"}, after);
    case cudaGraphNodeTypeMemAlloc:
      node.memory->block->graph_live = true;
      break;
    case cudaGraphNodeTypeMemFree:
      node.memory->block->graph_live = false;
      break;
    default:
      break;
  }
  return process.enqueue(lock, branch, node.work, after);
}

// Answers those after which all is done.
Ops run(Process& process, Lock& lock, const Graph& graph, const OpPtr& begin) {
  std::unordered_map<const Node*, OpPtr> done;
  Ops ends;
  for (Node* const node : graph.order) {
    Ops after;
    for (const Edge& edge : node->dependencies) after.push_back(done[edge.from]);
    if (after.empty()) after.push_back(begin);
    const OpPtr op = run(process, lock, *node, std::move(after));
    done[node] = op;
    if (node->dependents.empty()) ends.push_back(op);
  }
  if (ends.empty()) ends.push_back(begin);
  return ends;
}

// A node that was captured with arguments that cannot be.
const Node* find_invalid(const Graph& graph) {
  for (const NodePtr& node : graph.nodes) {
    if (node->work.invalid) return node.get();
    if (const Node* const inner = node->child ? find_invalid(*node->child) : nullptr) return inner;
  }
  return nullptr;
}

}  // namespace

GraphExecPtr make_exec(Process& process, const Graph& graph, Node*& bad) {
  auto exec = std::make_shared<GraphExec>();
  exec->device = graph.device;
  exec->graph = copy_graph(graph);
  const Node* copy = find_invalid(*exec->graph);
  if (copy == nullptr) copy = sort_nodes(*exec->graph);
  if (copy != nullptr) {
    bad = process.graphs.nodes.find(copy->origin).get();
    return nullptr;
  }
  give_branches(process, *exec->graph);
  return exec;
}

cudaError_t launch(Call& call, const GraphExecPtr& exec, const StreamPtr& stream) {
  constexpr const char* name = "cudaGraphLaunch";
  if (!memory_is_ready(call, *exec, stream)) return cudaErrorInvalidValue;
  Process& process = call.process;
  const OpPtr begin = process.enqueue(call.lock, stream, {.name = name}, {exec->last});
  const Ops ends = run(process, call.lock, *exec->graph, begin);
  // Until it is done the launch keeps what the graph refers to.
  exec->last = process.enqueue(call.lock, stream,
                               {.name = name, .action = [exec] { static_cast<void>(exec); }}, ends);
  return process.failure(stream->device);
}

cudaError_t upload(Call& call, const GraphExecPtr& exec, const StreamPtr& stream) {
  exec->last = call.process.enqueue(call.lock, stream, {.name = "cudaGraphUpload"}, {exec->last});
  return call.process.failure(stream->device);
}

}  // namespace culvert::sim::detail
