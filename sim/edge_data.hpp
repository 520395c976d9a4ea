// SPDX-License-Identifier: BSL-1.0
// What the headers of CUDA before 12.3 do not have: data on the edges of graphs.
#pragma once

#include "cuda_runtime_api.h"

#if CUDART_VERSION < 12030
namespace culvert::sim::detail {

struct cudaGraphEdgeData {
  unsigned char from_port;
  unsigned char to_port;
  unsigned char type;
  unsigned char reserved[5];
};

inline constexpr int cudaGraphKernelNodePortDefault = 0;
inline constexpr int cudaGraphKernelNodePortLaunchCompletion = 2;
inline constexpr int cudaGraphDependencyTypeProgrammatic = 1;

}  // namespace culvert::sim::detail
#endif
