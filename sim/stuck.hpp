// SPDX-License-Identifier: BSL-1.0
// What a person needs to know when nothing goes on.
#pragma once

#include <chrono>

#include "sim/scheduler.hpp"

namespace culvert::sim::detail {

// Tells that `op` has run for so long, what each stream waits for, and ends the process with
// status 2.
[[noreturn]] void end_stuck_program(const Scheduler& scheduler, const Op& op,
                                    std::chrono::milliseconds limit);

}  // namespace culvert::sim::detail
