// SPDX-License-Identifier: BSL-1.0
#include <culvert/fill_2d.hpp>
#include <culvert/pinned_buffer.hpp>
#include <culvert/pitched_buffer.hpp>

#include <algorithm>
#include <array>
#include <type_traits>
#include <vector>

#include "support/expect_error.hpp"

using namespace culvert;
using support::expect_error;
using support::expect_refused;

static_assert(!std::is_copy_constructible_v<PitchedBuffer<int>>);
static_assert(!std::is_copy_assignable_v<PitchedBuffer<int>>);
static_assert(std::is_nothrow_move_constructible_v<PitchedBuffer<int>>);
static_assert(std::is_nothrow_move_assignable_v<PitchedBuffer<int>>);

namespace {

using PitchedBufferTest = support::RuntimeTest;

TEST_F(PitchedBufferTest, PlainAndStreamOrdered) {
  const Stream stream;
  const PitchedBuffer<float> plain(100, 7), ordered(100, 7, stream), named(100, 7, Device(0));
  for (const PitchedBuffer<float>* buffer : {&plain, &ordered, &named}) {
    EXPECT_NE(buffer->data(), nullptr);
    EXPECT_EQ(buffer->width(), 100u);
    EXPECT_EQ(buffer->height(), 7u);
    EXPECT_GE(buffer->pitch(), 400u);
    EXPECT_EQ(buffer->pitch() % 256, 0u);
    EXPECT_EQ(buffer->span_2d().pitch(), buffer->pitch());
  }
  EXPECT_FALSE(plain.has_home());
  EXPECT_EQ(ordered.pitch(), 512u);
  EXPECT_EQ(ordered.home(), StreamRef(stream));
  expect_refused([&] { (void)plain.home(); },
                 {cudaErrorInvalidValue, "culvert::PitchedBuffer", {"without a stream"}});
}

TEST_F(PitchedBufferTest, Moves) {
  const Stream stream;
  PitchedBuffer<int> first(3, 4, stream);
  const int* const data = first.data();
  PitchedBuffer<int> second = std::move(first);
  EXPECT_EQ(second.data(), data);
  EXPECT_EQ(second.height(), 4u);
  EXPECT_EQ(first.data(), nullptr);
  EXPECT_TRUE(first.empty());
  expect_refused([&] { (void)first.span_2d(); },
                 {cudaErrorInvalidResourceHandle, "culvert::PitchedBuffer"});
  first = std::move(second);
  EXPECT_EQ(first.data(), data);
  first.reset();
  EXPECT_EQ(first.width(), 0u);

  PitchedBuffer<int> plain(3, 4);
  void* const released = plain.release();
  EXPECT_EQ(cudaFree(released), cudaSuccess);
}

TEST_F(PitchedBufferTest, Rebind) {
  const Stream a, b;
  PitchedBuffer<int> buffer(10, 10, a);
  fill_2d(buffer, 3, a);
  buffer.rebind(b);
  EXPECT_EQ(buffer.home(), StreamRef(b));
  PinnedBuffer<int> result(100);
  copy_2d(as_2d(result, 10, 10), buffer, b);  // after the fill, since b waits for a
  b.synchronize();
  EXPECT_EQ(std::ranges::count(result, 3), 100);
}

TEST_F(PitchedBufferTest, Overflow) {
  const Stream stream;
  const auto expect_overflow = [](auto&& make) {
    expect_refused(make, {cudaErrorInvalidValue, "culvert::PitchedBuffer", {"overflows"}});
  };
  expect_overflow([&] { PitchedBuffer<int> buffer(SIZE_MAX / 4, 1, stream); });
  expect_overflow([&] { PitchedBuffer<int> buffer(SIZE_MAX, 1); });
  expect_overflow([&] { PitchedBuffer<int> buffer(1, SIZE_MAX / 8, stream); });
  PitchedBuffer<int> result(1, 1, stream);
  EXPECT_EQ(PitchedBuffer<int>::try_allocate(result, 1, SIZE_MAX / 8, stream),
            cudaErrorMemoryAllocation);
  EXPECT_EQ(PitchedBuffer<int>::try_allocate(result, 1024, std::size_t{1} << 40, stream),
            cudaErrorMemoryAllocation);
  EXPECT_TRUE(result.empty());
  EXPECT_EQ(peek_last_error(), cudaSuccess);
  EXPECT_EQ(PitchedBuffer<int>::try_allocate(result, 5, 6, stream), cudaSuccess);
  EXPECT_EQ(result.height(), 6u);
  expect_error([&] { PitchedBuffer<int> buffer(1024, std::size_t{1} << 40, stream); },
               {cudaErrorMemoryAllocation, "cudaMallocAsync"});
  expect_error([&] { PitchedBuffer<int> buffer(1024, std::size_t{1} << 40); },
               {cudaErrorMemoryAllocation, "cudaMallocPitch"});
}

// Fills a part of rows, and compares all elements, those around the part too.
template <class T>
void expect_filled(const T& value) {
  const Stream stream;
  constexpr std::size_t width = 13, height = 9;
  PitchedBuffer<T> device(width, height, stream);
  std::vector<T> poison(width * height), result(width * height);
  std::memset(static_cast<void*>(poison.data()), 0x5a, poison.size() * sizeof(T));
  for (const auto& [x, y, w, h] : std::array<std::array<std::size_t, 4>, 5>{
           {{0, 0, width, height}, {2, 3, 5, 6}, {1, 8, 12, 1}, {3, 0, 1, 9}, {4, 4, 0, 3}}}) {
    copy_2d(device, as_2d(poison, width, height), stream);
    fill_2d(device.rect(x, y, w, h), value, stream);
    copy_2d(as_2d(result, width, height), device, stream);
    stream.synchronize();
    const auto rows = as_2d(result, width, height);
    for (std::size_t row = 0; row < height; ++row) {
      for (std::size_t at = 0; at < width; ++at) {
        const bool inside = at >= x && at < x + w && row >= y && row < y + h;
        ASSERT_EQ(std::memcmp(&rows(at, row), inside ? &value : poison.data(), sizeof(T)), 0)
            << sizeof(T) << " bytes, " << at << ", " << row;
      }
    }
  }
}

TEST_F(PitchedBufferTest, FillsEverySize) {
  expect_filled<unsigned char>(0x7e);
  expect_filled<short>(0x1234);
  expect_filled<int>(0x1234567);
  expect_filled<float>(0.0f);
  expect_filled<double>(1.25);
  expect_filled(std::array<unsigned char, 3>{1, 2, 3});
  expect_filled(std::array<unsigned, 4>{1, 2, 3, 4});
  expect_filled(std::array<unsigned char, 3>{9, 9, 9});
}

TEST_F(PitchedBufferTest, FillIsOrderedByTheStream) {
  const Stream a, b;
  PitchedBuffer<double> device(100, 50, a);
  PinnedBuffer<double> result(5000);
  support::delay(a.get());
  fill_2d(device, 1.5, a);
  b.wait(a);  // without it the copy would find what was there before
  copy_2d(as_2d(result, 100, 50), device, b);
  b.synchronize();
  EXPECT_EQ(std::ranges::count(result, 1.5), 5000);
}

}  // namespace
