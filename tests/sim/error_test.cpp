// SPDX-License-Identifier: BSL-1.0
// Errors, handles, faults, sticky errors, and machines that lack something.
#include <cstdlib>
#include <cstring>
#include <string>

#include "sim_fixture.hpp"

namespace {

class Errors : public SimTest {};

TEST_F(Errors, Texts) {
  EXPECT_STREQ(cudaGetErrorString(cudaErrorInsufficientDriver),
               "CUDA driver version is insufficient for CUDA runtime version");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorIllegalAddress),
               "an illegal memory access was encountered");
  EXPECT_STREQ(cudaGetErrorName(cudaErrorNotReady), "cudaErrorNotReady");
  EXPECT_STREQ(cudaGetErrorName(cudaErrorUnknown), "cudaErrorUnknown");
  EXPECT_STREQ(cudaGetErrorString(static_cast<cudaError_t>(12345)), "unrecognized error code");
}

TEST_F(Errors, OldAndInventedHandlesAreRefused) {
  cudaStream_t stream = make_stream();
  cudaEvent_t event = make_event();
  CUDA_OK(cudaStreamDestroy(stream));
  CUDA_OK(cudaEventDestroy(event));
  cudaStream_t next = make_stream();
  EXPECT_NE(next, stream);
  int local = 0;
  for (cudaStream_t bad : {stream, reinterpret_cast<cudaStream_t>(&local),
                           reinterpret_cast<cudaStream_t>(std::uintptr_t{0x10})}) {
    EXPECT_EQ(cudaStreamSynchronize(bad), cudaErrorInvalidResourceHandle);
    EXPECT_EQ(cudaStreamQuery(bad), cudaErrorInvalidResourceHandle);
    EXPECT_EQ(cudaStreamDestroy(bad), cudaErrorInvalidResourceHandle);
    EXPECT_EQ(cudaMemsetAsync(&local, 0, 4, bad), cudaErrorInvalidResourceHandle);
  }
  EXPECT_EQ(cudaEventDestroy(event), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventRecord(event, next), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamWaitEvent(next, event, 0), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventQuery(nullptr), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamDestroy(nullptr), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamDestroy(cudaStreamLegacy), cudaErrorInvalidResourceHandle);
}

TEST_F(Errors, StreamsTellWhatTheyAre) {
  cudaStream_t stream = nullptr;
  CUDA_OK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, -100));
  int priority = 0;
  unsigned flags = 0;
  unsigned long long id = 0;
  int device = -1;
  CUDA_OK(cudaStreamGetPriority(stream, &priority));
  CUDA_OK(cudaStreamGetFlags(stream, &flags));
  CUDA_OK(cudaStreamGetId(stream, &id));
  CUDA_OK(cudaStreamGetDevice(stream, &device));
  EXPECT_EQ(priority, -5);
  EXPECT_EQ(flags, static_cast<unsigned>(cudaStreamNonBlocking));
  EXPECT_EQ(id, 13U);
  EXPECT_EQ(device, 0);
  CUDA_OK(cudaStreamGetId(nullptr, &id));
  EXPECT_EQ(id, 7U);
  EXPECT_EQ(cudaStreamCreateWithFlags(&stream, 8), cudaErrorInvalidValue);
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  CUDA_OK(cudaThreadExchangeStreamCaptureMode(&mode));
  EXPECT_EQ(mode, cudaStreamCaptureModeGlobal);
}

TEST_F(Errors, TheNthCallFailsWithoutEffect) {
  sim::fail("cudaStreamCreateWithFlags", cudaErrorMemoryAllocation, 2);
  cudaStream_t stream = make_stream();
  cudaStream_t second = nullptr;
  EXPECT_EQ(cudaStreamCreateWithFlags(&second, 0), cudaErrorMemoryAllocation);
  EXPECT_EQ(second, nullptr);
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
  EXPECT_EQ(sim::live().streams, 1U);
  EXPECT_EQ(sim::call_count("cudaStreamCreateWithFlags"), 2U);

  sim::fail(nullptr, cudaErrorUnknown);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);  // not counted, never failed
  EXPECT_EQ(cudaStreamDestroy(stream), cudaErrorUnknown);
  EXPECT_EQ(sim::live().streams, 1U);
  CUDA_OK(cudaStreamDestroy(stream));
  sim::fail(nullptr, cudaErrorUnknown);
  sim::clear_faults();
  CUDA_OK(cudaDeviceSynchronize());
}

void set_flag(void* data) { *static_cast<bool*>(data) = true; }

TEST_F(Errors, AStickyErrorStays) {
  cudaStream_t stream = make_stream();
  bool ran = false;
  CUDA_OK(cudaLaunchHostFunc(stream, set_flag, &ran));
  sim::raise_sticky(0, cudaErrorLaunchFailure);
  EXPECT_EQ(sim::pending(), 0U);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorLaunchFailure);
  void* pointer = nullptr;
  EXPECT_EQ(cudaMalloc(&pointer, 16), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaGetLastError(), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&pointer, 16), cudaErrorLaunchFailure);
  // A reset succeeds and does not help, as on hardware.
  CUDA_OK(cudaDeviceReset());
  EXPECT_EQ(cudaMalloc(&pointer, 16), cudaErrorDevicesUnavailable);
  EXPECT_FALSE(ran);
}

TEST_F(Errors, AStickyErrorBelongsToItsDevice) {
  sim::Config config = strict();
  config.devices = 2;
  sim::reset(config);
  cudaStream_t on_0 = make_stream();
  sim::raise_sticky(0, cudaErrorIllegalAddress);
  EXPECT_EQ(cudaSetDevice(1), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(on_0), cudaErrorIllegalAddress);
}

TEST_F(Errors, UseAfterFreeInAnotherStreamIsAnIllegalAddress) {
  cudaStream_t a = make_stream();
  cudaStream_t b = make_stream();
  void* pointer = nullptr;
  CUDA_OK(cudaMallocAsync(&pointer, 64, a));
  CUDA_OK(cudaStreamSynchronize(a));
  CUDA_OK(cudaMemsetAsync(pointer, 1, 64, b));
  CUDA_OK(cudaFreeAsync(pointer, a));  // not ordered after b
  CUDA_OK(cudaStreamSynchronize(a));
  bool ran = false;
  CUDA_OK(cudaLaunchHostFunc(b, set_flag, &ran));
  testing::internal::CaptureStderr();
  EXPECT_EQ(cudaStreamSynchronize(b), cudaErrorIllegalAddress);
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_NE(told.find("cudaMemsetAsync"), std::string::npos) << told;
  EXPECT_NE(told.find("64 bytes"), std::string::npos) << told;
  EXPECT_NE(told.find("after it was freed"), std::string::npos) << told;
  EXPECT_FALSE(ran);
}

TEST_F(Errors, UseBeforeTheAllocationIsAnIllegalAddress) {
  cudaStream_t a = make_stream();
  cudaStream_t b = make_stream();
  void* pointer = nullptr;
  CUDA_OK(cudaMallocAsync(&pointer, 64, a));
  CUDA_OK(cudaMemsetAsync(pointer, 1, 64, b));
  testing::internal::CaptureStderr();
  EXPECT_EQ(cudaStreamSynchronize(b), cudaErrorIllegalAddress);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("before its allocation"),
            std::string::npos);
}

TEST_F(Errors, ADeviceResetFreesEverything) {
  make_stream();
  make_event();
  make_pinned(64);
  make_device(64);
  CUDA_OK(cudaDeviceReset());
  const sim::Live live = sim::live();
  EXPECT_EQ(live.streams + live.events + live.host_allocations + live.device_allocations, 0U);
}

TEST_F(Errors, LiveCounts) {
  cudaStream_t stream = make_stream();
  cudaEvent_t event = make_event();
  unsigned char* const device = make_device(100);
  unsigned char* const pinned = make_pinned(10);
  sim::Live live = sim::live();
  EXPECT_EQ(live.streams, 1U);
  EXPECT_EQ(live.events, 1U);
  EXPECT_EQ(live.device_bytes, 100U);
  EXPECT_EQ(live.host_bytes, 10U);
  CUDA_OK(cudaStreamDestroy(stream));
  CUDA_OK(cudaEventDestroy(event));
  CUDA_OK(cudaFree(device));
  CUDA_OK(cudaFreeHost(pinned));
  live = sim::live();
  EXPECT_EQ(live.streams + live.events + live.device_allocations + live.host_allocations, 0U);
}

TEST_F(Errors, NoDriver) {
  sim::Config config = strict();
  config.driver_version = 0;
  sim::reset(config);
  int value = -1;
  EXPECT_EQ(cudaGetDeviceCount(&value), cudaErrorInsufficientDriver);
  EXPECT_EQ(cudaFree(nullptr), cudaErrorInsufficientDriver);
  EXPECT_EQ(cudaDriverGetVersion(&value), cudaSuccess);
  EXPECT_EQ(value, 0);
  EXPECT_EQ(cudaRuntimeGetVersion(&value), cudaSuccess);
  EXPECT_EQ(value, CUDART_VERSION);
}

TEST_F(Errors, NoDevice) {
  sim::Config config = strict();
  config.devices = 0;
  sim::reset(config);
  int value = -1;
  EXPECT_EQ(cudaGetDeviceCount(&value), cudaErrorNoDevice);
  cudaStream_t stream = nullptr;
  EXPECT_EQ(cudaStreamCreate(&stream), cudaErrorNoDevice);
}

TEST_F(Errors, DevicesTellWhatTheyAre) {
  cudaDeviceProp properties{};
  CUDA_OK(cudaGetDeviceProperties(&properties, 0));
  EXPECT_STREQ(properties.name, "culvert simulated device");
  EXPECT_EQ(properties.major, 9);
  EXPECT_EQ(cudaGetDeviceProperties(&properties, 1), cudaErrorInvalidDevice);
  int value = 0;
  CUDA_OK(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 0));
  EXPECT_EQ(value, 32);
  EXPECT_EQ(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(200), 0),
            cudaErrorInvalidValue);
  int least = 1;
  int greatest = 1;
  CUDA_OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  EXPECT_EQ(least, 0);
  EXPECT_EQ(greatest, -5);
  EXPECT_TRUE(sim::is_simulated());
}

TEST_F(Errors, PeerAccess) {
  sim::Config config = strict();
  config.devices = 2;
  sim::reset(config);
  int can = 0;
  CUDA_OK(cudaDeviceCanAccessPeer(&can, 0, 1));
  EXPECT_EQ(can, 1);
  EXPECT_EQ(cudaDeviceDisablePeerAccess(1), cudaErrorPeerAccessNotEnabled);
  CUDA_OK(cudaDeviceEnablePeerAccess(1, 0));
  EXPECT_EQ(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessAlreadyEnabled);
  CUDA_OK(cudaDeviceDisablePeerAccess(1));
}

TEST(ErrorDeathTest, AScheduleIsOneOfThree) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  sim::Config config;
  config.schedule = static_cast<sim::Schedule>(7);
  EXPECT_EXIT(sim::reset(config), testing::ExitedWithCode(2), "schedule is 7");
  EXPECT_EXIT(sim::set_schedule(config.schedule), testing::ExitedWithCode(2), "schedule is 7");
}

TEST(Environment, IsRead) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  setenv("CULVERT_SIM_DEVICES", "3", 1);
  setenv("CULVERT_SIM_SCHEDULE", "eager", 1);
  setenv("CULVERT_SIM_DEVICE_MEMORY", "1048576", 1);
  setenv("CULVERT_SIM_DRIVER_VERSION", "0", 1);
  const sim::Config config = sim::config_from_environment();
  EXPECT_EQ(config.devices, 3);
  EXPECT_EQ(config.schedule, sim::Schedule::eager);
  EXPECT_EQ(config.device_memory, 1048576U);
  EXPECT_EQ(config.driver_version, 0);
  setenv("CULVERT_SIM_DEVICES", "9", 1);
  EXPECT_EXIT(sim::config_from_environment(), testing::ExitedWithCode(2), "CULVERT_SIM_DEVICES");
  setenv("CULVERT_SIM_DEVICES", "two", 1);
  EXPECT_EXIT(sim::config_from_environment(), testing::ExitedWithCode(2), "whole number");
  unsetenv("CULVERT_SIM_DEVICES");
  setenv("CULVERT_SIM_SCHEDULE", "random:17", 1);
  EXPECT_EQ(sim::config_from_environment().schedule, sim::Schedule::random);
  EXPECT_EQ(sim::config_from_environment().seed, 17U);
  setenv("CULVERT_SIM_SCHEDULE", "random:1x", 1);
  EXPECT_EXIT(sim::config_from_environment(), testing::ExitedWithCode(2), "CULVERT_SIM_SCHEDULE");
  setenv("CULVERT_SIM_SCHEDULE", "soon", 1);
  EXPECT_EXIT(sim::config_from_environment(), testing::ExitedWithCode(2), "CULVERT_SIM_SCHEDULE");
  unsetenv("CULVERT_SIM_SCHEDULE");
  unsetenv("CULVERT_SIM_DEVICE_MEMORY");
  unsetenv("CULVERT_SIM_DRIVER_VERSION");
}

TEST(Environment, LaunchBlockingIsTheEagerSchedule) {
  setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
  EXPECT_EQ(sim::config_from_environment().schedule, sim::Schedule::eager);
  setenv("CULVERT_SIM_SCHEDULE", "late", 1);
  EXPECT_EQ(sim::config_from_environment().schedule, sim::Schedule::late);
  unsetenv("CULVERT_SIM_SCHEDULE");
  setenv("CUDA_LAUNCH_BLOCKING", "0", 1);
  EXPECT_EQ(sim::config_from_environment().schedule, sim::Schedule::late);
  unsetenv("CUDA_LAUNCH_BLOCKING");
}

}  // namespace
