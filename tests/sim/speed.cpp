// SPDX-License-Identifier: BSL-1.0
//
// How fast the simulated runtime is: a million operations in eight streams. It prints seconds and
// memory, which depend on the machine, so no test judges them.
#include <sys/resource.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include "cuda_runtime_api.h"

namespace {

constexpr std::size_t operations = 1'000'000;
constexpr std::size_t between_waits = 100'000;
constexpr std::size_t stream_count = 8;
constexpr std::size_t bytes = 256;

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

void count(void* counter) { ++*static_cast<std::size_t*>(counter); }

}  // namespace

int main() {
  cudaStream_t streams[stream_count];
  cudaEvent_t events[stream_count];
  void* memory[stream_count];
  std::size_t counters[stream_count] = {};
  for (std::size_t i = 0; i < stream_count; ++i) {
    check(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
    check(cudaEventCreateWithFlags(&events[i], cudaEventDisableTiming));
    check(cudaMalloc(&memory[i], bytes));
  }

  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  std::size_t functions = 0;
  for (std::size_t i = 0; i < operations; ++i) {
    const std::size_t at = i % stream_count;
    switch (i / stream_count % 3) {
      case 0:
        check(cudaMemsetAsync(memory[at], static_cast<int>(i % 256), bytes, streams[at]));
        break;
      case 1:
        check(cudaEventRecord(events[at], streams[at]));
        break;
      default:
        check(cudaLaunchHostFunc(streams[at], count, &counters[at]));
        ++functions;
        break;
    }
    if ((i + 1) % between_waits == 0) check(cudaDeviceSynchronize());
  }
  const std::chrono::duration<double> seconds = Clock::now() - start;

  std::size_t ran = 0;
  for (const std::size_t each : counters) ran += each;
  if (ran != functions) {
    std::fprintf(stderr, "%zu of %zu host functions ran\n", ran, functions);
    return 1;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("%zu operations: %.2f s, %.0f ns each, %ld MiB at most\n", operations,
              seconds.count(), seconds.count() * 1e9 / static_cast<double>(operations),
              usage.ru_maxrss / 1024);
  return 0;
}
