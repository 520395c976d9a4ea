// SPDX-License-Identifier: BSL-1.0
//
// What the kernel of device.cu does on the simulated runtime.
#include <culvert/sim/sim.hpp>

#include <cstddef>

namespace {

[[maybe_unused]] const bool kernel_is_defined = [] {
  culvert::sim::define_kernel("add", [](int* data, int count, int value) {
    int* const numbers = culvert::sim::memory(data, static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) numbers[i] += value;
  });
  return true;
}();

}  // namespace
