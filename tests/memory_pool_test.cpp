// SPDX-License-Identifier: BSL-1.0
#include <culvert/copy.hpp>
#include <culvert/device_buffer.hpp>
#include <culvert/memory_pool.hpp>

#include <type_traits>
#include <utility>

#include "support/test_support.hpp"

using namespace culvert;

static_assert(std::is_nothrow_move_constructible_v<MemoryPool>);
static_assert(std::is_nothrow_move_assignable_v<MemoryPool>);
static_assert(!std::is_copy_constructible_v<MemoryPool> && !std::is_copy_assignable_v<MemoryPool>);
static_assert(sizeof(MemoryPool) == sizeof(cudaMemPool_t));
static_assert(sizeof(MemoryPoolRef) == sizeof(cudaMemPool_t));
static_assert(std::is_trivially_copyable_v<MemoryPoolRef>);
static_assert(!std::is_default_constructible_v<MemoryPoolRef>);
static_assert(!std::is_constructible_v<MemoryPoolRef, std::nullptr_t>);
static_assert(!std::is_constructible_v<MemoryPoolRef, MemoryPool>);
static_assert(std::is_convertible_v<const MemoryPool&, MemoryPoolRef>);

namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

using MemoryPoolTest = support::RuntimeTest;

TEST_F(MemoryPoolTest, ReleaseThreshold) {
  const MemoryPool plain;
  EXPECT_EQ(plain.release_threshold(), 0u);
  plain.set_release_threshold(5 * mebibyte);
  EXPECT_EQ(plain.release_threshold(), 5 * mebibyte);
  const MemoryPool keeping{{.device = Device(0), .release_threshold = SIZE_MAX}};
  EXPECT_EQ(keeping.release_threshold(), SIZE_MAX);
  EXPECT_EQ(MemoryPoolRef(keeping).release_threshold(), SIZE_MAX);
}

TEST_F(MemoryPoolTest, StatisticsFollowAllocations) {
  const Stream stream;
  const MemoryPool pool{{.release_threshold = SIZE_MAX}};
  EXPECT_EQ(pool.statistics().used, 0u);
  {
    const DeviceBuffer<std::byte> buffer(3 * mebibyte, stream, pool);
    // Redundant: a pool counts at the call.
    stream.synchronize();
    EXPECT_GE(pool.statistics().used, 3 * mebibyte);
    EXPECT_GE(pool.statistics().reserved, pool.statistics().used);
  }
  stream.synchronize();
  const PoolStatistics freed = pool.statistics();
  EXPECT_EQ(freed.used, 0u);
  EXPECT_GE(freed.used_high, 3 * mebibyte);
  EXPECT_GE(freed.reserved, 3 * mebibyte);
  EXPECT_GE(freed.reserved_high, freed.reserved);

  pool.trim();
  pool.reset_high_water();
  const PoolStatistics trimmed = pool.statistics();
  EXPECT_EQ(trimmed.reserved, 0u);
  EXPECT_EQ(trimmed.reserved_high, 0u);
  EXPECT_EQ(trimmed.used_high, 0u);
}

TEST_F(MemoryPoolTest, TrimKeepsWhatIsAsked) {
  const Stream stream;
  const MemoryPool pool{{.release_threshold = SIZE_MAX}};
  { const DeviceBuffer<std::byte> buffer(8 * mebibyte, stream, pool); }
  // Redundant: a pool counts at the call.
  stream.synchronize();
  pool.trim(64 * mebibyte);
  EXPECT_GE(pool.statistics().reserved, 8 * mebibyte);
}

TEST_F(MemoryPoolTest, DefaultAndCurrent) {
  const Device device = Device::current();
  const MemoryPoolRef before = MemoryPoolRef::current_of(device);
  EXPECT_EQ(before, MemoryPoolRef::default_of(device));
  const Stream stream;
  const MemoryPool pool;
  EXPECT_FALSE(before == MemoryPoolRef(pool));
  MemoryPoolRef(pool).make_current_of(device);
  EXPECT_EQ(MemoryPoolRef::current_of(device), MemoryPoolRef(pool));
  EXPECT_EQ(MemoryPoolRef::default_of(device), before);
  {
    const DeviceBuffer<std::byte> buffer(mebibyte, stream);
    // Redundant: a pool counts at the call.
    stream.synchronize();
    EXPECT_GE(pool.statistics().used, mebibyte);
  }
  before.make_current_of(device);
  EXPECT_EQ(MemoryPoolRef::current_of(device), before);
  // Redundant: tidies up.
  stream.synchronize();
}

TEST_F(MemoryPoolTest, AllocationsOutliveThePool) {
  constexpr std::size_t size = 4097;
  const std::vector<std::byte> expected = support::random_bytes(size);
  std::vector<std::byte> result = support::poisoned(size);
  const Stream stream;
  MemoryPool pool;
  DeviceBuffer<std::byte> buffer(size, stream, pool);
  pool.reset();
  copy(buffer, expected, stream);
  copy_and_wait(result, buffer, stream);
  EXPECT_TRUE(support::same_bytes(result, expected));
}

TEST_F(MemoryPoolTest, MoveReleaseAndAdopt) {
  MemoryPool first;
  const cudaMemPool_t handle = first.get();
  EXPECT_NE(handle, nullptr);
  MemoryPool second(std::move(first));
  EXPECT_EQ(first.get(), nullptr);  // NOLINT(bugprone-use-after-move)
  MemoryPool third;
  third = std::move(second);
  EXPECT_EQ(third.get(), handle);
  MemoryPool& same = third;
  third = std::move(same);
  EXPECT_EQ(third.release(), handle);
  EXPECT_EQ(third.get(), nullptr);
  const MemoryPool adopted = MemoryPool::from_handle(handle);
  EXPECT_EQ(adopted.get(), handle);
  EXPECT_EQ(adopted.release_threshold(), 0u);
}

}  // namespace
