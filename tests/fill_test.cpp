// SPDX-License-Identifier: BSL-1.0
#include <culvert/copy.hpp>
#include <culvert/device_buffer.hpp>
#include <culvert/fill.hpp>
#include <culvert/pinned_buffer.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "support/test_support.hpp"

using namespace culvert;
using support::same_bytes;

// A value fills elements that it converts to without narrowing.
static_assert(detail::FillValue<const float&, float> && detail::FillValue<const float&, double>);
static_assert(detail::FillValue<const short&, int> && detail::FillValue<const int&, long>);
static_assert(!detail::FillValue<const int&, float> && !detail::FillValue<const double&, float>);
static_assert(!detail::FillValue<const int&, char> && !detail::FillValue<const int&, unsigned>);
static_assert(!detail::FillValue<const int&, std::byte>);

namespace {

using Bytes = std::vector<std::byte>;

constexpr std::size_t guard = 64;

// `value` over and over, between two guards and after `offset` more bytes of poison.
template <std::size_t size>
Bytes repeated(const std::array<std::byte, size>& value, std::size_t count, std::size_t offset) {
  Bytes bytes = support::poisoned(2 * guard + offset + count * size);
  for (std::size_t i = 0; i < count; ++i) {
    std::memcpy(bytes.data() + guard + offset + i * size, value.data(), size);
  }
  return bytes;
}

// Fills elements of `size` bytes that begin at any address, and compares all memory around.
template <std::size_t size>
void expect_filled(const std::array<std::byte, size>& value, std::size_t count,
                   std::size_t offset) {
  using Element = std::array<std::byte, size>;
  SCOPED_TRACE(std::to_string(count) + " elements of " + std::to_string(size) +
               " bytes at offset " + std::to_string(offset));
  const Stream stream;
  const Bytes expected = repeated(value, count, offset);
  DeviceBuffer<std::byte> memory(expected.size());
  support::write_device(memory.data(), support::poisoned(expected.size()));
  const DeviceSpan<Element> elements(reinterpret_cast<Element*>(memory.data() + guard + offset),
                                     count);
  fill(elements, value, stream);
  // Redundant: with zero elements there is nothing to wait for.
  stream.synchronize();
  EXPECT_TRUE(same_bytes(support::read_device(memory.data(), memory.size()), expected));
}

template <class Size>
class FillTest : public support::RuntimeTest {
 protected:
  static constexpr std::size_t size = Size::value;
  using Value = std::array<std::byte, size>;

  static Value random() { return support::random_value<Value>(); }

  // A pattern of `period` bytes.
  static Value periodic(std::size_t period) {
    Value value = random();
    for (std::size_t i = period; i < size; ++i) value[i] = value[i - period];
    return value;
  }
};

template <std::size_t size>
using Size = std::integral_constant<std::size_t, size>;
using Sizes = testing::Types<Size<1>, Size<2>, Size<3>, Size<4>, Size<5>, Size<6>, Size<8>,
                             Size<12>, Size<16>, Size<24>, Size<64>>;
struct Names {
  template <class Size>
  static std::string GetName(int) {
    return std::to_string(Size::value) + "Bytes";
  }
};
TYPED_TEST_SUITE(FillTest, Sizes, Names);

TYPED_TEST(FillTest, EveryCountAndOffset) {
  const std::size_t many = 5 * detail::fill_block_bytes / this->size + 7;
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{3},
                                  std::size_t{1000}, std::size_t{4097}, many}) {
    for (const std::size_t offset : {0u, 1u, 2u, 4u}) {
      expect_filled(this->random(), count, offset);
    }
  }
}

// Values with equal bytes and equal words take shorter ways.
TYPED_TEST(FillTest, EveryPattern) {
  const std::size_t many = 2 * detail::fill_block_bytes / this->size + 1;
  for (const std::size_t period : {1u, 2u, 4u, 8u}) {
    for (const std::size_t offset : {0u, 1u, 2u}) {
      expect_filled(this->periodic(period), 1000, offset);
      expect_filled(this->periodic(period), many, offset);
    }
  }
}

// Runs of equal words of different lengths inside of a value.
TYPED_TEST(FillTest, Runs) {
  for (std::size_t run = 1; run < this->size; run *= 2) {
    auto value = this->periodic(1);
    std::fill_n(value.begin(), run, static_cast<std::byte>(~std::to_integer<int>(value.back())));
    expect_filled(value, 1000, 0);
    std::ranges::reverse(value);
    expect_filled(value, 1000, 1);
  }
}

using FillTypesTest = support::RuntimeTest;

// Fills a buffer with `value` and expects to read `element` everywhere.
template <class T, class V>
void expect_elements(const V& value, const T& element) {
  const Stream stream;
  for (const std::size_t count : {1u, 2u, 1000u}) {
    DeviceBuffer<T> buffer(count, stream);
    fill(buffer, value, stream);
    PinnedBuffer<T> result(count);
    copy_and_wait(result, buffer, stream);
    EXPECT_EQ(std::ranges::count(result, element), static_cast<std::ptrdiff_t>(count));
  }
}

enum class Colour : std::uint16_t { red = 0x1234, green = 7 };
struct Point {
  double x;
  float y;
  std::int32_t z;
  friend bool operator==(const Point&, const Point&) = default;
};

TEST_F(FillTypesTest, Values) {
  expect_elements<bool>(true, true);
  expect_elements<bool>(false, false);
  expect_elements<char>('x', 'x');
  expect_elements<std::byte>(std::byte{0xc3}, std::byte{0xc3});
  expect_elements<float>(1.5f, 1.5f);
  expect_elements<double>(-2.75, -2.75);
  expect_elements<std::int64_t>(std::int64_t{0x123456789abcdef}, std::int64_t{0x123456789abcdef});
  expect_elements<Colour>(Colour::red, Colour::red);
  expect_elements<Point>(Point{1.0, 2.0f, 3}, Point{1.0, 2.0f, 3});
  expect_elements<const Point*>(nullptr, nullptr);
}

TEST_F(FillTypesTest, ConvertedValues) {
  expect_elements<double>(1.5f, 1.5);
  expect_elements<long>(-7, -7L);
  expect_elements<std::uint32_t>(std::uint8_t{200}, std::uint32_t{200});
}

TEST_F(FillTypesTest, PartsOfBuffers) {
  const Stream stream;
  DeviceBuffer<int> buffer(10, stream);
  fill(buffer, 1, stream);
  fill(buffer.subspan(3, 4), 2, stream);
  fill(buffer.subspan(9, 0), 3, stream);
  std::vector<int> result(10);
  copy_and_wait(result, buffer, stream);
  EXPECT_EQ(result, (std::vector{1, 1, 1, 2, 2, 2, 2, 1, 1, 1}));
}

TEST_F(FillTypesTest, EveryByteValue) {
  const Stream stream;
  DeviceBuffer<std::byte> buffer(3 * 256, stream);
  Bytes expected(buffer.size());
  for (std::size_t value = 0; value < 256; ++value) {
    std::fill_n(expected.begin() + static_cast<std::ptrdiff_t>(3 * value), 3,
                static_cast<std::byte>(value));
    fill_bytes(buffer.subspan(3 * value, 3), static_cast<int>(value), stream);
  }
  Bytes result = support::poisoned(buffer.size());
  copy_and_wait(result, buffer, stream);
  EXPECT_TRUE(same_bytes(result, expected));
}

TEST_F(FillTypesTest, BytesOfTypedElements) {
  const Stream stream;
  DeviceBuffer<int> buffer(1000, stream);
  fill(buffer, 5, stream);
  fill_bytes(buffer.subspan(1, 998), std::byte{0x7f}, stream);
  std::vector<int> result(1000);
  copy_and_wait(result, buffer, stream);
  EXPECT_EQ(result.front(), 5);
  EXPECT_EQ(result.back(), 5);
  EXPECT_EQ(std::ranges::count(result, 0x7f7f7f7f), 998);
}

TEST_F(FillTypesTest, NothingMakesNoCall) {
  const Stream stream;
  DeviceBuffer<int> none;
  const std::uint64_t before = support::runtime_calls();
  fill(none, 1, stream);
  fill_bytes(none, 0, stream);
  EXPECT_EQ(support::runtime_calls(), before);
}

}  // namespace
