// SPDX-License-Identifier: BSL-1.0
//
// The CPU works in small steps until kernel 1 is done, by asking an event. Then the result of
// kernel 1 is copied in a second stream, while kernel 2 runs in the first.
#include <culvert/culvert.hpp>

#include <algorithm>
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

__device__ void spin(unsigned long long nanoseconds) {
  const unsigned long long begin = now();
  while (now() - begin < nanoseconds) {
  }
}

__global__ void produce(int* x, unsigned size, int value, unsigned long long nanoseconds) {
  spin(nanoseconds);
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < size) x[i] = value;
}

__global__ void busy(unsigned long long nanoseconds) { spin(nanoseconds); }

bool passed = true;

void check(bool ok, const char* what) {
  if (ok) return;
  passed = false;
  std::fprintf(stderr, "Not so: %s\n", what);
}

// A small step of work for the CPU (xorshift).
void work_on_the_cpu(unsigned& state) {
  for (int i = 0; i < 1000; ++i) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
  }
}

void run() {
  constexpr unsigned size = 1 << 16;
  const LaunchConfig config{.grid = grid_for(size, 256), .block = 256};
  Stream compute, copies;
  DeviceBuffer<int> x(size);
  // Pinned. With pageable memory the call of copy would block this thread until the copy is
  // complete, and the copy would go through a buffer of the driver.
  PinnedBuffer<int> host(size);
  Event produced;

  // The first launch of a kernel also loads it, which may wait for the device.
  launch(compute, config, produce, x, size, 1, 0ull);
  launch(compute, {}, busy, 0ull);
  compute.synchronize();
  copy_and_wait(host, x, copies);

  launch(compute, config, produce, x, size, 42, 30 * millisecond);  // kernel 1
  compute.record(produced);
  launch(compute, {}, busy, 100 * millisecond);  // kernel 2, which does not write x

  unsigned state = 1;
  long long steps = 0;
  while (!produced.is_done()) {
    work_on_the_cpu(state);
    ++steps;
  }

  // The host saw that kernel 1 is done, so this copy needs no further wait. A host that does not
  // want to look calls copies.wait(produced) and enqueues the copy right away.
  copy(host, x, copies);
  copies.synchronize();
  const bool still_running = !compute.is_done();

  compute.synchronize();
  std::printf("CpuSteps=%lld CpuResult=%u\n", steps, state);
  std::printf("SecondKernelRunning=%s\n", still_running ? "True" : "False");
  check(steps > 0, "the CPU works while kernel 1 runs");
  check(still_running, "the copy is complete while kernel 2 runs");
  check(std::all_of(host.begin(), host.end(), [](int value) { return value == 42; }),
        "the copy has the result of kernel 1");
}

}  // namespace

int main() try {
  const Environment env = Environment::probe();
  if (!env.usable()) {
    std::printf("PollingOverlap=Skipped %s\n", env.reason());
    return 77;
  }
  run();
  std::printf("PollingOverlap Passed=%s\n", passed ? "True" : "False");
  return passed ? 0 : 1;
} catch (const Error& error) {
  std::fprintf(stderr, "polling_overlap: %s\n", error.what());
  return 1;
}
