// SPDX-License-Identifier: BSL-1.0
// What is set of devices and streams and asked for again.
#include <cuda_profiler_api.h>

#include <cstring>

#include "sim_fixture.hpp"

namespace {

class Settings : public SimTest {
 protected:
  static void use_devices(int count) {
    sim::Config config = strict();
    config.devices = count;
    sim::reset(config);
  }
};

TEST_F(Settings, DeviceFlags) {
  use_devices(2);
  unsigned flags = 0;
  CUDA_OK(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync));
  CUDA_OK(cudaGetDeviceFlags(&flags));
  EXPECT_EQ(flags & cudaDeviceScheduleMask, unsigned{cudaDeviceScheduleBlockingSync});
  EXPECT_EQ(cudaSetDeviceFlags(cudaDeviceScheduleSpin | cudaDeviceScheduleYield),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaSetDeviceFlags(0x1000), cudaErrorInvalidValue);
  CUDA_OK(cudaInitDevice(1, cudaDeviceScheduleSpin, cudaInitDeviceFlagsAreValid));
  EXPECT_EQ(cudaInitDevice(2, 0, 0), cudaErrorInvalidDevice);
  int device = -1;
  CUDA_OK(cudaGetDevice(&device));
  EXPECT_EQ(device, 0);
  CUDA_OK(cudaSetDevice(1));
  CUDA_OK(cudaGetDeviceFlags(&flags));
  EXPECT_EQ(flags & cudaDeviceScheduleMask, unsigned{cudaDeviceScheduleSpin});
  CUDA_OK(cudaDeviceReset());
  CUDA_OK(cudaGetDeviceFlags(&flags));
  EXPECT_EQ(flags & cudaDeviceScheduleMask, 0U);
}

TEST_F(Settings, Limits) {
  std::size_t value = 0;
  CUDA_OK(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
  CUDA_OK(cudaDeviceGetLimit(&value, cudaLimitStackSize));
  EXPECT_EQ(value, 4096U);
  EXPECT_EQ(cudaDeviceSetLimit(cudaLimitDevRuntimeSyncDepth, 4), cudaErrorUnsupportedLimit);
  EXPECT_EQ(cudaDeviceGetLimit(&value, static_cast<cudaLimit>(7)), cudaErrorInvalidValue);
  CUDA_OK(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, SIZE_MAX));
  CUDA_OK(cudaDeviceGetLimit(&value, cudaLimitPersistingL2CacheSize));
  int most = 0;
  CUDA_OK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxPersistingL2CacheSize, 0));
  EXPECT_EQ(value, static_cast<std::size_t>(most));
  CUDA_OK(cudaCtxResetPersistingL2Cache());
  cudaFuncCache cache = cudaFuncCachePreferEqual;
  CUDA_OK(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
  CUDA_OK(cudaDeviceGetCacheConfig(&cache));
  EXPECT_EQ(cache, cudaFuncCachePreferL1);
}

TEST_F(Settings, BusIds) {
  use_devices(2);
  char text[16] = {};
  CUDA_OK(cudaDeviceGetPCIBusId(text, sizeof text, 1));
  EXPECT_STREQ(text, "0000:02:00.0");
  EXPECT_EQ(cudaDeviceGetPCIBusId(text, 12, 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaDeviceGetPCIBusId(text, 13, 2), cudaErrorInvalidDevice);
  int device = -1;
  for (const char* id : {"0000:02:00.0", "0000:02:00", "02:00.0"}) {
    device = -1;
    CUDA_OK(cudaDeviceGetByPCIBusId(&device, id));
    EXPECT_EQ(device, 1) << id;
  }
  EXPECT_EQ(cudaDeviceGetByPCIBusId(&device, "0000:03:00.0"), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaDeviceGetByPCIBusId(&device, "first"), cudaErrorInvalidValue);
}

TEST_F(Settings, TwoDevices) {
  use_devices(2);
  int value = -1;
  CUDA_OK(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 1));
  EXPECT_EQ(value, 1);
  EXPECT_EQ(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 1, 1),
            cudaErrorInvalidDevice);
  cudaDeviceProp wanted{};
  CUDA_OK(cudaChooseDevice(&value, &wanted));
  EXPECT_EQ(value, 0);
}

TEST_F(Settings, StreamAttributes) {
  cudaStream_t a = make_stream();
  cudaStream_t b = make_stream();
  cudaLaunchAttributeValue value{};
  value.syncPolicy = cudaSyncPolicyYield;
  CUDA_OK(cudaStreamSetAttribute(a, cudaStreamAttributeSynchronizationPolicy, &value));
  value = {};
  value.accessPolicyWindow.num_bytes = 1024;
  value.accessPolicyWindow.hitRatio = 0.5F;
  value.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
  value.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
  CUDA_OK(cudaStreamSetAttribute(a, cudaStreamAttributeAccessPolicyWindow, &value));
  value.accessPolicyWindow.hitRatio = 2;
  EXPECT_EQ(cudaStreamSetAttribute(a, cudaStreamAttributeAccessPolicyWindow, &value),
            cudaErrorInvalidValue);
  value = {};
  value.priority = -3;
  CUDA_OK(cudaStreamSetAttribute(a, cudaStreamAttributePriority, &value));
  value.memSyncDomain = cudaLaunchMemSyncDomainRemote;
  CUDA_OK(cudaStreamSetAttribute(a, cudaStreamAttributeMemSyncDomain, &value));

  CUDA_OK(cudaStreamCopyAttributes(b, a));
  CUDA_OK(cudaStreamGetAttribute(b, cudaStreamAttributeSynchronizationPolicy, &value));
  EXPECT_EQ(value.syncPolicy, cudaSyncPolicyYield);
  CUDA_OK(cudaStreamGetAttribute(b, cudaStreamAttributeAccessPolicyWindow, &value));
  EXPECT_EQ(value.accessPolicyWindow.num_bytes, 1024U);
  CUDA_OK(cudaStreamGetAttribute(b, cudaStreamAttributeMemSyncDomain, &value));
  EXPECT_EQ(value.memSyncDomain, cudaLaunchMemSyncDomainRemote);
  int priority = 0;
  CUDA_OK(cudaStreamGetPriority(b, &priority));
  EXPECT_EQ(priority, -3);

  CUDA_OK(cudaStreamGetAttribute(make_stream(), cudaStreamAttributeSynchronizationPolicy, &value));
  EXPECT_EQ(value.syncPolicy, cudaSyncPolicyAuto);
  EXPECT_EQ(cudaStreamGetAttribute(a, cudaLaunchAttributeCooperative, &value),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaStreamGetAttribute(a, cudaStreamAttributePriority, nullptr), cudaErrorInvalidValue);
}

TEST_F(Settings, TheProfilersSwitchesDoNothing) {
  CUDA_OK(cudaProfilerStart());
  CUDA_OK(cudaProfilerStop());
}

}  // namespace
