// SPDX-License-Identifier: BSL-1.0
// All graphs, what belongs to them, and the captures that are going on.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "sim/handle_table.hpp"

namespace culvert::sim::detail {

struct Capture;
struct Graph;
struct GraphExec;
struct Node;
struct UserObjectEntry;

struct GraphState {
  HandleTable<Graph> graphs{HandleKind::graph};
  HandleTable<Node> nodes{HandleKind::graph_node};
  HandleTable<GraphExec> execs{HandleKind::graph_exec};
  HandleTable<UserObjectEntry> user_objects{HandleKind::user_object};
  std::vector<std::shared_ptr<Capture>> captures;
  unsigned long long next_capture_id = 1;

  // Graphs that the program holds, not those inside nodes.
  std::size_t count_graphs() const;

  // Ends the captures on a device and forgets what was made on it; on all devices with -1.
  void drop(int device);
  // No destructor of theirs is called any more.
  void forget_user_objects();
};

}  // namespace culvert::sim::detail
