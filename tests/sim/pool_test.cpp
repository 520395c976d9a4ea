// SPDX-License-Identifier: BSL-1.0
// Pools: their limits, who may use them, and what is shared with other processes.
#include <string>

#include "sim_fixture.hpp"

namespace {

class Pools : public SimTest {
 protected:
  static cudaMemPool_t make_pool(std::size_t most = 0) {
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
#if CUDART_VERSION >= 12030
    properties.maxSize = most;
#else
    (void)most;
#endif
    cudaMemPool_t pool = nullptr;
    EXPECT_EQ(cudaMemPoolCreate(&pool, &properties), cudaSuccess);
    return pool;
  }
};

#if CUDART_VERSION >= 12030

TEST_F(Pools, APoolIsFullAtItsLimit) {
  cudaStream_t stream = make_stream();
  cudaMemPool_t const pool = make_pool(4096);
  void* a = nullptr;
  void* b = nullptr;
  EXPECT_EQ(cudaMallocFromPoolAsync(&a, 4097, pool, stream), cudaErrorMemoryAllocation);
  CUDA_OK(cudaMallocFromPoolAsync(&a, 2048, pool, stream));
  CUDA_OK(cudaMallocFromPoolAsync(&b, 2048, pool, stream));
  void* more = nullptr;
  EXPECT_EQ(cudaMallocFromPoolAsync(&more, 1, pool, stream), cudaErrorMemoryAllocation);
  EXPECT_EQ(more, nullptr);
  CUDA_OK(cudaMalloc(&more, 4096));  // the device has room
  // A free that has not run yet runs when the room is needed.
  CUDA_OK(cudaFreeAsync(a, stream));
  CUDA_OK(cudaMallocFromPoolAsync(&a, 2048, pool, stream));
}

#endif

TEST_F(Pools, AccessOfOtherDevices) {
  sim::Config config = strict();
  config.devices = 2;
  sim::reset(config);
  cudaMemPool_t const pool = make_pool();
  cudaStream_t stream = make_stream();
  void* on_0 = nullptr;
  CUDA_OK(cudaMallocFromPoolAsync(&on_0, 64, pool, stream));
  CUDA_OK(cudaStreamSynchronize(stream));

  cudaMemLocation one{cudaMemLocationTypeDevice, 1};
  cudaMemAccessFlags flags = cudaMemAccessFlagsProtRead;
  CUDA_OK(cudaMemPoolGetAccess(&flags, pool, &one));
  EXPECT_EQ(flags, cudaMemAccessFlagsProtNone);
  CUDA_OK(cudaSetDevice(1));
  unsigned char* const on_1 = make_device(64);
  EXPECT_EQ(cudaMemcpy(on_1, on_0, 64, cudaMemcpyDefault), cudaErrorInvalidValue);

  cudaMemAccessDesc access{one, cudaMemAccessFlagsProtReadWrite};
  CUDA_OK(cudaMemPoolSetAccess(pool, &access, 1));
  CUDA_OK(cudaMemPoolGetAccess(&flags, pool, &one));
  EXPECT_EQ(flags, cudaMemAccessFlagsProtReadWrite);
  CUDA_OK(cudaMemcpy(on_1, on_0, 64, cudaMemcpyDefault));

  access.location.id = 0;
  access.flags = cudaMemAccessFlagsProtNone;
  EXPECT_EQ(cudaMemPoolSetAccess(pool, &access, 1), cudaErrorInvalidValue);
  access.location.id = 2;
  EXPECT_EQ(cudaMemPoolSetAccess(pool, &access, 1), cudaErrorInvalidDevice);
  cudaMemLocation zero{cudaMemLocationTypeDevice, 0};
  CUDA_OK(cudaMemPoolGetAccess(&flags, pool, &zero));
  EXPECT_EQ(flags, cudaMemAccessFlagsProtReadWrite);
}

#if CUDART_VERSION >= 13000

TEST_F(Pools, ByLocation) {
  cudaMemPool_t const pool = make_pool();
  cudaMemLocation zero{cudaMemLocationTypeDevice, 0};
  cudaMemPool_t found = nullptr;
  cudaMemPool_t first = nullptr;
  CUDA_OK(cudaMemGetDefaultMemPool(&first, &zero, cudaMemAllocationTypePinned));
  CUDA_OK(cudaMemGetMemPool(&found, &zero, cudaMemAllocationTypePinned));
  EXPECT_EQ(found, first);
  CUDA_OK(cudaMemSetMemPool(&zero, cudaMemAllocationTypePinned, pool));
  CUDA_OK(cudaDeviceGetMemPool(&found, 0));
  EXPECT_EQ(found, pool);
  zero.id = 1;
  EXPECT_EQ(cudaMemSetMemPool(&zero, cudaMemAllocationTypePinned, pool), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemGetMemPool(&found, &zero, cudaMemAllocationTypeManaged), cudaErrorNotSupported);
}

#endif

TEST_F(Pools, NothingIsSharedWithOtherProcesses) {
  cudaMemPool_t pool = make_pool();
  unsigned char* const device = make_device(8);
  const auto is_told = [](const char* function, auto call) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(call(), cudaErrorNotSupported);
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              std::string("culvert::sim: ") + function +
                  ": the simulated runtime shares nothing with other processes\n");
  };
  cudaMemPoolPtrExportData data{};
  is_told("cudaMemPoolExportPointer", [&] { return cudaMemPoolExportPointer(&data, device); });
  int handle = 0;
  is_told("cudaMemPoolExportToShareableHandle", [&] {
    return cudaMemPoolExportToShareableHandle(&handle, pool, cudaMemHandleTypePosixFileDescriptor,
                                              0);
  });
  is_told("cudaMemPoolImportFromShareableHandle", [&] {
    return cudaMemPoolImportFromShareableHandle(&pool, &handle,
                                                cudaMemHandleTypePosixFileDescriptor, 0);
  });
  cudaIpcMemHandle_t memory{};
  is_told("cudaIpcGetMemHandle", [&] { return cudaIpcGetMemHandle(&memory, device); });
  cudaIpcEventHandle_t event{};
  is_told("cudaIpcGetEventHandle", [&] { return cudaIpcGetEventHandle(&event, make_event()); });
  is_told("cudaIpcCloseMemHandle", [&] { return cudaIpcCloseMemHandle(device); });
}

}  // namespace
