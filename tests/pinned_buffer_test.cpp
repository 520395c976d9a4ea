// SPDX-License-Identifier: BSL-1.0
#include <culvert/copy.hpp>
#include <culvert/device_buffer.hpp>
#include <culvert/fill.hpp>
#include <culvert/pinned_buffer.hpp>

#include <algorithm>
#include <numeric>
#include <ranges>
#include <type_traits>
#include <utility>

#include "support/test_support.hpp"

using namespace culvert;

using Buffer = PinnedBuffer<int>;
static_assert(std::is_nothrow_default_constructible_v<Buffer>);
static_assert(std::is_nothrow_move_constructible_v<Buffer>);
static_assert(std::is_nothrow_move_assignable_v<Buffer>);
static_assert(!std::is_copy_constructible_v<Buffer> && !std::is_copy_assignable_v<Buffer>);
static_assert(!std::is_convertible_v<std::size_t, Buffer>);
static_assert(sizeof(Buffer) == sizeof(void*) + sizeof(std::size_t));
static_assert(std::ranges::contiguous_range<Buffer> && std::ranges::sized_range<Buffer>);
static_assert(std::ranges::contiguous_range<const Buffer>);
static_assert(std::is_convertible_v<Buffer&, std::span<int>>);
static_assert(std::is_convertible_v<const Buffer&, std::span<const int>>);
static_assert(!std::is_convertible_v<const Buffer&, std::span<int>>);

namespace {

using PinnedBufferTest = support::RuntimeTest;

TEST_F(PinnedBufferTest, IsARange) {
  Buffer buffer(100);
  std::iota(buffer.begin(), buffer.end(), 7);
  EXPECT_EQ(buffer.size(), 100u);
  EXPECT_EQ(buffer.size_bytes(), 400u);
  EXPECT_FALSE(buffer.empty());
  EXPECT_EQ(buffer[0], 7);
  buffer[99] = -1;
  const Buffer& constant = buffer;
  EXPECT_EQ(constant[99], -1);
  EXPECT_EQ(constant.data(), buffer.data());
  EXPECT_EQ(constant.end() - constant.begin(), 100);
  const std::span<int> span = buffer;
  EXPECT_EQ(span.data(), buffer.data());
  EXPECT_EQ(constant.host_span().size(), 100u);
  int sum = 0;
  for (const int element : constant) sum += element;
  EXPECT_EQ(sum, std::accumulate(buffer.begin(), buffer.end(), 0));
}

TEST_F(PinnedBufferTest, IsPinned) {
  Buffer buffer(100);
  cudaPointerAttributes attributes{};
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, buffer.data()), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
}

TEST_F(PinnedBufferTest, ZeroMakesNoCall) {
  const std::uint64_t before = support::runtime_calls();
  {
    const Buffer none;
    Buffer zero(0);
    EXPECT_TRUE(none.empty());
    EXPECT_TRUE(zero.empty());
    EXPECT_EQ(none.data(), nullptr);
    EXPECT_EQ(zero.data(), nullptr);
    EXPECT_EQ(zero.begin(), zero.end());
    EXPECT_TRUE(zero.host_span().empty());
    EXPECT_TRUE(zero.mapped_span().empty());
  }
  EXPECT_EQ(support::runtime_calls(), before);
}

TEST_F(PinnedBufferTest, OptionsCopyTheSame) {
  const Stream stream;
  constexpr std::size_t size = 4097;
  for (const PinnedOptions& options :
       {PinnedOptions{}, PinnedOptions{.portable = true}, PinnedOptions{.mapped = true},
        PinnedOptions{.write_combined = true}}) {
    const std::vector<std::byte> expected = support::random_bytes(size);
    std::vector<std::byte> result = support::poisoned(size);
    PinnedBuffer<std::byte> buffer(size, options);
    std::ranges::copy(expected, buffer.begin());
    DeviceBuffer<std::byte> device(size, stream);
    copy(device, buffer, stream);
    copy_and_wait(result, device, stream);
    EXPECT_TRUE(support::same_bytes(result, expected));
  }
}

TEST_F(PinnedBufferTest, MappedMemoryHasADeviceAddress) {
  const Stream stream;
  Buffer buffer(100, {.mapped = true});
  std::ranges::fill(buffer, 0);
  const DeviceSpan<int> mapped = buffer.mapped_span();
  EXPECT_EQ(mapped.size(), 100u);
  const int value = support::random_value<int>();
  fill(mapped.subspan(10, 20), value, stream);
  stream.synchronize();
  EXPECT_EQ(std::ranges::count(buffer, value), 20);
  EXPECT_EQ(buffer[9], 0);
  EXPECT_EQ(buffer[10], value);
  EXPECT_EQ(buffer[29], value);
  EXPECT_EQ(buffer[30], 0);
}

TEST_F(PinnedBufferTest, MoveGivesTheMemoryAway) {
  Buffer first(100);
  first[50] = 123;
  const int* const data = first.data();
  Buffer second(std::move(first));
  EXPECT_EQ(second.data(), data);
  EXPECT_EQ(first.data(), nullptr);  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(first.size(), 0u);
  EXPECT_EQ(first.begin(), first.end());
  Buffer third(3);
  third = std::move(second);
  EXPECT_EQ(third.size(), 100u);
  Buffer& same = third;
  third = std::move(same);
  EXPECT_EQ(third.data(), data);
  EXPECT_EQ(third[50], 123);
}

TEST_F(PinnedBufferTest, ReleaseAndAdopt) {
  Buffer first(100);
  first[0] = 5;
  int* const data = first.release();
  EXPECT_TRUE(first.empty());
  EXPECT_EQ(first.data(), nullptr);
  Buffer second = Buffer::from_handle(data, 100);
  EXPECT_EQ(second[0], 5);
  second.reset();
  EXPECT_TRUE(second.empty());
  EXPECT_TRUE(Buffer::from_handle(nullptr, 0).empty());
}

}  // namespace
