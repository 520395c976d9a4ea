// SPDX-License-Identifier: BSL-1.0
#include "sim/graph.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "sim/process.hpp"

namespace culvert::sim::detail {

const Edge* find_edge(const Node& from, const Node& to) {
  const auto found = std::find_if(to.dependencies.begin(), to.dependencies.end(),
                                  [&](const Edge& edge) { return edge.from == &from; });
  return found == to.dependencies.end() ? nullptr : &*found;
}

void add_edge(Node& from, Node& to, const cudaGraphEdgeData& data) {
  to.dependencies.push_back({&from, data});
  from.dependents.push_back(&to);
}

void remove_edge(Node& from, Node& to) {
  std::erase_if(to.dependencies, [&](const Edge& edge) { return edge.from == &from; });
  std::erase(from.dependents, &to);
}

Node& add_node(Process& process, Graph& graph, NodePtr node,
               const std::vector<Edge>& dependencies) {
  node->graph = &graph;
  for (const Edge& edge : dependencies) add_edge(*edge.from, *node, edge.data);
  node->handle = process.graphs.nodes.add(node);
  graph.nodes.push_back(std::move(node));
  return *graph.nodes.back();
}

void remove_node(Process& process, Node& node) {
  for (const Edge& edge : node.dependencies) std::erase(edge.from->dependents, &node);
  for (Node* const dependent : node.dependents) {
    std::erase_if(dependent->dependencies, [&](const Edge& edge) { return edge.from == &node; });
  }
  process.graphs.nodes.remove(node.handle);
  if (node.child) end_handles(process, *node.child);
  std::erase_if(node.graph->nodes, [&](const NodePtr& each) { return each.get() == &node; });
}

void adopt_child(Process& process, Node& node, GraphPtr child) {
  child->is_child = true;
  node.child = std::move(child);
  give_handles(process, node.child);
}

GraphPtr copy_graph(const Graph& graph) {
  auto copy = std::make_shared<Graph>();
  copy->origin = graph.handle;
  copy->device = graph.device;
  copy->is_child = graph.is_child;
  copy->user_objects = graph.user_objects;
  std::unordered_map<const Node*, Node*> copies;
  for (const NodePtr& node : graph.nodes) {
    auto same = std::make_shared<Node>();
    same->origin = node->handle;
    same->graph = copy.get();
    same->type = node->type;
    same->device = node->device;
    same->work = node->work;
    same->event = node->event;
    same->event_handle = node->event_handle;
    same->memory = node->memory;
    same->enabled = node->enabled;
    if (node->child) same->child = copy_graph(*node->child);
    copies[node.get()] = same.get();
    copy->nodes.push_back(std::move(same));
  }
  for (const NodePtr& node : graph.nodes) {
    Node& same = *copies[node.get()];
    for (const Edge& edge : node->dependencies) {
      same.dependencies.push_back({copies[edge.from], edge.data});
    }
    for (Node* const dependent : node->dependents) same.dependents.push_back(copies[dependent]);
  }
  return copy;
}

void give_handles(Process& process, const GraphPtr& graph) {
  GraphState& all = process.graphs;
  graph->handle = all.graphs.add(graph);
  for (const NodePtr& node : graph->nodes) {
    node->handle = all.nodes.add(node);
    if (node->child) give_handles(process, node->child);
  }
}

void end_handles(Process& process, Graph& graph) {
  GraphState& all = process.graphs;
  for (const NodePtr& node : graph.nodes) {
    all.nodes.remove(node->handle);
    if (node->child) end_handles(process, *node->child);
  }
  // Last, since the table may hold the graph's last reference.
  all.graphs.remove(graph.handle);
}

bool has_memory_nodes(const Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const NodePtr& node) {
    return node->memory || (node->child && has_memory_nodes(*node->child));
  });
}

Node* find_copy(const Graph& graph, std::uintptr_t origin) {
  for (const NodePtr& node : graph.nodes) {
    if (node->origin == origin) return node.get();
    if (!node->child) continue;
    if (Node* const found = find_copy(*node->child, origin)) return found;
  }
  return nullptr;
}

Node* sort_nodes(Graph& graph) {
  std::unordered_map<const Node*, std::size_t> missing;
  graph.order.clear();
  for (const NodePtr& node : graph.nodes) {
    missing[node.get()] = node->dependencies.size();
    if (node->dependencies.empty()) graph.order.push_back(node.get());
  }
  for (std::size_t i = 0; i < graph.order.size(); ++i) {
    const Node& node = *graph.order[i];
    if (node.child) {
      if (Node* const of_cycle = sort_nodes(*node.child)) return of_cycle;
    }
    for (Node* const dependent : node.dependents) {
      if (--missing[dependent] == 0) graph.order.push_back(dependent);
    }
  }
  if (graph.order.size() == graph.nodes.size()) return nullptr;
  for (const NodePtr& node : graph.nodes) {
    if (missing[node.get()] != 0) return node.get();
  }
  return nullptr;
}

}  // namespace culvert::sim::detail
