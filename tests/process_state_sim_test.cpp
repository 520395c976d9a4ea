// SPDX-License-Identifier: BSL-1.0
//
// What of the process-wide state only the simulated runtime can show.
#include <culvert/culvert.hpp>
#include <culvert/sim/sim.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "support/test_support.hpp"

using namespace culvert;

namespace {

std::vector<std::string> failed_functions;

class ProcessStateSimTest : public support::RuntimeTest {
 protected:
  void SetUp() override {
    failed_functions.clear();
    set_failure_handler([](const Failure& failure) noexcept {
      EXPECT_EQ(failure.status, cudaErrorLaunchFailure);
      EXPECT_STREQ(failure.where.file, "");
      failed_functions.emplace_back(failure.function);
    });
  }
  void TearDown() override { set_failure_handler(nullptr); }

  // Expects that giving this owner back calls `function`, and tells the handler if it fails.
  template <class Owner>
  static void expect_told(Owner owner, const char* function) {
    SCOPED_TRACE(function);
    const sim::Live before = sim::live();
    const std::uint64_t calls = sim::call_count(function);
    sim::fail(function, cudaErrorLaunchFailure);
    const auto handle = [&] {
      if constexpr (requires { owner.data(); }) {
        return owner.data();
      } else {
        return owner.get();
      }
    }();
    owner.reset();
    EXPECT_EQ(sim::call_count(function), calls + 1);
    EXPECT_EQ(failed_functions, std::vector<std::string>{function});
    EXPECT_EQ(peek_last_error(), cudaSuccess);
    failed_functions.clear();

    // Nothing was given back, and the owner has forgotten it: give it back by hand.
    EXPECT_EQ(sim::live().streams, before.streams);
    EXPECT_EQ(sim::live().events, before.events);
    EXPECT_EQ(sim::live().pools, before.pools);
    EXPECT_EQ(sim::live().device_allocations, before.device_allocations);
    EXPECT_EQ(sim::live().host_allocations, before.host_allocations);
    give_back(handle, function);
  }

 private:
  static void give_back(cudaStream_t stream, const char*) {
    EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  }
  static void give_back(cudaEvent_t event, const char*) {
    EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
  }
  static void give_back(cudaMemPool_t pool, const char*) {
    EXPECT_EQ(cudaMemPoolDestroy(pool), cudaSuccess);
  }
  static void give_back(int* memory, const std::string& function) {
    EXPECT_EQ(function == "cudaFreeHost" ? cudaFreeHost(memory) : cudaFree(memory), cudaSuccess);
  }
};

TEST_F(ProcessStateSimTest, EachFailedEndIsTold) {
  const Stream stream;
  expect_told(Stream(), "cudaStreamDestroy");
  expect_told(Event(), "cudaEventDestroy");
  expect_told(TimedEvent(), "cudaEventDestroy");
  expect_told(MemoryPool(), "cudaMemPoolDestroy");
  expect_told(DeviceBuffer<int>(5, stream), "cudaFreeAsync");
  expect_told(DeviceBuffer<int>(5), "cudaFree");
  expect_told(PinnedBuffer<int>(5), "cudaFreeHost");
}

TEST_F(ProcessStateSimTest, UnloadingRuntimeIsNotTold) {
  Stream stream;
  const cudaStream_t handle = stream.get();
  sim::fail("cudaStreamDestroy", cudaErrorCudartUnloading);
  stream.reset();
  EXPECT_TRUE(failed_functions.empty());
  EXPECT_EQ(peek_last_error(), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(handle), cudaSuccess);
}

TEST_F(ProcessStateSimTest, ForkedChildMakesNoCall) {
  Stream stream;
  Event event = stream.record();
  TimedEvent timed = stream.record_timed();
  MemoryPool pool;
  DeviceBuffer<int> buffer(5, stream);
  DeviceBuffer<int> plain(5);
  PinnedBuffer<int> pinned(5);
  // Redundant: the child must not see work that is pending; on this runtime it does no harm.
  stream.synchronize();

  const pid_t child = fork();
  if (child == 0) {
    const std::uint64_t before = sim::call_count();
    buffer.reset();
    plain.reset();
    pinned.reset();
    pool.reset();
    timed.reset();
    event.reset();
    stream.reset();
    _exit(sim::call_count() == before ? 0 : 1);
  }
  ASSERT_GT(child, 0);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(ProcessStateSimTest, JoinGoesOnAfterADeviceReset) {
  {
    const Stream a;
    const Stream b;
    // Redundant: no bytes are looked at: the event that is kept is.
    b.wait(a);
  }
  ASSERT_EQ(cudaDeviceReset(), cudaSuccess);
  forget_kept_events();
  const Stream a;
  const Stream b;
  support::delay(a.get());
  b.wait(a);
  b.synchronize();
  EXPECT_TRUE(a.is_done());
}

}  // namespace
