// SPDX-License-Identifier: BSL-1.0
#include <culvert/copy.hpp>
#include <culvert/device_buffer.hpp>
#include <culvert/fill.hpp>

#include <type_traits>
#include <utility>

#include "support/test_support.hpp"

using namespace culvert;

using Buffer = DeviceBuffer<int>;
static_assert(std::is_nothrow_default_constructible_v<Buffer>);
static_assert(std::is_nothrow_move_constructible_v<Buffer>);
static_assert(std::is_nothrow_move_assignable_v<Buffer>);
static_assert(!std::is_copy_constructible_v<Buffer> && !std::is_copy_assignable_v<Buffer>);
static_assert(!std::is_convertible_v<std::size_t, Buffer>);
static_assert(std::is_convertible_v<Buffer&, DeviceSpan<int>>);
static_assert(std::is_convertible_v<Buffer&, DeviceSpan<const int>>);
static_assert(std::is_convertible_v<const Buffer&, DeviceSpan<const int>>);
static_assert(!std::is_convertible_v<const Buffer&, DeviceSpan<int>>);
static_assert(!std::is_convertible_v<Buffer, DeviceSpan<int>>);
static_assert(!std::is_convertible_v<Buffer, DeviceSpan<const int>>);

namespace {

using DeviceBufferTest = support::RuntimeTest;

// Whether all elements can be written and read.
bool usable(DeviceBuffer<int>& buffer, const Stream& stream) {
  const int value = support::random_value<int>();
  std::vector<int> elements(buffer.size(), ~value);
  fill(buffer, value, stream);
  copy_and_wait(elements, buffer, stream);
  return elements == std::vector<int>(buffer.size(), value);
}

TEST_F(DeviceBufferTest, AllocatesInStreamOrder) {
  const Stream stream;
  Buffer buffer(1000, stream);
  EXPECT_NE(buffer.data(), nullptr);
  EXPECT_EQ(buffer.size(), 1000u);
  EXPECT_EQ(buffer.size_bytes(), 4000u);
  EXPECT_FALSE(buffer.empty());
  EXPECT_TRUE(buffer.has_home());
  EXPECT_EQ(buffer.home(), StreamRef(stream));
  EXPECT_TRUE(usable(buffer, stream));
}

TEST_F(DeviceBufferTest, AllocatesWithoutAStream) {
  const Stream stream;
  Buffer plain(1000);
  EXPECT_FALSE(plain.has_home());
  EXPECT_TRUE(usable(plain, stream));
  Buffer named(1000, Device(0));
  EXPECT_FALSE(named.has_home());
  EXPECT_TRUE(usable(named, stream));
}

TEST_F(DeviceBufferTest, AllocatesFromAPool) {
  const Stream stream;
  const MemoryPool pool;
  Buffer buffer(1000, stream, pool);
  EXPECT_EQ(buffer.home(), StreamRef(stream));
  EXPECT_TRUE(usable(buffer, stream));
}

TEST_F(DeviceBufferTest, ZeroMakesNoCall) {
  const Stream stream;
  const MemoryPool pool;
  const Device device = Device::current();
  const std::uint64_t before = support::runtime_calls();
  {
    const Buffer none;
    const Buffer plain(0);
    const Buffer named(0, device);
    const Buffer in_stream(0, stream);
    const Buffer from_pool(0, stream, pool);
    for (const Buffer* buffer : {&none, &plain, &named, &in_stream, &from_pool}) {
      EXPECT_EQ(buffer->data(), nullptr);
      EXPECT_TRUE(buffer->empty());
      EXPECT_TRUE(buffer->device_span().empty());
    }
    EXPECT_TRUE(in_stream.has_home());
  }
  EXPECT_EQ(support::runtime_calls(), before);
}

TEST_F(DeviceBufferTest, TryAllocateGivesTheStatus) {
  const Stream stream;
  Buffer buffer;
  ASSERT_EQ(Buffer::try_allocate(buffer, 1000, stream), cudaSuccess);
  EXPECT_EQ(buffer.size(), 1000u);
  EXPECT_TRUE(usable(buffer, stream));
  const std::size_t too_many = Device::current().memory_info().total;
  EXPECT_EQ(Buffer::try_allocate(buffer, too_many, stream), cudaErrorMemoryAllocation);
  EXPECT_TRUE(buffer.empty());
  EXPECT_EQ(buffer.data(), nullptr);
  EXPECT_EQ(peek_last_error(), cudaSuccess);
  EXPECT_EQ(Buffer::try_allocate(buffer, SIZE_MAX, stream), cudaErrorMemoryAllocation);
  ASSERT_EQ(Buffer::try_allocate(buffer, 10, stream), cudaSuccess);
  EXPECT_TRUE(usable(buffer, stream));
}

TEST_F(DeviceBufferTest, Views) {
  const Stream stream;
  Buffer buffer(10, stream);
  const Buffer& constant = buffer;
  const DeviceSpan<int> writing = buffer;
  const DeviceSpan<const int> reading = constant;
  EXPECT_EQ(writing.data(), buffer.data());
  EXPECT_EQ(reading.size(), 10u);
  static_assert(std::is_same_v<decltype(buffer.subspan(1, 2)), DeviceSpan<int>>);
  static_assert(std::is_same_v<decltype(constant.subspan(1, 2)), DeviceSpan<const int>>);
  EXPECT_EQ(buffer.subspan(3, 4).data(), buffer.data() + 3);
  EXPECT_EQ(constant.subspan(3, 4).size(), 4u);
}

TEST_F(DeviceBufferTest, MoveGivesTheMemoryAway) {
  const Stream stream;
  Buffer first(1000, stream);
  const int* const data = first.data();
  Buffer second(std::move(first));
  EXPECT_EQ(second.data(), data);
  EXPECT_EQ(second.size(), 1000u);
  EXPECT_EQ(first.data(), nullptr);  // NOLINT(bugprone-use-after-move)
  EXPECT_TRUE(first.empty());
  Buffer third(5, stream);
  third = std::move(second);
  EXPECT_EQ(third.data(), data);
  EXPECT_TRUE(second.empty());  // NOLINT(bugprone-use-after-move)
  Buffer& same = third;
  third = std::move(same);
  EXPECT_EQ(third.data(), data);
  EXPECT_EQ(third.size(), 1000u);
  EXPECT_EQ(third.home(), StreamRef(stream));
  EXPECT_TRUE(usable(third, stream));
}

TEST_F(DeviceBufferTest, ReleaseAndAdopt) {
  const Stream stream;
  Buffer in_stream(100, stream);
  int* const in_order = in_stream.release();
  EXPECT_TRUE(in_stream.empty());
  Buffer adopted = Buffer::from_handle(in_order, 100, stream);
  EXPECT_EQ(adopted.data(), in_order);
  EXPECT_EQ(adopted.home(), StreamRef(stream));
  EXPECT_TRUE(usable(adopted, stream));

  Buffer plain(100);
  Buffer adopted_plain = Buffer::from_handle(plain.release(), 100);
  EXPECT_FALSE(adopted_plain.has_home());
  EXPECT_TRUE(usable(adopted_plain, stream));
  adopted_plain.reset();
  EXPECT_TRUE(adopted_plain.empty());
  EXPECT_TRUE(Buffer::from_handle(nullptr, 0).empty());
}

TEST_F(DeviceBufferTest, RebindMovesTheHome) {
  const Stream first;
  Stream second;
  {
    Buffer buffer(1000, first);
    fill(buffer, 1, first);
    buffer.rebind(second);
    EXPECT_EQ(buffer.home(), StreamRef(second));
    EXPECT_TRUE(usable(buffer, second));
  }
  // Redundant: tidies up; usable() has waited.
  second.synchronize();
}

TEST_F(DeviceBufferTest, IsFreedInTheOrderOfItsHome) {
  const Stream stream;
  const MemoryPool pool;
  constexpr std::size_t size = 1 << 20;
  std::vector<std::byte> result = support::poisoned(size);
  const std::vector<std::byte> expected = support::random_bytes(size);
  DeviceBuffer<std::byte> target(size);
  {
    DeviceBuffer<std::byte> buffer(size, stream, pool);
    support::delay(stream.get());
    copy(buffer, expected, stream);
    copy(target, buffer, stream);
  }
  // The pool may use the memory again at once, in the order of the stream.
  DeviceBuffer<std::byte> next(size, stream, pool);
  fill_bytes(next, 0, stream);
  copy_and_wait(result, target, stream);
  EXPECT_TRUE(support::same_bytes(result, expected));
}

}  // namespace
