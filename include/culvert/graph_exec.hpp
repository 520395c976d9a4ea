// SPDX-License-Identifier: BSL-1.0
//
// Executable graphs: launched into streams, and changed without being made again.
#pragma once

#include <culvert/graph.hpp>
#include <culvert/stream.hpp>

namespace culvert::inline CULVERT_ABI {

// How a graph is instantiated. Every member has a default.
struct GraphExecOptions {
  // Memory that a launch allocates and does not free is freed by the next launch.
  bool free_on_launch = false;
  // Each kernel has the priority of its node, not that of the stream of the launch.
  bool node_priority = false;
  // Further flags, as CUDA has them (cudaGraphInstantiateFlag...).
  unsigned long long flags = 0;
};

// What GraphExec::update answers. True where the update was made.
class [[nodiscard]] GraphUpdate {
 public:
  GraphUpdate(cudaGraphExecUpdateResult result, cudaGraphNode_t node) noexcept
      : result_(result), node_(node) {}

  explicit operator bool() const noexcept { return result_ == cudaGraphExecUpdateSuccess; }
  [[nodiscard]] cudaGraphExecUpdateResult result() const noexcept { return result_; }
  // The node, of the graph that was given, at which the graphs differ; its handle may be null.
  [[nodiscard]] GraphNode node() const noexcept { return node_; }
  // Why not, in words. A string with static lifetime; "" where the update was made.
  [[nodiscard]] const char* reason() const noexcept {
    switch (result_) {
      case cudaGraphExecUpdateSuccess:
        return "";
      case cudaGraphExecUpdateErrorTopologyChanged:
        return "the nodes or their dependencies differ";
      case cudaGraphExecUpdateErrorNodeTypeChanged:
        return "a node is of another type";
      case cudaGraphExecUpdateErrorFunctionChanged:
        return "a kernel is another one, and the driver cannot exchange it";
      case cudaGraphExecUpdateErrorParametersChanged:
        return "a node's parameters changed in a way that cannot be updated";
      case cudaGraphExecUpdateErrorNotSupported:
        return "something about a node cannot be updated";
      case cudaGraphExecUpdateErrorUnsupportedFunctionChange:
        return "a kernel is another one, in a way that cannot be updated";
      case cudaGraphExecUpdateErrorAttributesChanged:
        return "a node's attributes changed in a way that cannot be updated";
      default:
        return "the update failed";
    }
  }

 private:
  cudaGraphExecUpdateResult result_;
  cudaGraphNode_t node_;
};

namespace detail {

struct GraphExecTraits {
  using handle_type = cudaGraphExec_t;
  static handle_type invalid() noexcept { return nullptr; }
  static bool is_invalid(handle_type handle) noexcept { return handle == nullptr; }
  static void destroy(handle_type handle) noexcept {
    call_in_destructor("cudaGraphExecDestroy", cudaGraphExecDestroy, handle);
  }
};

// The runtime's own function: nvcc adds overloads of this name.
inline constexpr cudaError_t (*graph_exec_update)(
    cudaGraphExec_t, cudaGraph_t, cudaGraphExecUpdateResultInfo*) = cudaGraphExecUpdate;

[[nodiscard]] inline std::string text_of(cudaGraphInstantiateResult result) {
  switch (result) {
    case cudaGraphInstantiateNodeOperationNotSupported:
      return "a node's operation is not supported";
    case cudaGraphInstantiateMultipleDevicesNotSupported:
      return "nodes of several devices are not supported here";
    case cudaGraphInstantiateInvalidStructure:
      return "the graph's structure is not valid, such as a cycle";
    default:
      return {};
  }
}

}  // namespace detail

// An executable graph. Move-only. It may end while launches are running: they complete, and what
// the graph retains lives until then (CUDA programming guide, "CUDA User Objects"; seen on an H200).
//
// Launches of one GraphExec run one after the other, also in different streams.
class GraphExec {
 public:
  // Makes a graph launchable. Blocks the host while the driver does so, but not on work in
  // streams. @throws Error where it cannot be, with the reason.
  explicit GraphExec(GraphRef graph, SourceLocation where = SourceLocation::current())
      : GraphExec(graph, GraphExecOptions{}, where) {}
  GraphExec(GraphRef graph, const GraphExecOptions& options,
            SourceLocation where = SourceLocation::current()) {
    cudaGraphInstantiateParams parameters{};
    parameters.flags =
        options.flags |
        (options.free_on_launch ? flag(cudaGraphInstantiateFlagAutoFreeOnLaunch) : 0) |
        (options.node_priority ? flag(cudaGraphInstantiateFlagUseNodePriority) : 0);
    cudaGraphExec_t created = nullptr;
    const cudaError_t status =
        detail::try_call(cudaGraphInstantiateWithParams, &created, graph.get(), &parameters);
    if (status != cudaSuccess) [[unlikely]] {
      detail::raise(status, "cudaGraphInstantiateWithParams", where,
                    detail::text_of(parameters.result_out));
    }
    handle_.reset(created);
  }

  GraphExec(const GraphExec&) = delete;             // std::move it
  GraphExec& operator=(const GraphExec&) = delete;  // std::move it
  GraphExec(GraphExec&&) noexcept = default;
  GraphExec& operator=(GraphExec&&) noexcept = default;

  // Takes ownership of one that other code made. @throws Error where it is null.
  [[nodiscard]] static GraphExec from_handle(cudaGraphExec_t handle,
                                             SourceLocation where = SourceLocation::current()) {
    if (handle == nullptr) [[unlikely]] {
      detail::refuse(where, "culvert::GraphExec::from_handle", "the handle is null");
    }
    return GraphExec(Adopt{}, handle);
  }

  // Enqueues the whole graph in the stream's order (cudaGraphLaunch). Does not block the host.
  // @throws Error also for failures of earlier asynchronous work.
  void launch(StreamRef stream, SourceLocation where = SourceLocation::current()) const {
    detail::call(where, "cudaGraphLaunch", cudaGraphLaunch, checked(where), stream.get());
  }

  // Does what the first launch would do besides, so that it is as fast as later ones
  // (cudaGraphUpload). In the stream's order; does not block the host.
  void upload(StreamRef stream, SourceLocation where = SourceLocation::current()) const {
    detail::call(where, "cudaGraphUpload", cudaGraphUpload, checked(where), stream.get());
  }

  // Takes the parameters of another graph with the same nodes and dependencies, for later
  // launches; running ones are not changed. Many times cheaper than to instantiate. From then on
  // this retains what that graph does, and no longer what its own did (seen on an H200). Where the
  // answer is false nothing was changed.
  //
  //   if (const GraphUpdate done = exec.update(graph); !done) std::puts(done.reason());
  //
  // @throws Error where CUDA answers anything but that the graphs differ.
  GraphUpdate update(GraphRef graph, SourceLocation where = SourceLocation::current()) const {
    cudaGraphExecUpdateResultInfo info{};
    const cudaError_t status =
        detail::try_call(detail::graph_exec_update, checked(where), graph.get(), &info);
    if (status != cudaSuccess && status != cudaErrorGraphExecUpdateFailure) [[unlikely]] {
      detail::raise(status, "cudaGraphExecUpdate", where, {});
    }
    return {status == cudaSuccess ? cudaGraphExecUpdateSuccess : info.result, info.errorNode};
  }

  // Whether a node, of the graph that this was made from, does something at later launches.
  // Kernels, copies and sets can be switched off.
  void set_enabled(GraphNode node, bool enabled,
                   SourceLocation where = SourceLocation::current()) const {
    detail::call(where, "cudaGraphNodeSetEnabled", cudaGraphNodeSetEnabled, checked(where),
                 node.get(), unsigned{enabled});
  }
  [[nodiscard]] bool is_enabled(GraphNode node,
                                SourceLocation where = SourceLocation::current()) const {
    unsigned enabled = 0;
    detail::call(where, "cudaGraphNodeGetEnabled", cudaGraphNodeGetEnabled, checked(where),
                 node.get(), &enabled);
    return enabled != 0;
  }

  // The event that a node records, or waits for, at later launches.
  void set_record(GraphNode node, EventRef event,
                  SourceLocation where = SourceLocation::current()) const {
    detail::call(where, "cudaGraphExecEventRecordNodeSetEvent",
                 cudaGraphExecEventRecordNodeSetEvent, checked(where), node.get(), event.get());
  }
  void set_wait(GraphNode node, EventRef event,
                SourceLocation where = SourceLocation::current()) const {
    detail::call(where, "cudaGraphExecEventWaitNodeSetEvent", cudaGraphExecEventWaitNodeSetEvent,
                 checked(where), node.get(), event.get());
  }

  // What a child node does at later launches: a graph with the same nodes and dependencies.
  void set_child(GraphNode node, GraphRef child,
                 SourceLocation where = SourceLocation::current()) const {
    detail::call(where, "cudaGraphExecChildGraphNodeSetParams",
                 cudaGraphExecChildGraphNodeSetParams, checked(where), node.get(), child.get());
  }

  // The raw handle; null after a move.
  [[nodiscard]] cudaGraphExec_t get() const noexcept { return handle_.get(); }
  // Gives the handle, and the duty to destroy it, to the caller.
  [[nodiscard]] cudaGraphExec_t release() noexcept { return handle_.release(); }
  // Ends it now; its launches complete.
  void reset() noexcept { handle_.reset(); }

  // The handle. @throws Error where this was moved from, released or reset.
  [[nodiscard]] cudaGraphExec_t checked(SourceLocation where = SourceLocation::current()) const {
    if (!handle_.owns()) [[unlikely]] {
      detail::refuse_empty_owner(where, "culvert::GraphExec");
    }
    return handle_.get();
  }

 private:
  [[nodiscard]] static unsigned long long flag(cudaGraphInstantiateFlags value) noexcept {
    return value;
  }
  struct Adopt {};
  GraphExec(Adopt, cudaGraphExec_t handle) noexcept : handle_(handle) {}

  detail::UniqueHandle<detail::GraphExecTraits> handle_;
};

template <class Derived>
GraphExec detail::GraphVerbs<Derived>::instantiate(SourceLocation where) const {
  return GraphExec(GraphRef(checked(where), where), where);
}
template <class Derived>
GraphExec detail::GraphVerbs<Derived>::instantiate(const GraphExecOptions& options,
                                                   SourceLocation where) const {
  return GraphExec(GraphRef(checked(where), where), options, where);
}

}  // namespace culvert::inline CULVERT_ABI
