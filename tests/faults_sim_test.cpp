// SPDX-License-Identifier: BSL-1.0
//
// Every runtime call of a program that uses all of culvert fails once in turn.
#include <culvert/culvert.hpp>
#include <culvert/sim/sim.hpp>

#include <string>
#include <vector>

#include "support/test_support.hpp"

using namespace culvert;

namespace {

// Uses every class and verb on two devices. A status that is an answer is added to `answers`.
void scenario(std::vector<cudaError_t>& answers) {
  answers.push_back(Environment::probe().status());
  const Device device = Device::current();
  (void)device.name();
  (void)device.attribute(cudaDevAttrWarpSize);
  (void)device.memory_info();
  device.make_current();

  const Stream a;
  const Stream b{{.kind = StreamKind::blocking, .priority = Priority::highest}};
  (void)a.id();
  (void)a.flags();
  (void)b.priority();
  (void)a.device();

  const MemoryPool pool{{.release_threshold = 1 << 20}};
  (void)pool.release_threshold();
  (void)pool.statistics();
  MemoryPoolRef::current_of(device).make_current_of(device);
  (void)MemoryPoolRef::default_of(device);

  std::vector<int> values(100, 1);
  PinnedBuffer<int> pinned(100, {.mapped = true});
  DeviceBuffer<int> in_stream(100, a);
  DeviceBuffer<int> from_pool(100, a, pool);
  DeviceBuffer<int> plain(100);
  DeviceBuffer<long> wide(100, a);
  DeviceBuffer<int> tried;
  answers.push_back(DeviceBuffer<int>::try_allocate(tried, 100, a));
  fill(pinned.mapped_span(), 3, a);
  fill(in_stream, 1, a);
  fill(plain, 0x12345678, a);
  fill(wide, 0x123456789L, a);
  fill_bytes(from_pool, 7, a);
  copy(in_stream, values, a);
  copy(plain, in_stream, a);
  copy(pinned, plain, a);
  copy_and_wait(values, plain, a);

  const TimedEvent start = a.record_timed();
  const TimedEvent stop;
  a.record(stop);
  stop.synchronize();
  (void)elapsed(start, stop);
  (void)try_elapsed(start, stop);
  const Event mark{{.blocking_sync = true}};
  a.record(mark);
  b.wait(mark);
  while (!mark.is_done()) {
  }
  b.wait(a);
  a.wait(b);
  in_stream.rebind(b);
  while (!b.is_done()) {
  }
  b.synchronize();
  pool.reset_high_water();
  pool.trim();
  device.synchronize();

  const Device other(1);
  const Stream c{{.device = other}};
  DeviceBuffer<int> there(100, other);
  fill(there, 1, c);
  (void)c.record();
  c.wait(c);
  other.synchronize();
}

struct Told {
  cudaError_t status;
  std::string function;
};
std::vector<Told> told;

std::size_t kept_events_of_this_thread() {
  std::size_t count = 0;
  if (process::thread_keep == nullptr) return 0;
  const process::KeptEvents* const kept = &process::thread_keep->events;
  if (kept->generation != process::kept_events_generation.load()) return 0;
  for (const cudaEvent_t event : kept->events) count += event != nullptr ? 1u : 0u;
  return count;
}

// What is left is what a failed call did not give back, and the kept events.
void expect_left(const std::string& failed) {
  sim::run_pending();
  const sim::Live live = sim::live();
  const auto left = [&](bool one) { return one ? std::size_t{1} : std::size_t{0}; };
  EXPECT_EQ(live.streams, left(failed == "cudaStreamDestroy"));
  EXPECT_EQ(live.events, kept_events_of_this_thread() + left(failed == "cudaEventDestroy"));
  EXPECT_EQ(live.pools, left(failed == "cudaMemPoolDestroy"));
  EXPECT_EQ(live.device_allocations, left(failed == "cudaFreeAsync" || failed == "cudaFree"));
  EXPECT_EQ(live.host_allocations, left(failed == "cudaFreeHost"));
  EXPECT_LE(kept_events_of_this_thread(), 2u);
}

class FaultsTest : public support::RuntimeTest, public testing::WithParamInterface<cudaError_t> {
 protected:
  void SetUp() override {
    set_failure_handler([](const Failure& failure) noexcept {
      told.push_back({failure.status, failure.function});
    });
  }
  void TearDown() override {
    set_failure_handler(nullptr);
    support::reset_runtime();
  }

  // Starts anew and runs the scenario with a fault in call `nth`. Answers how often the fault
  // was seen: thrown, told to the handler, or given as an answer.
  static int run_with_fault(cudaError_t status, std::uint64_t nth) {
    support::reset_runtime(2);
    told.clear();
    sim::fail(nullptr, status, nth);
    std::vector<cudaError_t> answers;
    int seen = 0;
    try {
      scenario(answers);
    } catch (const Error& error) {
      ++seen;
      EXPECT_EQ(error.status(), status) << error.what();
      EXPECT_STREQ(error.where().file, __FILE__) << error.what();
      EXPECT_STRNE(error.function(), "");
      EXPECT_EQ(dynamic_cast<const OutOfMemory*>(&error) != nullptr,
                status == cudaErrorMemoryAllocation);
    }
    for (const cudaError_t answer : answers) {
      if (answer == cudaSuccess) continue;
      ++seen;
      EXPECT_EQ(answer, status);
    }
    for (const Told& failure : told) {
      ++seen;
      EXPECT_EQ(failure.status, status) << failure.function;
    }
    EXPECT_EQ(peek_last_error(), cudaSuccess);
    expect_left(told.empty() ? "" : told.front().function);
    return seen;
  }

  // The scenario's number of calls, with the driver's functions loaded.
  static std::uint64_t calls_of_the_scenario() {
    for (int i = 0; i < 2; ++i) {
      support::reset_runtime(2);
      std::vector<cudaError_t> answers;
      scenario(answers);
    }
    return sim::call_count();
  }
};

TEST_P(FaultsTest, EachCallFailsInTurn) {
  const std::uint64_t calls = calls_of_the_scenario();
  ASSERT_GT(calls, 100u);
  for (std::uint64_t nth = 1; nth <= calls; ++nth) {
    SCOPED_TRACE("call " + std::to_string(nth) + " of " + std::to_string(calls));
    ASSERT_EQ(run_with_fault(GetParam(), nth), 1);
    ASSERT_FALSE(HasFailure());
  }
  // One more is not reached.
  EXPECT_EQ(run_with_fault(GetParam(), calls + 1), 0);
}

INSTANTIATE_TEST_SUITE_P(Status, FaultsTest,
                         testing::Values(cudaErrorUnknown, cudaErrorInvalidValue,
                                         cudaErrorMemoryAllocation, cudaErrorIllegalAddress,
                                         cudaErrorNoDevice),
                         [](const auto& status) {
                           return std::string(cudaGetErrorName(status.param));
                         });

// Some statuses are answers to some calls.
using AnswersTest = support::RuntimeTest;

TEST_F(AnswersTest, NotReadyIsNoError) {
  const Stream stream;
  const Event event = stream.record();
  stream.synchronize();
  sim::fail("cudaStreamQuery", cudaErrorNotReady);
  EXPECT_FALSE(stream.is_done());
  EXPECT_TRUE(stream.is_done());
  sim::fail("cudaEventQuery", cudaErrorNotReady);
  EXPECT_FALSE(event.is_done());
  EXPECT_TRUE(event.is_done());
}

TEST_F(AnswersTest, WrongDeviceIsTriedAgain) {
  const Stream stream;
  sim::fail("cudaEventRecord", cudaErrorInvalidResourceHandle);
  const Event event = stream.record();
  EXPECT_EQ(sim::call_count("cudaEventRecord"), 2u);
  // And is an error once no device is left.
  sim::fail("cudaEventRecord", cudaErrorInvalidResourceHandle, 1);
  sim::fail("cudaEventRecord", cudaErrorInvalidResourceHandle, 2);
  EXPECT_THROW((void)stream.record(), Error);
  EXPECT_EQ(sim::live().events, 1u);
}

TEST_F(AnswersTest, NotSupportedFallsBack) {
  const Stream stream;
  sim::fail("cudaMallocAsync", cudaErrorNotSupported);
  DeviceBuffer<int> buffer(100, stream);
  EXPECT_EQ(sim::call_count("cudaMalloc"), 1u);
  fill(buffer, 1, stream);
}

TEST_F(AnswersTest, StickyErrorIsMarked) {
  Stream stream;
  sim::raise_sticky(0, cudaErrorIllegalAddress);
  for (int i = 0; i < 2; ++i) {
    try {
      stream.synchronize();
      FAIL() << "nothing was thrown";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), cudaErrorIllegalAddress);
      EXPECT_TRUE(error.sticky());
    }
  }
  EXPECT_EQ(peek_last_error(), cudaSuccess);
  (void)stream.release();
  ASSERT_EQ(cudaDeviceReset(), cudaSuccess);
}

}  // namespace
