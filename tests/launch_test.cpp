// SPDX-License-Identifier: BSL-1.0
#include <culvert/copy.hpp>
#include <culvert/device_buffer.hpp>
#include <culvert/fill.hpp>
#include <culvert/launch.hpp>
#include <culvert/occupancy.hpp>
#include <culvert/pinned_buffer.hpp>

#include <algorithm>
#include <array>
#include <climits>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "kernels.hpp"
#include "support/expect_error.hpp"
#include "support/test_support.hpp"

using namespace culvert;
using support::expect_error;
using support::expect_refused;
using support::Expected;

namespace {

using kernels::Seen;

constexpr std::size_t count = 1000;

template <class T>
std::vector<T> read(const DeviceBuffer<T>& buffer, StreamRef stream) {
  std::vector<T> result(buffer.size());
  std::memset(static_cast<void*>(result.data()), 0xA5, buffer.size_bytes());
  copy_and_wait(result, buffer, stream);
  return result;
}

std::vector<float> ramp(std::size_t size) {
  std::vector<float> result(size);
  std::iota(result.begin(), result.end(), 1.0f);
  return result;
}

// Clusters and launches that overlap need compute capability 9.0.
bool has_clusters() { return Device::current().attribute(cudaDevAttrComputeCapabilityMajor) >= 9; }

class LaunchTest : public support::RuntimeTest {
 protected:
  // Launches see_launch with this and tells what it saw.
  template <class Config>
  Seen see(const Config& config) {
    DeviceBuffer<Seen> seen(1, stream);
    fill_bytes(seen, 0, stream);
    launch(stream, config, kernels::see_launch, seen);
    return read(seen, stream).front();
  }

  const Stream stream;
};

TEST_F(LaunchTest, NoArguments) {
  launch(stream, {}, kernels::nothing);
  launch(stream, {.grid = 3, .block = 32}, kernels::nothing);
  launch(StreamRef::legacy(), {}, kernels::nothing);
  launch(stream.get(), {}, &kernels::nothing);
  // Redundant: the kernel does nothing; that it is accepted is the test.
  StreamRef::legacy().synchronize();
  // Redundant: the kernel does nothing; that it is accepted is the test.
  stream.synchronize();
}

TEST_F(LaunchTest, ValuesOfEachKind) {
  DeviceBuffer<kernels::Values> result(1, stream);
  const short small = -7;  // widens to int
  const kernels::Pair pair{11, 2.5};
  launch(stream, {}, kernels::store_values, result, small, 4000000000u, -5000000000LL,
         static_cast<unsigned char>(200), true, 1.5f, 3.0f, pair, kernels::Color::blue);
  const kernels::Values values = read(result, stream).front();
  EXPECT_EQ(values.integer, -7);
  EXPECT_EQ(values.unsigned_integer, 4000000000u);
  EXPECT_EQ(values.long_integer, -5000000000LL);
  EXPECT_EQ(values.byte, 200);
  EXPECT_TRUE(values.boolean);
  EXPECT_EQ(values.real, 1.5f);
  EXPECT_EQ(values.long_real, 3.0);
  EXPECT_EQ(values.pair.first, 11);
  EXPECT_EQ(values.pair.second, 2.5);
  EXPECT_EQ(values.color, kernels::Color::blue);
}

TEST_F(LaunchTest, ValuesAreCopiedDuringTheCall) {
  DeviceBuffer<float> x(count, stream);
  const std::vector<float> values = ramp(count);
  copy(x, values, stream);
  float factor = 2.0f;
  std::size_t size = count;
  support::delay(stream.get());
  launch(stream, {.grid = 4, .block = 256}, kernels::scale, x, factor, size);
  factor = -1.0f;
  size = 0;
  const std::vector<float> result = read(x, stream);
  for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(result[i], 2.0f * static_cast<float>(i + 1));
}

TEST_F(LaunchTest, Pointers) {
  DeviceBuffer<const void*> result(4, stream);
  DeviceBuffer<float> a(4, stream);
  const DeviceBuffer<float> b(4, stream);
  DeviceBuffer<int> c(4, stream);
  PinnedBuffer<double> d(4);
  using Addresses = std::vector<const void*>;

  launch(stream, {}, kernels::store_pointers, result, a, b, c, d);
  EXPECT_EQ(read(result, stream), (Addresses{a.data(), b.data(), c.data(), d.data()}));

  launch(stream, {}, kernels::store_pointers, result.data(), a.data(), a.data(), a.data(),
         b.data());
  EXPECT_EQ(read(result, stream), (Addresses{a.data(), a.data(), a.data(), b.data()}));

  // Temporary views own nothing.
  launch(stream, {}, kernels::store_pointers, DeviceSpan(result), a.subspan(1, 2), b.last(1),
         as_bytes(c), DeviceSpan<const int>(c));
  EXPECT_EQ(read(result, stream), (Addresses{a.data() + 1, b.data() + 3, c.data(), c.data()}));

  launch(stream, {}, kernels::store_pointers, result, nullptr, nullptr, nullptr, nullptr);
  EXPECT_EQ(read(result, stream), Addresses(4, nullptr));

  // An empty buffer has no memory.
  launch(stream, {}, kernels::store_pointers, result, DeviceSpan<float>(), DeviceSpan<float>(),
         nullptr, nullptr);
  EXPECT_EQ(read(result, stream), Addresses(4, nullptr));
}

TEST_F(LaunchTest, ConstBuffersAreRead) {
  const std::vector<float> values = ramp(count);
  DeviceBuffer<float> a(count, stream);
  DeviceBuffer<float> sum(count, stream);
  copy(a, values, stream);
  const DeviceBuffer<float>& constant = a;
  launch(stream, {.grid = grid_for(count, 128), .block = 128}, kernels::add, constant, a, sum,
         count);
  const std::vector<float> result = read(sum, stream);
  for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(result[i], 2.0f * values[i]);
}

TEST_F(LaunchTest, SpanParameters) {
  const std::vector<float> values = ramp(count);
  DeviceBuffer<float> from(count, stream);
  DeviceBuffer<float> to(count, stream);
  copy(from, values, stream);
  fill(to, 1.0f, stream);
  const LaunchConfig config{.grid = grid_for(count, 128), .block = 128};
  launch(stream, config, kernels::add_spans, from, to);
  launch(stream, config, kernels::add_spans, std::as_const(from), DeviceSpan(to));
  launch(stream, config, kernels::add_spans, from.first(10), to.first(10));
  const std::vector<float> result = read(to, stream);
  for (std::size_t i = 0; i < count; ++i) {
    ASSERT_EQ(result[i], 1.0f + (i < 10 ? 3.0f : 2.0f) * values[i]);
  }
}

TEST_F(LaunchTest, PinnedMemory) {
  const std::vector<float> values = ramp(count);
  PinnedBuffer<float> x(count);
  PinnedBuffer<float> sum(count);
  const PinnedBuffer<float>& constant = x;
  std::ranges::copy(values, x.begin());
  launch(stream, {.grid = 2, .block = 64}, kernels::add, constant, x, sum, count);
  stream.synchronize();
  for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(sum[i], 2.0f * values[i]);
}

TEST_F(LaunchTest, GridAndBlock) {
  const Seen one = see(LaunchConfig{});
  EXPECT_EQ(one.threads, 1u);
  EXPECT_EQ(one.shared_memory_bytes, 0u);

  const Seen flat = see(LaunchConfig{.grid = 5L, .block = std::size_t{96}});
  EXPECT_EQ((std::array{flat.grid[0], flat.grid[1], flat.grid[2]}), (std::array{5u, 1u, 1u}));
  EXPECT_EQ((std::array{flat.block[0], flat.block[1], flat.block[2]}), (std::array{96u, 1u, 1u}));
  EXPECT_EQ(flat.threads, 5u * 96u);

  const Seen deep = see(LaunchConfig{.grid = {2, 3u, 4}, .block = dim3(8, 4, 2)});
  EXPECT_EQ((std::array{deep.grid[0], deep.grid[1], deep.grid[2]}), (std::array{2u, 3u, 4u}));
  EXPECT_EQ((std::array{deep.block[0], deep.block[1], deep.block[2]}), (std::array{8u, 4u, 2u}));
  EXPECT_EQ(deep.threads, 24u * 64u);

  const Seen largest = see(LaunchConfig{.grid = {1, 65535}, .block = {1, 1024}});
  EXPECT_EQ(largest.grid[1], 65535u);
  EXPECT_EQ(largest.block[1], 1024u);
}

TEST_F(LaunchTest, SharedMemory) {
  EXPECT_EQ(see(LaunchConfig{.shared_memory_bytes = 4096}).shared_memory_bytes, 4096u);
  EXPECT_EQ(see(LaunchConfig{.shared_memory_bytes = 48 << 10}).shared_memory_bytes, 48u << 10);

  // More than 48 KiB, once it is allowed.
  constexpr unsigned size = 24 << 10;
  constexpr std::size_t bytes = size * sizeof(int);
  std::vector<int> values(size);
  std::iota(values.begin(), values.end(), 0);
  DeviceBuffer<int> from(size, stream);
  DeviceBuffer<int> to(size, stream);
  copy(from, values, stream);
  const LaunchConfig config{.block = 256, .shared_memory_bytes = bytes};
  if (static_cast<std::size_t>(
          Device::current().attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin)) < bytes) {
    return;
  }
  allow_shared_memory(kernels::reverse, bytes);
  launch(stream, config, kernels::reverse, from, to, size);
  EXPECT_EQ(read(to, stream), std::vector<int>(values.rbegin(), values.rend()));
}

TEST_F(LaunchTest, Clusters) {
  if (!has_clusters()) return;
  for (const unsigned size : {1u, 2u, 4u, 8u}) {
    constexpr unsigned blocks = 16;
    DeviceBuffer<unsigned[3]> sizes(blocks, stream);
    DeviceBuffer<unsigned> ranks(blocks, stream);
    launch(stream, {.grid = blocks, .block = 32, .cluster = size}, kernels::see_clusters,
           sizes.data(), ranks);
    const std::vector<unsigned> rank = read(ranks, stream);
    for (unsigned i = 0; i < blocks; ++i) EXPECT_EQ(rank[i], i % size);
    std::array<unsigned, 3> first{};
    const DeviceSpan<const unsigned> flat(sizes.data()[0], 3);
    copy_and_wait(first, flat, stream);
    EXPECT_EQ(first, (std::array{size, 1u, 1u}));
  }
}

TEST_F(LaunchTest, CooperativeGrid) {
  const Device device = Device::current();
  if (device.attribute(cudaDevAttrCooperativeLaunch) == 0) return;
  constexpr unsigned block = 64;
  const auto blocks =
      static_cast<unsigned>(std::min(64, blocks_per_multiprocessor(kernels::total, block) *
                                             device.attribute(cudaDevAttrMultiProcessorCount)));
  std::vector<int> values(10000);
  std::iota(values.begin(), values.end(), -50);
  DeviceBuffer<int> from(values.size(), stream);
  DeviceBuffer<int> partial(blocks, stream);
  DeviceBuffer<int> totals(blocks, stream);
  copy(from, values, stream);
  launch(stream, {.grid = blocks, .block = block, .cooperative = true}, kernels::total, from,
         static_cast<unsigned>(values.size()), partial, totals);
  const int sum = std::accumulate(values.begin(), values.end(), 0);
  EXPECT_EQ(read(totals, stream), std::vector<int>(blocks, sum));
}

TEST_F(LaunchTest, TooLargeCooperativeGridIsRefusedByCuda) {
  const Device device = Device::current();
  if (device.attribute(cudaDevAttrCooperativeLaunch) == 0) return;
  const int most = blocks_per_multiprocessor(kernels::nothing, 1024) *
                   device.attribute(cudaDevAttrMultiProcessorCount);
  launch(stream, {.grid = most, .block = 1024, .cooperative = true}, kernels::nothing);
  // Redundant: the kernel does nothing; that it is accepted is the test.
  stream.synchronize();
  expect_error(
      [&] {
        launch(stream, {.grid = most + 1, .block = 1024, .cooperative = true}, kernels::nothing);
      },
      {cudaErrorCooperativeLaunchTooLarge,
       "cudaLaunchKernelExC",
       {"grid " + std::to_string(most + 1) + " x 1 x 1", "block 1024 x 1 x 1", "cooperative"}});
}

TEST_F(LaunchTest, Priorities) {
  const PriorityRange range = Device::current().priority_range();
  for (const Priority priority : {Priority::highest, Priority::lowest, Priority::normal,
                                  Priority(range.highest), Priority(range.lowest)}) {
    EXPECT_EQ(see(LaunchConfig{.grid = 2, .priority = priority}).threads, 2u);
  }
  const std::string text = "outside the device's range, " + std::to_string(range.highest) +
                           " (highest) to " + std::to_string(range.lowest) + " (lowest)";
  for (const int number : {range.highest - 1, range.lowest + 1}) {
    expect_error([&] { launch(stream, {.priority = number}, kernels::nothing); },
                 {cudaErrorInvalidValue,
                  "culvert::launch",
                  {"priority " + std::to_string(number) + " is " + text}});
  }
}

TEST_F(LaunchTest, ProgrammaticSerialization) {
  DeviceBuffer<int> x(count, stream);
  DeviceBuffer<int> result(count, stream);
  for (int value = 0; value < 20; ++value) {
    launch(stream, {.grid = 8, .block = 128}, kernels::produce, x, value, unsigned{count});
    launch(stream, {.grid = 8, .block = 128, .programmatic_serialization = true}, kernels::consume,
           x, result, unsigned{count});
    EXPECT_EQ(read(result, stream), std::vector<int>(count, value + 1));
  }
}

TEST_F(LaunchTest, FurtherAttributes) {
  cudaLaunchAttribute priority{};
  priority.id = cudaLaunchAttributePriority;
  priority.val.priority = Device::current().priority_range().highest;
  const std::array<cudaLaunchAttribute, 1> one{priority};
  EXPECT_EQ(see(LaunchConfig{.grid = 2, .attributes = one}).threads, 2u);

  // As many as there is room for, and one more.
  std::vector<cudaLaunchAttribute> many(16);
  for (cudaLaunchAttribute& attribute : many) attribute.id = cudaLaunchAttributeIgnore;
  EXPECT_EQ(see(LaunchConfig{.grid = 2, .attributes = many}).threads, 2u);
  const Expected expected{cudaErrorInvalidValue, "culvert::launch", {"more than 16 attributes"}};
  expect_refused(
      [&] { launch(stream, {.cooperative = true, .attributes = many}, kernels::nothing); },
      expected);
  many.resize(17, many.front());
  expect_refused([&] { launch(stream, {.attributes = many}, kernels::nothing); }, expected);
}

TEST_F(LaunchTest, RunsInTheOrderOfTheStream) {
  DeviceBuffer<int> x(count, stream);
  PinnedBuffer<int> before(count);
  PinnedBuffer<int> after(count);
  support::delay(stream.get());
  fill(x, 41, stream);
  copy(before, x, stream);
  launch(stream, {.grid = 2, .block = 256}, kernels::increment, x, count);
  copy(after, x, stream);
  fill(x, 0, stream);
  stream.synchronize();
  EXPECT_TRUE(std::ranges::all_of(before, [](int i) { return i == 41; }));
  EXPECT_TRUE(std::ranges::all_of(after, [](int i) { return i == 42; }));
}

TEST_F(LaunchTest, AWaitOrdersTwoStreams) {
  const Stream other;
  DeviceBuffer<int> x(count, stream);
  fill(x, 1, stream);
  support::delay(stream.get());
  launch(stream, {.grid = 2, .block = 256}, kernels::increment, x, count);
  other.wait(stream);
  launch(other, {.grid = 2, .block = 256}, kernels::increment, x, count);
  stream.wait(other);
  EXPECT_EQ(read(x, stream), std::vector<int>(count, 3));
}

TEST_F(LaunchTest, ManyLaunches) {
  DeviceBuffer<int> x(count, stream);
  fill(x, 0, stream);
  for (int i = 0; i < 2000; ++i) {
    launch(stream, {.grid = grid_for(count, 256), .block = 256}, kernels::increment, x, count);
  }
  EXPECT_EQ(read(x, stream), std::vector<int>(count, 2000));
}

TEST_F(LaunchTest, DimensionOfZero) {
  const Expected expected{cudaErrorInvalidConfiguration, "culvert::launch", {"a dimension is 0"}};
  expect_refused([&] { launch(stream, {.grid = 0}, kernels::nothing); },
                 {cudaErrorInvalidConfiguration,
                  "culvert::launch",
                  {"a dimension is 0: grid 0 x 1 x 1, block 1 x 1 x 1"}});
  expect_refused([&] { launch(stream, {.block = 0}, kernels::nothing); }, expected);
  expect_refused([&] { launch(stream, {.grid = {1, 0}}, kernels::nothing); }, expected);
  expect_refused([&] { launch(stream, {.block = {1, 1, 0}}, kernels::nothing); }, expected);
  expect_refused([&] { launch(stream, {.grid = dim3(1, 1, 0)}, kernels::nothing); }, expected);
}

TEST_F(LaunchTest, DimensionThatDoesNotFit) {
  const auto expected = [](const char* number) {
    return Expected{cudaErrorInvalidValue, "culvert::Dimensions", {number}};
  };
  const long long large = 1LL << 32;
  const std::size_t wrapped = std::size_t{0} - 1;
  expect_refused([&] { launch(stream, {.grid = -1}, kernels::nothing); }, expected("-1 is"));
  expect_refused([&] { launch(stream, {.block = {1, -2}}, kernels::nothing); }, expected("-2 is"));
  expect_refused(
      [&] {
        launch(stream, {.grid = {1, 1, large}}, kernels::nothing);
      },
      expected("4294967296 is"));
  expect_refused([&] { launch(stream, {.cluster = wrapped}, kernels::nothing); },
                 expected("18446744073709551615 is"));
  const Dimensions largest(UINT_MAX, 1u, large - 1);
  EXPECT_EQ(largest.x(), UINT_MAX);
  EXPECT_EQ(largest.z(), UINT_MAX);
}

TEST_F(LaunchTest, CudaRefusesTheSize) {
  expect_error([&] { launch(stream, {.grid = 3, .block = 2000}, kernels::nothing); },
               {cudaErrorInvalidValue,
                "cudaLaunchKernelExC",
                {"grid 3 x 1 x 1, block 2000 x 1 x 1, 0 bytes of dynamic shared memory"}});
  expect_error(
      [&] {
        launch(stream, {.grid = {1, 65536}}, kernels::nothing);
      },
      {cudaErrorInvalidValue, "cudaLaunchKernelExC", {"grid 1 x 65536 x 1"}});
  expect_error(
      [&] { launch(stream, {.shared_memory_bytes = (48 << 10) + 1}, kernels::nothing); },
      {cudaErrorInvalidValue, "cudaLaunchKernelExC", {"49153 bytes of dynamic shared memory"}});
  launch(stream, {}, kernels::nothing);  // and nothing is broken
  // Redundant: the kernel does nothing; that it is accepted is the test.
  stream.synchronize();
}

TEST_F(LaunchTest, GridThatIsNoMultipleOfTheCluster) {
  if (!has_clusters()) return;
  try {
    launch(stream, {.grid = 5, .block = 32, .cluster = 2}, kernels::nothing);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_TRUE(error.status() == cudaErrorInvalidClusterSize ||
                error.status() == cudaErrorInvalidConfiguration ||
                error.status() == cudaErrorInvalidValue)
        << error.what();
    EXPECT_NE(std::string(error.what()).find("grid 5 x 1 x 1"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("cluster 2 x 1 x 1"), std::string::npos);
    EXPECT_EQ(peek_last_error(), cudaSuccess);
  }
}

TEST_F(LaunchTest, NullKernel) {
  void (*const null)(float*, float, std::size_t) = nullptr;
  expect_refused([&] { launch(stream, {}, null, nullptr, 1.0f, count); },
                 {cudaErrorInvalidDeviceFunction, "culvert::launch", {"the kernel is null"}});
}

TEST_F(LaunchTest, MovedFromArguments) {
  Stream stream_before;
  const Stream other = std::move(stream_before);
  DeviceBuffer<int> buffer_before(count, stream);
  const DeviceBuffer<int> buffer = std::move(buffer_before);
  PinnedBuffer<float> pinned_before(4);
  const PinnedBuffer<float> pinned = std::move(pinned_before);
  DeviceBuffer<float> span_before(4, stream);
  const DeviceBuffer<float> span = std::move(span_before);
  const auto moved_from = [](const char* type) {
    return Expected{cudaErrorInvalidResourceHandle, type, {"moved from"}};
  };
  // NOLINTBEGIN(bugprone-use-after-move)
  expect_refused([&] { launch(stream_before, {}, kernels::nothing); },
                 moved_from("culvert::Stream"));
  expect_refused([&] { launch(stream_before.get(), {}, kernels::nothing); },
                 moved_from("culvert::Stream"));
  expect_refused([&] { launch(stream, {}, kernels::increment, buffer_before, count); },
                 moved_from("culvert::DeviceBuffer"));
  expect_refused([&] { launch(stream, {}, kernels::scale, pinned_before, 1.0f, count); },
                 moved_from("culvert::PinnedBuffer"));
  expect_refused([&] { launch(stream, {}, kernels::add_spans, span, span_before); },
                 moved_from("culvert::DeviceBuffer"));
  // NOLINTEND(bugprone-use-after-move)
}

// The place is that of the braces, however the configuration is written.
TEST_F(LaunchTest, ErrorsNameTheCallersLine) {
  constexpr void (*null)() = nullptr;
  const auto line_of = [](auto&& use) {
    try {
      use();
    } catch (const Error& error) {
      EXPECT_STREQ(error.where().file, __FILE__);
      return error.where().line;
    }
    return 0u;
  };
  unsigned line = __LINE__;
  EXPECT_EQ(line_of([&] { launch(stream, {}, null); }), line + 1);
  EXPECT_EQ(line_of([&] { launch(stream, {.grid = 4}, null); }), line + 2);
  const LaunchConfig kept{.grid = 4};
  EXPECT_EQ(line_of([&] { launch(stream, kept, null); }), line + 3);
  const LaunchConfig moved{.where = SourceLocation::current()};
  EXPECT_EQ(line_of([&] { launch(stream, moved, null); }), line + 5);
}

}  // namespace
