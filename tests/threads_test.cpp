// SPDX-License-Identifier: BSL-1.0
//
// Distinct objects from distinct threads, and const operations on one object from several.
#include <culvert/culvert.hpp>

#include <algorithm>
#include <vector>

#include "support/test_support.hpp"

using namespace culvert;

namespace {

constexpr int thread_count = 8;
constexpr std::size_t size = 4099;
using Bytes = std::vector<std::byte>;

class ThreadsTest : public support::RuntimeTest {
 protected:
  ThreadsTest() {
    kept_events = thread_count;
    for (Bytes& bytes : expected) bytes = support::random_bytes(size);
  }

  Bytes expected[thread_count];
};

TEST_F(ThreadsTest, OwnStreamsAndBuffers) {
  support::in_threads(thread_count, [&](int i) {
    for (int round = 0; round < 20; ++round) {
      const Stream a, b;
      DeviceBuffer<std::byte> x(size, a);
      DeviceBuffer<std::byte> y(size, b);
      PinnedBuffer<std::byte> source(size), result(size);
      std::ranges::copy(expected[i], source.begin());
      std::ranges::fill(result, support::poison);
      copy(x, source, a);
      // Redundant: other threads may have run it already.
      b.wait(a);
      copy(y, x, b);
      // Redundant: other threads may have run it already.
      a.wait(b.record());
      copy(result, y, a);
      const Event done = a.record();
      // Redundant: other threads may have run it already.
      while (!done.is_done()) {
      }
      EXPECT_TRUE(support::same_bytes(result, expected[i]));
      // Redundant: other threads may have run it already.
      b.wait(a);
    }
  });
}

TEST_F(ThreadsTest, OneStreamForAll) {
  const Stream shared;
  const Event mark = shared.record();
  support::in_threads(thread_count, [&](int i) {
    DeviceBuffer<std::byte> x(size, shared);
    Bytes result = support::poisoned(size);
    const Stream own;
    for (int round = 0; round < 10; ++round) {
      copy(x, expected[i], shared);
      fill(x.subspan(0, 16), std::byte{1}, shared);
      // Redundant: these only have to work in several threads; copy_and_wait makes the bytes sure.
      own.wait(shared);
      // Redundant: these only have to work in several threads; copy_and_wait makes the bytes sure.
      shared.wait(own);
      // Redundant: these only have to work in several threads; copy_and_wait makes the bytes sure.
      own.wait(mark);
      (void)shared.is_done();
      (void)mark.is_done();
      EXPECT_NE(shared.id(), own.id());
      const Event event = shared.record();
      // Redundant: these only have to work in several threads; copy_and_wait makes the bytes sure.
      event.synchronize();
      // Redundant: these only have to work in several threads; copy_and_wait makes the bytes sure.
      mark.synchronize();
      // Redundant: these only have to work in several threads; copy_and_wait makes the bytes sure.
      copy_and_wait(result, x, shared);
      EXPECT_EQ(std::ranges::count(std::span(result).first(16), std::byte{1}), 16);
      EXPECT_TRUE(
          support::same_bytes(std::span(result).subspan(16), std::span(expected[i]).subspan(16)));
    }
  });
}

TEST_F(ThreadsTest, HandedFromThreadToThread) {
  std::vector<Stream> streams(thread_count);
  std::vector<DeviceBuffer<std::byte>> buffers(thread_count);
  support::in_threads(thread_count, [&](int i) {
    const auto at = static_cast<std::size_t>(i);
    buffers[at] = DeviceBuffer<std::byte>(size, streams[at]);
    copy(buffers[at], expected[i], streams[at]);
  });
  const Stream last;
  for (std::size_t i = 0; i < thread_count; ++i) {
    Bytes result = support::poisoned(size);
    last.wait(streams[i]);
    copy_and_wait(result, buffers[i], last);
    EXPECT_TRUE(support::same_bytes(result, expected[i]));
  }
  support::in_threads(thread_count, [&](int i) { buffers[static_cast<std::size_t>(i)].reset(); });
}

TEST_F(ThreadsTest, PerThreadStreamsAreIndependent) {
  support::in_threads(thread_count, [&](int i) {
    const StreamRef own = StreamRef::per_thread();
    DeviceBuffer<std::byte> x(size, own);
    Bytes result = support::poisoned(size);
    copy(x, expected[i], own);
    copy_and_wait(result, x, own);
    EXPECT_TRUE(support::same_bytes(result, expected[i]));
  });
}

// Threads that come one after another use the same kept events.
TEST_F(ThreadsTest, KeptEventsAreLent) {
  kept_events = 2;
  const Stream a, b;
  // Redundant: no bytes are looked at: which events are kept is.
  const auto join = [&](int) { b.wait(a); };
  join(0);
  for (int i = 0; i < 50; ++i) support::in_threads(1, join);
  // Redundant: no bytes are looked at: which events are kept is.
  b.synchronize();
}

}  // namespace
