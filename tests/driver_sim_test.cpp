// SPDX-License-Identifier: BSL-1.0
//
// The driver's functions are loaded at the first fill that needs them, once for the process: so
// there is one test in this file.
#include <culvert/culvert.hpp>
#include <culvert/sim/sim.hpp>

#include <vector>

#include "support/expect_error.hpp"

using namespace culvert;

namespace {

#if CUDART_VERSION >= 12050
constexpr const char* getter = "cudaGetDriverEntryPointByVersion";
#else
constexpr const char* getter = "cudaGetDriverEntryPoint";
#endif

using DriverTest = support::RuntimeTest;

TEST_F(DriverTest, FailedLoadIsToldAndTriedAgain) {
  const Stream stream;
  DeviceBuffer<int> buffer(10, stream);

  // Bytes that are all equal need no driver function.
  fill(buffer, 0x7f7f7f7f, stream);
  EXPECT_EQ(sim::call_count(getter), 0u);

  sim::fail(getter, cudaErrorUnknown, 2);
  support::expect_error([&] { fill(buffer, 5, stream); },
                        {cudaErrorUnknown, getter, {"cuMemsetD32Async"}});
  fill(buffer, 5, stream);
  const std::uint64_t loaded = sim::call_count(getter);
  fill(buffer, 6, stream);
  EXPECT_EQ(sim::call_count(getter), loaded);
  std::vector<int> result(10);
  copy_and_wait(result, buffer, stream);
  EXPECT_EQ(result, std::vector<int>(10, 6));

  sim::fail("cuMemsetD32Async", cudaErrorInvalidValue);
  support::expect_error([&] { fill(buffer, 7, stream); },
                        {cudaErrorInvalidValue, "cuMemsetD32Async"});
}

}  // namespace
