// SPDX-License-Identifier: BSL-1.0
// What is done to a program from outside of it: by explore() and its like, or by the environment. A
// program that starts afresh by reset() does not end it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "culvert/sim/sim.hpp"
#include "sim/faults.hpp"
#include "sim/waits.hpp"

namespace culvert::sim::detail {

struct Experiment {
  struct Order {
    Schedule schedule = Schedule::late;
    std::uint64_t seed = 0;
  };
  std::optional<Order> order;  // instead of the configuration's
  Faults faults;
  Waits waits;
  std::string journal;  // a file that tells at exit which calls and waits were made; empty: none
};

// From CULVERT_SIM_FAIL, CULVERT_SIM_SKIP_WAIT and CULVERT_SIM_JOURNAL. Ends the process on a bad
// value.
Experiment experiment_from_environment();

// At exit: writes the journal, if one is wanted, and tells what of the experiment did not happen.
void end_experiment(const Experiment& experiment);

}  // namespace culvert::sim::detail
