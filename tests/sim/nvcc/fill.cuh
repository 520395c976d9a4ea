// SPDX-License-Identifier: BSL-1.0
// A kernel of several files.
#pragma once

namespace app {

template <class T, int value>
__global__ void fill(T* x) {
  x[threadIdx.x] = value;
}

}  // namespace app
