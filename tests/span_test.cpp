// SPDX-License-Identifier: BSL-1.0
#include <culvert/span.hpp>

#include <type_traits>

#include "support/expect_error.hpp"

using namespace culvert;
using support::expect_refused;

static_assert(std::is_trivially_copyable_v<DeviceSpan<int>>);
static_assert(sizeof(DeviceSpan<int>) == sizeof(int*) + sizeof(std::size_t));
static_assert(std::is_nothrow_default_constructible_v<DeviceSpan<int>>);
static_assert(std::is_convertible_v<DeviceSpan<int>, DeviceSpan<const int>>);
static_assert(!std::is_constructible_v<DeviceSpan<int>, DeviceSpan<const int>>);
static_assert(!std::is_constructible_v<DeviceSpan<long>, DeviceSpan<int>>);
static_assert(!std::is_convertible_v<int*, DeviceSpan<int>>);
static_assert(std::is_same_v<DeviceSpan<const int>::value_type, int>);
static_assert(DeviceSpan<int>().empty());

// Host code cannot reach the elements.
template <class Span>
concept Readable = requires(Span span) {
  span[0];
}
|| requires(Span span) { *span; }
|| requires(Span span) { span.begin(); }
|| requires(Span span) { span.end(); };
static_assert(!Readable<DeviceSpan<int>> && !Readable<DeviceSpan<const int>>);
static_assert(Readable<int*>);

namespace {

// Never dereferenced.
int* const somewhere = reinterpret_cast<int*>(std::uintptr_t{4096});

TEST(SpanTest, HasPointerAndSize) {
  const DeviceSpan<int> span(somewhere, 7);
  EXPECT_EQ(span.data(), somewhere);
  EXPECT_EQ(span.size(), 7u);
  EXPECT_EQ(span.size_bytes(), 28u);
  EXPECT_FALSE(span.empty());
  const DeviceSpan<const int> reading = span;
  EXPECT_EQ(reading.data(), somewhere);
  EXPECT_EQ(reading.size(), 7u);
  EXPECT_EQ(span.device_span().data(), somewhere);
}

TEST(SpanTest, NullIsFineWithoutElements) {
  const DeviceSpan<int> span(nullptr, 0);
  EXPECT_TRUE(span.empty());
  EXPECT_EQ(span.data(), nullptr);
  EXPECT_TRUE(span.subspan(0, 0).empty());
}

TEST(SpanTest, Parts) {
  const DeviceSpan<int> span(somewhere, 7);
  EXPECT_EQ(span.subspan(2, 3).data(), somewhere + 2);
  EXPECT_EQ(span.subspan(2, 3).size(), 3u);
  EXPECT_EQ(span.subspan(7, 0).data(), somewhere + 7);
  EXPECT_EQ(span.subspan(0, 7).size(), 7u);
  EXPECT_EQ(span.first(2).data(), somewhere);
  EXPECT_EQ(span.first(2).size(), 2u);
  EXPECT_EQ(span.last(2).data(), somewhere + 5);
  EXPECT_EQ(span.last(2).size(), 2u);
  EXPECT_EQ(span.last(7).data(), somewhere);
  EXPECT_TRUE(span.last(0).empty());
}

TEST(SpanTest, Bytes) {
  const auto bytes = as_bytes(DeviceSpan<int>(somewhere, 3));
  static_assert(std::is_same_v<decltype(bytes), const DeviceSpan<std::byte>>);
  EXPECT_EQ(static_cast<void*>(bytes.data()), somewhere);
  EXPECT_EQ(bytes.size(), 12u);
  const auto reading = as_bytes(DeviceSpan<const int>(somewhere, 3));
  static_assert(std::is_same_v<decltype(reading), const DeviceSpan<const std::byte>>);
  EXPECT_EQ(reading.size(), 12u);
}

TEST(SpanTest, PartOutside) {
  const DeviceSpan<int> span(somewhere, 7);
  const support::Expected outside{
      cudaErrorInvalidValue, "culvert::DeviceSpan::subspan", {"are not inside 7"}};
  expect_refused([&] { (void)span.subspan(0, 8); }, outside);
  expect_refused([&] { (void)span.subspan(8, 0); }, outside);
  expect_refused([&] { (void)span.subspan(5, 3); }, outside);
  expect_refused([&] { (void)span.subspan(1, SIZE_MAX); }, outside);
  expect_refused([&] { (void)span.subspan(SIZE_MAX, 1); }, outside);
  expect_refused([&] { (void)span.first(8); }, outside);
  expect_refused([&] { (void)span.last(8); }, outside);
  expect_refused([&] { (void)span.last(SIZE_MAX); }, outside);
}

TEST(SpanTest, NullOrTooLarge) {
  expect_refused([] { (void)DeviceSpan<int>(nullptr, 5); },
                 {cudaErrorInvalidValue, "culvert::DeviceSpan", {"null", "5 elements"}});
  expect_refused([] { (void)DeviceSpan<int>(somewhere, SIZE_MAX); },
                 {cudaErrorInvalidValue, "culvert::DeviceSpan", {"overflows", "4 bytes"}});
  expect_refused([] { (void)DeviceSpan<int>(somewhere, PTRDIFF_MAX / 4 + 1); },
                 {cudaErrorInvalidValue, "culvert::DeviceSpan", {"overflows"}});
  EXPECT_EQ(DeviceSpan<int>(somewhere, PTRDIFF_MAX / 4).size(), std::size_t{PTRDIFF_MAX / 4});
}

}  // namespace
