// SPDX-License-Identifier: BSL-1.0
// Virtual time: what overlaps, what does not, and that it does not depend on the schedule.
#include <cmath>
#include <cstdint>
#include <vector>

#include "sim_fixture.hpp"

namespace {

constexpr std::size_t megabyte = 1'000'000;

class ClockTest : public SimTest {
 protected:
  // Speeds that make whole numbers.
  static sim::Config round_numbers() {
    sim::Config config = strict();
    config.cost.host_to_device_gb_per_s = 10;
    config.cost.device_to_host_gb_per_s = 10;
    config.cost.both_directions_gb_per_s = 15;
    config.cost.device_gb_per_s = 100;
    config.cost.copy_latency_ns = 0;
    config.cost.event_record_ns = 0;
    config.cost.host_function_ns = 0;
    return config;
  }

  void SetUp() override { sim::reset(round_numbers()); }

  // Microseconds from an event before the work, which `enqueue(a, b)` puts into two streams, to the
  // end of both.
  template <class Enqueue>
  static float time_of(Enqueue enqueue) {
    cudaStream_t a = make_stream();
    cudaStream_t b = make_stream();
    cudaEvent_t start = make_event(cudaEventDefault);
    cudaEvent_t end = make_event(cudaEventDefault);
    cudaEvent_t joined = make_event();
    EXPECT_EQ(cudaEventRecord(start, a), cudaSuccess);
    EXPECT_EQ(cudaStreamWaitEvent(b, start, 0), cudaSuccess);
    enqueue(a, b);
    EXPECT_EQ(cudaEventRecord(joined, b), cudaSuccess);
    EXPECT_EQ(cudaStreamWaitEvent(a, joined, 0), cudaSuccess);
    EXPECT_EQ(cudaEventRecord(end, a), cudaSuccess);
    EXPECT_EQ(cudaEventSynchronize(end), cudaSuccess);
    float milliseconds = 0;
    EXPECT_EQ(cudaEventElapsedTime(&milliseconds, start, end), cudaSuccess);
    return milliseconds * 1000;
  }
};

TEST_F(ClockTest, CopiesTakeTheTimeOfTheirBytes) {
  unsigned char* const device = make_device(megabyte);
  unsigned char* const pinned = make_pinned(megabyte);
  const auto to = [&](cudaStream_t s) {
    cudaMemcpyAsync(device, pinned, megabyte, cudaMemcpyDefault, s);
  };
  EXPECT_FLOAT_EQ(time_of([&](cudaStream_t a, cudaStream_t) { to(a); }), 100);
  EXPECT_FLOAT_EQ(
      time_of([&](cudaStream_t a, cudaStream_t) { cudaMemsetAsync(device, 1, megabyte, a); }), 10);
  // Both read and written bytes count.
  EXPECT_FLOAT_EQ(time_of([&](cudaStream_t a, cudaStream_t) {
                    cudaMemcpyAsync(device, device + megabyte / 2, megabyte / 2, cudaMemcpyDefault,
                                    a);
                  }),
                  10);
  // One copy engine for each direction.
  EXPECT_FLOAT_EQ(time_of([&](cudaStream_t a, cudaStream_t b) {
                    to(a);
                    to(b);
                  }),
                  200);
}

TEST_F(ClockTest, BothDirectionsOverlapAndShare) {
  unsigned char* const device = make_device(2 * megabyte);
  unsigned char* const pinned = make_pinned(2 * megabyte);
  const float time = time_of([&](cudaStream_t a, cudaStream_t b) {
    cudaMemcpyAsync(device, pinned, megabyte, cudaMemcpyDefault, a);
    cudaMemcpyAsync(pinned + megabyte, device + megabyte, megabyte, cudaMemcpyDefault, b);
  });
  // 100 at full speed; the other has half of its speed meanwhile, so half of its bytes are left.
  EXPECT_GT(time, 100);
  EXPECT_LE(time, 200);
}

TEST_F(ClockTest, AGapOfAnEngineIsUsed) {
  unsigned char* const device = make_device(megabyte);
  unsigned char* const pinned = make_pinned(megabyte);
  const float time = time_of([&](cudaStream_t a, cudaStream_t b) {
    cudaMemsetAsync(device, 1, megabyte, a);
    for (int i = 0; i < 20; ++i) cudaMemsetAsync(device, 1, megabyte, a);  // 210 in all
    cudaMemcpyAsync(pinned, device, megabyte, cudaMemcpyDefault, a);       // at 210
    cudaMemcpyAsync(pinned, device, megabyte, cudaMemcpyDefault, b);       // at 0
  });
  EXPECT_FLOAT_EQ(time, 310);
}

TEST_F(ClockTest, DoesNotDependOnTheSchedule) {
  std::vector<float> times;
  for (const sim::Schedule schedule :
       {sim::Schedule::late, sim::Schedule::eager, sim::Schedule::random}) {
    sim::Config config = round_numbers();
    config.schedule = schedule;
    sim::reset(config);
    unsigned char* const device = make_device(megabyte);
    unsigned char* const pinned = make_pinned(megabyte);
    times.push_back(time_of([&](cudaStream_t a, cudaStream_t b) {
      for (int i = 0; i < 5; ++i) {
        cudaMemcpyAsync(device, pinned, megabyte / 4, cudaMemcpyDefault, i % 2 == 0 ? a : b);
        cudaMemsetAsync(device, i, megabyte, i % 3 == 0 ? a : b);
      }
    }));
  }
  EXPECT_EQ(times[0], times[1]);
  EXPECT_EQ(times[0], times[2]);
}

TEST_F(ClockTest, WhatTheHostHasWaitedForIsBefore) {
  unsigned char* const device = make_device(megabyte);
  unsigned char* const pinned = make_pinned(megabyte);
  const auto copy = [&](cudaStream_t s) {
    cudaMemcpyAsync(device, pinned, megabyte, cudaMemcpyDefault, s);
  };
  EXPECT_FLOAT_EQ(time_of([&](cudaStream_t a, cudaStream_t b) {
                    copy(a);
                    cudaStreamSynchronize(a);
                    cudaMemsetAsync(device, 1, megabyte, b);
                  }),
                  110);
  EXPECT_FLOAT_EQ(time_of([&](cudaStream_t a, cudaStream_t b) {
                    copy(a);
                    cudaMemsetAsync(device, 1, megabyte, b);
                  }),
                  100);
}

TEST_F(ClockTest, ManyUsesWithGapsTakeNoMoreMemory) {
  unsigned char* const device = make_device(64);
  unsigned char* const pinned = make_pinned(64);
  cudaStream_t stream = make_stream();
  for (int i = 0; i < 20'000; ++i) {
    CUDA_OK(cudaMemcpyAsync(device, pinned, 64, cudaMemcpyDefault, stream));
    CUDA_OK(cudaMemsetAsync(device, 1, 64, stream));
    if (i % 1000 == 0) {
      CUDA_OK(cudaStreamSynchronize(stream));
    }
  }
  CUDA_OK(cudaStreamSynchronize(stream));
}

TEST(ClockDeathTest, AModelMustMakeSense) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  sim::Config config;
  config.cost.device_gb_per_s = 0;
  EXPECT_EXIT(sim::reset(config), testing::ExitedWithCode(2), "0.001 or more");
  config.cost.device_gb_per_s = std::nan("");
  EXPECT_EXIT(sim::reset(config), testing::ExitedWithCode(2), "0.001 or more");
  for (std::uint64_t sim::CostModel::*const latency :
       {&sim::CostModel::copy_latency_ns, &sim::CostModel::kernel_launch_ns,
        &sim::CostModel::event_record_ns, &sim::CostModel::host_function_ns}) {
    config.cost = {};
    config.cost.*latency = ~std::uint64_t{0};
    EXPECT_EXIT(sim::reset(config), testing::ExitedWithCode(2), "a latency is");
  }
  config.cost = {};
  config.cost.concurrent_kernels = 0;
  EXPECT_EXIT(sim::reset(config), testing::ExitedWithCode(2), "concurrent_kernels");
}

}  // namespace
