// SPDX-License-Identifier: BSL-1.0
//
// <algorithm> and the using-directive are here on purpose: std::copy must not be found for a
// DeviceBuffer<std::byte>.
#include <culvert/copy.hpp>
#include <culvert/device_buffer.hpp>
#include <culvert/pinned_buffer.hpp>

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "support/test_support.hpp"

using namespace culvert;
using support::same_bytes;

namespace {

using Bytes = std::vector<std::byte>;

constexpr std::size_t guard = 67;  // bytes of poison on each side, odd so that nothing is aligned

// What memory holds if `middle` arrived and nothing around it was touched.
Bytes framed(const Bytes& middle) {
  Bytes frame(guard, support::poison);
  frame.insert(frame.end(), middle.begin(), middle.end());
  frame.insert(frame.end(), guard, support::poison);
  return frame;
}

// Device memory of `size` bytes between two guards.
class FramedDevice {
 public:
  explicit FramedDevice(std::size_t size) : FramedDevice(support::poisoned(size)) {}
  explicit FramedDevice(const Bytes& content) : memory_(content.size() + 2 * guard) {
    support::write_device(memory_.data(), framed(content));
  }
  DeviceSpan<std::byte> middle() { return memory_.subspan(guard, memory_.size() - 2 * guard); }
  Bytes all() const { return support::read_device(memory_.data(), memory_.size()); }

 private:
  DeviceBuffer<std::byte> memory_;
};

// Host memory of `size` bytes between two guards, pinned or pageable.
template <class Memory>
class FramedHost {
 public:
  explicit FramedHost(std::size_t size) : FramedHost(support::poisoned(size)) {}
  explicit FramedHost(const Bytes& content) : memory_(content.size() + 2 * guard) {
    std::ranges::copy(framed(content), memory_.begin());
  }
  std::span<std::byte> middle() {
    return std::span(memory_).subspan(guard, memory_.size() - 2 * guard);
  }
  std::span<const std::byte> all() const { return memory_; }

 private:
  Memory memory_;
};
using Pinned = PinnedBuffer<std::byte>;

class CopyTest : public support::RuntimeTest, public testing::WithParamInterface<std::size_t> {
 protected:
  const Bytes expected = support::random_bytes(GetParam());
  const std::size_t size = expected.size();
};

template <class Memory>
void host_to_device(const Bytes& expected) {
  const Stream stream;
  FramedHost<Memory> source(expected);
  FramedDevice destination(expected.size());
  copy(destination.middle(), source.middle(), stream);
  // Redundant: with zero bytes there is nothing to wait for.
  stream.synchronize();
  EXPECT_TRUE(same_bytes(destination.all(), framed(expected)));
  EXPECT_TRUE(same_bytes(source.all(), framed(expected)));
}

template <class Memory>
void device_to_host(const Bytes& expected) {
  const Stream stream;
  FramedDevice source(expected);
  FramedHost<Memory> destination(expected.size());
  copy(destination.middle(), source.middle(), stream);
  // Redundant: with zero bytes there is nothing to wait for.
  stream.synchronize();
  EXPECT_TRUE(same_bytes(destination.all(), framed(expected)));
  EXPECT_TRUE(same_bytes(source.all(), framed(expected)));
}

template <class To, class From>
void host_to_host(const Bytes& expected) {
  const Stream stream;
  FramedHost<From> source(expected);
  FramedHost<To> destination(expected.size());
  copy(destination.middle(), source.middle(), stream);
  // Redundant: a copy within host memory is complete on return (CUDA).
  stream.synchronize();
  EXPECT_TRUE(same_bytes(destination.all(), framed(expected)));
}

TEST_P(CopyTest, HostToDevice) {
  host_to_device<Pinned>(expected);
  host_to_device<Bytes>(expected);
}

TEST_P(CopyTest, DeviceToHost) {
  device_to_host<Pinned>(expected);
  device_to_host<Bytes>(expected);
}

TEST_P(CopyTest, DeviceToDevice) {
  const Stream stream;
  FramedDevice source(expected);
  FramedDevice destination(size);
  copy(destination.middle(), source.middle(), stream);
  // Redundant: with zero bytes there is nothing to wait for.
  stream.synchronize();
  EXPECT_TRUE(same_bytes(destination.all(), framed(expected)));
  EXPECT_TRUE(same_bytes(source.all(), framed(expected)));
}

TEST_P(CopyTest, HostToHost) {
  host_to_host<Pinned, Bytes>(expected);
  host_to_host<Bytes, Pinned>(expected);
}

// Whole buffers, and the unqualified call of copy for DeviceBuffer<std::byte>.
TEST_P(CopyTest, ThroughEveryBuffer) {
  const Stream stream;
  Pinned pinned(size);
  DeviceBuffer<std::byte> first(size, stream);
  DeviceBuffer<std::byte> second(size, stream);
  Bytes result = support::poisoned(size);
  copy(pinned, expected, stream);
  // Redundant: a copy within host memory is complete on return (CUDA).
  stream.synchronize();
  copy(first, pinned, stream);
  copy(second, first, stream);
  // Redundant: with zero bytes there is nothing to wait for.
  copy_and_wait(result, second, stream);
  EXPECT_TRUE(same_bytes(result, expected));
}

TEST_P(CopyTest, AndWaitBlocksTheHost) {
  const Stream stream;
  Pinned source(size);
  std::ranges::copy(expected, source.begin());
  Pinned result(size);
  std::ranges::fill(result, support::poison);
  DeviceBuffer<std::byte> buffer(size, stream);
  support::delay(stream.get());
  copy(buffer, source, stream);
  copy_and_wait(result, buffer, stream);
  EXPECT_TRUE(stream.is_done());
  EXPECT_TRUE(same_bytes(result, expected));
}

// 64 MiB are copied once for each runtime: not again in the per-thread build (see list.cmake), nor
// under sanitizers, which look at each byte and find the same in less.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define CULVERT_TEST_SANITIZED
#endif
#endif
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define CULVERT_TEST_SANITIZED
#endif
#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM) || defined(CULVERT_TEST_SANITIZED)
constexpr std::size_t largest = std::size_t{1} << 20;
#else
constexpr std::size_t largest = std::size_t{64} << 20;
#endif

INSTANTIATE_TEST_SUITE_P(Size, CopyTest, testing::Values(0, 1, 3, 4096, 4097, largest),
                         testing::PrintToStringParamName());

using CopyTypesTest = support::RuntimeTest;

struct Element {
  double weight;
  std::int16_t index;
  friend bool operator==(const Element&, const Element&) = default;
};

TEST_F(CopyTypesTest, TypedElements) {
  const Stream stream;
  std::vector<Element> elements(1001);
  for (Element& element : elements) {
    element = {static_cast<double>(support::random_value<int>()), support::random_value<short>()};
  }
  DeviceBuffer<Element> buffer(elements.size(), stream);
  copy(buffer, elements, stream);
  PinnedBuffer<Element> result(elements.size());
  copy_and_wait(result, buffer, stream);
  EXPECT_TRUE(std::ranges::equal(result, elements));

  // A part, to a part.
  std::vector<Element> part(elements.size());
  copy_and_wait(std::span(part).subspan(1, 10), std::as_const(buffer).subspan(500, 10), stream);
  EXPECT_TRUE(
      std::ranges::equal(std::span(part).subspan(1, 10), std::span(elements).subspan(500, 10)));
  EXPECT_EQ(part[0], Element{});
  EXPECT_EQ(part[11], Element{});
}

TEST_F(CopyTypesTest, ArraysAndSpans) {
  const Stream stream;
  DeviceBuffer<int> buffer(7, stream);
  const auto expected = support::random_value<std::array<int, 7>>();

  int c_array[7] = {};
  copy(buffer, expected, stream);
  copy_and_wait(c_array, buffer, stream);
  EXPECT_TRUE(std::ranges::equal(c_array, expected));

  std::array<int, 7> array{};
  copy(buffer, c_array, stream);
  copy_and_wait(array, buffer, stream);
  EXPECT_EQ(array, expected);

  std::vector<int> vector(7);
  copy(buffer, std::span<const int>(array), stream);
  copy_and_wait(std::span<int>(vector), std::as_const(buffer), stream);
  EXPECT_TRUE(std::ranges::equal(vector, expected));

  int single[1] = {};
  copy_and_wait(single, buffer.subspan(6, 1), stream);
  EXPECT_EQ(single[0], expected[6]);
}

TEST_F(CopyTypesTest, BytesOfTypedElements) {
  const Stream stream;
  const Bytes expected = support::random_bytes(5 * sizeof(int));
  Bytes result = support::poisoned(expected.size());
  DeviceBuffer<int> buffer(5, stream);
  copy(as_bytes(buffer.device_span()), expected, stream);
  copy_and_wait(result, as_bytes(std::as_const(buffer).device_span()), stream);
  EXPECT_TRUE(same_bytes(result, expected));
}

TEST_F(CopyTypesTest, HostMemoryOfOneKind) {
  const Bytes expected = support::random_bytes(4097);
  host_to_host<Pinned, Pinned>(expected);
  host_to_host<Bytes, Bytes>(expected);
}

TEST_F(CopyTypesTest, NothingMakesNoCall) {
  const Stream stream;
  DeviceBuffer<int> none;
  std::vector<int> empty;
  const std::uint64_t before = support::runtime_calls();
  copy(none, empty, stream);
  copy(empty, none, stream);
  copy(none, DeviceSpan<const int>(), stream);
  EXPECT_EQ(support::runtime_calls(), before);
}

TEST_F(CopyTypesTest, OnEveryKindOfStream) {
  const Stream owned{{.kind = StreamKind::blocking}};
  for (const StreamRef stream : {StreamRef(owned), StreamRef::legacy(), StreamRef::per_thread()}) {
    const Bytes expected = support::random_bytes(1000);
    Bytes result = support::poisoned(expected.size());
    DeviceBuffer<std::byte> buffer(expected.size(), stream);
    copy(buffer, expected, stream);
    copy_and_wait(result, buffer, stream);
    EXPECT_TRUE(same_bytes(result, expected));
  }
}

}  // namespace
