// SPDX-License-Identifier: BSL-1.0
#include <culvert/sim/sim.hpp>

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include "kernels.hpp"

namespace kernels {

using culvert::sim::KernelLaunch;
using culvert::sim::memory;

void nothing() {}

void store_values(Values* result, int integer, unsigned unsigned_integer, long long long_integer,
                  unsigned char byte, bool boolean, float real, double long_real, Pair pair,
                  Color color) {
  *memory(result) = {integer, unsigned_integer, long_integer, byte, boolean,
                     real,    long_real,        pair,         color};
}

void store_pointers(const void** result, float* a, const float* b, void* c, const void* d) {
  const void** const to = memory(result, 4);
  to[0] = a;
  to[1] = b;
  to[2] = c;
  to[3] = d;
}

void scale(float* x, float factor, std::size_t count) {
  float* const to = memory(x, count);
  for (std::size_t i = 0; i < count; ++i) to[i] *= factor;
}

void increment(int* x, std::size_t count) {
  int* const to = memory(x, count);
  for (std::size_t i = 0; i < count; ++i) ++to[i];
}

void add(const float* a, const float* b, float* sum, std::size_t count) {
  const float* const from = memory(a, count);
  std::transform(from, from + count, memory(b, count), memory(sum, count), std::plus<>());
}

void add_spans(culvert::DeviceSpan<const float> from, culvert::DeviceSpan<float> to) {
  const float* const a = memory(from.data(), from.size());
  float* const b = memory(to.data(), to.size());
  std::transform(a, a + to.size(), b, b, std::plus<>());
}

void produce(int* x, int value, unsigned count) { std::fill_n(memory(x, count), count, value); }

void consume(const int* x, int* result, unsigned count) {
  const int* const from = memory(x, count);
  std::transform(from, from + count, memory(result, count), [](int i) { return i + 1; });
}

// What these do depends on the launch, so their bodies are below.
void see_launch(Seen*) {}
void reverse(const int*, int*, unsigned) {}
void see_clusters(unsigned (*)[3], unsigned*) {}
void total(const int*, unsigned, int*, int*) {}

namespace {

void do_see_launch(const KernelLaunch& launch, Seen* seen) {
  const dim3 grid = launch.grid;
  const dim3 block = launch.block;
  Seen& to = *memory(seen);
  to = {{grid.x, grid.y, grid.z},
        {block.x, block.y, block.z},
        static_cast<unsigned>(launch.shared_memory_bytes),
        to.threads + grid.x * grid.y * grid.z * block.x * block.y * block.z};
}

void do_reverse(const KernelLaunch& launch, const int* from, int* to, unsigned count) {
  std::vector<int> shared(launch.shared_memory_bytes / sizeof(int));
  std::copy_n(memory(from, count), count, shared.begin());
  std::reverse_copy(shared.begin(), shared.begin() + count, memory(to, count));
}

void do_see_clusters(const KernelLaunch& launch, unsigned (*sizes)[3], unsigned* ranks) {
  const unsigned count = launch.grid.x;
  auto* const size = memory(sizes, count);
  unsigned* const rank = memory(ranks, count);
  for (unsigned i = 0; i < count; ++i) {
    size[i][0] = launch.cluster.x;
    size[i][1] = launch.cluster.y;
    size[i][2] = launch.cluster.z;
    rank[i] = i % launch.cluster.x;
  }
}

void do_total(const KernelLaunch& launch, const int* from, unsigned count, int* partial,
              int* totals) {
  const int* const first = memory(from, count);
  const int sum = std::accumulate(first, first + count, 0);
  std::fill_n(memory(partial, launch.grid.x), launch.grid.x, sum);
  std::fill_n(memory(totals, launch.grid.x), launch.grid.x, launch.cooperative ? sum : -1);
}

[[maybe_unused]] const bool defined = [] {
  using culvert::sim::define_kernel;
  define_kernel(nothing);
  define_kernel(store_values);
  define_kernel(store_pointers);
  define_kernel(scale);
  define_kernel(increment);
  define_kernel(add);
  define_kernel(add_spans);
  define_kernel(produce);
  define_kernel(consume);
  define_kernel(see_launch, do_see_launch);
  define_kernel(reverse, do_reverse);
  define_kernel(see_clusters, do_see_clusters);
  define_kernel(total, do_total);
  return true;
}();

}  // namespace
}  // namespace kernels
