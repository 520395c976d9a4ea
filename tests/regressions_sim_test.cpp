// SPDX-License-Identifier: BSL-1.0
//
// Faults that were found once, each on its own.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <culvert/culvert.hpp>
#include <culvert/sim/sim.hpp>

#include <complex>
#include <string_view>

#include "support/test_support.hpp"

using namespace culvert;

namespace {

class RegressionTest : public testing::Test {
 protected:
  static void start(int devices, bool pools) {
    sim::Config config;
    config.devices = devices;
    config.memory_pools = pools;
    sim::reset(config);
  }
  void SetUp() override { start(2, true); }
  void TearDown() override { sim::reset(); }
};

int device_of(const void* pointer) {
  cudaPointerAttributes attributes{};
  EXPECT_EQ(cudaPointerGetAttributes(&attributes, pointer), cudaSuccess);
  return attributes.device;
}

TEST_F(RegressionTest, CreationOnAFailedDeviceLeavesTheCurrentOne) {
  sim::raise_sticky(1, cudaErrorIllegalAddress);
  EXPECT_THROW((void)Stream(StreamOptions{.device = Device(1)}), Error);
  EXPECT_EQ(Device::current().ordinal(), 0);
  const Stream works;
}

TEST_F(RegressionTest, FallbackAllocatesOnTheDeviceOfTheStream) {
  start(2, false);
  const Stream stream{{.device = Device(1)}};
  const DeviceBuffer<int> buffer(4, stream);
  EXPECT_EQ(device_of(buffer.data()), 1);
  EXPECT_EQ(Device::current().ordinal(), 0);
  // Redundant: the end of the buffer, which nothing uses.
}

// cudaMemcpyAsync refuses stream-ordered memory that the current device cannot access.
TEST_F(RegressionTest, CopiesOnAStreamOfAnotherDevice) {
  const Stream stream{{.device = Device(1)}};
  DeviceBuffer<int> buffer(100, stream);
  PinnedBuffer<int> host(100);
  fill(buffer, 7, stream);
  EXPECT_EQ(cudaMemcpyAsync(host.data(), buffer.data(), buffer.size_bytes(), cudaMemcpyDeviceToHost,
                            stream.get()),
            cudaErrorInvalidValue);
  EXPECT_EQ(last_error(), cudaErrorInvalidValue);
  copy_and_wait(host, buffer, stream);
  for (const int value : host) EXPECT_EQ(value, 7);
  EXPECT_EQ(Device::current().ordinal(), 0);
  EXPECT_EQ(peek_last_error(), cudaSuccess);

  const Stream here;
  DeviceBuffer<int> of_the_other(100, here);
  EXPECT_THROW(copy(of_the_other, buffer, stream), Error);
  EXPECT_EQ(Device::current().ordinal(), 0);
  EXPECT_EQ(peek_last_error(), cudaSuccess);
}

TEST_F(RegressionTest, FallbackNamesTheCallThatFailed) {
  start(1, false);
  const Stream stream;
  sim::fail("cudaMalloc", cudaErrorMemoryAllocation);
  try {
    const DeviceBuffer<int> buffer(4, stream);
    FAIL() << "nothing was thrown";
  } catch (const OutOfMemory& error) {
    EXPECT_EQ(error.function(), std::string_view("cudaMalloc"));
  }
}

TEST_F(RegressionTest, ReleasedFallbackMemoryIsAdoptedAndFreed) {
  start(1, false);
  {
    const Stream stream;
    DeviceBuffer<int> buffer(4, stream);
    int* const data = buffer.release();
    const auto adopted = DeviceBuffer<int>::from_handle(data, 4, stream);
    // Redundant: the end of the buffer, which nothing uses.
  }
  EXPECT_EQ(sim::live().device_allocations, 0u);
}

unsigned line_of_view(DeviceSpan<const int>) { return 0; }

TEST_F(RegressionTest, ConversionToAViewTellsTheCallersPlace) {
  const Stream stream;
  DeviceBuffer<int> gone(4, stream);
  const DeviceBuffer<int> taken = std::move(gone);
  unsigned line = 0;
  try {
    line = __LINE__ + 1;
    (void)line_of_view(gone);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_NE(std::string_view(error.where().file).find("regressions_sim_test"),
              std::string_view::npos);
    EXPECT_EQ(error.where().line, line);
  }
}

TEST_F(RegressionTest, BytesAreCheckedBeforeTheyAreNarrowed) {
  const Stream stream;
  DeviceBuffer<int> buffer(4, stream);
  const auto calls = sim::call_count();
  EXPECT_THROW(fill_bytes(buffer, 0x100000011ull, stream), Error);
  EXPECT_THROW(fill_bytes(buffer, -1l, stream), Error);
  EXPECT_EQ(sim::call_count(), calls);
}

TEST_F(RegressionTest, PaddingDoesNotChangeHowAValueIsFilled) {
  struct Padded {
    char c;
    int i;
  };
  const Stream stream;
  DeviceBuffer<Padded> buffer(4, stream);
  fill(buffer, Padded{2, 3}, stream);  // loads the driver's functions
  std::uint64_t calls[2];
  for (const int padding : {0x01, 0x07}) {
    alignas(Padded) unsigned char bytes[sizeof(Padded)];
    std::memset(bytes, padding, sizeof bytes);
    auto* const value = reinterpret_cast<Padded*>(bytes);
    value->c = 1;
    value->i = 0x01010101;
    const auto before = sim::call_count();
    fill(buffer, *value, stream);
    calls[padding == 0x07] = sim::call_count() - before;
  }
#if defined(__GNUC__) && !defined(__clang__)
  EXPECT_EQ(calls[0], calls[1]);
#endif
}

TEST_F(RegressionTest, EmptyBracesAreTheDefaultOptions) {
  const Stream stream{{}};
  const Event event{{}};
  const MemoryPool pool{{}};
  const PinnedBuffer<float> pinned(5, {});
  EXPECT_EQ(stream.kind(), StreamKind::non_blocking);
}

// The last destructor of a thread joins streams after the kept events were given back.
TEST_F(RegressionTest, JoinsOfEndingThreadsKeepNoEvents) {
  const Stream a, b;
  static const Stream* waiter;
  static const Stream* producer;
  waiter = &a;
  producer = &b;
  struct JoinsAtItsEnd {
    bool used = false;
    ~JoinsAtItsEnd() {
      try {
        // Redundant: no bytes are looked at: which events are kept is.
        waiter->wait(*producer);
      } catch (const Error& error) {
        ADD_FAILURE() << error.what();
      }
    }
  };
  for (int i = 0; i < 20; ++i) {
    support::in_threads(1, [](int) {
      static thread_local JoinsAtItsEnd at_end;
      at_end.used = true;
      // Redundant: no bytes are looked at: which events are kept is.
      waiter->wait(*producer);
    });
  }
  EXPECT_LE(sim::live().events, 2u);
}

// A child made while another thread gives its kept events back does not wait for the lock.
TEST_F(RegressionTest, ForkWhileKeptEventsAreLocked) {
  const Stream a, b;
  // Redundant: no bytes are looked at: which events are kept is.
  a.wait(b);
  process::idle_thread_keeps_locked.exchange(true);
  const pid_t child = fork();
  if (child == 0) {
    alarm(5);
    { const process::IdleThreadKeepsLock lock; }
    _exit(0);
  }
  process::idle_thread_keeps_locked.release(false);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST_F(RegressionTest, AllErrorsThatStayAreSticky) {
  EXPECT_TRUE(is_sticky(static_cast<cudaError_t>(226)));  // cudaErrorContained
  EXPECT_TRUE(is_sticky(static_cast<cudaError_t>(721)));  // cudaErrorTensorMemoryLeak
}

TEST_F(RegressionTest, PartsOfBuffers) {
  const Stream stream;
  DeviceBuffer<int> device(10, stream);
  PinnedBuffer<int> pinned(10);
  EXPECT_EQ(device.first(3).data(), device.data());
  EXPECT_EQ(device.last(3).data(), device.data() + 7);
  EXPECT_EQ(pinned.first(3).data(), pinned.data());
  EXPECT_EQ(pinned.last(3).data(), pinned.data() + 7);
  EXPECT_EQ(pinned.subspan(2, 5).size(), 5u);
  EXPECT_THROW((void)device.first(11), Error);
  EXPECT_THROW((void)device.last(11), Error);
  EXPECT_THROW((void)pinned.first(11), Error);
  EXPECT_THROW((void)pinned.last(11), Error);
  EXPECT_THROW((void)pinned.subspan(5, 6), Error);
  EXPECT_EQ(as_bytes(device).size(), 10 * sizeof(int));
}

}  // namespace
