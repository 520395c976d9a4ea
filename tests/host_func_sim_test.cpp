// SPDX-License-Identifier: BSL-1.0
//
// Lifetimes of host functions under faults that only the simulated runtime can make.
#include <culvert/async.hpp>
#include <culvert/device_buffer.hpp>
#include <culvert/pinned_buffer.hpp>
#include <culvert/sim/sim.hpp>

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "support/counted.hpp"
#include "support/expect_error.hpp"
#include "support/test_support.hpp"

using namespace culvert;
using support::Count;
using support::Counted;

namespace {

std::atomic<int> reported;

class HostFuncSimTest : public support::RuntimeTest {
 protected:
  HostFuncSimTest() {
    kept_events = 1000;
    reported = 0;
    set_failure_handler([](const Failure&) noexcept { ++reported; });
  }
  ~HostFuncSimTest() override {
    collect();
    set_failure_handler(nullptr);
    support::reset_runtime();
  }
};

// Each runtime call of each launch fails once, with errors that stop all work and with others.
TEST_F(HostFuncSimTest, EveryCallFailsOnce) {
  for (const cudaError_t status : {cudaErrorMemoryAllocation, cudaErrorInvalidResourceHandle,
                                   cudaErrorIllegalAddress, cudaErrorUnknown}) {
    for (std::uint64_t nth = 1; nth <= 16; ++nth) {
      support::reset_runtime();
      const testing::ScopedTrace trace(__FILE__, __LINE__,
                                       cudaGetErrorName(status) + std::to_string(nth));
      Count count;
      int thrown = 0;
      reported = 0;
      const auto use = [&](auto&& call) {
        try {
          call();
        } catch (const Error& error) {
          ++thrown;
          EXPECT_EQ(error.status(), status) << error.what();
        }
      };
      {
        const Stream stream;
        sim::fail(nullptr, status, nth);
        use([&] { launch_host(stream, [counted = Counted(count)] {}); });
        const HostFunc reusable([counted = Counted(count)] {});
        use([&] { launch_host(stream, reusable); });
        use([&] { launch_host(stream, HostFunc([counted = Counted(count)] {})); });
        use([&] {
          HostFuture<Counted> future =
              async_host(stream, [counted = Counted(count), &count] { return Counted(count); });
          // Redundant: each step may be missing after a fault; what ends, and once, is what counts.
          (void)future.get();
        });
        use([&] { launch_host(stream, [pinned = PinnedBuffer<int>(10)] {}); });
        // Redundant: each step may be missing after a fault; what ends, and once, is what counts.
        use([&] { stream.synchronize(); });
        collect();
        sim::clear_faults();
        // Redundant: each step may be missing after a fault; what ends, and once, is what counts.
        use([&] { stream.synchronize(); });
      }
      EXPECT_LE(thrown + reported, 3);
      EXPECT_GE(count.made, 3);
      EXPECT_EQ(count.ended, count.made);
    }
  }
}

// CUDA may tell an earlier error of a launch that it ran all the same.
TEST_F(HostFuncSimTest, RefusedThoughItRan) {
  sim::set_schedule(sim::Schedule::eager);
  Count count;
  const auto break_device = [counted = std::make_shared<Counted>(count)] {
    sim::raise_sticky(0, cudaErrorIllegalAddress);
  };
  {
    const Stream stream;
    EXPECT_THROW(launch_host(stream, break_device), Error);
    EXPECT_THROW(launch_host(stream, HostFunc(break_device)), Error);
  }
  EXPECT_EQ(count.ended, 0);

  support::reset_runtime();
  sim::set_schedule(sim::Schedule::eager);
  Count reusable, asynchronous;
  {
    const Stream stream;
    EXPECT_THROW(launch_host(stream, HostFunc([counted = Counted(reusable)] {
                               sim::raise_sticky(0, cudaErrorIllegalAddress);
                             })),
                 Error);
  }
  EXPECT_EQ(reusable.ended, 1);

  support::reset_runtime();
  sim::set_schedule(sim::Schedule::eager);
  {
    const Stream stream;
    EXPECT_THROW((void)async_host(stream,
                                  [counted = Counted(asynchronous)] {
                                    sim::raise_sticky(0, cudaErrorIllegalAddress);
                                  }),
                 Error);
  }
  EXPECT_EQ(asynchronous.ended, 1);
}

// What ended in a host function is freed before the stream ends that it needs.
TEST_F(HostFuncSimTest, BufferEndsInItsOwnStream) {
  std::atomic<bool> ended = false;
  struct Flag {
    explicit Flag(std::atomic<bool>& f) : flag(&f) {}
    Flag(Flag&& other) noexcept : flag(std::exchange(other.flag, nullptr)) {}
    ~Flag() {
      if (flag != nullptr) *flag = true;
    }
    std::atomic<bool>* flag;
  };
  {
    const Stream stream;
    DeviceBuffer<int> buffer(100, stream);
    launch_host(stream, [flag = Flag(ended), buffer = std::move(buffer)] {});
    while (!ended) std::this_thread::yield();
  }
  sim::run_pending();
  EXPECT_EQ(reported, 0);
  EXPECT_EQ(sim::live().device_allocations, 0u);
}

// culvert's own refusals tell nothing of CUDA's work.
TEST_F(HostFuncSimTest, RefusalDropsNothing) {
  const Stream stream;
  int ran = 0;
  HostFunc old([] {});
  launch_host(stream, old);
  sim::raise_sticky(0, cudaErrorIllegalAddress);
  EXPECT_THROW(stream.synchronize(), Error);
  support::reset_runtime();

  const Stream fresh;
  launch_host(fresh, [&] { ++ran; });
  support::expect_error(
      [&] { launch_host(fresh, old); },
      {cudaErrorInvalidResourceHandle, "culvert::launch_host", {"were dropped after an error"}});
  fresh.synchronize();
  EXPECT_EQ(ran, 1);
}

// The ticket of the launch that is pending.
void* pending_ticket() {
  void* ticket = nullptr;
  process::for_each_host_slot([&](process::HostSlot& slot) {
    if ((slot.holds.acquire() & process::HostSlot::all_pending) != 0) ticket = slot.ticket();
  });
  return ticket;
}

// CUDA calls again for each launch of a graph, as here.
TEST_F(HostFuncSimTest, RepeatsOfAOneShotRunNothing) {
  const Stream stream;
  int ran = 0;
  launch_host(stream, [&] { ++ran; });
  void* const ticket = pending_ticket();
  stream.synchronize();
  EXPECT_EQ(ran, 1);
  detail::run_host_slot(ticket);
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(reported, 1);

  // Nor those that have the slot afterwards.
  int others = 0;
  for (int i = 0; i < 200; ++i) launch_host(stream, [&] { ++others; });
  detail::run_host_slot(ticket);
  EXPECT_EQ(others, 0);
  EXPECT_EQ(reported, 2);
  stream.synchronize();
  EXPECT_EQ(others, 200);
  HostFuture<int> future = async_host(stream, [] { return 1; });
  detail::run_host_slot(ticket);
  EXPECT_EQ(future.get(), 1);
  EXPECT_EQ(reported, 3);
}

TEST_F(HostFuncSimTest, RepeatsOfAHostFuncRunWhileItLives) {
  const Stream stream;
  int ran = 0;
  Count count;
  void* ticket = nullptr;
  {
    const HostFunc function([&ran, counted = Counted(count)] { ++ran; });
    launch_host(stream, function);
    ticket = pending_ticket();
    stream.synchronize();
    detail::run_host_slot(ticket);
    detail::run_host_slot(ticket);
    EXPECT_EQ(ran, 3);
    EXPECT_EQ(count.ended, 0);
  }
  EXPECT_EQ(count.ended, 1);
  detail::run_host_slot(ticket);
  EXPECT_EQ(ran, 3);
  EXPECT_EQ(reported, 1);
}

TEST_F(HostFuncSimTest, NullFunctionsAreRefused) {
  const Stream stream;
  void (*const null)() = nullptr;
  const std::string text = "the function is null";
  support::expect_refused([&] { launch_host(stream, null); },
                          {cudaErrorInvalidValue, "culvert::launch_host", {text}});
  support::expect_refused([&] { (void)async_host(stream, null); },
                          {cudaErrorInvalidValue, "culvert::async_host", {text}});
  support::expect_refused([&] { const HostFunc function(null); },
                          {cudaErrorInvalidValue, "culvert::HostFunc", {text}});
}

TEST_F(HostFuncSimTest, ResultsOfEveryKind) {
  const Stream stream;
  std::string object = "x";
  EXPECT_EQ(async_host(stream, []() -> const std::string { return "const"; }).get(), "const");
  EXPECT_EQ(&async_host(stream, [&]() -> const std::string& { return object; }).get(), &object);
  const std::string taken =
      async_host(stream, [&]() -> std::string&& { return std::move(object); }).get();
  EXPECT_EQ(taken, "x");

  struct Overloaded {
    int value = 7;
    int operator&() const { return 0; }
  };
  EXPECT_EQ(async_host(stream, [] { return Overloaded{}; }).get().value, 7);

  struct alignas(64) NoNew {
    static void* operator new(std::size_t) = delete;
    int value = 9;
  };
  const HostFuture<NoNew> future = async_host(stream, [] { return NoNew{}; });
  HostFuture<NoNew> moved = async_host(stream, [payload = NoNew{}] { return payload; });
  EXPECT_EQ(moved.get().value, 9);
}

}  // namespace
