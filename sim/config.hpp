// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "culvert/sim/sim.hpp"

namespace culvert::sim::detail {

// Of one operation in virtual time: eleven days. Sums of more could be past counting.
inline constexpr std::uint64_t most_time_ns = 1'000'000'000'000'000;

// The configuration with sizes rounded. Ends the process if it makes no sense.
Config checked(Config config);

}  // namespace culvert::sim::detail
