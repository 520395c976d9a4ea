// SPDX-License-Identifier: BSL-1.0
// What may change in an executable graph.
#include <unordered_map>

#include "sim/graph_exec.hpp"

namespace culvert::sim::detail {
namespace {

template <class Params>
const Params* params_of(const Work& work) {
  return work.params ? std::get_if<Params>(&work.params->value) : nullptr;
}

// The same kinds of memory on the same devices.
bool touch_alike(const Work& a, const Work& b) {
  if (a.cost.engine != b.cost.engine) return false;
  const auto device = [](const Work& work, std::size_t at) {
    return at < work.touches.size() ? work.touches[at].block->device : -1;
  };
  return device(a, 0) == device(b, 0) && device(a, 1) == device(b, 1);
}

bool is_row(const cudaMemcpy3DParms& copy) {
  return copy.extent.height <= 1 && copy.extent.depth <= 1;
}

bool is_cooperative(const KernelParams& params) {
  for (const cudaLaunchAttribute& attribute : params.attributes) {
    if (attribute.id == cudaLaunchAttributeCooperative) return attribute.val.cooperative != 0;
  }
  return false;
}

int priority(const KernelParams& params) {
  for (const cudaLaunchAttribute& attribute : params.attributes) {
    if (attribute.id == cudaLaunchAttributePriority) return attribute.val.priority;
  }
  return 0;
}

// Pairs the nodes of two graphs, from those at the end along the edges in their order.
class Pairing {
 public:
  Pairing(const GraphExec& exec, const Graph& from, cudaGraphExecUpdateResultInfo& info)
      : exec_(exec), info_(info) {
    pair_graphs(*exec.graph, from);
  }

  bool failed() const { return info_.result != cudaGraphExecUpdateSuccess; }

  void apply() const {
    for (const auto& [to, from] : pairs_) {
      to->work = from->work;
      to->event = from->event;
      to->event_handle = from->event_handle;
    }
  }

 private:
  void fail(cudaGraphExecUpdateResult result, const Node* node, const Node* before = nullptr) {
    if (failed()) return;
    info_.result = result;
    info_.errorNode = node != nullptr ? node->as_handle() : nullptr;
    info_.errorFromNode = before != nullptr ? before->as_handle() : nullptr;
  }

  static std::vector<Node*> exits(const Graph& graph) {
    std::vector<Node*> found;
    for (const NodePtr& node : graph.nodes) {
      if (node->dependents.empty()) found.push_back(node.get());
    }
    return found;
  }

  void pair_graphs(const Graph& to, const Graph& from) {
    if (to.nodes.size() != from.nodes.size()) {
      return fail(cudaGraphExecUpdateErrorTopologyChanged, nullptr);
    }
    const std::vector<Node*> to_exits = exits(to);
    const std::vector<Node*> from_exits = exits(from);
    if (to_exits.size() != from_exits.size()) {
      return fail(cudaGraphExecUpdateErrorTopologyChanged,
                  from_exits.empty() ? nullptr : from_exits.back());
    }
    std::vector<Pair> left;
    for (std::size_t i = 0; i < to_exits.size(); ++i) {
      add(to_exits[i], from_exits[i], nullptr, left);
    }
    while (!left.empty() && !failed()) {
      const auto [one, other] = left.back();
      left.pop_back();
      if (one->dependencies.size() != other->dependencies.size()) {
        return fail(cudaGraphExecUpdateErrorTopologyChanged, other);
      }
      for (std::size_t i = 0; i < one->dependencies.size(); ++i) {
        add(one->dependencies[i].from, other->dependencies[i].from, other, left);
      }
    }
    for (const NodePtr& node : to.nodes) {
      const auto found = pairs_.find(node.get());
      if (!failed() && found != pairs_.end()) compare(*node, *found->second);
    }
  }

  struct Pair {
    Node* to;
    Node* from;
  };

  void add(Node* to, Node* from, const Node* dependent, std::vector<Pair>& left) {
    const auto [known, is_new] = pairs_.emplace(to, from);
    const auto [back, is_new_back] = paired_.emplace(from, to);
    if (known->second != from || back->second != to) {
      return fail(cudaGraphExecUpdateErrorTopologyChanged, dependent != nullptr ? dependent : from,
                  dependent != nullptr ? from : nullptr);
    }
    if (is_new) left.push_back({to, from});
  }

  void compare(const Node& to, const Node& from) {
    if (to.type != from.type) return fail(cudaGraphExecUpdateErrorNodeTypeChanged, &from);
    if (to.child) return pair_graphs(*to.child, *from.child);
    if (to.memory != from.memory) return fail(cudaGraphExecUpdateErrorParametersChanged, &from);
    const auto* const old_kernel = params_of<KernelParams>(to.work);
    const auto* const new_kernel = params_of<KernelParams>(from.work);
    if (old_kernel != nullptr && new_kernel != nullptr) {
      const bool fixed = (exec_.flags & cudaGraphInstantiateFlagUseNodePriority) != 0;
      if (is_cooperative(*old_kernel) != is_cooperative(*new_kernel) ||
          (fixed && priority(*old_kernel) != priority(*new_kernel))) {
        return fail(cudaGraphExecUpdateErrorAttributesChanged, &from);
      }
    }
    if (to.device != from.device || !may_become(to, from.work)) {
      fail(cudaGraphExecUpdateErrorParametersChanged, &from);
    }
  }

  const GraphExec& exec_;
  cudaGraphExecUpdateResultInfo& info_;
  std::unordered_map<Node*, Node*> pairs_;   // of the executable graph, by those
  std::unordered_map<Node*, Node*> paired_;  // the other way round
};

}  // namespace

bool may_become(const Node& node, const Work& work) {
  if (node.type == cudaGraphNodeTypeMemcpy) {
    const auto* const before = params_of<cudaMemcpy3DParms>(node.work);
    const auto* const after = params_of<cudaMemcpy3DParms>(work);
    if (!touch_alike(node.work, work)) return false;
    if (before == nullptr || after == nullptr) return before == after;
    const cudaExtent& old_size = before->extent;
    const cudaExtent& new_size = after->extent;
    return (is_row(*before) && is_row(*after)) ||
           (old_size.width == new_size.width && old_size.height == new_size.height &&
            old_size.depth == new_size.depth);
  }
  if (node.type == cudaGraphNodeTypeMemset) {
    const auto* const before = params_of<cudaMemsetParams>(node.work);
    const auto* const after = params_of<cudaMemsetParams>(work);
    if (!touch_alike(node.work, work)) return false;
    if (before == nullptr || after == nullptr) return before == after;
    return (before->height <= 1 && after->height <= 1) ||
           (before->width == after->width && before->height == after->height &&
            before->elementSize == after->elementSize && before->pitch == after->pitch);
  }
  return true;
}

void update_exec(GraphExec& exec, const Graph& graph, cudaGraphExecUpdateResultInfo& info) {
  info = {};
  const Pairing pairing(exec, graph, info);
  if (!pairing.failed()) pairing.apply();
}

}  // namespace culvert::sim::detail
