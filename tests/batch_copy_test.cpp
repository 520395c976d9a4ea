// SPDX-License-Identifier: BSL-1.0
#include <culvert/batch_copy.hpp>
#include <culvert/device_buffer.hpp>
#include <culvert/pinned_buffer.hpp>

#include <algorithm>
#include <array>
#include <span>
#include <type_traits>
#include <vector>

#include "support/expect_error.hpp"

using namespace culvert;
using support::expect_error;
using support::expect_refused;
using support::same_bytes;

static_assert(std::is_copy_constructible_v<CopyBatch>);
static_assert(std::is_nothrow_move_constructible_v<CopyBatch>);
static_assert(std::is_nothrow_default_constructible_v<CopyBatch>);

namespace {

using Bytes = std::vector<std::byte>;
using BatchCopyTest = support::RuntimeTest;

constexpr std::size_t size = 4096;

PinnedBuffer<std::byte> pinned_of(const Bytes& bytes) {
  PinnedBuffer<std::byte> result(bytes.size());
  std::ranges::copy(bytes, result.begin());
  return result;
}

TEST_F(BatchCopyTest, EveryDirection) {
  const Stream stream;
  const Bytes first = support::random_bytes(size), second = support::random_bytes(size + 1),
              third = support::random_bytes(3), fourth = support::random_bytes(size);
  const PinnedBuffer<std::byte> source = pinned_of(first);
  DeviceBuffer<std::byte> from_pinned(first.size(), stream), from_vector(second.size(), stream),
      from_device(third.size(), stream), on_device(third.size(), stream);
  PinnedBuffer<std::byte> to_pinned(third.size());
  Bytes to_vector(third.size()), host_to_host(fourth.size());
  copy(on_device, third, stream);

  CopyBatch batch;
  EXPECT_TRUE(batch.empty());
  batch.add(from_pinned, source);
  batch.add(from_vector, second);
  batch.add(from_device, on_device);
  batch.add(to_pinned, on_device);
  batch.add(to_vector, std::as_const(on_device));
  batch.add(host_to_host, fourth);
  EXPECT_EQ(batch.size(), 6u);
  batch.enqueue(stream);
  stream.synchronize();

  EXPECT_TRUE(same_bytes(support::read_device(from_pinned.data(), first.size()), first));
  EXPECT_TRUE(same_bytes(support::read_device(from_vector.data(), second.size()), second));
  EXPECT_TRUE(same_bytes(support::read_device(from_device.data(), third.size()), third));
  EXPECT_TRUE(same_bytes(to_pinned.host_span(), third));
  EXPECT_TRUE(same_bytes(to_vector, third));
  EXPECT_TRUE(same_bytes(host_to_host, fourth));
}

// Also on the legacy default stream, which CUDA's call refuses.
TEST_F(BatchCopyTest, OnEveryKindOfStream) {
  const Stream owned;
  for (const StreamRef stream : {StreamRef(owned), StreamRef::legacy(), StreamRef::per_thread()}) {
    const Bytes expected = support::random_bytes(4 * size);
    PinnedBuffer<std::byte> source = pinned_of(expected);
    PinnedBuffer<std::byte> result(expected.size());
    DeviceBuffer<std::byte> device(expected.size(), stream);
    CopyBatch up, down;
    for (std::size_t at = 0; at < expected.size(); at += size) {
      up.add(device.subspan(at, size), source.subspan(at, size));
      down.add(result.subspan(at, size), device.subspan(at, size));
    }
    up.enqueue(stream);
    down.enqueue(stream);
    stream.synchronize();
    EXPECT_TRUE(same_bytes(result.host_span(), expected));
  }
}

TEST_F(BatchCopyTest, RunsAgainAndGrows) {
  const Stream stream;
  PinnedBuffer<int> source(100), result(100);
  DeviceBuffer<int> device(100, stream);
  CopyBatch batch;
  batch.reserve(3);
  for (std::size_t i = 0; i < 100; ++i) batch.add(device.subspan(i, 1), source.subspan(i, 1));
  for (int round = 1; round < 4; ++round) {
    std::ranges::fill(source, round);
    batch.enqueue(stream);
    copy_and_wait(result, device, stream);
    EXPECT_EQ(std::ranges::count(result, round), 100);
  }
  CopyBatch copied = batch;
  EXPECT_EQ(copied.size(), 100u);
  std::ranges::fill(source, 9);
  copied.enqueue(stream);
  copy_and_wait(result, device, stream);
  EXPECT_EQ(std::ranges::count(result, 9), 100);

  batch.clear();
  EXPECT_TRUE(batch.empty());
  batch.add(device.first(1), source.first(1));
  EXPECT_EQ(batch.size(), 1u);
}

// A pageable source is read during the call, in the legacy stream too.
TEST_F(BatchCopyTest, PageableSourcesAreReadDuringTheCall) {
  const Stream owned;
  for (const StreamRef stream : {StreamRef(owned), StreamRef::legacy()}) {
    DeviceBuffer<int> first(1000, stream), second(7, stream);
    PinnedBuffer<int> result(1000), short_result(7);
    support::delay(stream.get());
    CopyBatch batch;
    {
      std::vector<int> vector(1000, 5);
      std::array<int, 7> array{1, 2, 3, 4, 5, 6, 7};
      batch.add(first, vector);
      batch.add(second, array);
      batch.enqueue(stream);
      std::ranges::fill(vector, -1);
      array.fill(-1);
    }
    copy(result, first, stream);
    copy_and_wait(short_result, second, stream);
    EXPECT_EQ(std::ranges::count(result, 5), 1000);
    EXPECT_EQ(short_result[0], 1);
    EXPECT_EQ(short_result[6], 7);
  }
}

// Pinned memory is read in the order of the stream, however it is passed: here after the copy that
// writes it. A read during the call would find the bytes of before.
TEST_F(BatchCopyTest, PinnedSourcesAreReadInStreamOrder) {
  const Stream stream;
  DeviceBuffer<int> made(1000, stream), first(1000, stream), second(1000, stream);
  PinnedBuffer<int> staging(1000), result(1000);
  std::ranges::fill(staging, -1);
  const std::vector<int> content(1000, 8);
  copy(made, content, stream);
  support::delay(stream.get());
  copy(staging, made, stream);
  CopyBatch batch;
  batch.add(first, staging);
  batch.add(second, std::span<const int>(staging));
  batch.enqueue(stream);
  copy_and_wait(result, first, stream);
  EXPECT_EQ(std::ranges::count(result, 8), 1000);
  copy_and_wait(result, second, stream);
  EXPECT_EQ(std::ranges::count(result, 8), 1000);
}

// The batch comes after the stream's past and before its future.
TEST_F(BatchCopyTest, StandsInTheOrderOfTheStream) {
  const Stream a, b;
  DeviceBuffer<int> first(500, a), second(500, a);
  PinnedBuffer<int> ones(500), twos(500), result(1000);
  std::ranges::fill(ones, 1);
  std::ranges::fill(twos, 2);
  support::delay(a.get());
  copy(first, ones, a);
  copy(second, twos, a);
  CopyBatch batch;
  batch.add(result.first(500), first);
  batch.add(result.last(500), second);
  b.wait(a);  // without it the batch would find what was there before
  batch.enqueue(b);
  b.synchronize();
  EXPECT_EQ(std::ranges::count(result.first(500), 1), 500);
  EXPECT_EQ(std::ranges::count(result.last(500), 2), 500);
  a.wait(b);
}

TEST_F(BatchCopyTest, PrefersToOverlap) {
  const Stream stream;
  PinnedBuffer<int> source(10), result(10);
  std::ranges::fill(source, 3);
  DeviceBuffer<int> device(10, stream);
  CopyBatch batch{{.prefer_overlap_with_compute = true}};
  batch.add(device, source);
  batch.enqueue(stream);
  copy_and_wait(result, device, stream);
  EXPECT_EQ(std::ranges::count(result, 3), 10);
}

TEST_F(BatchCopyTest, NothingMakesNoCall) {
  const Stream stream;
  DeviceBuffer<int> none;
  std::vector<int> empty;
  const std::uint64_t before = support::runtime_calls();
  CopyBatch batch;
  batch.enqueue(stream);
  batch.add(none, empty);
  batch.add(empty, none);
  batch.enqueue(stream);
  EXPECT_TRUE(batch.empty());
  EXPECT_EQ(support::runtime_calls(), before);
}

TEST_F(BatchCopyTest, Refusals) {
  const Stream stream;
  DeviceBuffer<int> device(10, stream);
  PinnedBuffer<int> pinned(10);
  CopyBatch batch;
  const auto expect_sizes = [&](auto&& add) {
    expect_refused(add, {cudaErrorInvalidValue,
                         "culvert::CopyBatch::add",
                         {"the destination has 10 elements, the source 9"}});
  };
  expect_sizes([&] { batch.add(device, pinned.first(9)); });
  expect_sizes([&] { batch.add(pinned, device.first(9)); });
  expect_refused([&] { batch.add(device, std::span<int>(static_cast<int*>(nullptr), 10)); },
                 {cudaErrorInvalidValue, "culvert::CopyBatch::add", {"a null host pointer"}});
  DeviceBuffer<int> taken = std::move(device);
  expect_refused([&] { batch.add(device, pinned); },
                 {cudaErrorInvalidResourceHandle, "culvert::DeviceBuffer"});
  EXPECT_TRUE(batch.empty());

  Stream gone;
  gone.reset();
  batch.add(taken, pinned);
  expect_refused([&] { batch.enqueue(gone); }, {cudaErrorInvalidResourceHandle, "culvert::Stream"});
  EXPECT_EQ(batch.size(), 1u);
}

// What CUDA refuses.
TEST_F(BatchCopyTest, AnAddressThatIsNoMemory) {
#if CUDART_VERSION >= 12080
  if (support::is_simulated()) testing::internal::CaptureStderr();
  const Stream stream;
  DeviceBuffer<int> device(10);
  PinnedBuffer<int> pinned(1 << 20);
  CopyBatch batch;
  batch.add(DeviceSpan<int>(device.data(), pinned.size()), pinned);
  expect_error([&] { batch.enqueue(stream); },
               {cudaErrorInvalidValue, "cudaMemcpyBatchAsync", {"copies in the batch: 1"}});
  stream.synchronize();
  if (support::is_simulated()) (void)testing::internal::GetCapturedStderr();
#endif
}

}  // namespace
