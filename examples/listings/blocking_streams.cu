// SPDX-License-Identifier: BSL-1.0
//
// Blocking and non-blocking streams beside the legacy default stream. Three kernels are launched:
// a long one in stream a, then short ones in the default stream and in stream b.
//
//   blocking      the default stream waits for a, and b for the default stream: one by one
//   non-blocking  nobody waits, and the long kernel ends last
#include <culvert/culvert.hpp>

#include <array>
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

// Runs for a time, then takes the next number: the kernels' order of completion.
__global__ void take_rank(unsigned long long nanoseconds, int* counter, int* rank) {
  const unsigned long long begin = now();
  while (now() - begin < nanoseconds) {
  }
  *rank = atomicAdd(counter, 1) + 1;
}

bool passed = true;

void check(bool ok, const char* what) {
  if (ok) return;
  passed = false;
  std::fprintf(stderr, "Not so: %s\n", what);
}

// The ranks of the kernels in a, the default stream and b.
std::array<int, 3> ranks_with(StreamKind kind) {
  Stream a{{.kind = kind}}, b{{.kind = kind}};
  DeviceBuffer<int> counter(1), ranks(3);

  // The first launch of a kernel also loads it, which may wait for the device.
  launch(a, {}, take_rank, 0ull, counter, ranks);
  fill(counter, 0, a);
  Device::current().synchronize();

  launch(a, {}, take_rank, 100 * millisecond, counter, ranks.subspan(0, 1));
  launch(StreamRef::legacy(), {}, take_rank, 0ull, counter, ranks.subspan(1, 1));
  launch(b, {}, take_rank, 0ull, counter, ranks.subspan(2, 1));
  Device::current().synchronize();

  std::array<int, 3> result{};
  copy_and_wait(result, ranks, a);
  return result;
}

void print(const char* name, const std::array<int, 3>& ranks) {
  std::printf("%s=True A=%d Default=%d B=%d\n", name, ranks[0], ranks[1], ranks[2]);
}

void run() {
  // What cudaStreamCreate makes.
  const std::array<int, 3> blocking = ranks_with(StreamKind::blocking);
  print("Blocking", blocking);
  check(blocking == std::array{1, 2, 3}, "blocking streams: the kernels end as they were launched");

  // culvert's default. The order of the two short kernels is not defined.
  const std::array<int, 3> non_blocking = ranks_with(StreamKind::non_blocking);
  print("NonBlocking", non_blocking);
  check(non_blocking[0] == 3, "non-blocking streams: the long kernel, launched first, ends last");
}

}  // namespace

int main() try {
  const Environment env = Environment::probe();
  if (!env.usable()) {
    std::printf("BlockingStreams=Skipped %s\n", env.reason());
    return 77;
  }
  run();
  std::printf("BlockingStreams Passed=%s\n", passed ? "True" : "False");
  return passed ? 0 : 1;
} catch (const Error& error) {
  std::fprintf(stderr, "blocking_streams: %s\n", error.what());
  return 1;
}
