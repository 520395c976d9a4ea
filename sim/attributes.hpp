// SPDX-License-Identifier: BSL-1.0
// What a simulated device says about itself.
#pragma once

#include "culvert/sim/sim.hpp"

namespace culvert::sim::detail {

inline constexpr int least_priority = 0;
inline constexpr int greatest_priority = -5;
inline constexpr int max_pitch = 2147483647;
inline constexpr unsigned memory_sync_domains = 4;
inline constexpr int max_access_policy_window = 134217728;
inline constexpr int max_persisting_l2_cache = 41943040;

// False if there is no such attribute.
bool device_attribute(const Config& config, cudaDeviceAttr attribute, int device, int& value);

void device_properties(const Config& config, int device, cudaDeviceProp& properties);

}  // namespace culvert::sim::detail
