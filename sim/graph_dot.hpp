// SPDX-License-Identifier: BSL-1.0
// A picture of a graph in the language of Graphviz.
#pragma once

#include "sim/graph.hpp"

namespace culvert::sim::detail {

// Tells whether the file could be written.
bool print_dot(const Graph& graph, const char* path, unsigned flags);

}  // namespace culvert::sim::detail
