// SPDX-License-Identifier: BSL-1.0
//
// New parameters for single nodes of an executable graph.
#pragma once

#include <culvert/graph_add.hpp>
#include <culvert/graph_exec.hpp>

namespace culvert::inline CULVERT_ABI {

namespace detail {

struct SetCopy {
  template <class Destination, class Source>
  void operator()(const GraphExec& exec, GraphNode node, Destination&& destination, Source&& source,
                  SourceLocation where = SourceLocation::current()) const {
    if constexpr (are_copy_sides<Destination, Source>()) {
      const CopyArguments copy = checked_copy(destination, source, "culvert::set_copy", where);
      if (copy.bytes == 0) [[unlikely]] {
        refuse(where, "culvert::set_copy", "no elements: switch the node off (set_enabled)");
      }
      call(where, "cudaGraphExecMemcpyNodeSetParams1D", cudaGraphExecMemcpyNodeSetParams1D,
           exec.checked(where), node.get(), copy.to, copy.from, copy.bytes, copy.kind);
    }
  }
};

// The one set that a node is.
struct FillOneNode {
  cudaMemsetParams parameters{};
  int sets = 0;

  void set(void* data, std::size_t unit, const unsigned char* value, std::size_t width,
           std::size_t pitch, std::size_t rows) {
    parameters = memset_node(data, unit, value, width, pitch, rows);
    ++sets;
  }
  void copy(void*, const void*, std::size_t) { ++sets; }
};

struct SetFill {
  template <class Destination, class V>
  void operator()(const GraphExec& exec, GraphNode node, Destination&& destination, const V& value,
                  SourceLocation where = SourceLocation::current()) const {
    if constexpr (is_fill_destination<Destination>()) {
      const auto to = view_of(destination, where, "culvert::set_fill");
      using T = typename decltype(to)::element_type;
      if constexpr (is_fill_value<V, T>()) {
        if (to.size == 0) [[unlikely]] {
          refuse(where, "culvert::set_fill", "no elements: switch the node off (set_enabled)");
        }
        const FillElement<T> element(value);
        FillOneNode one;
        fill_elements<FillOneNode&>(one, to.data, element.bytes, sizeof(T), to.size);
        if (one.sets != 1) [[unlikely]] {
          refuse(where, "culvert::set_fill",
                 "the value takes more than one set: update the whole graph");
        }
        call(where, "cudaGraphExecMemsetNodeSetParams", cudaGraphExecMemsetNodeSetParams,
             exec.checked(where), node.get(), &one.parameters);
      }
    }
  }
};

struct SetKernel {
  template <class... Parameters, class... Arguments>
  void operator()(const GraphExec& exec, GraphNode node, const LaunchConfig& config,
                  void (*kernel)(Parameters...), Arguments&&... arguments) const {
    with_kernel_arguments(
        config,
        [&](const void* function, void** addresses) {
          const cudaKernelNodeParams parameters = kernel_node(config, function, addresses);
          const cudaError_t status = try_call(cudaGraphExecKernelNodeSetParams,
                                              exec.checked(config.where), node.get(), &parameters);
          if (status != cudaSuccess) [[unlikely]] {
            fail_launch(config, "cudaGraphExecKernelNodeSetParams", status);
          }
        },
        kernel, static_cast<Arguments&&>(arguments)...);
  }
};

struct SetHost {
  template <class F>
  void operator()(const GraphExec& exec, GraphNode node, const HostFunc<F>& function,
                  SourceLocation where = SourceLocation::current()) const {
    const cudaHostNodeParams parameters{&run_host_slot, slot_of(function, where)->ticket()};
    call(where, "cudaGraphExecHostNodeSetParams", cudaGraphExecHostNodeSetParams,
         exec.checked(where), node.get(), &parameters);
  }
};

}  // namespace detail

// Each gives a node of an executable graph new parameters, for later launches; launches that are
// running are not changed. The node is one of the graph that `exec` was made from, of that kind. None
// blocks the host. What the new parameters lead to must live until the last launch that uses it is
// complete: an executable graph retains only what its graph did.

// set_copy(exec, node, destination, source): as add_copy. CUDA takes memory of the same kinds and
// devices as the node had. @throws Error as copy, for zero elements, and what CUDA answers.
inline constexpr detail::SetCopy set_copy{};

// set_fill(exec, node, destination, value): as add_fill, for values that are one set: of 1, 2 or 4
// bytes, or a repeated pattern of those. @throws Error as fill; for other values and no elements.
inline constexpr detail::SetFill set_fill{};

// set_kernel(exec, node, config, kernel, arguments...): as add_kernel. The attributes in the
// configuration stay those that the node has. @throws Error as launch.
inline constexpr detail::SetKernel set_kernel{};

// set_host(exec, node, host_func): what a host node calls. The HostFunc must live until the last
// launch that calls it is complete. @throws Error as launch_host.
inline constexpr detail::SetHost set_host{};

}  // namespace culvert::inline CULVERT_ABI
