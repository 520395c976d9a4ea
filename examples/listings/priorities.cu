// SPDX-License-Identifier: BSL-1.0
//
// Stream priorities: two kernels with far more blocks than fit the device at once. The one of the
// high priority is launched second and finishes first, since its blocks go ahead whenever a block
// ends and room becomes free.
//
// What a priority is not: it stops no block that runs, it orders nothing (use events for that), it
// makes nothing faster where there is room for all, and it means little for copies.
#include <culvert/culvert.hpp>

#include <cstdio>

using namespace culvert;

namespace {

constexpr unsigned long long millisecond = 1'000'000;  // in nanoseconds

// The device's clock, in nanoseconds.
__device__ unsigned long long now() {
  unsigned long long time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  return time;
}

// Each block keeps its place for so long.
__global__ void busy_blocks(unsigned long long nanoseconds) {
  const unsigned long long begin = now();
  while (now() - begin < nanoseconds) {
  }
  __syncthreads();
}

bool passed = true;

void check(bool ok, const char* what) {
  if (ok) return;
  passed = false;
  std::fprintf(stderr, "Not so: %s\n", what);
}

void run() {
  Stream low{{.priority = Priority::lowest}};
  Stream high{{.priority = Priority::highest}};
  std::printf("LowPriority=%d HighPriority=%d\n", low.priority(), high.priority());

  // Ten times the blocks that run at once, of 5 ms each: 50 ms for each kernel alone.
  constexpr unsigned block = 256;
  constexpr unsigned times = 10;
  const int resident = blocks_per_multiprocessor(busy_blocks, block) *
                       Device::current().attribute(cudaDevAttrMultiProcessorCount);
  const LaunchConfig config{.grid = static_cast<unsigned>(resident) * times, .block = block};

  // The first launch of a kernel also loads it, which may wait for the device.
  launch(low, {}, busy_blocks, 0ull);
  launch(high, {}, busy_blocks, 0ull);
  Device::current().synchronize();

  TimedEvent start, low_done, high_done;
  low.record(start);
  launch(low, config, busy_blocks, 5 * millisecond);
  low.record(low_done);
  launch(high, config, busy_blocks, 5 * millisecond);
  high.record(high_done);
  Device::current().synchronize();

  const double low_ms = static_cast<double>(elapsed(start, low_done).count());
  const double high_ms = static_cast<double>(elapsed(start, high_done).count());
  std::printf("LowDoneMs=%.1f HighDoneMs=%.1f\n", low_ms, high_ms);
  check(high_ms < low_ms, "the kernel of the high priority, launched second, finishes first");
}

}  // namespace

int main() try {
  const Environment env = Environment::probe();
  if (!env.usable()) {
    std::printf("Priorities=Skipped %s\n", env.reason());
    return 77;
  }
  const PriorityRange range = Device::current().priority_range();
  if (range.lowest == range.highest) {
    std::printf("Priorities=Skipped The device has no stream priorities.\n");
    return 77;
  }
  run();
  std::printf("Priorities Passed=%s\n", passed ? "True" : "False");
  return passed ? 0 : 1;
} catch (const Error& error) {
  std::fprintf(stderr, "priorities: %s\n", error.what());
  return 1;
}
