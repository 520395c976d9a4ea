// SPDX-License-Identifier: BSL-1.0
// An event: a name for the operation that recorded it last. Plain data that knows no CUDA.
#pragma once

#include "sim/op.hpp"

namespace culvert::sim::detail {

struct Event {
  int device = 0;
  bool timing = true;
  OpPtr record;     // null until it is recorded
  int answers = 0;  // how often a query about this record was answered with "not ready"
};

}  // namespace culvert::sim::detail
