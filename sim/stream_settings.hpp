// SPDX-License-Identifier: BSL-1.0
// What cudaStreamSetAttribute sets. Nothing here depends on it; it can be asked for.
#pragma once

#include "cuda_runtime_api.h"

namespace culvert::sim::detail {

struct StreamSettings {
  cudaAccessPolicyWindow window = {};
  cudaSynchronizationPolicy policy = cudaSyncPolicyAuto;
  cudaLaunchMemSyncDomain domain = cudaLaunchMemSyncDomainDefault;
  cudaLaunchMemSyncDomainMap domains = {0, 1};
};

}  // namespace culvert::sim::detail
