// SPDX-License-Identifier: BSL-1.0
#include <culvert/elapsed.hpp>
#include <culvert/stream.hpp>

#include <ratio>
#include <type_traits>

#include "support/test_support.hpp"

using namespace culvert;

static_assert(std::is_same_v<Milliseconds, std::chrono::duration<float, std::milli>>);
static_assert(
    std::is_same_v<decltype(elapsed(std::declval<TimedEvent&>(), std::declval<TimedEvent&>())),
                   Milliseconds>);

template <class Start, class Stop>
concept Measurable = requires(const Start& start, const Stop& stop) {
  elapsed(start, stop);
};
template <class Start, class Stop>
concept TryMeasurable = requires(const Start& start, const Stop& stop) {
  try_elapsed(start, stop);
};
static_assert(Measurable<TimedEvent, TimedEvent> && TryMeasurable<TimedEvent, TimedEvent>);
static_assert(!Measurable<Event, Event> && !TryMeasurable<Event, Event>);
static_assert(!Measurable<Event, TimedEvent> && !TryMeasurable<TimedEvent, Event>);
static_assert(!Measurable<EventRef, EventRef>);

namespace {

using ElapsedTest = support::RuntimeTest;

TEST_F(ElapsedTest, GrowsWithTheWorkBetween) {
  const Stream stream;
  const TimedEvent start = stream.record_timed();
  support::delay(stream.get());
  const TimedEvent middle = stream.record_timed();
  support::delay(stream.get());
  const TimedEvent stop = stream.record_timed();
  stream.synchronize();

  const Milliseconds first = elapsed(start, middle);
  const Milliseconds both = elapsed(start, stop);
  EXPECT_GT(first.count(), 0.0f);
  EXPECT_GT(both, first);
  EXPECT_NEAR(both.count(), (first + elapsed(middle, stop)).count(), 0.01f * both.count());
  EXPECT_FLOAT_EQ(elapsed(stop, start).count(), -both.count());
  EXPECT_EQ(elapsed(start, start).count(), 0.0f);
  // The tests of removed waits rely on it.
  if (!support::is_simulated()) {
    EXPECT_GT(first, std::chrono::milliseconds(50));
  }
}

TEST_F(ElapsedTest, UnfinishedIsAnAnswer) {
  const Stream stream;
  const TimedEvent start = stream.record_timed();
  support::delay(stream.get());
  const TimedEvent stop = stream.record_timed();
  EXPECT_EQ(try_elapsed(start, stop), std::nullopt);
  EXPECT_EQ(peek_last_error(), cudaSuccess);
  stop.synchronize();
  const std::optional<Milliseconds> took = try_elapsed(start, stop);
  ASSERT_TRUE(took.has_value());
  EXPECT_EQ(*took, elapsed(start, stop));
}

TEST_F(ElapsedTest, LastRecordCounts) {
  const Stream stream;
  const TimedEvent start;
  const TimedEvent stop;
  stream.record(start);
  support::delay(stream.get());
  stream.record(stop);
  stream.synchronize();
  const Milliseconds longer = elapsed(start, stop);
  stream.record(start);
  stream.record(stop);
  stream.synchronize();
  EXPECT_LT(elapsed(start, stop), longer);
}

}  // namespace
