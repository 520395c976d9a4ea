// SPDX-License-Identifier: BSL-1.0
#include <culvert/copy.hpp>
#include <culvert/device.hpp>
#include <culvert/device_buffer.hpp>
#include <culvert/pinned_buffer.hpp>

#include <algorithm>
#include <type_traits>

#include "support/test_support.hpp"

using namespace culvert;

static_assert(std::is_trivially_copyable_v<Device>);
static_assert(sizeof(Device) == sizeof(int));
static_assert(!std::is_default_constructible_v<Device>);
static_assert(!std::is_convertible_v<int, Device>);
static_assert(!std::is_copy_constructible_v<DeviceGuard>);
static_assert(!std::is_move_constructible_v<DeviceGuard>);
static_assert(std::is_convertible_v<Device, DeviceChoice>);

namespace {

using DeviceTest = support::RuntimeTest;

TEST_F(DeviceTest, FirstIsCurrent) {
  EXPECT_GE(Device::count(), 1);
  EXPECT_EQ(Device::current().ordinal(), 0);
  EXPECT_EQ(Device(0), Device::current());
  EXPECT_EQ(Device(Device::count() - 1).ordinal(), Device::count() - 1);
}

TEST_F(DeviceTest, AttributesAgreeWithProperties) {
  const Device device(0);
  const cudaDeviceProp properties = device.properties();
  EXPECT_GT(properties.major, 0);
  EXPECT_EQ(device.attribute(cudaDevAttrComputeCapabilityMajor), properties.major);
  EXPECT_EQ(device.attribute(cudaDevAttrMultiProcessorCount), properties.multiProcessorCount);
  EXPECT_FALSE(device.name().empty());
  EXPECT_EQ(device.name(), properties.name);
}

TEST_F(DeviceTest, MemoryInfo) {
  std::size_t free = 0;
  std::size_t total = 0;
  ASSERT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  const MemoryInfo info = Device(0).memory_info();
  EXPECT_EQ(info.total, total);
  EXPECT_GT(info.free, 0u);
  EXPECT_LE(info.free, info.total);
}

TEST_F(DeviceTest, PriorityRangeHoldsNormal) {
  const PriorityRange range = Device(0).priority_range();
  EXPECT_LE(range.highest, 0);
  EXPECT_GE(range.lowest, 0);
}

TEST_F(DeviceTest, SynchronizeCompletesEveryStream) {
  constexpr std::size_t size = 4096;
  const std::vector<std::byte> expected = support::random_bytes(size);
  PinnedBuffer<std::byte> source(size);
  std::ranges::copy(expected, source.begin());
  PinnedBuffer<std::byte> results[2] = {PinnedBuffer<std::byte>(size),
                                        PinnedBuffer<std::byte>(size)};
  Stream streams[2];
  for (int i = 0; i < 2; ++i) {
    std::ranges::fill(results[i], support::poison);
    DeviceBuffer<std::byte> buffer(size, streams[i]);
    support::delay(streams[i].get());
    copy(buffer, source, streams[i]);
    copy(results[i], buffer, streams[i]);
  }
  Device(0).synchronize();
  for (const auto& result : results) EXPECT_TRUE(support::same_bytes(result, expected));
}

TEST_F(DeviceTest, MakeCurrentAndGuard) {
  const Device device(0);
  device.make_current();
  {
    const DeviceGuard guard(device);
    EXPECT_EQ(Device::current(), device);
  }
  EXPECT_EQ(Device::current(), device);
}

TEST_F(DeviceTest, GuardOfTheCurrentDeviceSetsNothing) {
  const Device device = Device::current();
  const std::uint64_t before = support::runtime_calls();
  { const DeviceGuard guard(device); }
  // One call asks for the current device.
  EXPECT_LE(support::runtime_calls() - before, 1u);
}

}  // namespace
