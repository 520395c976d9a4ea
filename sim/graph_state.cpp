// SPDX-License-Identifier: BSL-1.0
#include "sim/graph_state.hpp"

#include "sim/capture.hpp"
#include "sim/graph_exec.hpp"
#include "sim/process.hpp"

namespace culvert::sim::detail {

std::size_t GraphState::count_graphs() const {
  std::size_t count = 0;
  graphs.for_each([&](const Graph& graph) { count += graph.is_child ? 0 : 1; });
  return count;
}

void GraphState::drop(int device) {
  Process& process = Process::instance();
  const auto is_here = [&](const auto& object) { return device < 0 || object.device == device; };
  const std::vector<CapturePtr> all = captures;
  for (const CapturePtr& capture : all) {
    if (is_here(*capture->origin)) drop_capture(process, *capture);
  }
  execs.remove_if(is_here);
  std::vector<GraphPtr> ending;
  graphs.for_each([&](Graph& graph) {
    if (is_here(graph) && !graph.is_child) ending.push_back(graphs.find(graph.handle));
  });
  for (const GraphPtr& graph : ending) end_handles(process, *graph);
}

void GraphState::forget_user_objects() {
  std::vector<UserObjectPtr> objects;
  user_objects.for_each([&](UserObjectEntry& entry) {
    if (UserObjectPtr object = entry.object.lock()) {
      object->destroy = nullptr;
      objects.push_back(std::move(object));
    }
    entry.held = nullptr;
  });
}

}  // namespace culvert::sim::detail
