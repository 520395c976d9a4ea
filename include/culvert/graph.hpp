// SPDX-License-Identifier: BSL-1.0
//
// Graphs: work and its order, described once and launched many times.
#pragma once

#include <culvert/event.hpp>
#include <culvert/graph_hold.hpp>

#include <initializer_list>
#include <span>

namespace culvert::inline CULVERT_ABI {

class Graph;
class GraphRef;
class GraphExec;
struct GraphExecOptions;

// A node of a graph. The graph owns it: as long as that lives the node does.
class GraphNode {
 public:
  GraphNode(cudaGraphNode_t node) noexcept : node_(node) {}
  [[nodiscard]] cudaGraphNode_t get() const noexcept { return node_; }

  // What the node does, as CUDA names it (cudaGraphNodeGetType).
  [[nodiscard]] cudaGraphNodeType type(SourceLocation where = SourceLocation::current()) const {
    cudaGraphNodeType result = cudaGraphNodeTypeEmpty;
    detail::call(where, "cudaGraphNodeGetType", cudaGraphNodeGetType, node_, &result);
    return result;
  }

  friend bool operator==(GraphNode a, GraphNode b) noexcept { return a.node_ == b.node_; }

 private:
  cudaGraphNode_t node_;
};
static_assert(sizeof(GraphNode) == sizeof(cudaGraphNode_t));

// The nodes that a new node waits for: none `{}`, one `a`, or several `{a, b}`. A view, for
// parameters only.
class After {
 public:
  After() noexcept = default;
  After(const GraphNode& node) noexcept : nodes_(&node, 1) {}
  After(std::initializer_list<GraphNode> nodes) noexcept : nodes_(nodes.begin(), nodes.size()) {}
  After(std::span<const GraphNode> nodes) noexcept : nodes_(nodes) {}

  [[nodiscard]] const cudaGraphNode_t* data() const noexcept {
    return reinterpret_cast<const cudaGraphNode_t*>(nodes_.data());
  }
  [[nodiscard]] std::size_t size() const noexcept { return nodes_.size(); }

 private:
  std::span<const GraphNode> nodes_;
};

// How much Graph::write_dot tells of each node.
enum class DotDetail : unsigned {
  brief = 0,
  full = cudaGraphDebugDotFlagsVerbose,  // parameters of every node
};

namespace detail {

struct GraphTraits {
  using handle_type = cudaGraph_t;
  static handle_type invalid() noexcept { return nullptr; }
  static bool is_invalid(handle_type handle) noexcept { return handle == nullptr; }
  static void destroy(handle_type handle) noexcept {
    call_in_destructor("cudaGraphDestroy", cudaGraphDestroy, handle);
  }
};

// The operations of a graph. Derived gives checked(where), the handle. None blocks the host.
// Calls on one graph are the caller's to serialize (CUDA Runtime API, "Graph object thread
// safety").
template <class Derived>
class GraphVerbs {
 public:
  // Adds a node that does nothing but wait for others.
  GraphNode add_empty(After after = {}, SourceLocation where = SourceLocation::current()) const {
    return add(where, "cudaGraphAddEmptyNode", after, cudaGraphAddEmptyNode);
  }

  // Adds a node that does what another graph does. The child is copied: it may end at once, and
  // what it retains is retained by this graph too.
  GraphNode add_child(After after, GraphRef child,
                      SourceLocation where = SourceLocation::current()) const;

  // Adds a node that records an event at each launch. The event must outlive the graph's last
  // launch; see retain().
  GraphNode add_record(After after, EventRef event,
                       SourceLocation where = SourceLocation::current()) const {
    return add(where, "cudaGraphAddEventRecordNode", after, cudaGraphAddEventRecordNode,
               event.get());
  }

  // Adds a node that waits, at each launch, for what the event was last recorded for then.
  GraphNode add_wait(After after, EventRef event,
                     SourceLocation where = SourceLocation::current()) const {
    return add(where, "cudaGraphAddEventWaitNode", after, cudaGraphAddEventWaitNode, event.get());
  }

  // Makes a node wait for another one too.
  void add_dependency(GraphNode before, GraphNode after,
                      SourceLocation where = SourceLocation::current()) const {
    const cudaGraphNode_t from = before.get();
    const cudaGraphNode_t to = after.get();
#if CUDART_VERSION >= 13000
    call(where, "cudaGraphAddDependencies", cudaGraphAddDependencies, checked(where), &from, &to,
         nullptr, std::size_t{1});
#else
    call(where, "cudaGraphAddDependencies", cudaGraphAddDependencies, checked(where), &from, &to,
         std::size_t{1});
#endif
  }

  // Moves an object into the graph's keeping and gives a reference to it. It is destroyed once
  // this graph, its copies, the graphs that have them as children, everything that was instantiated
  // from or updated to them, and all their launches have ended: on a thread of CUDA's, where it must
  // make no CUDA call. Owners of culvert in it are safe: they hand their calls on; see collect().
  //
  //   graph.retain(std::move(weights));   // a DeviceBuffer that the graph's kernels read
  template <class T>
  T& retain(T&& object, SourceLocation where = SourceLocation::current()) const {
    static_assert(!std::is_lvalue_reference_v<T> && !std::is_const_v<T>,
                  "retain: the object is moved away: std::move it");
    if constexpr (!std::is_lvalue_reference_v<T> && !std::is_const_v<T>) {
      return move_into_graph(checked(where), static_cast<T&&>(object), where);
    }
  }

  // How many nodes the graph has; those of its children are not counted.
  [[nodiscard]] std::size_t node_count(SourceLocation where = SourceLocation::current()) const {
    std::size_t count = 0;
    call(where, "cudaGraphGetNodes", cudaGraphGetNodes, checked(where), nullptr, &count);
    return count;
  }

  // Its nodes, in the order in which they were added: as many as `nodes` has room for. Returns
  // how many were written.
  std::size_t nodes(std::span<cudaGraphNode_t> nodes,
                    SourceLocation where = SourceLocation::current()) const {
    std::size_t count = nodes.size();
    if (count == 0) return 0;
    call(where, "cudaGraphGetNodes", cudaGraphGetNodes, checked(where), nodes.data(), &count);
    return count < nodes.size() ? count : nodes.size();
  }

  // A copy. It retains what this one does.
  [[nodiscard]] Graph clone(SourceLocation where = SourceLocation::current()) const;

  // What can be launched. As often as wanted; they are independent. Include graph_exec.hpp.
  [[nodiscard]] GraphExec instantiate(SourceLocation where = SourceLocation::current()) const;
  [[nodiscard]] GraphExec instantiate(const GraphExecOptions& options,
                                      SourceLocation where = SourceLocation::current()) const;

  // Writes the graph to a file in the DOT language of Graphviz (cudaGraphDebugDotPrint).
  // @throws Error where the file cannot be written.
  void write_dot(const char* path, DotDetail detail = DotDetail::brief,
                 SourceLocation where = SourceLocation::current()) const {
    if (path == nullptr) [[unlikely]] {
      refuse(where, "culvert::Graph::write_dot", "the path is null");
    }
    const cudaError_t status =
        try_call(cudaGraphDebugDotPrint, checked(where), path, static_cast<unsigned>(detail));
    if (status != cudaSuccess) [[unlikely]] {
      raise(status, "cudaGraphDebugDotPrint", where, "to " + std::string(path));
    }
  }

 private:
  cudaGraph_t checked(SourceLocation where) const {
    return static_cast<const Derived&>(*this).checked(where);
  }
  template <class... Parameters, class... Arguments>
  GraphNode add(SourceLocation where, const char* name, After after,
                cudaError_t (*function)(cudaGraphNode_t*, cudaGraph_t, const cudaGraphNode_t*,
                                        std::size_t, Parameters...),
                Arguments... arguments) const {
    cudaGraphNode_t node = nullptr;
    call(where, name, function, &node, checked(where), after.data(), after.size(), arguments...);
    return node;
  }
};

}  // namespace detail

// An owned graph. Move-only. Its end leaves what was instantiated from it as it is.
//
//   Graph graph;
//   const GraphNode in = add_copy(graph, {}, device_x, host_x);
//   const GraphNode run = add_kernel(graph, in, {.grid = 128, .block = 256}, scale, device_x, n);
//   add_copy(graph, run, host_x, device_x);
//   GraphExec exec = graph.instantiate();
//   exec.launch(stream);
class Graph : public detail::GraphVerbs<Graph> {
 public:
  // A graph without nodes.
  Graph(SourceLocation where = SourceLocation::current()) {
    detail::call(where, "cudaGraphCreate", cudaGraphCreate, handle_.address(), 0u);
  }

  Graph(const Graph&) = delete;             // std::move it, clone() it, or pass a GraphRef
  Graph& operator=(const Graph&) = delete;  // std::move it, clone() it, or pass a GraphRef
  Graph(Graph&&) noexcept = default;
  Graph& operator=(Graph&&) noexcept = default;

  // Takes ownership of a graph that other code created. @throws Error where it is null.
  [[nodiscard]] static Graph from_handle(cudaGraph_t handle,
                                         SourceLocation where = SourceLocation::current()) {
    if (handle == nullptr) [[unlikely]] {
      detail::refuse(where, "culvert::Graph::from_handle", "the handle is null");
    }
    return Graph(Adopt{}, handle);
  }

  // The raw handle; null after a move.
  [[nodiscard]] cudaGraph_t get() const noexcept { return handle_.get(); }
  // Gives the handle, and the duty to destroy it, to the caller.
  [[nodiscard]] cudaGraph_t release() noexcept { return handle_.release(); }
  // Destroys the graph now.
  void reset() noexcept { handle_.reset(); }

 private:
  friend detail::GraphVerbs<Graph>;
  friend GraphRef;
  struct Adopt {};
  Graph(Adopt, cudaGraph_t handle) noexcept : handle_(handle) {}

  cudaGraph_t checked(SourceLocation where) const {
    if (!handle_.owns()) [[unlikely]] {
      detail::refuse_empty_owner(where, "culvert::Graph");
    }
    return handle_.get();
  }

  detail::UniqueHandle<detail::GraphTraits> handle_;
};

// A view of a graph that something else owns: a Graph, or the body of a conditional node. For
// parameters, where the Graph may be a temporary: exec.update(capture(stream, body)).
class GraphRef : public detail::GraphVerbs<GraphRef> {
 public:
  // @throws Error where the handle is null.
  GraphRef(cudaGraph_t handle, SourceLocation where = SourceLocation::current()) : handle_(handle) {
    if (handle == nullptr) [[unlikely]] {
      detail::refuse(where, "culvert::GraphRef", "the handle is null",
                     cudaErrorInvalidResourceHandle);
    }
  }
  // @throws Error where the Graph was moved from, released or reset.
  GraphRef(const Graph& graph, SourceLocation where = SourceLocation::current())
      : handle_(graph.checked(where)) {}
  GraphRef(std::nullptr_t) = delete;  // null is no graph

  [[nodiscard]] cudaGraph_t get() const noexcept { return handle_; }
  friend bool operator==(GraphRef a, GraphRef b) noexcept { return a.handle_ == b.handle_; }

 private:
  friend detail::GraphVerbs<GraphRef>;
  cudaGraph_t checked(SourceLocation) const noexcept { return handle_; }
  cudaGraph_t handle_;
};

template <class Derived>
GraphNode detail::GraphVerbs<Derived>::add_child(After after, GraphRef child,
                                                 SourceLocation where) const {
  return add(where, "cudaGraphAddChildGraphNode", after, cudaGraphAddChildGraphNode, child.get());
}

template <class Derived>
Graph detail::GraphVerbs<Derived>::clone(SourceLocation where) const {
  cudaGraph_t cloned = nullptr;
  call(where, "cudaGraphClone", cudaGraphClone, &cloned, checked(where));
  return Graph::from_handle(cloned, where);
}

}  // namespace culvert::inline CULVERT_ABI
