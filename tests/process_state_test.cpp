// SPDX-License-Identifier: BSL-1.0
#include <culvert/copy.hpp>
#include <culvert/device_buffer.hpp>
#include <culvert/pinned_buffer.hpp>
#include <culvert/process_state.hpp>
#include <culvert/stream.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "support/test_support.hpp"

using namespace culvert;

static_assert(noexcept(set_failure_handler(nullptr)));
static_assert(noexcept(forget_kept_events()));
static_assert(std::is_nothrow_invocable_v<FailureHandler, const Failure&>);

namespace {

int failures = 0;
void count_failure(const Failure&) noexcept { ++failures; }

void fail_in_a_destructor() { detail::call_in_destructor("cudaSetDevice", cudaSetDevice, -1); }

class ProcessStateTest : public support::RuntimeTest {
 protected:
  void SetUp() override { failures = 0; }
  void TearDown() override { set_failure_handler(nullptr); }
};

TEST_F(ProcessStateTest, HandlerIsReplacedAndGivenBack) {
  const FailureHandler first = set_failure_handler(&count_failure);
  EXPECT_NE(first, nullptr);
  EXPECT_NE(first, &count_failure);
  fail_in_a_destructor();
  EXPECT_EQ(failures, 1);
  EXPECT_EQ(set_failure_handler(nullptr), &count_failure);
  EXPECT_EQ(set_failure_handler(nullptr), first);
}

TEST_F(ProcessStateTest, DefaultHandlerPrintsOneLine) {
  testing::internal::CaptureStderr();
  fail_in_a_destructor();
  EXPECT_EQ(
      testing::internal::GetCapturedStderr(),
      "culvert: cudaSetDevice failed: cudaErrorInvalidDevice (101): invalid device ordinal\n");
}

TEST_F(ProcessStateTest, DefaultHandlerPrintsDetailAndPlace) {
  testing::internal::CaptureStderr();
  process::print_failure({cudaErrorInvalidValue, "culvert::copy", "sizes differ",
                          SourceLocation::current("file.cpp", 7)});
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "culvert: culvert::copy: sizes differ failed: cudaErrorInvalidValue (1): "
            "invalid argument (at file.cpp:7)\n");
}

TEST_F(ProcessStateTest, JoinGoesOnAfterKeptEventsWereForgotten) {
  kept_events = 3;  // the forgotten ones are not destroyed
  const Stream a;
  const Stream b;
  for (int i = 0; i < 3; ++i) {
    support::delay(a.get());
    const Event done = a.record();
    b.wait(a);
    b.synchronize();
    EXPECT_TRUE(done.is_done());
    forget_kept_events();
  }
}

// CUDA does not survive a fork: a call in the child would fail, and its failure would be told.
TEST_F(ProcessStateTest, ForkedChildDestroysOwnersInSilence) {
  constexpr std::size_t size = 4096;
  const std::vector<std::byte> expected = support::random_bytes(size);
  std::vector<std::byte> result = support::poisoned(size);
  Stream stream;
  Event event = stream.record();
  TimedEvent timed = stream.record_timed();
  MemoryPool pool;
  DeviceBuffer<std::byte> buffer(size, stream);
  DeviceBuffer<std::byte> plain(size);
  PinnedBuffer<std::byte> pinned(size);
  // Redundant: the child must not see work that is pending; on this runtime it does no harm.
  stream.synchronize();
  set_failure_handler(&count_failure);

  const pid_t child = fork();
  if (child == 0) {
    buffer.reset();
    plain.reset();
    pinned.reset();
    pool.reset();
    timed.reset();
    event.reset();
    stream.reset();
    _exit(failures);
  }
  ASSERT_GT(child, 0);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);

  // The parent's are as they were.
  std::ranges::copy(expected, pinned.begin());
  copy(buffer, pinned, stream);
  copy(plain, buffer, stream);
  copy_and_wait(result, plain, stream);
  EXPECT_TRUE(support::same_bytes(result, expected));
  EXPECT_EQ(failures, 0);
}

}  // namespace
