// SPDX-License-Identifier: BSL-1.0
#include <culvert/copy.hpp>
#include <culvert/device_buffer.hpp>
#include <culvert/fill.hpp>
#include <culvert/host_func.hpp>
#include <culvert/pending.hpp>
#include <culvert/pinned_buffer.hpp>
#include <culvert/retire.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <tuple>
#include <vector>

#include "support/counted.hpp"
#include "support/expect_error.hpp"
#include "support/gate.hpp"
#include "support/test_support.hpp"

using namespace culvert;
using support::Count;
using support::Counted;
using support::Gate;

static_assert(!std::is_copy_constructible_v<Pending<std::vector<int>>>);
static_assert(std::is_nothrow_move_constructible_v<Pending<std::vector<int>>>);
static_assert(std::is_nothrow_move_assignable_v<Pending<std::vector<int>>>);

namespace {

class RetireTest : public support::RuntimeTest {
 protected:
  ~RetireTest() override {
    collect_and_wait();
    set_retire_limit(4096);
  }
  Count count, other_count;  // outlive what is retired
};

TEST_F(RetireTest, EndsOnceTheStreamHasPassed) {
  const Stream stream;
  {
    Gate gate(stream);
    retire(stream, Counted(count));
    collect();
    EXPECT_EQ(count.ended, 0);
    gate.open();
    stream.synchronize();
  }
  collect();
  EXPECT_EQ(count.ended, 1);
  EXPECT_EQ(count.made, 1);
}

TEST_F(RetireTest, OneThatIsStuckDoesNotStopOthers) {
  const Stream stuck, free;
  Count& stuck_count = count;
  Count& free_count = other_count;
  Gate gate(stuck);
  for (int i = 0; i < 3; ++i) retire(stuck, Counted(stuck_count));
  for (int i = 0; i < 3; ++i) retire(free, Counted(free_count));
  free.synchronize();
  collect();
  EXPECT_EQ(stuck_count.ended, 0);
  EXPECT_EQ(free_count.ended, 3);
  gate.open();
  stuck.synchronize();
  collect();
  EXPECT_EQ(stuck_count.ended, 3);
}

TEST_F(RetireTest, InPassingToo) {
  const Stream stuck, free;
  Count& stuck_count = count;
  Count& free_count = other_count;
  Gate gate(stuck);
  retire(stuck, Counted(stuck_count));
  retire(free, Counted(free_count));
  for (int i = 0; i < 3; ++i) free.synchronize();
  EXPECT_EQ(free_count.ended, 1);
  EXPECT_EQ(stuck_count.ended, 0);
  gate.open();
  stuck.synchronize();
}

TEST_F(RetireTest, WaitsForEachOfSeveralStreams) {
  const Stream a, b;
  Gate gate_a(a), gate_b(b);
  retire({a, b}, Counted(count));
  gate_a.open();
  a.synchronize();
  collect();
  EXPECT_EQ(count.ended, 0);
  gate_b.open();
  b.synchronize();
  collect();
  EXPECT_EQ(count.ended, 1);
}

TEST_F(RetireTest, MemoryThatACopyStillUses) {
  const Stream a, b;
  constexpr std::size_t size = 1 << 20;
  DeviceBuffer<std::byte> from_a(size, a), from_b(size, b);
  std::vector<std::byte> bytes = support::random_bytes(size);
  {
    PinnedBuffer<std::byte> host(size);
    std::copy(bytes.begin(), bytes.end(), host.begin());
    support::delay(a.get());
    copy(from_a, host, a);
    support::delay(b.get());
    copy(from_b, host, b);
    retire({a, b}, std::move(host));
  }
  PinnedBuffer<std::byte> result(size);
  copy_and_wait(result, from_a, a);
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), result.begin()));
  copy_and_wait(result, from_b, b);
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), result.begin()));
}

TEST_F(RetireTest, TakesAnythingThatMoves) {
  const Stream stream;
  Stream other;
  { const DeviceBuffer<int> buffer(16, other); }  // before its home
  retire(stream, std::tuple(Counted(count), std::vector<int>(10), std::move(other)));
  retire(stream, std::make_unique<Counted>(count));
  retire(std::vector<StreamRef>{stream}, std::make_unique<Counted>(count));
  collect_and_wait();
  EXPECT_EQ(count.alive(), 0);
}

TEST_F(RetireTest, CollectAndWaitLeavesNothing) {
  const Stream a, b;
  for (int i = 0; i < 100; ++i) {
    if (i % 50 == 0) support::delay(i == 0 ? a.get() : b.get());
    retire(i % 2 ? a : b, Counted(count));
  }
  collect_and_wait();
  EXPECT_EQ(count.made, 100);
  EXPECT_EQ(count.ended, 100);
  EXPECT_EQ(detail::count_to_collect(), 0u);
}

// What ends may retire, wait and collect.
TEST_F(RetireTest, WhatEndsMayUseCulvert) {
  const Stream stream;
  struct Busy {
    Stream other;
    Counted counted;
    Busy(Count& in) : counted(in) {}
    Busy(Busy&&) noexcept = default;
    ~Busy() {
      if (!counted.holds()) return;
      collect();
      collect_and_wait();
      other.synchronize();
      retire(other, std::move(counted));
    }
  };
  for (int i = 0; i < 10; ++i) retire(stream, Busy(count));
  collect_and_wait();
  EXPECT_EQ(count.made, 10);
  EXPECT_EQ(count.alive(), 0);
}

TEST_F(RetireTest, WaitsAtTheLimit) {
  const Stream stream;
  set_retire_limit(8);
  for (int i = 0; i < 100; ++i) {
    retire(stream, Counted(count));
    EXPECT_LE(count.alive(), 9);
  }
  set_retire_limit(0);
  retire(stream, Counted(count));
  EXPECT_EQ(count.alive(), 1);
}

TEST_F(RetireTest, FromSeveralThreads) {
  kept_events = 8;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      const Stream stream;
      for (int i = 0; i < 200; ++i) {
        retire(stream, Counted(count));
        if (i % 7 == 0) collect();
        if (i % 50 == 0) stream.synchronize();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  collect_and_wait();
  EXPECT_EQ(count.made, 1600);
  EXPECT_EQ(count.ended, 1600);
}

TEST_F(RetireTest, BadInput) {
  const Stream stream;
  Counted counted(count);
  support::expect_refused([&] { retire(std::span<const StreamRef>(), std::move(counted)); },
                          {cudaErrorInvalidValue, "culvert::retire", {"no stream"}});
  EXPECT_TRUE(counted.holds());
  std::atomic<cudaError_t> inside{cudaSuccess};
  launch_host(stream, [&] {
    try {
      retire(StreamRef::legacy(), std::move(counted));
    } catch (const Error& error) {
      inside = error.status();
    }
  });
  stream.synchronize();
  EXPECT_EQ(inside, cudaErrorNotPermitted);
  EXPECT_TRUE(counted.holds());
}

class PendingTest : public RetireTest {};

TEST_F(PendingTest, GivesTheData) {
  const Stream stream;
  DeviceBuffer<int> x(1000, stream);
  fill(x, 1, stream);
  support::delay(stream.get());
  fill(x, 2, stream);
  Pending<std::vector<int>> result = read_back(x, stream);
  fill(x, 3, stream);
  EXPECT_EQ(result.get(), std::vector<int>(1000, 2));
  support::expect_refused([&] { (void)result.get(); },
                          {cudaErrorInvalidResourceHandle, "culvert::Pending"});
  support::expect_refused([&] { (void)result.is_done(); },
                          {cudaErrorInvalidResourceHandle, "culvert::Pending"});
  EXPECT_EQ(read_back(x.first(3), stream).get(), std::vector<int>(3, 3));
  EXPECT_EQ(read_back(DeviceSpan<const int>(x), stream).get().size(), 1000u);
  EXPECT_TRUE(read_back(x.first(0), stream).get().empty());
}

TEST_F(PendingTest, IsDone) {
  const Stream stream;
  DeviceBuffer<int> x(1000, stream);
  fill(x, 1, stream);
  Gate gate(stream);
  Pending<std::vector<int>> result = read_back(x, stream);
  EXPECT_FALSE(result.is_done());
  gate.open();
  while (!result.is_done()) std::this_thread::yield();
  EXPECT_EQ(result.get()[999], 1);
}

// The memory lives on until the copy is complete.
TEST_F(PendingTest, MayBeDropped) {
  const Stream stream;
  DeviceBuffer<int> x(1 << 20, stream);
  fill(x, 1, stream);
  {
    Gate gate(stream);
    for (int i = 0; i < 4; ++i) (void)read_back(x, stream);
    Pending<std::vector<int>> a = read_back(x, stream);
    a = read_back(x.first(5), stream);
    gate.open();
    EXPECT_EQ(a.get().size(), 5u);
  }
  stream.synchronize();
  collect();
  EXPECT_EQ(detail::count_to_collect(), 0u);
}

TEST_F(PendingTest, MayBeDroppedInAHostFunction) {
  const Stream stream, other;
  DeviceBuffer<int> x(1000, stream);
  fill(x, 1, stream);
  launch_host(other, [result = read_back(x, stream)] {});
  other.synchronize();
  collect_and_wait();
}

}  // namespace
