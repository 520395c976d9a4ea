// SPDX-License-Identifier: BSL-1.0
//
// What orders work, and what does not. Each way to wait is proved twice: with it the bytes
// arrive, and without it they do not.
#include <culvert/copy.hpp>
#include <culvert/device_buffer.hpp>
#include <culvert/fill.hpp>
#include <culvert/pinned_buffer.hpp>
#include <culvert/stream.hpp>

#include <algorithm>
#include <optional>
#include <ostream>
#include <string>

#include "support/test_support.hpp"

using namespace culvert;

namespace {

constexpr std::size_t size = 4099;

using Buffer = DeviceBuffer<std::byte>;

// Poisoned device memory.
Buffer poisoned_buffer() {
  Buffer buffer(size);
  support::write_device(buffer.data(), support::poisoned(size));
  return buffer;
}

// Random bytes on their way from `source` through `x` to `result`, on whatever streams.
struct Journey {
  Journey() {
    std::ranges::copy(expected, source.begin());
    std::ranges::fill(result, support::poison);
  }
  Journey(const Journey&) = delete;
  Journey& operator=(const Journey&) = delete;
  // Without a wait there is work left when the result is known.
  // Redundant: tidies up; what is looked at is known before.
  ~Journey() { EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess); }

  // Writes x, but late.
  void produce(StreamRef stream) {
    support::delay(stream.get());
    copy(x, source, stream);
  }
  void consume(StreamRef stream) { copy(result, x, stream); }
  bool arrived() const { return std::ranges::equal(result, expected); }
  bool untouched() const { return std::ranges::equal(result, support::poisoned(size)); }

  const std::vector<std::byte> expected = support::random_bytes(size);
  PinnedBuffer<std::byte> source{size};
  PinnedBuffer<std::byte> result{size};
  Buffer x = poisoned_buffer();
};

// Each scenario answers whether the bytes arrived. Without the wait there is nothing else that
// orders the last copy after the first.

bool event(bool with_wait) {
  Journey journey;
  const Stream a, b;
  journey.produce(a);
  const Event done = a.record();
  if (with_wait) b.wait(done);
  journey.consume(b);
  b.synchronize();
  return journey.arrived();
}

bool timed_event(bool with_wait) {
  Journey journey;
  const Stream a, b;
  journey.produce(a);
  const TimedEvent done = a.record_timed();
  if (with_wait) b.wait(done);
  journey.consume(b);
  b.synchronize();
  return journey.arrived();
}

bool join(bool with_wait) {
  Journey journey;
  const Stream a, b;
  journey.produce(a);
  if (with_wait) b.wait(a);
  journey.consume(b);
  b.synchronize();
  return journey.arrived();
}

bool chain(bool with_wait) {
  Journey journey;
  Buffer y = poisoned_buffer();
  Buffer z = poisoned_buffer();
  const Stream a, b, c, d;
  journey.produce(a);
  b.wait(a);
  copy(y, journey.x, b);
  if (with_wait) c.wait(b);
  copy(z, y, c);
  d.wait(c);
  copy(journey.result, z, d);
  d.synchronize();
  const bool arrived = journey.arrived();
  // Redundant: tidies up; what is looked at is known before.
  Device::current().synchronize();
  return arrived;
}

bool diamond(bool with_wait) {
  Journey journey;
  Buffer y = poisoned_buffer();
  const Stream a, b, c, d;
  const std::size_t half = size / 2;
  journey.produce(a);
  const Event produced = a.record();
  b.wait(produced);
  c.wait(produced);
  copy(y.subspan(0, half), journey.x.subspan(0, half), b);
  support::delay(c.get());
  copy(y.subspan(half, size - half), journey.x.subspan(half, size - half), c);
  d.wait(b);
  if (with_wait) d.wait(c);
  copy(journey.result, y, d);
  d.synchronize();
  const bool arrived = journey.arrived();
  // Redundant: tidies up; what is looked at is known before.
  Device::current().synchronize();
  return arrived;
}

// A write that must wait for a read.
bool write_after_read(bool with_wait) {
  Journey journey;
  PinnedBuffer<std::byte> other(size);
  std::ranges::fill(other, support::poison);
  const Stream a, b;
  copy(journey.x, journey.source, a);
  // Redundant: nothing in this case reads before the next wait.
  a.synchronize();
  support::delay(a.get());
  journey.consume(a);
  if (with_wait) b.wait(a);
  copy(journey.x, other, b);
  // Redundant: tidies up; what is looked at is known before.
  b.synchronize();
  // Redundant: tidies up; what is looked at is known before.
  a.synchronize();
  return journey.arrived();
}

// A record made again after the work, or only the one before it.
bool recorded_again(bool with_wait) {
  Journey journey;
  const Stream a, b;
  const Event mark = a.record();
  journey.produce(a);
  if (with_wait) a.record(mark);
  b.wait(mark);
  journey.consume(b);
  b.synchronize();
  return journey.arrived();
}

bool rebind(bool with_wait) {
  Journey journey;
  const Stream a, b;
  Buffer buffer(size, a);
  fill(buffer, support::poison, a);
  // Redundant: nothing in this case reads before the next wait.
  a.synchronize();
  support::delay(a.get());
  copy(buffer, journey.source, a);
  if (with_wait) buffer.rebind(b);
  copy(journey.result, buffer, b);
  b.synchronize();
  return journey.arrived();
}

// Legacy and blocking streams wait for each other; non-blocking ones are exempt.
bool legacy_after_blocking(bool with_wait) {
  Journey journey;
  const Stream a{{.kind = with_wait ? StreamKind::blocking : StreamKind::non_blocking}};
  journey.produce(a);
  journey.consume(StreamRef::legacy());
  StreamRef::legacy().synchronize();
  return journey.arrived();
}

bool blocking_after_legacy(bool with_wait) {
  Journey journey;
  const Stream b{{.kind = with_wait ? StreamKind::blocking : StreamKind::non_blocking}};
  journey.produce(StreamRef::legacy());
  journey.consume(b);
  b.synchronize();
  return journey.arrived();
}

// One stream after another through an operation of the legacy one between them.
bool blocking_through_legacy(bool with_wait) {
  Journey journey;
  Buffer y = poisoned_buffer();
  const Stream a{{.kind = StreamKind::blocking}};
  const Stream b{{.kind = StreamKind::blocking}};
  journey.produce(a);
  if (with_wait) fill(y, support::poison, StreamRef::legacy());
  journey.consume(b);
  b.synchronize();
  const bool arrived = journey.arrived();
  // Redundant: tidies up; what is looked at is known before.
  Device::current().synchronize();
  return arrived;
}

// The per-thread default stream is a blocking one.
bool per_thread_after_legacy(bool with_wait) {
  Journey journey;
  const Stream other;
  const StreamRef consumer = with_wait ? StreamRef::per_thread() : StreamRef(other);
  journey.produce(StreamRef::legacy());
  journey.consume(consumer);
  consumer.synchronize();
  return journey.arrived();
}

bool legacy_after_per_thread(bool with_wait) {
  Journey journey;
  const Stream other;
  journey.produce(with_wait ? StreamRef::per_thread() : StreamRef(other));
  journey.consume(StreamRef::legacy());
  StreamRef::legacy().synchronize();
  return journey.arrived();
}

bool per_thread_after_stream(bool with_wait) {
  Journey journey;
  const Stream a;
  journey.produce(a);
  if (with_wait) StreamRef::per_thread().wait(a);
  journey.consume(StreamRef::per_thread());
  StreamRef::per_thread().synchronize();
  return journey.arrived();
}

// The host after a stream.
template <class Wait>
bool host_after(bool with_wait, Wait wait) {
  Journey journey;
  const Stream a;
  journey.produce(a);
  journey.consume(a);
  if (with_wait) wait(a);
  return journey.arrived();
}

bool host_after_stream(bool with_wait) {
  return host_after(with_wait, [](const Stream& a) { a.synchronize(); });
}
bool host_after_event(bool with_wait) {
  return host_after(with_wait, [](const Stream& a) { a.record().synchronize(); });
}
bool host_after_device(bool with_wait) {
  return host_after(with_wait, [](const Stream&) { Device::current().synchronize(); });
}
bool host_polls_stream(bool with_wait) {
  return host_after(with_wait, [](const Stream& a) {
    while (!a.is_done()) {
    }
  });
}
bool host_polls_event(bool with_wait) {
  return host_after(with_wait, [](const Stream& a) {
    const Event done = a.record();
    while (!done.is_done()) {
    }
  });
}

struct Scenario {
  const char* name;
  bool (*run)(bool with_wait);

  friend void PrintTo(const Scenario& scenario, std::ostream* out) { *out << scenario.name; }
};

constexpr Scenario scenarios[] = {
    {"event", event},
    {"timed_event", timed_event},
    {"join", join},
    {"chain", chain},
    {"diamond", diamond},
    {"write_after_read", write_after_read},
    {"recorded_again", recorded_again},
    {"rebind", rebind},
    {"legacy_after_blocking", legacy_after_blocking},
    {"blocking_after_legacy", blocking_after_legacy},
    {"blocking_through_legacy", blocking_through_legacy},
    {"per_thread_after_legacy", per_thread_after_legacy},
    {"legacy_after_per_thread", legacy_after_per_thread},
    {"per_thread_after_stream", per_thread_after_stream},
    {"host_after_stream", host_after_stream},
    {"host_after_event", host_after_event},
    {"host_after_device", host_after_device},
    {"host_polls_stream", host_polls_stream},
    {"host_polls_event", host_polls_event},
};

class OrderingTest : public support::RuntimeTest, public testing::WithParamInterface<Scenario> {};

TEST_P(OrderingTest, BytesArriveWithTheWait) { EXPECT_TRUE(GetParam().run(true)); }

TEST_P(OrderingTest, AndNotWithoutIt) { EXPECT_FALSE(GetParam().run(false)); }

INSTANTIATE_TEST_SUITE_P(Wait, OrderingTest, testing::ValuesIn(scenarios),
                         [](const auto& scenario) { return std::string(scenario.param.name); });

using OrderingEdgesTest = support::RuntimeTest;

TEST_F(OrderingEdgesTest, EventMayEndAfterTheWait) {
  Journey journey;
  const Stream a, b;
  journey.produce(a);
  b.wait(a.record());
  journey.consume(b);
  b.synchronize();
  EXPECT_TRUE(journey.arrived());
}

TEST_F(OrderingEdgesTest, ProducerMayEndAfterTheWait) {
  Journey journey;
  std::optional<Stream> a(std::in_place);
  const Stream b;
  journey.produce(*a);
  b.wait(*a);
  a.reset();
  journey.consume(b);
  b.synchronize();
  EXPECT_TRUE(journey.arrived());
}

TEST_F(OrderingEdgesTest, LaterRecordLeavesTheWait) {
  Journey journey;
  const Stream a, b;
  journey.produce(a);
  const Event mark = a.record();
  b.wait(mark);
  support::delay(a.get());
  a.record(mark);
  journey.consume(b);
  b.synchronize();
  EXPECT_TRUE(journey.arrived());
  EXPECT_FALSE(mark.is_done());
}

TEST_F(OrderingEdgesTest, EachJoinTakesItsOwnState) {
  Journey first, second;
  const Stream a, b, c;
  first.produce(a);
  b.wait(a);
  second.produce(a);
  c.wait(a);
  first.consume(b);
  second.consume(c);
  b.synchronize();
  EXPECT_TRUE(first.arrived());
  EXPECT_FALSE(a.is_done());
  c.synchronize();
  EXPECT_TRUE(second.arrived());
}

TEST_F(OrderingEdgesTest, UnrecordedEventIsNoWait) {
  Journey journey;
  const Stream a, b;
  journey.produce(a);
  const Event never;
  b.wait(never);
  journey.consume(b);
  b.synchronize();
  EXPECT_TRUE(journey.untouched());
}

TEST_F(OrderingEdgesTest, WaitingForItselfIsNoWait) {
  Journey journey;
  const Stream a;
  journey.produce(a);
  // Redundant: a stream is in order by itself: that is the test.
  a.wait(a);
  journey.consume(a);
  a.synchronize();
  EXPECT_TRUE(journey.arrived());
}

TEST_F(OrderingEdgesTest, WaitDoesNotBlockTheHost) {
  Journey journey;
  const Stream a, b;
  journey.produce(a);
  b.wait(a);
  journey.consume(b);
  EXPECT_FALSE(b.is_done());
  EXPECT_TRUE(journey.untouched());
  b.synchronize();
  EXPECT_TRUE(journey.arrived());
}

TEST_F(OrderingEdgesTest, PerThreadStreamIsIndependentOfBlockingOnes) {
  Journey journey;
  const Stream b{{.kind = StreamKind::blocking}};
  journey.produce(StreamRef::per_thread());
  journey.consume(b);
  b.synchronize();
  EXPECT_TRUE(journey.untouched());
}

TEST_F(OrderingEdgesTest, EventOfTheLegacyStreamCoversBlockingOnes) {
  Journey journey;
  const Stream a{{.kind = StreamKind::blocking}};
  const Stream b;
  journey.produce(a);
  b.wait(StreamRef::legacy().record());
  journey.consume(b);
  b.synchronize();
  EXPECT_TRUE(journey.arrived());
}

TEST_F(OrderingEdgesTest, OneStreamIsInOrder) {
  Journey journey;
  const Stream a;
  journey.produce(a);
  fill(journey.x.subspan(0, 10), std::byte{1}, a);
  journey.consume(a);
  fill(journey.x, std::byte{2}, a);
  a.synchronize();
  EXPECT_EQ(std::ranges::count(std::span(journey.result).first(10), std::byte{1}), 10);
  EXPECT_TRUE(std::ranges::equal(std::span(journey.result).subspan(10),
                                 std::span(journey.expected).subspan(10)));
}

}  // namespace
