// SPDX-License-Identifier: BSL-1.0
#include <culvert/copy.hpp>
#include <culvert/device_buffer.hpp>
#include <culvert/fill.hpp>
#include <culvert/host_func.hpp>
#include <culvert/pending.hpp>
#include <culvert/pinned_buffer.hpp>
#include <culvert/tracked.hpp>

#include <stdexcept>
#include <vector>

#include "support/counted.hpp"
#include "support/expect_error.hpp"
#include "support/gate.hpp"
#include "support/test_support.hpp"

using namespace culvert;
using support::Count;
using support::Counted;
using support::Gate;

using Buffer = DeviceBuffer<int>;
static_assert(!std::is_copy_constructible_v<Tracked<Buffer>>);
static_assert(!std::is_copy_assignable_v<Tracked<Buffer>>);
static_assert(std::is_nothrow_move_constructible_v<Tracked<Buffer>>);
static_assert(std::is_nothrow_move_assignable_v<Tracked<Buffer>>);

namespace {

constexpr std::size_t size = 1000;

class TrackedTest : public support::RuntimeTest {
 protected:
  ~TrackedTest() override { collect_and_wait(); }
  Count count;
};

bool all(const PinnedBuffer<int>& x, int value) {
  for (const int each : x) {
    if (each != value) return false;
  }
  return true;
}

TEST_F(TrackedTest, AReadWaitsForTheWrite) {
  const Stream a, b;
  PinnedBuffer<int> host(size);
  Tracked<Buffer> x(Buffer{size});
  x.write(a, [&](Buffer& buffer) {
    support::delay(a.get());
    fill(buffer, 5, a);
  });
  x.read(b, [&](const Buffer& buffer) { copy(host, buffer, b); });
  b.synchronize();
  EXPECT_TRUE(all(host, 5));
  a.synchronize();
}

// Both readers, not the last one only.
TEST_F(TrackedTest, AWriteWaitsForEveryRead) {
  const Stream a, b, c;
  PinnedBuffer<int> from_b(size), from_c(size);
  Tracked<Buffer> x(Buffer{size});
  x.write(a, [&](Buffer& buffer) { fill(buffer, 1, a); });
  support::delay(b.get());
  x.read(b, [&](const Buffer& buffer) { copy(from_b, buffer, b); });
  support::delay(c.get());
  x.read(c, [&](const Buffer& buffer) { copy(from_c, buffer, c); });
  x.write(a, [&](Buffer& buffer) { fill(buffer, 2, a); });
  a.synchronize();
  b.synchronize();
  c.synchronize();
  EXPECT_TRUE(all(from_b, 1));
  EXPECT_TRUE(all(from_c, 1));
  x.read(b, [&](const Buffer& buffer) { copy(from_b, buffer, b); });
  b.synchronize();
  EXPECT_TRUE(all(from_b, 2));
}

TEST_F(TrackedTest, ReadsDoNotWaitForReads) {
  const Stream a, b;
  PinnedBuffer<int> host(size);
  Tracked<Buffer> x(Buffer{size});
  x.write(b, [&](Buffer& buffer) { fill(buffer, 1, b); });
  b.synchronize();
  Gate gate(a);
  x.read(a, [](const Buffer&) {});
  x.read(b, [&](const Buffer& buffer) { copy(host, buffer, b); });
  b.synchronize();  // would not return if it waited for the gate
  EXPECT_TRUE(all(host, 1));
  gate.open();
  a.synchronize();
}

TEST_F(TrackedTest, TheObjectOutlivesAllReaders) {
  const Stream a, b;
  Gate gate_a(a), gate_b(b);
  {
    Tracked<Counted> x{Counted(count)};
    x.read(a, [](const Counted&) {});
    x.read(b, [](const Counted&) {});
  }
  gate_a.open();
  a.synchronize();
  collect();
  EXPECT_EQ(count.ended, 0);
  gate_b.open();
  b.synchronize();
  collect();
  EXPECT_EQ(count.ended, 1);
}

// CUDA may use the handle of a stream that has ended for a new one; the work of the old one counts.
TEST_F(TrackedTest, StreamsThatHaveEnded) {
  const Stream a;
  std::vector<PinnedBuffer<int>> results;
  Tracked<Buffer> x(Buffer{size});
  x.write(a, [&](Buffer& buffer) { fill(buffer, 1, a); });
  for (int i = 0; i < 40; ++i) {
    const Stream b;
    results.emplace_back(size);
    if (i % 20 == 0) support::delay(b.get());
    x.read(b, [&](const Buffer& buffer) { copy(results.back(), buffer, b); });
  }
  x.write(a, [&](Buffer& buffer) { fill(buffer, 2, a); });
  a.synchronize();
  for (const PinnedBuffer<int>& result : results) EXPECT_TRUE(all(result, 1));
}

TEST_F(TrackedTest, WhatThrowsCounts) {
  const Stream a, b;
  PinnedBuffer<int> host(size);
  Tracked<Buffer> x(Buffer{size});
  EXPECT_THROW(x.write(a,
                       [&](Buffer& buffer) {
                         support::delay(a.get());
                         fill(buffer, 3, a);
                         throw std::runtime_error("after the fill");
                       }),
               std::runtime_error);
  x.read(b, [&](const Buffer& buffer) { copy(host, buffer, b); });
  b.synchronize();
  EXPECT_TRUE(all(host, 3));
}

TEST_F(TrackedTest, Take) {
  const Stream a;
  Tracked<Buffer> x(Buffer{size});
  x.write(a, [&](Buffer& buffer) {
    support::delay(a.get());
    fill(buffer, 4, a);
  });
  Buffer buffer = x.take();
  EXPECT_TRUE(a.is_done());
  EXPECT_EQ(read_back(buffer, a).get(), std::vector<int>(size, 4));
  support::expect_refused([&] { (void)x.take(); },
                          {cudaErrorInvalidResourceHandle, "culvert::Tracked"});
}

TEST_F(TrackedTest, MovesAndEnds) {
  const Stream a;
  Tracked<Counted> x{Counted(count)};
  x.read(a, [](const Counted& counted) { EXPECT_TRUE(counted.holds()); });
  Tracked<Counted> y = std::move(x);
  support::expect_refused([&] { x.read(a, [](const Counted&) {}); },
                          {cudaErrorInvalidResourceHandle, "culvert::Tracked"});
  y.write(a, [](Counted& counted) { EXPECT_TRUE(counted.holds()); });
  y = Tracked<Counted>(Counted(count));
  collect_and_wait();
  EXPECT_EQ(count.ended, 1);
  y.reset();
  EXPECT_EQ(count.ended, 2);
}

}  // namespace
