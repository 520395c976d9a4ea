// SPDX-License-Identifier: BSL-1.0
// Memory that a graph allocates.
#pragma once

#include <memory>

#include "sim/block.hpp"

namespace culvert::sim::detail {

struct Graph;

// Shared by the nodes that allocate and free it and their copies: its address stays as long as one
// of them is there. What a launch allocated and nothing freed stays beyond that.
struct GraphMemory {
  explicit GraphMemory(BlockPtr taken);
  GraphMemory(const GraphMemory&) = delete;
  GraphMemory& operator=(const GraphMemory&) = delete;
  ~GraphMemory();

  BlockPtr block;
  const Graph* owner = nullptr;   // that allocates it; only compared
  bool freed_by_owner = false;    // that graph has a node that frees it
  bool freed_by_another = false;  // another graph has one
};

using GraphMemoryPtr = std::shared_ptr<GraphMemory>;

// The memory of a block that a graph is to allocate.
GraphMemoryPtr make_graph_memory(BlockPtr block, const Graph& owner);

// Whether a node of this graph may free it.
bool may_free(const GraphMemory& memory, const Graph& graph);

}  // namespace culvert::sim::detail
