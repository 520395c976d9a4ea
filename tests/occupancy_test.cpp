// SPDX-License-Identifier: BSL-1.0
#include <culvert/occupancy.hpp>

#include <climits>
#include <cstddef>
#include <cstdint>
#include <string>

#include "kernels.hpp"
#include "support/expect_error.hpp"
#include "support/test_support.hpp"

using namespace culvert;
using support::expect_error;
using support::expect_refused;

static_assert(grid_for(0, 256) == 1);
static_assert(grid_for(1, 256) == 1);
static_assert(grid_for(256, 256) == 1);
static_assert(grid_for(257, 256) == 2);
static_assert(grid_for(1000, 1) == 1000);
static_assert(grid_for(std::size_t{INT_MAX} * 1024, 1024) == INT_MAX);
static_assert(grid_for(5, UINT_MAX) == 1);
static_assert(grid_for(5L, 2) == 3 && grid_for('\5', std::size_t{2}) == 3);

namespace {

using OccupancyTest = support::RuntimeTest;

int shared_memory_limit() {
  return Device::current().attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
}

TEST_F(OccupancyTest, GridForRefuses) {
  expect_refused([&] { (void)grid_for(1000, 0); },
                 {cudaErrorInvalidValue, "culvert::grid_for", {"the block has 0 threads"}});
  expect_refused([&] { (void)grid_for(std::size_t{INT_MAX} * 256 + 1, 256); },
                 {cudaErrorInvalidValue,
                  "culvert::grid_for",
                  {"549755813633 elements in blocks of 256 threads", "2^31 - 1 blocks"}});
  expect_refused([&] { (void)grid_for(SIZE_MAX, 1); },
                 {cudaErrorInvalidValue, "culvert::grid_for", {"18446744073709551615 elements"}});
}

TEST_F(OccupancyTest, BlocksPerMultiprocessor) {
  const Device device = Device::current();
  const int threads = device.attribute(cudaDevAttrMaxThreadsPerMultiProcessor);
  const int most = device.attribute(cudaDevAttrMaxBlocksPerMultiprocessor);
  const int small = blocks_per_multiprocessor(kernels::nothing, 32);
  const int large = blocks_per_multiprocessor(kernels::nothing, 1024);
  EXPECT_GE(small, 1);
  EXPECT_LE(small, most);
  EXPECT_GE(large, 1);
  EXPECT_LE(large * 1024, threads);
  EXPECT_GE(small, large);
  // Shared memory is a limit, too.
  EXPECT_LE(blocks_per_multiprocessor(kernels::nothing, 32, 48 << 10),
            device.attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor) / (48 << 10));
}

TEST_F(OccupancyTest, NoBlockFits) {
  const auto bytes = static_cast<std::size_t>(shared_memory_limit()) + 1;
  EXPECT_EQ(blocks_per_multiprocessor(kernels::nothing, 256, bytes), 0);
  expect_error([&] { (void)suggest_block_size(kernels::nothing, bytes); },
               {cudaErrorInvalidConfiguration,
                "culvert::suggest_block_size",
                {std::to_string(bytes) + " bytes of dynamic shared memory"}});
}

TEST_F(OccupancyTest, BlocksPerMultiprocessorRefuses) {
  expect_refused(
      [&] { (void)blocks_per_multiprocessor(kernels::nothing, 0); },
      {cudaErrorInvalidValue, "culvert::blocks_per_multiprocessor", {"a block of 0 threads"}});
  expect_refused([&] { (void)blocks_per_multiprocessor(kernels::nothing, UINT_MAX); },
                 {cudaErrorInvalidValue, "culvert::blocks_per_multiprocessor", {"4294967295"}});
}

// No other number of whole warps lets more threads be resident.
void expect_best(const BlockSize& size, unsigned largest, std::size_t shared_memory_bytes) {
  const Device device = Device::current();
  const auto blocks = [&](unsigned threads) {
    return static_cast<unsigned>(
        blocks_per_multiprocessor(kernels::scale, threads, shared_memory_bytes));
  };
  ASSERT_GE(size.threads, 1u);
  EXPECT_LE(size.threads, largest);
  EXPECT_EQ(size.full_blocks, blocks(size.threads) * static_cast<unsigned>(device.attribute(
                                                         cudaDevAttrMultiProcessorCount)));
  for (unsigned threads = 32; threads <= largest; threads += 32) {
    EXPECT_LE(blocks(threads) * threads, blocks(size.threads) * size.threads);
    if (threads > size.threads) {
      EXPECT_LT(blocks(threads) * threads, blocks(size.threads) * size.threads);
    }
  }
}

TEST_F(OccupancyTest, SuggestsTheFullestBlockSize) {
  const auto limit =
      static_cast<unsigned>(Device::current().attribute(cudaDevAttrMaxThreadsPerBlock));
  const BlockSize size = suggest_block_size(kernels::scale);
  EXPECT_EQ(size.threads % 32, 0u);
  expect_best(size, limit, 0);
  expect_best(suggest_block_size(kernels::scale, 16 << 10), limit, 16 << 10);
  expect_best(suggest_block_size(kernels::scale, 0, 512), 512, 0);
  expect_best(suggest_block_size(kernels::scale, 0, 100), 100, 0);
  expect_best(suggest_block_size(kernels::scale, 0, 100000), limit, 0);
  // Less than a warp: nothing else is possible.
  EXPECT_EQ(suggest_block_size(kernels::scale, 0, 20).threads, 20u);
}

TEST_F(OccupancyTest, AllowsSharedMemory) {
  const auto limit = static_cast<std::size_t>(shared_memory_limit());
  allow_shared_memory(kernels::reverse, limit);
  EXPECT_EQ(blocks_per_multiprocessor(kernels::reverse, 256, limit), 1);
  expect_error([&] { allow_shared_memory(kernels::reverse, limit + 1); },
               {cudaErrorInvalidValue, "cudaFuncSetAttribute"});
  const std::size_t most = std::size_t{INT_MAX} + 1;
  expect_refused([&] { allow_shared_memory(kernels::reverse, most); },
                 {cudaErrorInvalidValue, "culvert::allow_shared_memory", {"2147483648 bytes"}});
}

}  // namespace
