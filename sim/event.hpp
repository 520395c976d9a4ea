// SPDX-License-Identifier: BSL-1.0
// An event: a name for the operation that recorded it last. Plain data that knows no CUDA.
#pragma once

#include <memory>

#include "sim/call_site.hpp"
#include "sim/op.hpp"

namespace culvert::sim::detail {

struct EventCapture;  // capture.hpp

struct Event {
  int device = 0;
  bool timing = true;
  OpPtr record;                            // null until it is recorded
  std::shared_ptr<EventCapture> captured;  // set where the last record was in a capture
  CallSite made;
  int answers = 0;  // how often a query about this record was answered with "not ready"
};

}  // namespace culvert::sim::detail
