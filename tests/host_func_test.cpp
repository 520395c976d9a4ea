// SPDX-License-Identifier: BSL-1.0
#include <culvert/copy.hpp>
#include <culvert/device_buffer.hpp>
#include <culvert/fill.hpp>
#include <culvert/host_func.hpp>
#include <culvert/pinned_buffer.hpp>

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/counted.hpp"
#include "support/expect_error.hpp"
#include "support/gate.hpp"
#include "support/test_support.hpp"

using namespace culvert;
using support::Count;
using support::Counted;

using Function = std::function<void()>;
static_assert(!std::is_copy_constructible_v<HostFunc<Function>>);
static_assert(!std::is_copy_assignable_v<HostFunc<Function>>);
static_assert(std::is_nothrow_move_constructible_v<HostFunc<Function>>);
static_assert(std::is_nothrow_move_assignable_v<HostFunc<Function>>);
static_assert(sizeof(HostFunc<Function>) == sizeof(void*));

namespace {

struct Told {
  std::atomic<int> failures{0};
  std::atomic<cudaError_t> status{cudaSuccess};
  std::atomic<unsigned> line{0};
  std::mutex mutex;
  std::string function;
  std::string detail;
} told;

void keep_failure(const Failure& failure) noexcept {
  const std::scoped_lock lock(told.mutex);
  told.status = failure.status;
  told.line = failure.where.line;
  told.function = failure.function;
  told.detail = failure.detail;
  ++told.failures;
}

class HostFuncTest : public support::RuntimeTest {
 protected:
  HostFuncTest() {
    told.failures = 0;
    set_failure_handler(&keep_failure);
  }
  ~HostFuncTest() override {
    // Redundant: for tests that end early, with functions still to run.
    cudaDeviceSynchronize();
    collect();
    set_failure_handler(nullptr);
  }
};

TEST_F(HostFuncTest, RunsOnceInTheOrderOfTheStream) {
  const Stream stream;
  const auto bytes = support::random_bytes(4097);
  DeviceBuffer<std::byte> device(bytes.size(), stream);
  PinnedBuffer<std::byte> source(bytes.size()), host(bytes.size());
  std::copy(bytes.begin(), bytes.end(), source.begin());
  std::vector<std::byte> seen;
  const support::Completion completion;
  support::delay(stream.get());
  copy(device, source, stream);
  copy(host, device, stream);
  launch_host(stream, [&] {
    seen.assign(host.begin(), host.end());
    std::fill(source.begin(), source.end(), support::poison);
  });
  copy(device, source, stream);  // waits for the function
  copy(host, device, stream);
  stream.synchronize();
  EXPECT_TRUE(support::same_bytes(seen, bytes));
  EXPECT_TRUE(support::same_bytes(host, support::poisoned(bytes.size())));
}

TEST_F(HostFuncTest, DoesNotBlockTheHost) {
  const Stream stream;
  std::atomic<bool> ran = false;
  const support::Completion completion;
  support::Gate gate(stream);
  launch_host(stream, [&] { ran = true; });
  EXPECT_FALSE(ran);
  EXPECT_FALSE(stream.is_done());
  gate.open();
  stream.synchronize();
  EXPECT_TRUE(ran);
}

TEST_F(HostFuncTest, TakesAnyCallable) {
  static std::atomic<int> calls;
  calls = 0;
  const Stream stream;
  struct OnlyAsRvalue {
    int operator()() && { return ++calls; }  // what it returns is dropped
  };
  struct Copyable {
    void operator()() const { ++calls; }
  };
  const Copyable copied;
  Function function = [] { ++calls; };
  launch_host(stream, [] { ++calls; });
  launch_host(
      stream, +[] { ++calls; });
  launch_host(stream, OnlyAsRvalue{});
  launch_host(stream, copied);
  launch_host(stream, function);
  launch_host(stream, std::move(function));
  launch_host(stream, [p = std::make_unique<int>(1)] { calls += *p; });
  launch_host(stream,
              [p = std::make_unique<int>(1)]() mutable { calls += *std::exchange(p, nullptr); });
  stream.synchronize();
  EXPECT_EQ(calls, 8);
}

template <std::size_t size, std::size_t alignment = 1>
void run_with_capture_of(StreamRef stream) {
  struct alignas(alignment) Payload {
    std::array<std::byte, size> bytes;
  };
  const auto expected = support::random_bytes(size);
  Payload payload;
  std::copy(expected.begin(), expected.end(), payload.bytes.begin());
  Count count;
  std::vector<std::byte> seen;
  bool aligned = false;
  const support::Completion completion;
  const auto function = [&](auto counted) {
    return [payload, &seen, &aligned, counted = std::move(counted)] {
      seen.assign(payload.bytes.begin(), payload.bytes.end());
      aligned = reinterpret_cast<std::uintptr_t>(&payload) % alignment == 0 && counted.holds();
    };
  };
  launch_host(stream, function(Counted(count)));
  stream.synchronize();
  EXPECT_TRUE(support::same_bytes(seen, expected)) << size;
  EXPECT_TRUE(aligned) << alignment;
  EXPECT_EQ(count.made, 1);
  EXPECT_EQ(count.ended, 1);

  const HostFunc reusable(function(Counted(count)));
  seen.clear();
  launch_host(stream, reusable);
  stream.synchronize();
  EXPECT_TRUE(support::same_bytes(seen, expected)) << size;
}

// Each class of slots, their borders, and what no slot holds.
TEST_F(HostFuncTest, TakesCapturesOfAnySize) {
  const Stream stream;
  run_with_capture_of<1>(stream);
  run_with_capture_of<24>(stream);
  run_with_capture_of<40>(stream);
  run_with_capture_of<41>(stream);
  run_with_capture_of<400>(stream);
  run_with_capture_of<448>(stream);
  run_with_capture_of<1900>(stream);
  run_with_capture_of<1984>(stream);
  run_with_capture_of<1985>(stream);
  run_with_capture_of<100'000>(stream);
  run_with_capture_of<16, 16>(stream);
  run_with_capture_of<64, 64>(stream);
  run_with_capture_of<4096, 4096>(stream);
}

TEST_F(HostFuncTest, IsDestroyedOnceAfterItRan) {
  Count count;
  const support::Completion completion;
  {
    const Stream stream;
    support::Gate gate(stream);
    for (int i = 0; i < 300; ++i) {
      launch_host(stream, [counted = Counted(count)] { EXPECT_TRUE(counted.holds()); });
    }
    EXPECT_EQ(count.alive(), 300);
    gate.open();
    stream.synchronize();
    EXPECT_EQ(count.made, 300);
    EXPECT_EQ(count.ended, 300);
  }
}

TEST_F(HostFuncTest, RunsThoughItsStreamHasEnded) {
  Count count;
  std::atomic<int> ran = 0;
  const support::Completion completion;
  {
    const Stream stream;
    support::delay(stream.get());
    launch_host(stream, [&, counted = Counted(count)] { ++ran; });
  }
  Device::current().synchronize();
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(count.ended, 1);
}

TEST_F(HostFuncTest, SignalsAnotherThread) {
  const Stream stream;
  std::mutex mutex;
  std::condition_variable condition;
  bool arrived = false;
  const support::Completion completion;
  launch_host(stream, [&] {
    const std::scoped_lock lock(mutex);
    arrived = true;
    condition.notify_one();
  });
  std::future<int> answer = std::async(std::launch::async, [&] {
    std::unique_lock lock(mutex);
    condition.wait(lock, [&] { return arrived; });
    return Device::current().ordinal() + 42;  // that thread may call CUDA
  });
  EXPECT_EQ(answer.get(), 42);  // no CUDA call waits for the stream
  // Redundant: tidies up; the thread has had its answer.
  stream.synchronize();
}

TEST_F(HostFuncTest, ExceptionsGoToTheHandler) {
  const Stream stream;
  Count count;
  const unsigned line = __LINE__ + 1;
  launch_host(stream, [counted = Counted(count)] { throw std::runtime_error("out of cheese"); });
  stream.synchronize();
  EXPECT_EQ(told.failures, 1);
  EXPECT_EQ(told.status, cudaErrorUnknown);
  EXPECT_EQ(told.detail, "out of cheese");
  EXPECT_NE(told.function.find("launch_host"), std::string::npos);
  EXPECT_EQ(told.line, line);
  EXPECT_EQ(count.ended, 1);

  launch_host(stream, [] { throw 7; });
  stream.synchronize();
  EXPECT_EQ(told.failures, 2);
  const HostFunc thrower([] { throw std::logic_error("again"); });
  launch_host(stream, thrower);
  launch_host(stream, thrower);
  stream.synchronize();
  EXPECT_EQ(told.failures, 4);
  EXPECT_EQ(told.detail, "again");
}

// What may be called, each with a clear error and no hang.
TEST_F(HostFuncTest, CudaCallsInsideAreErrors) {
  const Stream stream, other;
  const Event event = other.record();
  DeviceBuffer<int> device(16, stream);
  PinnedBuffer<int> host(16);
  const std::vector<Function> calls = {
      [&] { stream.synchronize(); },
      [&] { other.synchronize(); },
      [&] { (void)stream.is_done(); },
      [&] { event.synchronize(); },
      [&] { (void)event.is_done(); },
      [&] { stream.record(event); },
      [&] { stream.wait(event); },
      [&] { stream.wait(other); },
      [&] { Device::current().synchronize(); },
      [&] { copy(host, device, stream); },
      [&] { copy_and_wait(host, device, other); },
      [&] { fill_bytes(device, 1, other); },
      [&] { const DeviceBuffer<int> inside(16, other); },
      [&] { const DeviceBuffer<int> inside(16); },
      [&] { const PinnedBuffer<int> inside(16); },
      [&] { const Stream inside; },
      [&] { const Event inside; },
      [&] { launch_host(other, [] {}); },
      [&] { (void)Device::current(); },
  };
  for (std::size_t i = 0; i < calls.size(); ++i) {
    told.failures = 0;
    launch_host(stream, calls[i]);
    stream.synchronize();
    EXPECT_EQ(told.failures, 1) << i;
    EXPECT_EQ(told.status, cudaErrorNotPermitted) << i;
    EXPECT_NE(told.detail.find("inside a host function"), std::string::npos) << told.detail;
  }
  EXPECT_EQ(last_error(), cudaSuccess);
}

TEST_F(HostFuncTest, OwnersThatEndInsideAreGivenBackLater) {
  const Stream stream, home;
  std::atomic<bool> ran = false;
  const struct Collection {  // before the home of the buffers ends, though an exception flies
    ~Collection() {
      { const support::Completion completion; }
      collect();
    }
  } collection;
  {
    PinnedBuffer<int> pinned(100);
    DeviceBuffer<int> device(100, home);
    DeviceBuffer<int> plain(100);
    Stream moved;
    Event event = moved.record();
    TimedEvent timed = moved.record_timed();
    launch_host(stream, [&ran] { ran = true; });
    launch_host(stream,
                [pinned = std::move(pinned), device = std::move(device), plain = std::move(plain),
                 moved = std::move(moved), event = std::move(event), timed = std::move(timed)] {});
  }
  stream.synchronize();  // gives back in passing
  EXPECT_TRUE(ran);
  EXPECT_EQ(told.failures, 0) << told.detail;
  EXPECT_EQ(last_error(), cudaSuccess);
  EXPECT_EQ(process::deferred_calls.load(), nullptr);
  EXPECT_FALSE(told.failures);
}

TEST_F(HostFuncTest, CollectGivesBack) {
  const Stream stream;
  launch_host(stream, [pinned = PinnedBuffer<int>(100)] { collect(); });
  while (!stream.is_done()) {
  }
  EXPECT_NE(process::deferred_calls.load(), nullptr);
  collect();
  EXPECT_EQ(process::deferred_calls.load(), nullptr);
  collect();
  EXPECT_EQ(told.failures, 0);
}

TEST_F(HostFuncTest, ReusableRunsForEachLaunch) {
  const Stream a, b;
  std::atomic<int> calls = 0;
  Count count;
  const support::Completion completion;
  {
    const HostFunc function([&calls, counted = Counted(count)] { ++calls; });
    for (int i = 0; i < 50; ++i) {
      launch_host(a, function);
      launch_host(b, function);
    }
    a.synchronize();
    b.synchronize();
    EXPECT_EQ(calls, 100);
    EXPECT_EQ(count.alive(), 1);
  }
  EXPECT_EQ(count.ended, 1);
}

TEST_F(HostFuncTest, ReusableMayEndBeforeItsLaunches) {
  const Stream stream;
  std::atomic<int> calls = 0;
  Count count;
  const support::Completion completion;
  support::Gate gate(stream);
  {
    const HostFunc function(
        [&calls, counted = Counted(count)] { calls += counted.holds() ? 1 : 0; });
    launch_host(stream, function);
    launch_host(stream, function);
  }
  launch_host(stream, HostFunc([&calls, counted = Counted(count)] { ++calls; }));
  EXPECT_EQ(count.alive(), 2);
  gate.open();
  stream.synchronize();
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(count.ended, 2);
}

TEST_F(HostFuncTest, ReusableOwnsAndMoves) {
  const Stream stream;
  Count count;
  const support::Completion completion;
  HostFunc first([counted = Counted(count)] { EXPECT_TRUE(counted.holds()); });
  HostFunc second = std::move(first);
  support::expect_refused([&] { launch_host(stream, first); },
                          {cudaErrorInvalidResourceHandle, "culvert::HostFunc", {"moved from"}});
  support::expect_refused([&] { (void)first.function(); },
                          {cudaErrorInvalidResourceHandle, "culvert::HostFunc", {"moved from"}});
  launch_host(stream, second);
  stream.synchronize();
  second.reset();
  EXPECT_EQ(count.ended, 1);

  struct Frames {
    int frames = 0;
    void operator()() { ++frames; }
  };
  HostFunc counter(Frames{});
  launch_host(stream, counter);
  launch_host(stream, counter);
  stream.synchronize();
  EXPECT_EQ(counter.function().frames, 2);
  counter = HostFunc(Frames{5});
  EXPECT_EQ(counter.function().frames, 5);
}

TEST_F(HostFuncTest, BadStreamIsRefusedAndTheCallableDestroyed) {
  Stream stream;
  const Stream taken = std::move(stream);
  Count count;
  support::expect_refused([&] { launch_host(stream, [counted = Counted(count)] {}); },
                          {cudaErrorInvalidResourceHandle, "culvert::Stream", {"moved from"}});
  EXPECT_EQ(count.alive(), 0);
}

TEST_F(HostFuncTest, ThrowingCopyLeavesNothing) {
  struct Thrower {
    Thrower() = default;
    Thrower(const Thrower&) { throw std::runtime_error("no copy"); }
    void operator()() const {}
  };
  const Stream stream;
  const Thrower thrower;
  for (int i = 0; i < 200; ++i) EXPECT_THROW(launch_host(stream, thrower), std::runtime_error);
  std::atomic<int> ran = 0;
  const support::Completion completion;
  launch_host(stream, [&] { ++ran; });
  stream.synchronize();
  EXPECT_EQ(ran, 1);
}

TEST_F(HostFuncTest, ManyThreadsLaunchOnOwnAndSharedStreams) {
  constexpr int threads = 4;
  constexpr int launches = 500;
  const Stream shared;
  Count count;
  std::atomic<int> ran = 0;
  const support::Completion completion;
  {
    const HostFunc reusable([&] { ++ran; });
    support::in_threads(threads, [&](int) {
      const Stream own;
      for (int i = 0; i < launches; ++i) {
        launch_host(own, [&ran, counted = Counted(count)] { ++ran; });
        launch_host(shared, [&ran, counted = Counted(count)] { ++ran; });
        launch_host(own, reusable);
      }
      own.synchronize();
    });
    shared.synchronize();
  }
  EXPECT_EQ(ran, threads * launches * 3);
  EXPECT_EQ(count.made, threads * launches * 2);
  EXPECT_EQ(count.ended, threads * launches * 2);
}

// A destructor that runs after the thread's own slots were given back.
TEST_F(HostFuncTest, LaunchFromALateDestructor) {
  static std::atomic<int> ran;
  ran = 0;
  const Stream stream;
  struct Late {
    StreamRef stream;
    explicit Late(StreamRef s) : stream(s) {}
    ~Late() {
      try {
        launch_host(stream, [] { ++ran; });
      } catch (const Error& error) {
        ADD_FAILURE() << error.what();
      }
    }
  };
  support::in_threads(1, [&](int) {
    static thread_local std::unique_ptr<Late> late;  // ends after what is made later
    late = std::make_unique<Late>(stream);
    launch_host(stream, [] { ++ran; });
  });
  stream.synchronize();
  EXPECT_EQ(ran, 2);
}

}  // namespace
