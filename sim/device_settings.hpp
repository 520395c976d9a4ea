// SPDX-License-Identifier: BSL-1.0
// What a program sets of a device. Nothing here depends on it; it can be asked for.
#pragma once

#include <array>
#include <cstddef>

#include "cuda_runtime_api.h"

namespace culvert::sim::detail {

struct DeviceSettings {
  unsigned flags = cudaDeviceScheduleAuto;
  cudaFuncCache cache = cudaFuncCachePreferNone;
  // By cudaLimit: stack, printf, heap, depth of synchronization, launches, fetches, persisting.
  std::array<std::size_t, 7> limits = {1024, 8388608, 8388608, 0, 2048, 64, 0};
};

}  // namespace culvert::sim::detail
