// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "culvert/sim/sim.hpp"

namespace culvert::sim::detail {

// The configuration with sizes rounded. Ends the process if it makes no sense.
Config checked(Config config);

}  // namespace culvert::sim::detail
