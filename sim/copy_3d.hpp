// SPDX-License-Identifier: BSL-1.0
// Copies as CUDA's structures for three dimensions describe them.
#pragma once

#include <cstddef>

#include "cuda_runtime_api.h"
#include "sim/transfer.hpp"

namespace culvert::sim::detail {

// Tells that there are no CUDA arrays here.
cudaError_t refuse_arrays(const char* function);

// One side of a copy.
struct Side {
  cudaArray_t array = nullptr;
  cudaPos position = {};
  cudaPitchedPtr pointer = {};
};

// Fills `copy` in, or answers why it cannot be.
cudaError_t copy_of(const char* function, const Side& to, const Side& from, cudaExtent extent,
                    Copy& copy);

}  // namespace culvert::sim::detail
