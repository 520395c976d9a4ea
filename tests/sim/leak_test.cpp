// SPDX-License-Identifier: BSL-1.0
// What is told of what a program has not given back, and of accesses from host code.
#include <culvert/async.hpp>
#include <culvert/stream.hpp>

#include <cstdlib>
#include <string>

#include "sim_fixture.hpp"

namespace {

class LeakTest : public SimTest {
 protected:
  static std::string told(std::size_t& count) {
    testing::internal::CaptureStderr();
    count = sim::report_leaks();
    return testing::internal::GetCapturedStderr();
  }
};

TEST_F(LeakTest, NothingIsToldOfNothing) {
  std::size_t count = 1;
  EXPECT_EQ(told(count), "");
  EXPECT_EQ(count, 0U);
}

TEST_F(LeakTest, WhatIsAliveIsToldByKindAndLine) {
  for (int i = 0; i < 2; ++i) make_stream();
  const int line = __LINE__ - 1;
  make_event();
  make_device(100);
  make_pinned(200);
  int registered = 0;
  CUDA_OK(cudaHostRegister(&registered, sizeof registered, cudaHostRegisterDefault));
  std::size_t count = 0;
  const std::string text = told(count);
  EXPECT_EQ(count, 6U);
  for (const char* const part : {"leaked: 2 streams, made at ", "leaked: 1 event, made at ",
                                 "leaked: 1 device allocation, 100 bytes, made at ",
                                 "leaked: 1 pinned allocation, 200 bytes, made at ",
                                 "leaked: 1 registration of host memory, 4 bytes, made at "}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  // The fixture's functions are of the program, too; which of the two is told depends on inlining.
  const bool here = text.find("leak_test.cpp:" + std::to_string(line)) != std::string::npos;
  EXPECT_TRUE(here || text.find("sim_fixture.hpp:") != std::string::npos) << text;
}

TEST_F(LeakTest, AFreeThatHasNotRunIsNoLeak) {
  void* pointer = nullptr;
  cudaStream_t stream = make_stream();
  CUDA_OK(cudaMallocAsync(&pointer, 16, stream));
  CUDA_OK(cudaFreeAsync(pointer, stream));
  CUDA_OK(cudaStreamDestroy(stream));
  std::size_t count = 1;
  EXPECT_EQ(told(count), "");
  EXPECT_EQ(count, 0U);
}

TEST_F(LeakTest, WhatCulvertKeepsIsNoLeak) {
  sim::reset(sim::Config{});
  culvert::forget_kept_events();
  {
    const culvert::Stream a;
    const culvert::Stream b;
    a.wait(b);
    EXPECT_EQ(culvert::async_host(a, [] { return 7; }).get(), 7);
  }
  EXPECT_GE(sim::live().events, 2U);
  std::size_t count = 1;
  EXPECT_EQ(told(count), "");
  EXPECT_EQ(count, 0U);
}

class LeakDeathTest : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(LeakDeathTest, TheExitTellsAndMayFail) {
  const auto leave_one = [] {
    cudaStream_t stream = nullptr;
    cudaStreamCreate(&stream);
    std::exit(0);
  };
  EXPECT_EXIT(leave_one(), testing::ExitedWithCode(0), "leaked: 1 stream, made at ");
  setenv("CULVERT_SIM_LEAKS", "fail", 1);
  EXPECT_EXIT(leave_one(), testing::ExitedWithCode(2), "leaked: 1 stream, made at ");
  setenv("CULVERT_SIM_LEAKS", "off", 1);
  EXPECT_EXIT(leave_one(), testing::ExitedWithCode(0), "^$");
  setenv("CULVERT_SIM_LEAKS", "maybe", 1);
  EXPECT_EXIT(leave_one(), testing::ExitedWithCode(2), "CULVERT_SIM_LEAKS");
  unsetenv("CULVERT_SIM_LEAKS");
}

TEST_F(LeakDeathTest, AnAccessFromHostCodeIsTold) {
  const int made = __LINE__ + 3;
  const auto access = [](bool write, bool freed, std::size_t offset = 7) {
    void* pointer = nullptr;
    cudaMalloc(&pointer, 100);
    if (freed) cudaFree(pointer);
    volatile unsigned char* const byte = static_cast<unsigned char*>(pointer) + offset;
    if (write) *byte = 1;
    std::exit(*byte);
  };
  const std::string file = "leak_test.cpp:";
  const auto made_and = [&](int line) {
    return "\n.*the allocation was made at [^\n]*" + file + std::to_string(made) +
           "(.|\n)*the access is at [^\n]*" + file + std::to_string(line);
  };
  EXPECT_DEATH(access(true, false),
               "host code (wrote|touched) device memory at 0x.*: byte 7 of an allocation of 100 "
               "bytes on device 0" +
                   made_and(made + 3));
  EXPECT_DEATH(access(false, false),
               "host code (read|touched) device memory at .*" + made_and(made + 4));
  EXPECT_DEATH(access(false, true), "device 0, freed by cudaFree" + made_and(made + 4));
  EXPECT_DEATH(access(false, false, 4096), "where no allocation is\n.*the access is at [^\n]*" +
                                               file + std::to_string(made + 4));
}

TEST_F(LeakDeathTest, OtherFaultsAreNotToldOf) {
  EXPECT_DEATH(
      {
        cudaFree(nullptr);
        std::fprintf(stderr, "before ");
        volatile int* const nowhere = reinterpret_cast<int*>(std::uintptr_t{64});
        *nowhere = 1;
      },
      "^before ($|[^c]|c[^u])");
}

}  // namespace
