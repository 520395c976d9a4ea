// SPDX-License-Identifier: BSL-1.0
//
// A device without memory pools: buffers with a home stream come from cudaMalloc.
#include <culvert/culvert.hpp>
#include <culvert/sim/sim.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/expect_error.hpp"

using namespace culvert;

namespace {

class NoPoolsTest : public support::RuntimeTest {
 protected:
  NoPoolsTest() {
    sim::Config config;
    config.memory_pools = false;
    config.idle_everything_ms = 0;
    sim::reset(config);
  }
};

TEST_F(NoPoolsTest, BufferFallsBack) {
  const Stream stream;
  const std::vector<std::byte> expected = support::random_bytes(4097);
  std::vector<std::byte> result = support::poisoned(4097);
  DeviceBuffer<std::byte> buffer(4097, stream);
  EXPECT_EQ(sim::call_count("cudaMalloc"), 1u);
  EXPECT_EQ(peek_last_error(), cudaSuccess);
  EXPECT_EQ(buffer.home(), StreamRef(stream));
  copy(buffer, expected, stream);
  // Redundant: a copy to pageable memory waits by itself.
  copy_and_wait(result, buffer, stream);
  EXPECT_TRUE(support::same_bytes(result, expected));

  // Redundant: the end of a buffer that nothing uses.
  DeviceBuffer<int> tried;
  EXPECT_EQ(DeviceBuffer<int>::try_allocate(tried, 100, stream), cudaSuccess);
  EXPECT_EQ(sim::call_count("cudaMalloc"), 2u);
  // Redundant: the end of a buffer that nothing uses.
}

// Nothing promises that cudaFree waits.
TEST_F(NoPoolsTest, EndWaitsForTheHomeStream) {
  const Stream home, other;
  std::optional<DeviceBuffer<int>> buffer(std::in_place, 1000, home);
  fill(*buffer, 1, home);
  support::delay(other.get());
  const std::uint64_t synchronized = sim::call_count("cudaStreamSynchronize");

  // The free fails, so that what completed the work can only be the wait before it.
  static std::string told;
  set_failure_handler([](const Failure& failure) noexcept { told += failure.function; });
  int* const memory = buffer->data();
  sim::fail("cudaFree", cudaErrorUnknown);
  buffer.reset();
  const std::unique_ptr<void, decltype(&cudaFree)> left(memory, &cudaFree);
  set_failure_handler(nullptr);
  EXPECT_EQ(told, "cudaFree");
  EXPECT_EQ(sim::call_count("cudaStreamSynchronize"), synchronized + 1);
  EXPECT_TRUE(home.is_done());
  EXPECT_FALSE(other.is_done());
}

TEST_F(NoPoolsTest, EndWaitsForTheReboundHome) {
  const Stream first, second;
  {
    DeviceBuffer<int> buffer(1000, first);
    fill(buffer, 1, first);
    // Redundant: cudaFree runs the work that uses the memory first, as drivers were seen to do.
    buffer.rebind(second);
    fill(buffer, 2, second);
    // Redundant: cudaFree runs the work that uses the memory first, as drivers were seen to do.
  }
  EXPECT_TRUE(second.is_done());
}

TEST_F(NoPoolsTest, OutOfMemoryKeepsItsType) {
  const Stream stream;
  const std::size_t size = 2 * Device::current().memory_info().total;
  EXPECT_THROW(DeviceBuffer<std::byte>(size, stream), OutOfMemory);
  EXPECT_EQ(peek_last_error(), cudaSuccess);
}

TEST_F(NoPoolsTest, PoolIsNotSupported) {
  support::expect_error([] { const MemoryPool pool; },
                        {cudaErrorNotSupported, "cudaMemPoolCreate"});
}

}  // namespace
