// SPDX-License-Identifier: BSL-1.0
// explore(), for_each_wait() and for_each_fault(): what they find, and that they find nothing else.
#include <culvert/sim/explore.hpp>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "missing_waits.hpp"
#include "sim_fixture.hpp"

namespace {

class ExploreTest : public SimTest {
 protected:
  static sim::ExploreOptions quiet() {
    sim::ExploreOptions options;
    options.config = strict();
    options.report = false;
    return options;
  }

  static bool is_fresh() {
    const sim::Live live = sim::live();
    return live.streams == 0 && live.events == 0 && live.device_allocations == 0 &&
           sim::pending() == 0;
  }
};

// Fills in two streams that nothing orders; answers which one was last.
unsigned char race() {
  cudaStream_t streams[2] = {};
  void* device = nullptr;
  unsigned char last = 0;
  cudaMalloc(&device, 1);
  for (int i = 0; i < 2; ++i) {
    cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking);
    cudaMemsetAsync(device, i + 1, 1, streams[i]);
  }
  cudaDeviceSynchronize();
  cudaMemcpy(&last, device, 1, cudaMemcpyDeviceToHost);
  for (cudaStream_t stream : streams) cudaStreamDestroy(stream);
  cudaFree(device);
  return last;
}

TEST_F(ExploreTest, ASeedGivesTheSameOrderAgain) {
  std::vector<unsigned char> first;
  std::vector<unsigned char> second;
  for (std::vector<unsigned char>* const results : {&first, &second}) {
    const auto body = [&] { results->push_back(race()); };
    EXPECT_TRUE(sim::explore(50, body, quiet()).passed);
  }
  EXPECT_EQ(first, second);
  EXPECT_GT(std::count(first.begin(), first.end(), 1), 5);
  EXPECT_GT(std::count(first.begin(), first.end(), 2), 5);
  EXPECT_TRUE(is_fresh());
}

TEST_F(ExploreTest, TheFirstSeedThatFailsIsToldAndRunAgain) {
  int runs = 0;
  const auto body = [&] {
    ++runs;
    return race() == 2;
  };
  testing::internal::CaptureStderr();
  sim::ExploreOptions options = quiet();
  options.report = true;
  const sim::Exploration found = sim::explore(100, body, options);
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_FALSE(found.passed);
  EXPECT_TRUE(found.replayed);
  EXPECT_EQ(static_cast<std::uint64_t>(runs), found.runs + 1);
  EXPECT_NE(told.find("CULVERT_SIM_SCHEDULE=random:" + std::to_string(found.failing_seed)),
            std::string::npos)
      << told;
  sim::Config config = strict();
  config.schedule = sim::Schedule::random;
  config.seed = found.failing_seed;
  sim::reset(config);
  EXPECT_EQ(race(), 1);
}

TEST_F(ExploreTest, AnExceptionIsAFailure) {
  const auto body = [] { throw std::runtime_error("seven"); };
  const sim::Exploration found = sim::explore(3, body, quiet());
  EXPECT_FALSE(found.passed);
  EXPECT_EQ(found.failure, "seven");
  EXPECT_EQ(found.runs, 1U);
  EXPECT_EQ(sim::explore(0, body, quiet()).runs, 0U);
}

TEST_F(ExploreTest, ABodyMayStartAfreshItself) {
  const auto body = [] {
    sim::reset(strict());
    return race() == 2;
  };
  EXPECT_FALSE(sim::explore(100, body, quiet()).passed);
}

TEST_F(ExploreTest, EachWaitIsCaughtWhereItMatters) {
  for (const MissingWait& program : missing_waits()) {
    const std::string_view name = program.name;
    if (name != "read_after_write" && name != "staging" && name != "query_not_heeded") continue;
    const sim::WaitReport report = sim::for_each_wait([&] { return program.run(true); }, quiet());
    EXPECT_TRUE(report.passed) << name;
    std::size_t caught = 0;
    for (const sim::Wait& wait : report.waits) caught += wait.caught ? 1U : 0U;
    EXPECT_GE(caught, 1U) << name;
    for (const sim::Wait& wait : report.waits) EXPECT_EQ(wait.number, &wait - &report.waits[0] + 1);
  }
}

TEST_F(ExploreTest, ARedundantWaitIsNamed) {
  const auto body = [] {
    cudaStream_t stream = make_stream();
    unsigned char* const device = make_device(16);
    unsigned char* const pinned = make_pinned(16);
    cudaMemsetAsync(device, 5, 16, stream);
    cudaStreamSynchronize(stream);  // of no use: the next ones are in the stream, too
    cudaMemcpyAsync(pinned, device, 16, cudaMemcpyDeviceToHost, stream);
    while (cudaStreamQuery(stream) == cudaErrorNotReady) {
    }
    return pinned[15] == 5;
  };
  testing::internal::CaptureStderr();
  sim::ExploreOptions options = quiet();
  options.report = true;
  const sim::WaitReport report = sim::for_each_wait(body, options);
  const std::string told = testing::internal::GetCapturedStderr();
  ASSERT_TRUE(report.passed);
  ASSERT_EQ(report.waits.size(), 2U);
  EXPECT_EQ(report.waits[0].function, "cudaStreamSynchronize");
  EXPECT_FALSE(report.waits[0].caught);
  EXPECT_NE(report.waits[0].where.find("explore_test.cpp:"), std::string::npos)
      << report.waits[0].where;
  EXPECT_EQ(report.waits[1].function, "cudaStreamQuery");
  EXPECT_TRUE(report.waits[1].caught);
  EXPECT_EQ(report.waits[1].caught_by, "late");
  ASSERT_EQ(report.uncaught().size(), 1U);
  EXPECT_EQ(report.uncaught()[0].number, 1U);
  EXPECT_NE(told.find("wait 1, cudaStreamSynchronize"), std::string::npos) << told;
  EXPECT_TRUE(is_fresh());
}

TEST_F(ExploreTest, ABodyThatFailsByItselfHasNoCaughtWaits) {
  const sim::WaitReport report = sim::for_each_wait(
      [] {
        cudaDeviceSynchronize();
        return false;
      },
      quiet());
  EXPECT_FALSE(report.passed);
  EXPECT_EQ(report.waits.size(), 1U);
  EXPECT_FALSE(report.waits[0].caught);
}

// Gives back what it has, whatever fails.
bool careful(std::size_t bytes) {
  void* device = nullptr;
  void* pinned = nullptr;
  bool good = cudaMalloc(&device, bytes) == cudaSuccess;
  good = good && cudaMallocHost(&pinned, bytes) == cudaSuccess;
  good = good && cudaMemset(device, 1, bytes) == cudaSuccess;
  good = good && cudaMemcpy(pinned, device, bytes, cudaMemcpyDeviceToHost) == cudaSuccess;
  if (pinned != nullptr) good = (cudaFreeHost(pinned) == cudaSuccess) && good;
  if (device != nullptr) good = (cudaFree(device) == cudaSuccess) && good;
  return good;
}

TEST_F(ExploreTest, EachCallFailsOnce) {
  const sim::FaultReport report = sim::for_each_fault([] { return careful(16); }, quiet());
  EXPECT_TRUE(report.passed);
  ASSERT_EQ(report.runs.size(), 6U);
  EXPECT_EQ(report.runs[0].function, "cudaMalloc");
  EXPECT_EQ(report.runs[0].injected, cudaErrorMemoryAllocation);
  EXPECT_EQ(report.runs[2].function, "cudaMemset");
  EXPECT_EQ(report.runs[2].injected, cudaErrorUnknown);
  for (const sim::FaultRun& run : report.runs) EXPECT_FALSE(run.passed) << run.number;
  EXPECT_TRUE(report.unexpected().empty());
  EXPECT_TRUE(is_fresh());
}

TEST_F(ExploreTest, ALeakAfterAFaultIsFound) {
  const auto leaky = [] {
    void* first = nullptr;
    void* second = nullptr;
    if (cudaMalloc(&first, 16) != cudaSuccess) return false;
    if (cudaMalloc(&second, 16) != cudaSuccess) return false;  // the first is lost
    cudaFree(second);
    return cudaFree(first) == cudaSuccess;
  };
  testing::internal::CaptureStderr();
  sim::ExploreOptions options = quiet();
  options.report = true;
  const sim::FaultReport report = sim::for_each_fault(leaky, options);
  const std::string told = testing::internal::GetCapturedStderr();
  ASSERT_EQ(report.unexpected().size(), 1U);
  EXPECT_EQ(report.unexpected()[0].number, 2U);
  EXPECT_EQ(report.unexpected()[0].leaked.device_allocations, 1U);
  EXPECT_NE(told.find("4 faults injected in 2 functions, 1 not"), std::string::npos) << told;
}

TEST_F(ExploreTest, AnErrorThatLeavesTheBodyMustBeTheInjectedOne) {
  cudaError_t thrown = cudaErrorUnknown;
  const auto body = [&] {
    if (cudaDeviceSynchronize() != cudaSuccess)
      throw culvert::Error(thrown, "cudaDeviceSynchronize", culvert::SourceLocation::current());
  };
  sim::ExploreOptions options = quiet();
  EXPECT_TRUE(sim::for_each_fault(body, options).unexpected().empty());
  thrown = cudaErrorInvalidValue;
  EXPECT_EQ(sim::for_each_fault(body, options).unexpected().size(), 1U);
  options.error = cudaErrorInvalidValue;
  EXPECT_TRUE(sim::for_each_fault(body, options).unexpected().empty());
}

TEST_F(ExploreTest, AFaultMayStay) {
  sim::fail("cudaMalloc", cudaErrorMemoryAllocation, 2, sim::Repeat::from_then_on);
  void* pointer = nullptr;
  EXPECT_EQ(cudaMalloc(&pointer, 1), cudaSuccess);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(cudaMalloc(&pointer, 1), cudaErrorMemoryAllocation);
  sim::clear_faults();
  EXPECT_EQ(cudaMalloc(&pointer, 1), cudaSuccess);
}

TEST_F(ExploreTest, AnOperationMayBreakTheDevice) {
  cudaStream_t a = make_stream();
  cudaStream_t b = make_stream();
  unsigned char* const device = make_device(16);
  int ran = 0;
  const auto count = [](void* data) { ++*static_cast<int*>(data); };
  sim::fail_operation(a, cudaErrorIllegalAddress, 3);
  CUDA_OK(cudaMemsetAsync(device, 1, 16, b));
  CUDA_OK(cudaMemsetAsync(device, 1, 16, a));
  CUDA_OK(cudaLaunchHostFunc(a, count, &ran));
  CUDA_OK(cudaMemsetAsync(device, 2, 16, a));  // the third
  CUDA_OK(cudaLaunchHostFunc(a, count, &ran));
  CUDA_OK(cudaStreamSynchronize(b));
  EXPECT_EQ(cudaStreamSynchronize(a), cudaErrorIllegalAddress);
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(sim::pending(), 0U);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaMemsetAsync(device, 1, 16, b), cudaErrorIllegalAddress);
}

TEST(ExploreDeathTest, BadArgumentsEndTheProgram) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto ends = testing::ExitedWithCode(2);
  EXPECT_EXIT(sim::fail("cudaMalloc", cudaErrorUnknown, 0), ends, "nth is 0");
  EXPECT_EXIT(sim::fail("cudaMalloc", cudaSuccess), ends, "no error");
  EXPECT_EXIT(sim::fail("malloc", cudaErrorUnknown), ends, "no function of CUDA");
  const auto none = reinterpret_cast<cudaStream_t>(std::uintptr_t{12345});
  EXPECT_EXIT(sim::fail_operation(none, cudaErrorUnknown), ends, "no such stream");
  EXPECT_EXIT(sim::raise_sticky(0, cudaSuccess), ends, "no error");
  EXPECT_EXIT(sim::raise_sticky(1, cudaErrorUnknown), ends, "no device 1");
}

TEST(ExploreDeathTest, OneAtATime) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto ends = testing::ExitedWithCode(2);
  const auto body = [] { return true; };
  EXPECT_EXIT((void)sim::explore(1, [&] { (void)sim::for_each_wait(body); }), ends,
              "for_each_wait while explore");
  EXPECT_EXIT((void)sim::for_each_wait([&] { (void)sim::for_each_fault(body); }), ends,
              "for_each_fault while");
  const auto in_host_function = [] {
    cudaLaunchHostFunc(
        cudaStreamPerThread, [](void*) { (void)sim::explore(1, [] { return true; }); }, nullptr);
    cudaStreamSynchronize(cudaStreamPerThread);
  };
  EXPECT_EXIT(in_host_function(), ends, "explore in a host function");
}

// A fault counts as injected where the body made the call again.
TEST_F(ExploreTest, CallsThatAreNotMadeAgainAreToldOf) {
  int runs = 0;
  const auto body = [&] {
    for (int i = 0; i < (runs == 0 ? 4 : 2); ++i) (void)cudaDeviceSynchronize();
    ++runs;
    return true;
  };
  testing::internal::CaptureStderr();
  const sim::FaultReport report = sim::for_each_fault(body);
  const std::string told = testing::internal::GetCapturedStderr();
  ASSERT_EQ(report.runs.size(), 4U);
  EXPECT_TRUE(report.runs[1].happened);
  EXPECT_FALSE(report.runs[2].happened);
  EXPECT_NE(told.find("2 faults injected in 1 functions"), std::string::npos) << told;
  EXPECT_NE(told.find("2 calls were not made again"), std::string::npos) << told;
}

// The environment is read when a program starts, so each of these starts this one anew.
TEST(ExploreDeathTest, TheEnvironmentMakesCallsFailAndLeavesWaitsOut) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto exit_with = [](cudaError_t error) { std::_Exit(static_cast<int>(error)); };
  const auto second_malloc = [&] {
    void* pointer = nullptr;
    cudaMalloc(&pointer, 1);
    exit_with(cudaMalloc(&pointer, 1));
  };
  setenv("CULVERT_SIM_FAIL", "cudaMalloc:cudaErrorMemoryAllocation:2", 1);
  EXPECT_EXIT(second_malloc(), testing::ExitedWithCode(cudaErrorMemoryAllocation), "");
  setenv("CULVERT_SIM_FAIL", "cudaFree:1,cudaMalloc:46+", 1);
  EXPECT_EXIT(second_malloc(), testing::ExitedWithCode(cudaErrorDevicesUnavailable), "");
  for (const char* const bad : {"cudaMalloc", "cudaMalloc:none", "cudaMalloc:2:0", "malloc:2"}) {
    setenv("CULVERT_SIM_FAIL", bad, 1);
    EXPECT_EXIT(second_malloc(), testing::ExitedWithCode(2), "CULVERT_SIM_FAIL") << bad;
  }
  unsetenv("CULVERT_SIM_FAIL");

  // What does not happen is told at the end.
  const auto leave = [] {
    void* pointer = nullptr;
    cudaFree(pointer);
    std::exit(0);
  };
  setenv("CULVERT_SIM_FAIL", "cudaMaloc:2,cudaFree:1,*:1:9", 1);
  EXPECT_EXIT(leave(), testing::ExitedWithCode(0),
              "0 calls of cudaMaloc\n[^\n]*[0-9]+ calls of CUDA\n$");
  setenv("CULVERT_SIM_FAIL", "cudaFree:1", 1);
  EXPECT_EXIT(leave(), testing::ExitedWithCode(0), "^$");
  unsetenv("CULVERT_SIM_FAIL");
  setenv("CULVERT_SIM_SKIP_WAIT", "3:cudaStreamSynchronize", 1);
  EXPECT_EXIT(leave(), testing::ExitedWithCode(0), "no wait was left out: .*the 0 of the program");
  unsetenv("CULVERT_SIM_SKIP_WAIT");

  const auto read = [&] {
    sim::reset(sim::Config{});  // it keeps what the environment asks for
    void* device = nullptr;
    void* pinned = nullptr;
    cudaMalloc(&device, 1);
    cudaMallocHost(&pinned, 1);
    cudaMemsetAsync(device, 9, 1, cudaStreamPerThread);
    cudaStreamSynchronize(cudaStreamPerThread);
    cudaMemcpyAsync(pinned, device, 1, cudaMemcpyDeviceToHost, cudaStreamPerThread);
    cudaStreamSynchronize(cudaStreamPerThread);
    std::_Exit(*static_cast<unsigned char*>(pinned));
  };
  EXPECT_EXIT(read(), testing::ExitedWithCode(9), "");
  setenv("CULVERT_SIM_SKIP_WAIT", "2:cudaStreamSynchronize", 1);
  EXPECT_EXIT(read(), testing::ExitedWithCode(sim::poison), "");
  setenv("CULVERT_SIM_SKIP_WAIT", "two", 1);
  EXPECT_EXIT(read(), testing::ExitedWithCode(2), "CULVERT_SIM_SKIP_WAIT");
  unsetenv("CULVERT_SIM_SKIP_WAIT");
}

}  // namespace
