// SPDX-License-Identifier: BSL-1.0
#include <culvert/async.hpp>
#include <culvert/copy.hpp>
#include <culvert/device_buffer.hpp>
#include <culvert/pinned_buffer.hpp>

#include <array>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/counted.hpp"
#include "support/expect_error.hpp"
#include "support/gate.hpp"
#include "support/test_support.hpp"

using namespace culvert;
using support::Count;
using support::Counted;

static_assert(!std::is_copy_constructible_v<HostFuture<int>>);
static_assert(!std::is_copy_assignable_v<HostFuture<int>>);
static_assert(std::is_nothrow_move_constructible_v<HostFuture<int>>);
static_assert(std::is_nothrow_move_assignable_v<HostFuture<int>>);
static_assert(std::is_nothrow_default_constructible_v<HostFuture<int>>);
static_assert(sizeof(HostFuture<std::string>) == sizeof(void*));

namespace {

class AsyncTest : public support::RuntimeTest {
 protected:
  AsyncTest() { kept_events = 1000; }  // each slot keeps its event
};

TEST_F(AsyncTest, GivesTheValue) {
  const Stream stream;
  HostFuture<int> number = async_host(stream, [] { return 42; });
  HostFuture<std::unique_ptr<int>> pointer =
      async_host(stream, [p = std::make_unique<int>(7)]() mutable { return std::move(p); });
  HostFuture<std::string> text = async_host(stream, [] { return std::string(1000, 'x'); });
  HostFuture<void> nothing = async_host(stream, [] {});
  int object = 1;
  HostFuture<int&> reference = async_host(stream, [&]() -> int& { return object; });
  HostFuture<std::array<char, 5000>> large =
      async_host(stream, [] { return std::array<char, 5000>{'a'}; });
  EXPECT_EQ(number.get(), 42);
  EXPECT_EQ(*pointer.get(), 7);
  EXPECT_EQ(text.get(), std::string(1000, 'x'));
  nothing.get();
  EXPECT_EQ(&reference.get(), &object);
  EXPECT_EQ(large.get()[0], 'a');
}

TEST_F(AsyncTest, GetOrdersTheCallerAfterTheStream) {
  const Stream stream;
  const auto bytes = support::random_bytes(4097);
  DeviceBuffer<std::byte> device(bytes.size(), stream);
  PinnedBuffer<std::byte> source(bytes.size()), host(bytes.size());
  std::copy(bytes.begin(), bytes.end(), source.begin());
  std::fill(host.begin(), host.end(), support::poison);
  support::delay(stream.get());
  copy(device, source, stream);
  copy(host, device, stream);
  async_host(stream, [] { return 1; }).get();
  EXPECT_TRUE(support::same_bytes(host, bytes));
}

TEST_F(AsyncTest, WaitsAndAsks) {
  const Stream stream;
  support::Gate gate(stream);
  HostFuture<int> future = async_host(stream, [] { return 3; });
  EXPECT_TRUE(future.valid());
  EXPECT_FALSE(future.is_done());
  gate.open();
  future.wait();
  EXPECT_TRUE(future.is_done());
  EXPECT_TRUE(future.valid());
  // Redundant: get() waits again.
  EXPECT_EQ(future.get(), 3);
  EXPECT_FALSE(future.valid());
}

TEST_F(AsyncTest, FutureOfNothingIsRefused) {
  const Stream stream;
  const support::Expected expected{
      cudaErrorInvalidResourceHandle, "culvert::HostFuture", {"nothing to wait for"}};
  HostFuture<int> none;
  EXPECT_FALSE(none.valid());
  support::expect_refused([&] { none.get(); }, expected);
  support::expect_refused([&] { none.wait(); }, expected);
  support::expect_refused([&] { (void)none.is_done(); }, expected);
  support::expect_refused([&] { (void)none.event(); }, expected);

  HostFuture<int> first = async_host(stream, [] { return 1; });
  HostFuture<int> second = std::move(first);
  support::expect_refused([&] { first.get(); }, expected);
  EXPECT_EQ(second.get(), 1);
  support::expect_refused([&] { second.get(); }, expected);
}

TEST_F(AsyncTest, ExceptionReachesTheFuture) {
  const Stream stream;
  Count count;
  HostFuture<int> future = async_host(
      stream, [counted = Counted(count)]() -> int { throw std::runtime_error("out of cheese"); });
  HostFuture<void> nothing = async_host(stream, [] { throw 7; });
  future.wait();  // not the exception
  try {
    // Redundant: get() waits again.
    future.get();
    ADD_FAILURE();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "out of cheese");
  }
  EXPECT_FALSE(future.valid());
  EXPECT_THROW(nothing.get(), int);
  EXPECT_EQ(count.ended, 1);
  // Redundant: tidies up; get() has waited.
  stream.synchronize();
}

TEST_F(AsyncTest, CudaCallInsideReachesTheFuture) {
  const Stream stream;
  HostFuture<void> future = async_host(stream, [&] { stream.synchronize(); });
  support::expect_error(
      [&] { future.get(); },
      {cudaErrorNotPermitted, "cudaStreamSynchronize", {"inside a host function"}},
      SourceLocation::current(__FILE__, __LINE__ - 3));
}

// CUDA would let it wait there, for ever where the other comes later.
TEST_F(AsyncTest, WaitingInAHostFunctionIsRefused) {
  const Stream stream, other;
  HostFuture<int> first = async_host(other, [] { return 1; });
  const auto refused = [&](auto use) {
    const support::Completion completion;
    HostFuture<bool> future = async_host(stream, [&] {
      try {
        use();
      } catch (const Error& error) {
        return error.status() == cudaErrorNotPermitted;
      }
      return false;
    });
    return future.get();
  };
  EXPECT_TRUE(refused([&] { (void)first.get(); }));
  EXPECT_TRUE(refused([&] { first.wait(); }));
  EXPECT_TRUE(refused([&] { (void)first.is_done(); }));
  EXPECT_EQ(first.get(), 1);
}

TEST_F(AsyncTest, MayEndWithoutBeingWaitedFor) {
  const Stream stream;
  Count functions, results;
  std::atomic<int> ran = 0;
  const support::Completion completion;
  support::Gate gate(stream);
  for (int i = 0; i < 100; ++i) {
    (void)async_host(stream, [&, counted = Counted(functions)] {
      ++ran;
      return Counted(results);
    });
  }
  gate.open();
  stream.synchronize();
  EXPECT_EQ(ran, 100);
  EXPECT_EQ(functions.made, 100);
  EXPECT_EQ(functions.ended, 100);
  EXPECT_EQ(results.made, 100);
  EXPECT_EQ(results.ended, 100);

  // A result that was not taken ends with its future.
  {
    const HostFuture<Counted> kept = async_host(stream, [&] { return Counted(results); });
    stream.synchronize();
    EXPECT_EQ(results.alive(), 1);
  }
  EXPECT_EQ(results.alive(), 0);
}

TEST_F(AsyncTest, OtherStreamsWaitForIt) {
  const Stream a, b;
  PinnedBuffer<int> host(1);
  DeviceBuffer<int> device(1, b);
  host[0] = 0;
  support::delay(a.get());
  const HostFuture<void> written = async_host(a, [&] { host[0] = 11; });
  b.wait(written.event());
  copy(device, host, b);
  PinnedBuffer<int> result(1);
  copy_and_wait(result, device, b);
  EXPECT_EQ(result[0], 11);
}

TEST_F(AsyncTest, ManyThreads) {
  std::atomic<long> sum = 0;
  support::in_threads(4, [&](int t) {
    const Stream stream;
    std::vector<HostFuture<long>> futures;
    for (int round = 0; round < 5; ++round) {
      for (int i = 0; i < 40; ++i)
        futures.push_back(async_host(stream, [=] { return 100L * t + i; }));
      for (HostFuture<long>& future : futures) sum += future.get();
      futures.clear();
    }
  });
  long expected = 0;
  for (int t = 0; t < 4; ++t) {
    for (int i = 0; i < 40; ++i) expected += 5 * (100L * t + i);
  }
  EXPECT_EQ(sum, expected);
}

// A future may be waited for in another thread than that which made it.
TEST_F(AsyncTest, PassesBetweenThreads) {
  const Stream stream;
  HostFuture<int> future;
  support::in_threads(1, [&](int) { future = async_host(stream, [] { return 9; }); });
  int value = 0;
  support::in_threads(1, [&](int) { value = future.get(); });
  EXPECT_EQ(value, 9);
}

}  // namespace
