// SPDX-License-Identifier: BSL-1.0
#include <culvert/copy_2d.hpp>
#include <culvert/pinned_buffer.hpp>
#include <culvert/pitched_buffer.hpp>

#include <algorithm>
#include <array>
#include <span>
#include <type_traits>
#include <vector>

#include "support/expect_error.hpp"

using namespace culvert;
using support::expect_refused;
using support::same_bytes;

static_assert(std::is_trivially_copyable_v<DeviceSpan2D<int>>);
static_assert(std::is_trivially_copyable_v<HostSpan3D<int>>);
static_assert(std::is_convertible_v<DeviceSpan2D<int>, DeviceSpan2D<const int>>);
static_assert(!std::is_convertible_v<DeviceSpan2D<const int>, DeviceSpan2D<int>>);
static_assert(!std::is_convertible_v<DeviceSpan2D<int>, HostSpan2D<int>>);
static_assert(std::is_same_v<decltype(DeviceSpan2D<int>().row(0)), DeviceSpan<int>>);
static_assert(std::is_same_v<decltype(HostSpan2D<int>().row(0)), std::span<int>>);

namespace {

using Bytes = std::vector<std::byte>;
using Copy2DTest = support::RuntimeTest;

// The elements count up from `first`.
template <class Range>
void count_up(Range& range, int first = 0) {
  for (int& element : range) element = first++;
}

TEST_F(Copy2DTest, ThroughRowsOfEveryPitch) {
  const Stream stream;
  for (const std::size_t width : {std::size_t{1}, std::size_t{3}, std::size_t{200}}) {
    for (const std::size_t height : {std::size_t{1}, std::size_t{2}, std::size_t{37}}) {
      PinnedBuffer<int> source(width * height), result(width * height);
      std::vector<int> pageable(width * height);
      count_up(source);
      std::ranges::fill(result, -1);
      PitchedBuffer<int> first(width, height, stream), second(width, height);
      copy_2d(first, as_2d(source, width, height), stream);
      copy_2d(second, first, stream);
      copy_2d(as_2d(result, width, height), std::as_const(second), stream);
      copy_2d(as_2d(pageable, width, height), second, stream);
      stream.synchronize();
      EXPECT_TRUE(std::ranges::equal(result, source));
      EXPECT_TRUE(std::ranges::equal(pageable, source));
    }
  }
}

// Every byte around the rectangle keeps what it had.
TEST_F(Copy2DTest, APartToAPart) {
  const Stream stream;
  constexpr std::size_t width = 50, height = 20;
  PitchedBuffer<int> device(width, height, stream);
  PinnedBuffer<int> source(30 * 10), all(width * height);
  count_up(source, 1000);
  std::ranges::fill(all, -1);
  copy_2d(device, as_2d(all, width, height), stream);
  const auto from = as_2d(source, 30, 10);
  copy_2d(device.rect(7, 5, 20, 9), from.rect(4, 1, 20, 9), stream);
  copy_2d(as_2d(all, width, height), device, stream);
  stream.synchronize();
  const auto rows = as_2d(all, width, height);
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t x = 0; x < width; ++x) {
      const bool inside = x >= 7 && x < 27 && y >= 5 && y < 14;
      ASSERT_EQ(rows(x, y), inside ? from(x - 7 + 4, y - 5 + 1) : -1) << x << ", " << y;
    }
  }
}

TEST_F(Copy2DTest, HostToHost) {
  const Stream stream;
  std::vector<int> source(12), result(24, -1);
  count_up(source);
  copy_2d(HostSpan2D<int>(result.data(), 3, 4, 6 * sizeof(int)), as_2d(source, 3, 4), stream);
  stream.synchronize();
  EXPECT_EQ(result[0], 0);
  EXPECT_EQ(result[2], 2);
  EXPECT_EQ(result[3], -1);
  EXPECT_EQ(result[6], 3);
  EXPECT_EQ(result[18], 9);
  EXPECT_EQ(result[21], -1);
}

TEST_F(Copy2DTest, IsOrderedByTheStream) {
  const Stream a, b;
  PitchedBuffer<int> device(100, 50, a);
  PinnedBuffer<int> source(5000), result(5000);
  std::ranges::fill(source, 4);
  support::delay(a.get());
  copy_2d(device, as_2d(source, 100, 50), a);
  b.wait(a);  // without it the copy would find what was there before
  copy_2d(as_2d(result, 100, 50), device, b);
  b.synchronize();
  EXPECT_EQ(std::ranges::count(result, 4), 5000);
}

TEST_F(Copy2DTest, ThreeDimensions) {
  const Stream stream;
  constexpr std::size_t width = 11, height = 7, depth = 5;
  PinnedBuffer<int> source(width * height * depth), result(width * height * depth);
  count_up(source);
  std::ranges::fill(result, -1);
  PitchedBuffer<int> rows(width, height * depth, stream);
  const DeviceSpan3D<int> device(rows.span_2d(), height);
  EXPECT_EQ(device.depth(), depth);
  copy_3d(device, as_3d(source, width, height, depth), stream);
  copy_3d(as_3d(result, width, height, depth), device, stream);
  stream.synchronize();
  EXPECT_TRUE(std::ranges::equal(result, source));

  // A box, to another place, device to device.
  PitchedBuffer<int> others(width, height * depth, stream);
  const DeviceSpan3D<int> other(others.span_2d(), height);
  std::ranges::fill(result, -1);
  copy_3d(other, as_3d(result, width, height, depth), stream);
  copy_3d(other.box(1, 2, 3, 6, 4, 2), device.box(5, 3, 0, 6, 4, 2), stream);
  copy_3d(as_3d(result, width, height, depth), other, stream);
  stream.synchronize();
  const auto from = as_3d(source, width, height, depth);
  const auto to = as_3d(result, width, height, depth);
  for (std::size_t z = 0; z < depth; ++z) {
    for (std::size_t y = 0; y < height; ++y) {
      for (std::size_t x = 0; x < width; ++x) {
        const bool inside = x >= 1 && x < 7 && y >= 2 && y < 6 && z >= 3;
        ASSERT_EQ(to.layer(z)(x, y), inside ? from.layer(z - 3)(x + 4, y + 1) : -1)
            << x << ", " << y << ", " << z;
      }
    }
  }

  // One layer is rows.
  PinnedBuffer<int> layer(width * height);
  copy_2d(as_2d(layer, width, height), device.layer(2), stream);
  stream.synchronize();
  EXPECT_EQ(layer[0], static_cast<int>(2 * width * height));
}

TEST_F(Copy2DTest, NothingMakesNoCall) {
  const Stream stream;
  PinnedBuffer<int> host(4);
  PitchedBuffer<int> none;
  const std::uint64_t before = support::runtime_calls();
  const PitchedBuffer<int> no_rows(4, 0, stream), no_columns(0, 4);
  EXPECT_TRUE(no_rows.empty() && no_columns.empty());
  copy_2d(none, HostSpan2D<const int>(), stream);
  copy_2d(as_2d(host, 2, 2).rect(2, 0, 0, 2), no_columns.rect(0, 1, 0, 2), stream);
  EXPECT_EQ(support::runtime_calls(), before);
}

TEST_F(Copy2DTest, Refusals) {
  const Stream stream;
  PitchedBuffer<int> device(10, 4, stream);
  PinnedBuffer<int> host(40);
  expect_refused([&] { copy_2d(device, as_2d(host, 4, 10), stream); },
                 {cudaErrorInvalidValue,
                  "culvert::copy_2d",
                  {"the destination is 10 by 4 elements, the source 4 by 10"}});
  expect_refused([&] { (void)as_2d(host, 10, 5); },
                 {cudaErrorInvalidValue, "culvert::as_2d", {"40 elements, the view 50"}});
  expect_refused([&] { (void)as_2d(host, SIZE_MAX / 2, 4); },
                 {cudaErrorInvalidValue, "culvert::as_2d", {"overflows"}});
  expect_refused([&] { (void)as_3d(host, 10, 2, 3); },
                 {cudaErrorInvalidValue, "culvert::as_3d", {"40 elements, the view 60"}});
  expect_refused([&] { (void)device.rect(1, 0, 10, 1); },
                 {cudaErrorInvalidValue, "culvert::Span2D::rect (in a row)", {"not inside 10"}});
  expect_refused([&] { (void)device.rect(0, 3, 1, 2); },
                 {cudaErrorInvalidValue, "culvert::Span2D::rect (of rows)", {"not inside 4"}});
  expect_refused([&] { (void)device.row(4); }, {cudaErrorInvalidValue, "culvert::Span2D::row"});
  expect_refused([&] { (void)HostSpan2D<int>(host.data(), 10, 4, 39); },
                 {cudaErrorInvalidValue, "culvert::HostSpan2D", {"less than a row of 40 bytes"}});
  expect_refused([&] { (void)HostSpan2D<int>(host.data(), 9, 4, 38); },
                 {cudaErrorInvalidValue, "culvert::HostSpan2D", {"aligned to 4 bytes"}});
  expect_refused([&] { (void)DeviceSpan2D<int>(nullptr, 2, 2); },
                 {cudaErrorInvalidValue, "culvert::DeviceSpan2D", {"null pointer"}});
  expect_refused([&] { (void)DeviceSpan3D<int>(device.span_2d(), 3); },
                 {cudaErrorInvalidValue, "culvert::DeviceSpan3D", {"no whole layers of 3 rows"}});
  const auto layers = as_3d(host, 2, 4, 5);
  expect_refused([&] { copy_3d(layers, layers.box(0, 0, 0, 2, 4, 4), stream); },
                 {cudaErrorInvalidValue,
                  "culvert::copy_3d",
                  {"2 by 4 by 5 elements, the source 2 by 4 by 4"}});
  expect_refused([&] { (void)layers.box(0, 0, 4, 1, 1, 2); },
                 {cudaErrorInvalidValue, "culvert::Span3D::box (of layers)"});
  const PitchedBuffer<int> taken = std::move(device);
  expect_refused([&] { copy_2d(device, as_2d(host, 10, 4), stream); },
                 {cudaErrorInvalidResourceHandle, "culvert::PitchedBuffer"});
}

}  // namespace
