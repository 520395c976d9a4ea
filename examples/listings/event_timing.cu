// SPDX-License-Identifier: BSL-1.0
//
// The time of a kernel, taken on the device by two events around it.
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

__global__ void busy(unsigned long long nanoseconds) {
  const unsigned long long begin = now();
  while (now() - begin < nanoseconds) {
  }
}

bool passed = true;

void check(bool ok, const char* what) {
  if (ok) return;
  passed = false;
  std::fprintf(stderr, "Not so: %s\n", what);
}

void run() {
  Stream stream;
  // The first launch also loads the kernel. It must not be measured.
  launch(stream, {}, busy, 0ull);
  stream.synchronize();

  // An Event takes no time, a TimedEvent does. Both are of the same stream, with nothing but the
  // kernel between them: work of other streams could run between two events too.
  const TimedEvent start = stream.record_timed();
  launch(stream, {}, busy, 50 * millisecond);
  const TimedEvent stop = stream.record_timed();

  // The launch did not wait, so there is no time yet. elapsed() would throw.
  check(!try_elapsed(start, stop), "there is no time while the kernel runs");

  stop.synchronize();
  const double kernel = static_cast<double>(elapsed(start, stop).count());
  std::printf("SpinMs=50 KernelMs=%.3f\n", kernel);
  check(kernel > 45.0, "the kernel took at least the time that it spins");
  check(kernel < 100.0, "the kernel took little longer than it spins");
}

}  // namespace

int main() try {
  const Environment env = Environment::probe();
  if (!env.usable()) {
    std::printf("EventTiming=Skipped %s\n", env.reason());
    return 77;
  }
  run();
  std::printf("EventTiming Passed=%s\n", passed ? "True" : "False");
  return passed ? 0 : 1;
} catch (const Error& error) {
  std::fprintf(stderr, "event_timing: %s\n", error.what());
  return 1;
}
