// SPDX-License-Identifier: BSL-1.0
#include <culvert/unique_handle.hpp>

#include <gtest/gtest.h>

#include <type_traits>
#include <utility>
#include <vector>

namespace {

std::vector<int> destroyed;

struct Traits {
  using handle_type = int;
  static int invalid() noexcept { return -1; }
  static bool is_invalid(int handle) noexcept { return handle < 0; }
  static void destroy(int handle) noexcept { destroyed.push_back(handle); }
};

using Handle = culvert::detail::UniqueHandle<Traits>;
using Handles = std::vector<int>;

static_assert(sizeof(Handle) == sizeof(int));
static_assert(std::is_nothrow_default_constructible_v<Handle>);
static_assert(std::is_nothrow_move_constructible_v<Handle>);
static_assert(std::is_nothrow_move_assignable_v<Handle>);
static_assert(!std::is_copy_constructible_v<Handle> && !std::is_copy_assignable_v<Handle>);
static_assert(!std::is_convertible_v<int, Handle>);

class UniqueHandleTest : public testing::Test {
 protected:
  void SetUp() override { destroyed.clear(); }
};

TEST_F(UniqueHandleTest, OwnsNothingAtFirst) {
  {
    const Handle handle;
    EXPECT_FALSE(handle.owns());
    EXPECT_EQ(handle.get(), -1);
  }
  EXPECT_EQ(destroyed, Handles{});
}

TEST_F(UniqueHandleTest, DestroysOnceAtItsEnd) {
  {
    const Handle zero(0);
    const Handle five(5);
    EXPECT_TRUE(zero.owns());
    EXPECT_EQ(five.get(), 5);
  }
  EXPECT_EQ(destroyed, (Handles{5, 0}));
}

TEST_F(UniqueHandleTest, MoveConstructionGivesAway) {
  {
    Handle first(1);
    const Handle second(std::move(first));
    EXPECT_FALSE(first.owns());  // NOLINT(bugprone-use-after-move)
    EXPECT_EQ(second.get(), 1);
  }
  EXPECT_EQ(destroyed, Handles{1});
}

TEST_F(UniqueHandleTest, MoveAssignmentDestroysTheOld) {
  {
    Handle first(1);
    Handle second(2);
    second = std::move(first);
    EXPECT_EQ(destroyed, Handles{2});
    EXPECT_EQ(second.get(), 1);
    EXPECT_FALSE(first.owns());  // NOLINT(bugprone-use-after-move)
  }
  EXPECT_EQ(destroyed, (Handles{2, 1}));
}

TEST_F(UniqueHandleTest, SelfMoveKeeps) {
  {
    Handle handle(1);
    Handle& same = handle;
    handle = std::move(same);
    EXPECT_EQ(handle.get(), 1);
    EXPECT_EQ(destroyed, Handles{});
  }
  EXPECT_EQ(destroyed, Handles{1});
}

TEST_F(UniqueHandleTest, ReleaseDestroysNothing) {
  {
    Handle handle(1);
    EXPECT_EQ(handle.release(), 1);
    EXPECT_FALSE(handle.owns());
    EXPECT_EQ(handle.release(), -1);
  }
  EXPECT_EQ(destroyed, Handles{});
}

TEST_F(UniqueHandleTest, ResetDestroysAndOwnsAnother) {
  {
    Handle handle(1);
    handle.reset(2);
    EXPECT_EQ(destroyed, Handles{1});
    EXPECT_EQ(handle.get(), 2);
    handle.reset();
    EXPECT_FALSE(handle.owns());
    handle.reset();
  }
  EXPECT_EQ(destroyed, (Handles{1, 2}));
}

TEST_F(UniqueHandleTest, AddressTakesACreatedHandle) {
  {
    Handle handle;
    *handle.address() = 7;
    EXPECT_TRUE(handle.owns());
  }
  EXPECT_EQ(destroyed, Handles{7});
}

}  // namespace
