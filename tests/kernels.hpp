// SPDX-License-Identifier: BSL-1.0
//
// The kernels of the tests. kernels.cu defines them for the GPU, kernels_sim.cpp for the
// simulated runtime; the tests that launch them are plain C++ and the same for both.
#pragma once

#include <culvert/span.hpp>

#include <cstddef>

#if defined(__CUDACC__)
#define TEST_KERNEL __global__
#else
#define TEST_KERNEL
#endif

namespace kernels {

enum class Color : unsigned char { red, green, blue };

struct Pair {
  int first;
  double second;
};

// One parameter of each kind.
struct Values {
  int integer;
  unsigned unsigned_integer;
  long long long_integer;
  unsigned char byte;
  bool boolean;
  float real;
  double long_real;
  Pair pair;
  Color color;
};

// What a kernel sees of its launch.
struct Seen {
  unsigned grid[3];
  unsigned block[3];
  unsigned shared_memory_bytes;
  unsigned threads;  // how many ran
};

TEST_KERNEL void nothing();
TEST_KERNEL void store_values(Values* result, int integer, unsigned unsigned_integer,
                              long long long_integer, unsigned char byte, bool boolean, float real,
                              double long_real, Pair pair, Color color);
TEST_KERNEL void store_pointers(const void** result, float* a, const float* b, void* c,
                                const void* d);

// Adds to `seen->threads`, and stores the rest.
TEST_KERNEL void see_launch(Seen* seen);

TEST_KERNEL void scale(float* x, float factor, std::size_t count);
TEST_KERNEL void increment(int* x, std::size_t count);
TEST_KERNEL void add(const float* a, const float* b, float* sum, std::size_t count);
// to[i] += from[i]; needs a thread for each element.
TEST_KERNEL void add_spans(culvert::DeviceSpan<const float> from, culvert::DeviceSpan<float> to);

// In one block, by way of `count` ints of dynamic shared memory.
TEST_KERNEL void reverse(const int* from, int* to, unsigned count);

// For each block of a grid in x: the blocks of its cluster in each dimension, and its rank there.
TEST_KERNEL void see_clusters(unsigned (*sizes)[3], unsigned* ranks);

// A cooperative grid in x: each block stores the sum of all `count` elements in its `totals`.
// `partial` has an element for each block.
TEST_KERNEL void total(const int* from, unsigned count, int* partial, int* totals);

// A producer that lets the next kernel start before it writes `value`, and a consumer that
// waits for it and stores one more.
TEST_KERNEL void produce(int* x, int value, unsigned count);
TEST_KERNEL void consume(const int* x, int* result, unsigned count);

}  // namespace kernels
