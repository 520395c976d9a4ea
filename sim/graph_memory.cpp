// SPDX-License-Identifier: BSL-1.0
#include "sim/graph_memory.hpp"

#include <utility>

#include "sim/process.hpp"

namespace culvert::sim::detail {

GraphMemory::GraphMemory(BlockPtr taken) : block(std::move(taken)) {
  // It is no memory of a pool, whichever way it was taken.
  if (block->pool) {
    block->pool->give_back(block->size, block->pool->freed_in);
    block->pool->end(block->capacity);
  }
  block->pool = nullptr;
  block->of_graph = true;
  block->state = BlockState::reserved;
}

GraphMemory::~GraphMemory() {
  // After this the program frees what it still holds as it would any other memory.
  block->of_graph = false;
  if (!block->graph_live && block->state != BlockState::live) {
    Process::instance().memory.release(*block);
  }
}

GraphMemoryPtr make_graph_memory(BlockPtr block, const Graph& owner) {
  const auto memory = std::make_shared<GraphMemory>(std::move(block));
  memory->block->graph_memory = memory;
  memory->owner = &owner;
  return memory;
}

bool may_free(const GraphMemory& memory, const Graph& graph) {
  return !memory.freed_by_owner && (memory.owner != &graph || !memory.freed_by_another);
}

}  // namespace culvert::sim::detail
