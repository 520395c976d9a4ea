// SPDX-License-Identifier: BSL-1.0
// Graphs: nodes and the edges between them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "sim/call_site.hpp"
#include "sim/edge_data.hpp"
#include "sim/event.hpp"
#include "sim/graph_memory.hpp"
#include "sim/node_params.hpp"
#include "sim/stream.hpp"
#include "sim/user_object.hpp"

namespace culvert::sim::detail {

class Process;
struct Graph;
struct GraphExec;
struct Node;

using GraphPtr = std::shared_ptr<Graph>;
using NodePtr = std::shared_ptr<Node>;

// From the point of view of the node at its end.
struct Edge {
  Node* from = nullptr;
  cudaGraphEdgeData data{};
};

struct Node {
  std::uintptr_t handle = 0;  // 0 in an executable graph
  std::uintptr_t origin = 0;  // of the node that it was copied from
  Graph* graph = nullptr;
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  int device = 0;
  Work work;
  GraphPtr child;                // of a node with a graph inside
  std::shared_ptr<Event> event;  // of a node that records or waits
  cudaEvent_t event_handle = nullptr;
  GraphMemoryPtr memory;  // of a node that allocates or frees
  std::vector<Edge> dependencies;
  std::vector<Node*> dependents;

  // In an executable graph.
  bool enabled = true;
  StreamPtr branch;  // in which its operations are enqueued

  cudaGraphNode_t as_handle() const { return reinterpret_cast<cudaGraphNode_t>(handle); }
};

struct Graph {
  std::uintptr_t handle = 0;
  std::uintptr_t origin = 0;  // of the graph that it was copied from
  int device = 0;             // the current one when it was made
  CallSite made = CallSite::here();
  bool is_child = false;   // it belongs to a node
  bool moved = false;      // ... to which the program gave it
  bool capturing = false;  // a capture fills it
  std::vector<NodePtr> nodes;
  std::vector<Node*> order;  // in an executable graph: each after what it depends on
  std::map<UserObjectPtr, unsigned> user_objects;
  std::weak_ptr<GraphExec> exec;  // the last one made of it

  cudaGraph_t as_handle() const { return reinterpret_cast<cudaGraph_t>(handle); }
};

const Edge* find_edge(const Node& from, const Node& to);
void add_edge(Node& from, Node& to, const cudaGraphEdgeData& data);
void remove_edge(Node& from, Node& to);

// Takes a node into the graph and gives it a handle.
Node& add_node(Process& process, Graph& graph, NodePtr node, const std::vector<Edge>& dependencies);
void remove_node(Process& process, Node& node);

// Gives the graph inside a node to it, and handles to that graph and all in it.
void adopt_child(Process& process, Node& node, GraphPtr child);

// A copy whose nodes have no handles and know those of the originals.
GraphPtr copy_graph(const Graph& graph);
// Gives handles to a copy and to all in it.
void give_handles(Process& process, const GraphPtr& graph);
// Ends the handles of a graph and of all in it.
void end_handles(Process& process, Graph& graph);

// Whether a node of the graph, or of one inside it, allocates or frees.
bool has_memory_nodes(const Graph& graph);
// The node that was copied from this one, also in graphs inside. Or null.
Node* find_copy(const Graph& graph, std::uintptr_t origin);

// Fills in the order, also of graphs inside. A node of a cycle is answered, or null.
Node* sort_nodes(Graph& graph);

}  // namespace culvert::sim::detail
