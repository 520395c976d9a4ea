// SPDX-License-Identifier: BSL-1.0
#include "sim/graph_dot.hpp"

#include <fstream>
#include <ostream>
#include <sstream>
#include <string>

namespace culvert::sim::detail {
namespace {

const char* name_of(cudaGraphNodeType type) {
  switch (type) {
    case cudaGraphNodeTypeKernel:
      return "KERNEL";
    case cudaGraphNodeTypeMemcpy:
      return "MEMCPY";
    case cudaGraphNodeTypeMemset:
      return "MEMSET";
    case cudaGraphNodeTypeHost:
      return "HOST";
    case cudaGraphNodeTypeGraph:
      return "GRAPH";
    case cudaGraphNodeTypeWaitEvent:
      return "EVENT_WAIT";
    case cudaGraphNodeTypeEventRecord:
      return "EVENT_RECORD";
    case cudaGraphNodeTypeMemAlloc:
      return "MEM_ALLOC";
    case cudaGraphNodeTypeMemFree:
      return "MEM_FREE";
    default:
      return "EMPTY";
  }
}

struct Describe {
  std::ostream& out;
  bool kernels;
  bool copies;
  bool fills;
  bool functions;

  void operator()(const std::monostate&) const {}
  void operator()(const cudaMemAllocNodeParams&) const {}
  void operator()(const KernelParams& params) const {
    if (!kernels) return;
    out << "\\nfunction " << params.function << "\\ngrid " << params.grid.x << ' ' << params.grid.y
        << ' ' << params.grid.z << "\\nblock " << params.block.x << ' ' << params.block.y << ' '
        << params.block.z << "\\nshared memory " << params.shared_memory;
  }
  void operator()(const cudaMemcpy3DParms& params) const {
    if (!copies) return;
    out << "\\nfrom " << params.srcPtr.ptr << "\\nto " << params.dstPtr.ptr << "\\nextent "
        << params.extent.width << ' ' << params.extent.height << ' ' << params.extent.depth;
  }
  void operator()(const cudaMemsetParams& params) const {
    if (!fills) return;
    out << "\\nto " << params.dst << "\\nvalue " << params.value << "\\nwidth " << params.width
        << "\\nheight " << params.height;
  }
  void operator()(const cudaHostNodeParams& params) const {
    if (!functions) return;
    out << "\\nfunction " << reinterpret_cast<const void*>(params.fn) << "\\ndata "
        << params.userData;
  }
};

class Printer {
 public:
  Printer(std::ostream& out, unsigned flags) : out_(out), flags_(flags) {}

  void print(const Graph& graph, const std::string& prefix) {
    std::size_t number = 0;
    for (const NodePtr& node : graph.nodes) {
      const std::string name = prefix + std::to_string(number++);
      names_[node.get()] = name;
      out_ << "  \"" << name << "\" [label=\"" << name << ' ' << name_of(node->type);
      if (has(cudaGraphDebugDotFlagsHandles)) out_ << "\\nhandle " << node->as_handle();
      if (node->event && has(cudaGraphDebugDotFlagsEventNodeParams)) {
        out_ << "\\nevent " << node->event_handle;
      }
      if (node->work.params) {
        std::visit(Describe{out_, has(cudaGraphDebugDotFlagsKernelNodeParams),
                            has(cudaGraphDebugDotFlagsMemcpyNodeParams),
                            has(cudaGraphDebugDotFlagsMemsetNodeParams),
                            has(cudaGraphDebugDotFlagsHostNodeParams)},
                   node->work.params->value);
      }
      out_ << "\"];\n";
    }
    for (const NodePtr& node : graph.nodes) {
      for (const Edge& edge : node->dependencies) {
        out_ << "  \"" << names_[edge.from] << "\" -> \"" << names_[node.get()] << "\";\n";
      }
    }
    for (const NodePtr& node : graph.nodes) {
      if (!node->child) continue;
      const std::string inner = names_[node.get()] + '.';
      out_ << "  subgraph \"cluster_" << names_[node.get()] << "\" {\n  label=\"child of "
           << names_[node.get()] << "\";\n";
      print(*node->child, inner);
      out_ << "  }\n";
    }
  }

 private:
  bool has(unsigned flag) const { return (flags_ & (flag | cudaGraphDebugDotFlagsVerbose)) != 0; }

  std::ostream& out_;
  unsigned flags_;
  std::map<const Node*, std::string> names_;
};

}  // namespace

bool print_dot(const Graph& graph, const char* path, unsigned flags) {
  std::ofstream out(path);
  if (!out) return false;
  out << "digraph graph_1 {\n  node [shape=box];\n";
  Printer(out, flags).print(graph, "node_");
  out << "}\n";
  return static_cast<bool>(out.flush());
}

}  // namespace culvert::sim::detail
