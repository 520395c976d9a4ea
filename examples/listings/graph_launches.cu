// SPDX-License-Identifier: BSL-1.0
//
// A short kernel, launched many times: one launch after the other, and as a graph of 20 that is
// captured once and launched as a whole. The host's time for each is compared, and the sum that
// the kernels make is checked.
#include <culvert/culvert.hpp>

#include <chrono>
#include <cstdio>

using namespace culvert;

namespace {

constexpr int kernels = 20;
constexpr int steps = 1000;

__global__ void short_kernel(float* x, float by, unsigned size) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < size) x[i] += by;
}

bool passed = true;

void check(bool ok, const char* what) {
  if (ok) return;
  passed = false;
  std::fprintf(stderr, "Not so: %s\n", what);
}

// Microseconds of the host for one step, without the wait at the end.
template <class Step>
double host_time(StreamRef stream, const Step& step) {
  using Clock = std::chrono::steady_clock;
  double best = 1e9;
  for (int i = 0; i < steps; ++i) {
    const auto begin = Clock::now();
    step();
    const std::chrono::duration<double, std::micro> took = Clock::now() - begin;
    stream.synchronize();  // so that the stream's queue never fills
    best = took.count() < best ? took.count() : best;
  }
  return best;
}

void run() {
  constexpr unsigned size = 1 << 12;
  const LaunchConfig config{.grid = grid_for(size, 256), .block = 256};
  Stream stream;
  DeviceBuffer<float> x(size, stream);
  fill(x, 0.0f, stream);
  launch(stream, config, short_kernel, x, 0.0f, size);  // loads the kernel
  stream.synchronize();

  const auto enqueue = [&](StreamRef s) {
    for (int i = 0; i < kernels; ++i) launch(s, config, short_kernel, x, 1.0f, size);
  };
  const Graph graph = capture(stream, enqueue);
  const GraphExec exec = graph.instantiate();  // takes as long as many launches: do it once
  exec.upload(stream);
  stream.synchronize();

  const double launches = host_time(stream, [&] { enqueue(stream); });
  const double as_graph = host_time(stream, [&] { exec.launch(stream); });
  std::printf("HostMicroseconds=%.2f Kernels=%d\n", launches, kernels);
  std::printf("HostMicrosecondsAsGraph=%.2f Kernels=%d\n", as_graph, kernels);
  check(as_graph < launches, "launching the graph takes the host less time than its kernels");

  PinnedBuffer<float> result(size);
  copy_and_wait(result, x, stream);
  const float expected = 2.0f * kernels * steps;
  bool right = true;
  for (const float value : result) right = right && value == expected;
  std::printf("Sum=%.0f\n", result[0]);
  check(right, "each kernel ran once in each step");
}

}  // namespace

int main() try {
  const Environment env = Environment::probe();
  if (!env.usable()) {
    std::printf("GraphLaunches=Skipped %s\n", env.reason());
    return 77;
  }
  run();
  std::printf("GraphLaunches Passed=%s\n", passed ? "True" : "False");
  return passed ? 0 : 1;
} catch (const Error& error) {
  std::fprintf(stderr, "graph_launches: %s\n", error.what());
  return 1;
}
