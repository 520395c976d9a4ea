// SPDX-License-Identifier: BSL-1.0
//
// Implicit synchronization: an operation of the legacy default stream between the kernels of two
// blocking streams makes the second wait for the first. The same work in another order runs at the
// same time: independent work first, and what synchronizes as late as can be.
#include <culvert/culvert.hpp>

#include <chrono>
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

// How long the work takes, from the first call until the device is idle.
template <class Work>
double milliseconds_of(Work work) {
  Device::current().synchronize();
  const auto begin = std::chrono::steady_clock::now();
  work();
  Device::current().synchronize();
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  return took.count();
}

void run() {
  // As cudaStreamCreate makes them. Non-blocking streams, culvert's default, do not wait for the
  // default stream, and with them both orders below are the same.
  Stream a{{.kind = StreamKind::blocking}}, b{{.kind = StreamKind::blocking}};
  DeviceBuffer<int> other(1 << 20);  // nothing that the kernels use

  const auto default_stream_between = [&](unsigned long long nanoseconds) {
    launch(a, {}, busy, nanoseconds);
    fill(other, 1, StreamRef::legacy());  // waits for a,
    launch(b, {}, busy, nanoseconds);     // and b waits for it
  };
  const auto default_stream_last = [&](unsigned long long nanoseconds) {
    launch(a, {}, busy, nanoseconds);
    launch(b, {}, busy, nanoseconds);
    fill(other, 1, StreamRef::legacy());  // waits for both, and nothing waits for it
  };

  // The first run loads the kernels, which may wait for the device.
  default_stream_between(0);
  default_stream_last(0);

  const double serial = milliseconds_of([&] { default_stream_between(50 * millisecond); });
  const double concurrent = milliseconds_of([&] { default_stream_last(50 * millisecond); });
  std::printf("BetweenMs=%.1f LastMs=%.1f Ratio=%.2f\n", serial, concurrent, concurrent / serial);
  check(serial > 95.0, "with the default stream between them the kernels run one after the other");
  check(concurrent < 0.75 * serial, "with the default stream last they run at the same time");
}

}  // namespace

int main() try {
  const Environment env = Environment::probe();
  if (!env.usable()) {
    std::printf("ImplicitSynchronization=Skipped %s\n", env.reason());
    return 77;
  }
  run();
  std::printf("ImplicitSynchronization Passed=%s\n", passed ? "True" : "False");
  return passed ? 0 : 1;
} catch (const Error& error) {
  std::fprintf(stderr, "implicit_synchronization: %s\n", error.what());
  return 1;
}
