// SPDX-License-Identifier: BSL-1.0
// What a simulated device says about itself.
#pragma once

#include "culvert/sim/sim.hpp"

namespace culvert::sim::detail {

inline constexpr int least_priority = 0;
inline constexpr int greatest_priority = -5;

// False if there is no such attribute.
bool device_attribute(const Config& config, cudaDeviceAttr attribute, int device, int& value);

void device_properties(const Config& config, int device, cudaDeviceProp& properties);

}  // namespace culvert::sim::detail
