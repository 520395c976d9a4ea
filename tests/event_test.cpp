// SPDX-License-Identifier: BSL-1.0
#include <culvert/event.hpp>
#include <culvert/stream.hpp>

#include <type_traits>
#include <utility>

#include "support/test_support.hpp"

using namespace culvert;

template <class Owner>
constexpr bool is_owner =
    !std::is_copy_constructible_v<Owner> && !std::is_copy_assignable_v<Owner> &&
    std::is_nothrow_move_constructible_v<Owner> && std::is_nothrow_move_assignable_v<Owner>;
static_assert(is_owner<Event> && is_owner<TimedEvent>);
static_assert(sizeof(Event) == sizeof(cudaEvent_t) && sizeof(TimedEvent) == sizeof(cudaEvent_t));
static_assert(!std::is_convertible_v<cudaEvent_t, Event>);
static_assert(!std::is_convertible_v<TimedEvent, Event> &&
              !std::is_convertible_v<Event, TimedEvent>);

static_assert(sizeof(EventRef) == sizeof(cudaEvent_t));
static_assert(std::is_trivially_copyable_v<EventRef>);
static_assert(!std::is_default_constructible_v<EventRef>);
static_assert(!std::is_constructible_v<EventRef, std::nullptr_t>);
static_assert(!std::is_constructible_v<EventRef, int>);
static_assert(!std::is_constructible_v<EventRef, Event>);
static_assert(!std::is_constructible_v<EventRef, TimedEvent>);
static_assert(std::is_convertible_v<const Event&, EventRef>);
static_assert(std::is_convertible_v<const TimedEvent&, EventRef>);
static_assert(std::is_convertible_v<cudaEvent_t, EventRef>);

namespace {

template <class E>
class EventTest : public support::RuntimeTest {};

struct Names {
  template <class E>
  static std::string GetName(int) {
    return std::is_same_v<E, Event> ? "Plain" : "Timed";
  }
};
using Kinds = testing::Types<Event, TimedEvent>;
TYPED_TEST_SUITE(EventTest, Kinds, Names);

TYPED_TEST(EventTest, NeverRecordedIsComplete) {
  const TypeParam event;
  EXPECT_NE(event.get(), nullptr);
  EXPECT_TRUE(event.is_done());
  // Redundant: an event never recorded is complete: that is the test.
  event.synchronize();
}

TYPED_TEST(EventTest, IsDoneOnceTheWorkBeforeItIs) {
  const Stream stream;
  const TypeParam event;
  support::delay(stream.get());
  stream.record(event);
  EXPECT_FALSE(event.is_done());
  event.synchronize();
  EXPECT_TRUE(event.is_done());
}

TYPED_TEST(EventTest, RecordedAgainIsPendingAgain) {
  const Stream stream;
  const TypeParam event;
  stream.record(event);
  event.synchronize();
  EXPECT_TRUE(event.is_done());
  support::delay(stream.get());
  stream.record(event);
  EXPECT_FALSE(event.is_done());
  stream.synchronize();
  EXPECT_TRUE(event.is_done());
}

TYPED_TEST(EventTest, BlockingSync) {
  const Stream stream;
  const TypeParam event{{.device = Device(0), .blocking_sync = true}};
  support::delay(stream.get());
  stream.record(event);
  event.synchronize();
  EXPECT_TRUE(event.is_done());
}

TYPED_TEST(EventTest, MoveGivesTheHandleAway) {
  TypeParam first;
  const cudaEvent_t handle = first.get();
  TypeParam second(std::move(first));
  EXPECT_EQ(second.get(), handle);
  EXPECT_EQ(first.get(), nullptr);  // NOLINT(bugprone-use-after-move)
  TypeParam third;
  third = std::move(second);
  EXPECT_EQ(third.get(), handle);
  EXPECT_EQ(second.get(), nullptr);  // NOLINT(bugprone-use-after-move)
  EXPECT_TRUE(third.is_done());
}

TYPED_TEST(EventTest, SelfMoveKeepsTheHandle) {
  TypeParam event;
  const cudaEvent_t handle = event.get();
  TypeParam& same = event;
  event = std::move(same);
  EXPECT_EQ(event.get(), handle);
  EXPECT_TRUE(event.is_done());
}

TYPED_TEST(EventTest, ReleaseAndAdopt) {
  TypeParam first;
  const cudaEvent_t handle = first.release();
  EXPECT_EQ(first.get(), nullptr);
  TypeParam second = TypeParam::from_handle(handle);
  EXPECT_EQ(second.get(), handle);
  EXPECT_TRUE(second.is_done());
  second.reset();
  EXPECT_EQ(second.get(), nullptr);
}

TYPED_TEST(EventTest, ViewSeesTheSameEvent) {
  const Stream stream;
  const TypeParam event;
  const EventRef view = event;
  EXPECT_EQ(view.get(), event.get());
  EXPECT_EQ(view, EventRef(event.get()));
  const TypeParam other;
  EXPECT_FALSE(view == EventRef(other));
  support::delay(stream.get());
  stream.record(view);
  EXPECT_FALSE(view.is_done());
  view.synchronize();
  EXPECT_TRUE(event.is_done());
}

}  // namespace
