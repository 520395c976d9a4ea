// SPDX-License-Identifier: BSL-1.0
// What a device allows kernels.
#pragma once

#include <cstddef>

#include "sim/call.hpp"

namespace culvert::sim::detail {

inline constexpr unsigned portable_cluster = 8;
inline constexpr unsigned largest_cluster = 16;
inline constexpr int registers_of_a_kernel = 32;

// Of the current device.
int attribute(const Call& call, cudaDeviceAttr attribute);
// What was set for a kernel on the current device, or else the default.
KernelSettings settings(Call& call, const void* kernel);
// Resident blocks on a multiprocessor, as far as threads and shared memory limit them.
int resident_blocks(Call& call, const void* kernel, int threads, std::size_t shared_memory);

}  // namespace culvert::sim::detail
