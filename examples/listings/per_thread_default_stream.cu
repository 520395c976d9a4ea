// SPDX-License-Identifier: BSL-1.0
//
// Per-thread default streams: each thread has one of its own, so two threads do not wait for each
// other. Yet they are blocking streams: the legacy default stream and they wait for each other.
//
// Kernels launched without a stream go to the per-thread default stream where the file is compiled
// with `nvcc --default-stream per-thread`. (nvcc includes cuda_runtime.h before the first line, so
// a #define CUDA_API_PER_THREAD_DEFAULT_STREAM in a .cu file comes too late.) Here the stream is
// named instead, which needs no option.
#include <culvert/culvert.hpp>

#include <array>
#include <barrier>
#include <cstdio>
#include <thread>

using namespace culvert;

namespace {

constexpr unsigned long long millisecond = 1'000'000;  // in nanoseconds

// When a kernel ran.
struct Interval {
  unsigned long long begin;
  unsigned long long end;
};

// The device's clock, in nanoseconds, the same in all kernels.
__device__ unsigned long long now() {
  unsigned long long time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  return time;
}

__global__ void busy(unsigned long long nanoseconds, Interval* interval) {
  const unsigned long long begin = now();
  while (now() - begin < nanoseconds) {
  }
  *interval = {begin, now()};
}

bool passed = true;

void check(bool ok, const char* what) {
  if (ok) return;
  passed = false;
  std::fprintf(stderr, "Not so: %s\n", what);
}

// The clock moves in steps, hence one millisecond of tolerance.
bool follows(const Interval& later, const Interval& earlier) {
  return later.begin + millisecond >= earlier.end;
}

bool overlap(const Interval& a, const Interval& b) { return a.begin < b.end && b.begin < a.end; }

void run() {
  enum { legacy_before, thread_1, thread_2, legacy_after, count };
  DeviceBuffer<Interval> x(count);
  const StreamRef legacy = StreamRef::legacy();
  // The first launch of a kernel also loads it, which may wait for the device.
  launch(legacy, {}, busy, 0ull, x);
  legacy.synchronize();

  // The threads and this one meet at each of three places. (A culvert::Error in a thread would
  // end the program with its text.)
  std::barrier meet(3);
  const auto work = [&](std::size_t index) {
    const StreamRef mine = StreamRef::per_thread();     // means that of the thread that uses it
    launch(mine, {}, busy, 0ull, x.subspan(index, 1));  // CUDA creates it at its first use
    mine.synchronize();                                 // waits for this thread's stream only
    meet.arrive_and_wait();                             // both threads are ready
    meet.arrive_and_wait();                             // the legacy stream is busy
    launch(mine, {}, busy, 100 * millisecond, x.subspan(index, 1));
    meet.arrive_and_wait();  // both threads have launched
    mine.synchronize();
  };
  std::thread one(work, thread_1), two(work, thread_2);

  meet.arrive_and_wait();
  launch(legacy, {}, busy, 50 * millisecond, x.subspan(legacy_before, 1));
  meet.arrive_and_wait();
  meet.arrive_and_wait();
  launch(legacy, {}, busy, 0ull, x.subspan(legacy_after, 1));
  one.join();
  two.join();
  legacy.synchronize();

  std::array<Interval, count> ran{};
  copy_and_wait(ran, x, legacy);
  const bool independent = overlap(ran[thread_1], ran[thread_2]);
  const bool after_legacy =
      follows(ran[thread_1], ran[legacy_before]) && follows(ran[thread_2], ran[legacy_before]);
  const bool before_legacy =
      follows(ran[legacy_after], ran[thread_1]) && follows(ran[legacy_after], ran[thread_2]);
  std::printf("ThreadsOverlap=%s\n", independent ? "True" : "False");
  std::printf("ThreadsWaitForLegacy=%s\n", after_legacy ? "True" : "False");
  std::printf("LegacyWaitsForThreads=%s\n", before_legacy ? "True" : "False");
  check(independent, "the kernels of two threads run at the same time");
  check(after_legacy, "the threads' kernels begin after that of the legacy stream before them");
  check(before_legacy, "the legacy stream's next kernel begins after those of the threads");
}

}  // namespace

int main() try {
  const Environment env = Environment::probe();
  if (!env.usable()) {
    std::printf("PerThreadDefaultStream=Skipped %s\n", env.reason());
    return 77;
  }
  run();
  std::printf("PerThreadDefaultStream Passed=%s\n", passed ? "True" : "False");
  return passed ? 0 : 1;
} catch (const Error& error) {
  std::fprintf(stderr, "per_thread_default_stream: %s\n", error.what());
  return 1;
}
