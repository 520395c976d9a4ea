// SPDX-License-Identifier: BSL-1.0
// What the tests of the simulated runtime share: raw calls and its controls, nothing of culvert.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "culvert/sim/sim.hpp"

namespace sim = culvert::sim;

#define CUDA_OK(call) ASSERT_EQ(call, cudaSuccess)

// Each test starts from a fresh runtime in which nothing runs by itself.
class SimTest : public testing::Test {
 protected:
  static sim::Config strict() {
    sim::Config config;
    config.idle_host_functions_ms = 0;
    config.idle_everything_ms = 0;
    return config;
  }

  void SetUp() override { sim::reset(strict()); }
  void TearDown() override { sim::reset(strict()); }

  static cudaStream_t make_stream(unsigned flags = cudaStreamNonBlocking) {
    cudaStream_t stream = nullptr;
    EXPECT_EQ(cudaStreamCreateWithFlags(&stream, flags), cudaSuccess);
    return stream;
  }

  static cudaEvent_t make_event(unsigned flags = cudaEventDisableTiming) {
    cudaEvent_t event = nullptr;
    EXPECT_EQ(cudaEventCreateWithFlags(&event, flags), cudaSuccess);
    return event;
  }

  static unsigned char* make_device(std::size_t size) {
    void* pointer = nullptr;
    EXPECT_EQ(cudaMalloc(&pointer, size), cudaSuccess);
    return static_cast<unsigned char*>(pointer);
  }

  static unsigned char* make_pinned(std::size_t size) {
    void* pointer = nullptr;
    EXPECT_EQ(cudaMallocHost(&pointer, size), cudaSuccess);
    std::fill_n(static_cast<unsigned char*>(pointer), size, static_cast<unsigned char>(0));
    return static_cast<unsigned char*>(pointer);
  }

  // The device's bytes, after all work.
  static std::vector<unsigned char> read(const void* device, std::size_t size) {
    sim::run_pending();
    std::vector<unsigned char> bytes(size);
    EXPECT_EQ(cudaMemcpy(bytes.data(), device, size, cudaMemcpyDeviceToHost), cudaSuccess);
    return bytes;
  }

  static bool all_are(const std::vector<unsigned char>& bytes, unsigned char value) {
    return std::all_of(bytes.begin(), bytes.end(), [&](unsigned char b) { return b == value; });
  }
};
