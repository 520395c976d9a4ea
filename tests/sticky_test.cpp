// SPDX-License-Identifier: BSL-1.0
//
// After an error that stops CUDA's work for good: CUDA drops the host functions that wait for
// their turn. Every future ends with the error, and every callable is destroyed once. The error
// ends all CUDA work of its process, so this test has one of its own.
#include <culvert/async.hpp>
#include <culvert/pinned_buffer.hpp>

#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "illegal_address.hpp"
#include "support/counted.hpp"
#include "support/test_support.hpp"

using namespace culvert;
using support::Count;
using support::Counted;

namespace {

void ignore(const Failure&) noexcept {}

// The status of the error that `use` throws.
template <class Use>
cudaError_t status_of(Use&& use) {
  try {
    use();
  } catch (const Error& error) {
    EXPECT_TRUE(error.sticky()) << error.what();
    return error.status();
  }
  return cudaSuccess;
}

TEST(StickyTest, DropsHostFunctionsAndEndsEveryFuture) {
  set_failure_handler(&ignore);  // owners that end after the error cannot give anything back
  constexpr int each = 40;       // a stream takes about a thousand operations, then calls block
  Count one_shots, reusables, asyncs, refused;
  std::atomic<int> ran = 0;
  const Stream stream, other;
  async_host(stream, [] {}).get();
  load_illegal_address();

  // Work that CUDA has begun when the error comes ends as usual.
  std::atomic<bool> open = false;
  Count running;
  launch_host(stream, [&open, counted = Counted(running)] {
    while (!open) std::this_thread::sleep_for(std::chrono::microseconds(50));
  });
  enqueue_illegal_address(stream.get());

  std::vector<HostFuture<int>> futures;
  HostFunc kept([&ran, counted = Counted(reusables)] { ++ran; });
  for (int i = 0; i < each; ++i) {
    launch_host(stream, [&ran, counted = Counted(one_shots)] { ++ran; });
    launch_host(stream, HostFunc([&ran, counted = Counted(reusables)] { ++ran; }));
    launch_host(stream, kept);
    futures.push_back(async_host(stream, [&ran, counted = Counted(asyncs)] { return ++ran; }));
    (void)async_host(stream, [&ran, counted = Counted(asyncs)] { ++ran; });
  }
  // Owners among what is dropped: their ends fail, and lead to what drops again.
  for (int i = 0; i < each; ++i) {
    launch_host(stream, [counted = Counted(one_shots), event = Event()] {});
  }
  EXPECT_EQ(one_shots.alive(), 2 * each);
  EXPECT_EQ(reusables.alive(), each + 1);
  EXPECT_EQ(asyncs.alive(), 2 * each);

  cudaError_t waited = cudaSuccess;
  std::thread waiting([&] { waited = status_of([&] { futures[0].get(); }); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  raise_illegal_address();
  open = true;
  waiting.join();
  EXPECT_EQ(waited, cudaErrorIllegalAddress);

  // That thread's call saw the error, so all is destroyed already.
  EXPECT_EQ(ran, 0);
  EXPECT_EQ(running.ended, 1);
  EXPECT_EQ(one_shots.made, 2 * each);
  EXPECT_EQ(one_shots.ended, 2 * each);
  EXPECT_EQ(reusables.made, each + 1);
  EXPECT_EQ(reusables.ended, each);  // but for the one that has an owner
  EXPECT_EQ(asyncs.made, 2 * each);
  EXPECT_EQ(asyncs.ended, 2 * each);

  for (HostFuture<int>& future : futures) {
    EXPECT_EQ(status_of([&] { future.get(); }), cudaErrorIllegalAddress);
    EXPECT_EQ(status_of([&] { future.wait(); }), cudaErrorIllegalAddress);
    EXPECT_EQ(status_of([&] { (void)future.is_done(); }), cudaErrorIllegalAddress);
  }

  // Whatever is launched now is refused and destroyed at once.
  EXPECT_EQ(status_of([&] { launch_host(other, [counted = Counted(refused)] {}); }),
            cudaErrorIllegalAddress);
  EXPECT_EQ(status_of([&] { (void)async_host(other, [counted = Counted(refused)] {}); }),
            cudaErrorIllegalAddress);
  EXPECT_THROW(launch_host(stream, kept), Error);
  EXPECT_EQ(refused.made, 2);
  EXPECT_EQ(refused.ended, 2);

  futures.clear();
  kept.reset();
  EXPECT_EQ(reusables.ended, each + 1);
  EXPECT_EQ(asyncs.ended, 2 * each);
  EXPECT_EQ(one_shots.ended, 2 * each);
  EXPECT_EQ(ran, 0);
}

}  // namespace
