// SPDX-License-Identifier: BSL-1.0
//
// The host waits for a place in a stream, not for all of it: an event after kernel 1 and the copy
// of its result lets a CPU task begin while kernel 2 of the same stream still runs.
#include <culvert/culvert.hpp>

#include <cstdio>
#include <numeric>

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

__global__ void squares(int* x, unsigned size, unsigned long long nanoseconds) {
  spin(nanoseconds);
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < size) x[i] = static_cast<int>(i * i);
}

__global__ void busy(unsigned long long nanoseconds) { spin(nanoseconds); }

bool passed = true;

void check(bool ok, const char* what) {
  if (ok) return;
  passed = false;
  std::fprintf(stderr, "Not so: %s\n", what);
}

void run() {
  constexpr unsigned size = 1000;
  const LaunchConfig config{.grid = grid_for(size, 256), .block = 256};
  Stream stream;
  DeviceBuffer<int> x(size, stream);
  PinnedBuffer<int> host(size);
  Event first_done;  // created here, so that nothing is created between the launches

  // The first launch of a kernel also loads it, which may wait for the device.
  launch(stream, config, squares, x, size, 0ull);
  launch(stream, {}, busy, 0ull);
  fill_bytes(x, 0, stream);
  copy(host, x, stream);
  stream.synchronize();

  launch(stream, config, squares, x, size, 20 * millisecond);  // kernel 1
  copy(host, x, stream);
  stream.record(first_done);
  launch(stream, {}, busy, 100 * millisecond);  // kernel 2, which the CPU task does not need

  // stream.synchronize() would wait for kernel 2 as well.
  first_done.synchronize();
  const bool still_running = !stream.is_done();

  // The CPU task. Its input is complete: the event came after the copy.
  const long long sum = std::accumulate(host.begin(), host.end(), 0ll);

  stream.synchronize();
  std::printf("Sum=%lld SecondKernelRunning=%s\n", sum, still_running ? "True" : "False");
  check(sum == 332'833'500, "the CPU task has the sum of the squares");
  check(still_running, "kernel 2 still runs when the CPU task begins");
}

}  // namespace

int main() try {
  const Environment env = Environment::probe();
  if (!env.usable()) {
    std::printf("EventThenCpuTask=Skipped %s\n", env.reason());
    return 77;
  }
  run();
  std::printf("EventThenCpuTask Passed=%s\n", passed ? "True" : "False");
  return passed ? 0 : 1;
} catch (const Error& error) {
  std::fprintf(stderr, "event_then_cpu_task: %s\n", error.what());
  return 1;
}
