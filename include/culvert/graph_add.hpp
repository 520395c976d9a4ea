// SPDX-License-Identifier: BSL-1.0
//
// Nodes of a graph that copy, fill, run a kernel or call a host function.
#pragma once

#include <culvert/copy.hpp>
#include <culvert/fill.hpp>
#include <culvert/graph.hpp>
#include <culvert/host_func.hpp>
#include <culvert/launch.hpp>

namespace culvert::inline CULVERT_ABI {

namespace detail {

struct AddCopy {
  template <class Destination, class Source>
  GraphNode operator()(GraphRef graph, After after, Destination&& destination, Source&& source,
                       SourceLocation where = SourceLocation::current()) const {
    if constexpr (are_copy_sides<Destination, Source>()) {
      const CopyArguments copy = checked_copy(destination, source, "culvert::add_copy", where);
      if (copy.bytes == 0) return graph.add_empty(after, where);
      cudaGraphNode_t node = nullptr;
      call(where, "cudaGraphAddMemcpyNode1D", cudaGraphAddMemcpyNode1D, &node, graph.get(),
           after.data(), after.size(), copy.to, copy.from, copy.bytes, copy.kind);
      return node;
    }
  }
};

// `rows` rows of `width` units of `unit` bytes, `pitch` bytes apart.
[[nodiscard]] inline cudaMemsetParams memset_node(void* data, std::size_t unit,
                                                  const unsigned char* value, std::size_t width,
                                                  std::size_t pitch, std::size_t rows) noexcept {
  const bool one_row = rows == 1 || width * unit == pitch;
  cudaMemsetParams parameters{};
  parameters.dst = data;
  parameters.elementSize = static_cast<unsigned>(unit);
  std::memcpy(&parameters.value, value, unit);  // little endian, as all that CUDA runs on
  parameters.width = one_row ? width * rows : width;
  parameters.height = one_row ? 1 : rows;
  parameters.pitch = one_row ? 0 : pitch;
  return parameters;
}

// Sets and copies of a fill become nodes, one after the other.
class FillNodes {
 public:
  FillNodes(GraphRef graph, After after, SourceLocation where)
      : graph_(graph.get()), after_(after), where_(where) {}

  void set(void* data, std::size_t unit, const unsigned char* value, std::size_t width,
           std::size_t pitch, std::size_t rows) {
    const cudaMemsetParams parameters = memset_node(data, unit, value, width, pitch, rows);
    add("cudaGraphAddMemsetNode", cudaGraphAddMemsetNode, &parameters);
  }
  void copy(void* to, const void* from, std::size_t bytes) {
    add("cudaGraphAddMemcpyNode1D", cudaGraphAddMemcpyNode1D, to, from, bytes,
        cudaMemcpyDeviceToDevice);
  }

  [[nodiscard]] GraphNode last() const noexcept { return node_; }

 private:
  template <class... Parameters, class... Arguments>
  void add(const char* name,
           cudaError_t (*function)(cudaGraphNode_t*, cudaGraph_t, const cudaGraphNode_t*,
                                   std::size_t, Parameters...),
           Arguments... arguments) {
    const GraphNode before = node_;
    const After after = node_ == nullptr ? after_ : After(before);
    cudaGraphNode_t made = nullptr;
    call(where_, name, function, &made, graph_, after.data(), after.size(), arguments...);
    node_ = made;
  }

  cudaGraph_t graph_;
  After after_;
  SourceLocation where_;
  cudaGraphNode_t node_ = nullptr;
};

struct AddFill {
  template <class Destination, class V>
  GraphNode operator()(GraphRef graph, After after, Destination&& destination, const V& value,
                       SourceLocation where = SourceLocation::current()) const {
    if constexpr (is_fill_destination<Destination>()) {
      const auto to = view_of(destination, where, "culvert::add_fill");
      using T = typename decltype(to)::element_type;
      if constexpr (is_fill_value<V, T>()) {
        if (to.size == 0) return graph.add_empty(after, where);
        const FillElement<T> element(value);
        FillNodes nodes(graph, after, where);
        fill_elements<FillNodes&>(nodes, to.data, element.bytes, sizeof(T), to.size);
        return nodes.last();
      }
    }
  }
};

[[nodiscard]] inline cudaKernelNodeParams kernel_node(const LaunchConfig& config,
                                                      const void* kernel, void** arguments) {
  check_launch(config, kernel);
  cudaKernelNodeParams parameters{};
  parameters.func = const_cast<void*>(kernel);
  parameters.gridDim = config.grid;
  parameters.blockDim = config.block;
  parameters.sharedMemBytes =
      checked_unsigned(config.shared_memory_bytes, "culvert::add_kernel", config.where);
  parameters.kernelParams = arguments;
  return parameters;
}

struct AddKernel {
  template <class... Parameters, class... Arguments>
  GraphNode operator()(GraphRef graph, After after, const LaunchConfig& config,
                       void (*kernel)(Parameters...), Arguments&&... arguments) const {
    cudaGraphNode_t node = nullptr;
    with_kernel_arguments(
        config,
        [&](const void* function, void** addresses) {
          node = add(graph, after, config, function, addresses);
        },
        kernel, static_cast<Arguments&&>(arguments)...);
    return node;
  }

 private:
  static cudaGraphNode_t add(GraphRef graph, After after, const LaunchConfig& config,
                             const void* kernel, void** arguments) {
    const cudaKernelNodeParams parameters = kernel_node(config, kernel, arguments);
    cudaGraphNode_t node = nullptr;
    cudaError_t status = try_call(cudaGraphAddKernelNode, &node, graph.get(), after.data(),
                                  after.size(), &parameters);
    if (status != cudaSuccess) [[unlikely]] {
      fail_launch(config, "cudaGraphAddKernelNode", status);
    }
    if (!has_attributes(config)) return node;
    LaunchAttributes attributes;
    collect_attributes(config, attributes);
    for (unsigned i = 0; i < attributes.count && status == cudaSuccess; ++i) {
      status = try_call(cudaGraphKernelNodeSetAttribute, node, attributes.values[i].id,
                        &attributes.values[i].val);
    }
    if (status != cudaSuccess) [[unlikely]] {
      (void)try_call(cudaGraphDestroyNode, node);
      fail_launch(config, "cudaGraphKernelNodeSetAttribute", status);
    }
    return node;
  }
};

struct AddHost {
  template <class F>
  requires(!is_host_func<std::decay_t<F>>) GraphNode operator()(
      GraphRef graph, After after, F&& function,
      SourceLocation where = SourceLocation::current()) const {
    using Function = std::decay_t<F>;
    if constexpr (is_host_callable<Function&, F>()) {
      refuse_null(function, "culvert::add_host", where);
      return add(graph, after,
                 move_callable_to_graph(graph.get(), static_cast<F&&>(function), where), where);
    }
  }
  template <class F>
  GraphNode operator()(GraphRef graph, After after, const HostFunc<F>& function,
                       SourceLocation where = SourceLocation::current()) const {
    return add(graph, after, share_host_func(graph.get(), function, where), where);
  }

 private:
  static GraphNode add(GraphRef graph, After after, process::HostSlot* slot, SourceLocation where) {
    const cudaHostNodeParams parameters{&run_host_slot, slot->ticket()};
    cudaGraphNode_t node = nullptr;
    call(where, "cudaGraphAddHostNode", cudaGraphAddHostNode, &node, graph.get(), after.data(),
         after.size(), &parameters);
    return node;
  }
};

}  // namespace detail

// Each adds a node to a graph, which waits for the nodes `after`: none `{}`, one, or `{a, b}`. None
// blocks the host, and each gives the new node. What the nodes use must live until the graph's last
// launch is complete: graph.retain(std::move(buffer)) sees to it.

// add_copy(graph, after, destination, source): a node that copies as copy does, at each launch from
// what the source holds then. Zero elements give an empty node. @throws Error as copy.
inline constexpr detail::AddCopy add_copy{};

// add_fill(graph, after, destination, value): a node that fills as fill does. Values that are not
// one set are several nodes; the last one is given. @throws Error as fill.
inline constexpr detail::AddFill add_fill{};

// add_kernel(graph, after, config, kernel, arguments...): a node that launches as launch does. The
// arguments are checked as there, and their values copied now.
// @throws Error as launch.
inline constexpr detail::AddKernel add_kernel{};

// add_host(graph, after, callable): a node that calls it on the host, as an lvalue, at each launch.
// The graph keeps the callable, and destroys it once nothing can call it any more.
// add_host(graph, after, host_func): the same with a HostFunc, whose callable they share.
// What launch_host says of the callable holds. @throws Error as launch_host.
inline constexpr detail::AddHost add_host{};

}  // namespace culvert::inline CULVERT_ABI
