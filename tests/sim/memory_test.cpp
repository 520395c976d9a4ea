// SPDX-License-Identifier: BSL-1.0
// Memory: where it is, what copies do when, what misuse answers.
#include <cuda.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <numeric>
#include <string>

#include "sim_fixture.hpp"

namespace {

using Bytes = std::vector<unsigned char>;

class Memory : public SimTest {};

TEST_F(Memory, DeviceMemoryIsAlignedPoisonedAndNotReadable) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  unsigned char* const a = make_device(1);
  unsigned char* const b = make_device(1000);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a) % sim::device_alignment, 0U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(b) % sim::device_alignment, 0U);
  EXPECT_TRUE(all_are(read(b, 1000), sim::poison));
  CUDA_OK(cudaMemset(b, 1, 1000));
  CUDA_OK(cudaFree(b));
  EXPECT_TRUE(all_are(read(make_device(1000), 1000), sim::poison));
  EXPECT_DEATH({ *static_cast<volatile unsigned char*>(a) = 1; }, "");
}

TEST_F(Memory, LargeBlocksComeAndGo) {
  constexpr std::size_t size = std::size_t{100} << 20;
  for (int i = 0; i < 3; ++i) {
    unsigned char* const device = make_device(size);
    ASSERT_NE(device, nullptr);
    CUDA_OK(cudaMemset(device + size - 1, 3, 1));
    EXPECT_EQ(read(device + size - 1, 1)[0], 3);
    CUDA_OK(cudaFree(device));
  }
}

TEST_F(Memory, TheDeviceIsFullAtItsLimit) {
  sim::Config config = strict();
  config.device_memory = std::size_t{8} << 20;
  sim::reset(config);
  std::size_t available = 0;
  std::size_t total = 0;
  CUDA_OK(cudaMemGetInfo(&available, &total));
  EXPECT_EQ(total, std::size_t{8} << 20);
  EXPECT_EQ(available, total);
  cudaStream_t stream = make_stream();
  void* whole = nullptr;
  CUDA_OK(cudaMallocAsync(&whole, total, stream));
  CUDA_OK(cudaMemGetInfo(&available, &total));
  EXPECT_EQ(available, 0U);
  void* more = &more;
  EXPECT_EQ(cudaMalloc(&more, 1), cudaErrorMemoryAllocation);
  EXPECT_EQ(more, nullptr);
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
  // A free that has not run yet runs when the room is needed.
  CUDA_OK(cudaFreeAsync(whole, stream));
  EXPECT_EQ(sim::pending(), 2U);
  CUDA_OK(cudaMalloc(&more, total));
  EXPECT_EQ(sim::pending(), 0U);
  CUDA_OK(cudaFree(more));
}

TEST_F(Memory, HolesAreNoLoss) {
  constexpr std::size_t mib = std::size_t{1} << 20;
  sim::Config config = strict();
  config.device_memory = 64 * mib;
  sim::reset(config);
  std::vector<unsigned char*> blocks;
  for (int i = 0; i < 64; ++i) blocks.push_back(make_device(mib));
  void* large = nullptr;
  EXPECT_EQ(cudaMalloc(&large, 1), cudaErrorMemoryAllocation);
  for (std::size_t i = 0; i < 64; i += 2) CUDA_OK(cudaFree(blocks[i]));
  for (int i = 0; i < 16; ++i) CUDA_OK(cudaMalloc(&large, 2 * mib));
  std::size_t available = 1;
  std::size_t total = 0;
  CUDA_OK(cudaMemGetInfo(&available, &total));
  EXPECT_EQ(available, 0U);
  EXPECT_EQ(total, 64 * mib);
  EXPECT_EQ(cudaMalloc(&large, 1), cudaErrorMemoryAllocation);
}

TEST_F(Memory, LargeDevices) {
  sim::Config config = strict();
  config.device_memory = std::size_t{256} << 30;
  sim::reset(config);
  EXPECT_TRUE(all_are(read(make_device(1000), 1000), sim::poison));
}

TEST_F(Memory, ZeroBytesAndNull) {
  void* pointer = &pointer;
  CUDA_OK(cudaMalloc(&pointer, 0));
  EXPECT_EQ(pointer, nullptr);
  CUDA_OK(cudaFree(nullptr));
  CUDA_OK(cudaFreeHost(nullptr));
  CUDA_OK(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyDefault));
  CUDA_OK(cudaMemset(nullptr, 0, 0));
  EXPECT_EQ(cudaMalloc(nullptr, 16), cudaErrorInvalidValue);
}

TEST_F(Memory, WrongFrees) {
  unsigned char* const device = make_device(64);
  unsigned char* const pinned = make_pinned(64);
  EXPECT_EQ(cudaFree(device + 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(pinned), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeHost(device), cudaErrorInvalidValue);
  CUDA_OK(cudaFree(device));
  EXPECT_EQ(cudaFree(device), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset(device, 0, 1), cudaErrorInvalidValue);
  cudaStream_t stream = make_stream();
  unsigned char* const other = make_device(64);
  CUDA_OK(cudaFreeAsync(other, stream));
  EXPECT_EQ(cudaFreeAsync(other, stream), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(other), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemsetAsync(other, 0, 1, stream), cudaErrorInvalidValue);
  CUDA_OK(cudaFreeHost(pinned));
}

TEST_F(Memory, RangesAndDirectionsAreChecked) {
  cudaStream_t stream = make_stream();
  unsigned char* const device = make_device(64);
  unsigned char* const pinned = make_pinned(64);
  unsigned char pageable[64] = {};
  EXPECT_EQ(cudaMemcpyAsync(device, pinned, 65, cudaMemcpyHostToDevice, stream),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyAsync(device, pageable, 64, cudaMemcpyDeviceToHost, stream),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyAsync(pageable, device, 64, cudaMemcpyHostToDevice, stream),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyAsync(device, pageable, 64, cudaMemcpyDeviceToDevice, stream),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyAsync(device, pinned, 64, static_cast<cudaMemcpyKind>(5), stream),
            cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(cudaMemcpyAsync(device, nullptr, 64, cudaMemcpyHostToDevice, stream),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemsetAsync(pageable, 0, 64, stream), cudaErrorInvalidValue);
  EXPECT_EQ(sim::pending(), 0U);
  // Pinned memory passes as either side.
  CUDA_OK(cudaMemcpyAsync(pinned, device, 64, cudaMemcpyDeviceToDevice, stream));
  CUDA_OK(cudaMemcpyAsync(device, pinned, 64, cudaMemcpyHostToHost, stream));
}

TEST_F(Memory, AsyncCopiesReadPinnedLateAndPageableAtTheCall) {
  cudaStream_t stream = make_stream();
  unsigned char* const from_pageable = make_device(8);
  unsigned char* const from_pinned = make_device(8);
  unsigned char* const pinned = make_pinned(8);
  Bytes pageable(8, 1);
  pinned[0] = 1;
  CUDA_OK(cudaMemcpyAsync(from_pageable, pageable.data(), 8, cudaMemcpyDefault, stream));
  CUDA_OK(cudaMemcpyAsync(from_pinned, pinned, 8, cudaMemcpyDefault, stream));
  pageable[0] = 2;
  pinned[0] = 2;
  EXPECT_EQ(sim::pending(), 2U);
  EXPECT_EQ(read(from_pageable, 8)[0], 1);
  EXPECT_EQ(read(from_pinned, 8)[0], 2);
}

TEST_F(Memory, CopiesThatReturnWhenTheyAreDone) {
  cudaStream_t stream = make_stream();
  unsigned char* const device = make_device(8);
  unsigned char* const pinned = make_pinned(8);
  Bytes pageable(8);
  CUDA_OK(cudaMemsetAsync(device, 5, 8, stream));
  CUDA_OK(cudaMemcpyAsync(pageable.data(), device, 8, cudaMemcpyDeviceToHost, stream));
  EXPECT_EQ(pageable[7], 5);
  CUDA_OK(cudaMemsetAsync(device, 6, 8, stream));
  CUDA_OK(cudaMemcpyAsync(pinned, device, 8, cudaMemcpyDeviceToHost, stream));
  CUDA_OK(cudaMemcpyAsync(pageable.data(), pinned, 8, cudaMemcpyHostToHost, stream));
  EXPECT_EQ(pageable[7], 6);
}

TEST_F(Memory, TheSynchronousCopy) {
  unsigned char* const a = make_device(8);
  unsigned char* const b = make_device(8);
  unsigned char* const pinned = make_pinned(8);
  Bytes pageable(8, 4);
  CUDA_OK(cudaMemcpy(a, pageable.data(), 8, cudaMemcpyHostToDevice));
  EXPECT_EQ(sim::pending(), 1U);  // staged
  CUDA_OK(cudaMemcpy(b, a, 8, cudaMemcpyDeviceToDevice));
  EXPECT_EQ(sim::pending(), 2U);  // does not wait
  CUDA_OK(cudaMemcpy(pinned, b, 8, cudaMemcpyDeviceToHost));
  EXPECT_EQ(sim::pending(), 0U);
  EXPECT_EQ(pinned[0], 4);
  pinned[0] = 9;
  CUDA_OK(cudaMemcpy(b, pinned, 8, cudaMemcpyHostToDevice));
  EXPECT_EQ(sim::pending(), 0U);
  CUDA_OK(cudaMemset(b, 1, 8));
  EXPECT_EQ(sim::pending(), 1U);
  CUDA_OK(cudaMemset(pinned, 2, 8));
  EXPECT_EQ(pinned[7], 2);
}

TEST_F(Memory, TwoDimensions) {
  cudaStream_t stream = make_stream();
  unsigned char* const device = make_device(4 * 16);
  Bytes host(4 * 5);
  std::iota(host.begin(), host.end(), static_cast<unsigned char>(0));
  CUDA_OK(cudaMemset2DAsync(device, 16, 0xEE, 16, 4, stream));
  CUDA_OK(cudaMemcpy2DAsync(device, 16, host.data(), 5, 3, 4, cudaMemcpyHostToDevice, stream));
  const Bytes result = read(device, 64);
  for (std::size_t row = 0; row < 4; ++row) {
    for (std::size_t column = 0; column < 16; ++column) {
      EXPECT_EQ(result[row * 16 + column], column < 3 ? row * 5 + column : 0xEE);
    }
  }
  EXPECT_EQ(cudaMemcpy2DAsync(device, 2, host.data(), 5, 3, 4, cudaMemcpyDefault, stream),
            cudaErrorInvalidPitchValue);
  EXPECT_EQ(cudaMemset2DAsync(device, 17, 0, 16, 4, stream), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset2DAsync(device, SIZE_MAX / 2, 0, 16, 4, stream), cudaErrorInvalidValue);
}

TEST_F(Memory, PinnedMemory) {
  void* pinned = nullptr;
  CUDA_OK(cudaHostAlloc(&pinned, 64, cudaHostAllocPortable | cudaHostAllocWriteCombined));
  unsigned flags = 0;
  CUDA_OK(cudaHostGetFlags(&flags, pinned));
  EXPECT_EQ(flags, static_cast<unsigned>(cudaHostAllocMapped | cudaHostAllocWriteCombined));
  void* on_device = nullptr;
  CUDA_OK(cudaHostGetDevicePointer(&on_device, pinned, 0));
  EXPECT_EQ(on_device, pinned);
  CUDA_OK(cudaFreeHost(pinned));
  EXPECT_EQ(cudaHostAlloc(&pinned, 64, 0x80), cudaErrorInvalidValue);
  EXPECT_EQ(cudaHostAlloc(&pinned, SIZE_MAX / 2, 0), cudaErrorMemoryAllocation);

  Bytes own(64);
  CUDA_OK(cudaHostRegister(own.data(), 64, cudaHostRegisterDefault));
  EXPECT_EQ(cudaHostRegister(own.data() + 32, 64, 0), cudaErrorHostMemoryAlreadyRegistered);
  EXPECT_EQ(cudaFreeHost(own.data()), cudaErrorInvalidValue);
  EXPECT_EQ(sim::live().host_registrations, 1U);
  CUDA_OK(cudaHostUnregister(own.data()));
  EXPECT_EQ(cudaHostUnregister(own.data()), cudaErrorHostMemoryNotRegistered);
}

TEST_F(Memory, OnlyMemoryIsRegistered) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const range =
      mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(range, MAP_FAILED);
  auto* const first = static_cast<char*>(range);
  CUDA_OK(cudaHostRegister(first + 1, 2 * page, 0));  // in three pages
  CUDA_OK(cudaHostUnregister(first + 1));
  ASSERT_EQ(munmap(first + page, page), 0);
  EXPECT_EQ(cudaHostRegister(first + page, page, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaHostRegister(first, 3 * page, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaHostRegister(first + 1, page, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaHostRegister(first, SIZE_MAX, 0), cudaErrorInvalidValue);
  CUDA_OK(cudaHostRegister(first, page, 0));
  CUDA_OK(cudaHostUnregister(first));
  munmap(range, 3 * page);
}

TEST_F(Memory, FreesRunWhatUsesTheMemoryAndNothingElse) {
  cudaStream_t stream = make_stream();
  cudaStream_t other = make_stream();
  unsigned char* const device = make_device(8);
  unsigned char* const kept = make_device(8);
  unsigned char* const pinned = make_pinned(8);
  Bytes own(8);
  CUDA_OK(cudaHostRegister(own.data(), 8, 0));
  CUDA_OK(cudaMemsetAsync(kept, 1, 8, other));
  CUDA_OK(cudaMemsetAsync(device, 7, 8, stream));
  CUDA_OK(cudaMemcpyAsync(own.data(), device, 8, cudaMemcpyDeviceToHost, stream));
  CUDA_OK(cudaMemcpyAsync(pinned, device, 8, cudaMemcpyDeviceToHost, stream));
  CUDA_OK(cudaHostUnregister(own.data()));
  EXPECT_EQ(own[0], 7);
  EXPECT_EQ(sim::pending(), 2U);
  CUDA_OK(cudaFreeHost(pinned));
  EXPECT_EQ(sim::pending(), 1U);
  CUDA_OK(cudaMemsetAsync(device, 8, 8, stream));
  CUDA_OK(cudaFree(device));
  EXPECT_EQ(sim::pending(), 1U);
}

TEST_F(Memory, PointerAttributes) {
  cudaPointerAttributes attributes{};
  unsigned char* const device = make_device(64);
  CUDA_OK(cudaPointerGetAttributes(&attributes, device + 63));
  EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
  EXPECT_EQ(attributes.devicePointer, device + 63);
  EXPECT_EQ(attributes.hostPointer, nullptr);
  unsigned char* const pinned = make_pinned(64);
  CUDA_OK(cudaPointerGetAttributes(&attributes, pinned));
  EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
  EXPECT_EQ(attributes.hostPointer, pinned);
  CUDA_OK(cudaPointerGetAttributes(&attributes, &attributes));
  EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);
}

TEST_F(Memory, StreamOrderedMemoryIsUsableInItsOrder) {
  cudaStream_t stream = make_stream();
  void* pointer = nullptr;
  CUDA_OK(cudaMallocAsync(&pointer, 64, stream));
  EXPECT_EQ(sim::pending(), 1U);
  CUDA_OK(cudaMemsetAsync(pointer, 3, 64, stream));
  CUDA_OK(cudaFreeAsync(pointer, stream));
  EXPECT_EQ(sim::live().device_allocations, 1U);
  CUDA_OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(sim::live().device_allocations, 0U);
  CUDA_OK(cudaMallocAsync(&pointer, 64, stream));
  CUDA_OK(cudaFree(pointer));  // either may free it, and this one waits for nothing
  EXPECT_EQ(sim::pending(), 1U);
  EXPECT_EQ(sim::live().device_allocations, 0U);
  CUDA_OK(cudaStreamSynchronize(stream));
}

TEST_F(Memory, AStaleUseIsToldWithItsStream) {
  cudaStream_t stream = make_stream();
  unsigned long long id = 0;
  CUDA_OK(cudaStreamGetId(stream, &id));
  void* pointer = nullptr;
  CUDA_OK(cudaMallocAsync(&pointer, 64, stream));
  CUDA_OK(cudaStreamSynchronize(stream));
  cudaStream_t other = make_stream();
  CUDA_OK(cudaMemsetAsync(pointer, 1, 64, stream));
  CUDA_OK(cudaFreeAsync(pointer, other));
  CUDA_OK(cudaStreamSynchronize(other));
  testing::internal::CaptureStderr();
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorIllegalAddress);
  EXPECT_NE(testing::internal::GetCapturedStderr().find(", stream " + std::to_string(id) + ", "),
            std::string::npos);
}

TEST_F(Memory, AFreeOnADestroyedStreamIsTold) {
  cudaStream_t stream = make_stream();
  void* pointer = nullptr;
  CUDA_OK(cudaMallocAsync(&pointer, 64, stream));
  CUDA_OK(cudaStreamDestroy(stream));
  testing::internal::CaptureStderr();
  EXPECT_EQ(cudaFreeAsync(pointer, stream), cudaErrorInvalidResourceHandle);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("the stream was destroyed before"),
            std::string::npos);
  CUDA_OK(cudaFree(pointer));
}

TEST_F(Memory, Pools) {
  cudaStream_t stream = make_stream();
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  cudaMemPool_t pool = nullptr;
  CUDA_OK(cudaMemPoolCreate(&pool, &properties));
  std::uint64_t threshold = 1 << 20;
  CUDA_OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  void* pointer = nullptr;
  CUDA_OK(cudaMallocFromPoolAsync(&pointer, 4096, pool, stream));
  const auto get = [&](cudaMemPoolAttr attribute) {
    std::uint64_t value = 0;
    EXPECT_EQ(cudaMemPoolGetAttribute(pool, attribute, &value), cudaSuccess);
    return value;
  };
  EXPECT_EQ(get(cudaMemPoolAttrUsedMemCurrent), 4096U);
  CUDA_OK(cudaFreeAsync(pointer, stream));
  CUDA_OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(get(cudaMemPoolAttrUsedMemCurrent), 0U);
  EXPECT_EQ(get(cudaMemPoolAttrUsedMemHigh), 4096U);
  EXPECT_EQ(get(cudaMemPoolAttrReservedMemCurrent), 4096U);
  CUDA_OK(cudaMemPoolTrimTo(pool, 0));
  EXPECT_EQ(get(cudaMemPoolAttrReservedMemCurrent), 0U);

  CUDA_OK(cudaDeviceSetMemPool(0, pool));
  CUDA_OK(cudaMallocAsync(&pointer, 512, stream));
  EXPECT_EQ(get(cudaMemPoolAttrUsedMemCurrent), 512U);
  CUDA_OK(cudaMemPoolDestroy(pool));
  cudaMemPool_t current = nullptr;
  cudaMemPool_t first = nullptr;
  CUDA_OK(cudaDeviceGetMemPool(&current, 0));
  CUDA_OK(cudaDeviceGetDefaultMemPool(&first, 0));
  EXPECT_EQ(current, first);
  EXPECT_EQ(cudaMemPoolDestroy(first), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemPoolTrimTo(pool, 0), cudaErrorInvalidValue);
  CUDA_OK(cudaFreeAsync(pointer, stream));
  CUDA_OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(sim::live().pools, 0U);
}

TEST_F(Memory, WithoutPools) {
  sim::Config config = strict();
  config.memory_pools = false;
  sim::reset(config);
  int supported = -1;
  CUDA_OK(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, 0));
  EXPECT_EQ(supported, 0);
  void* pointer = nullptr;
  EXPECT_EQ(cudaMallocAsync(&pointer, 64, nullptr), cudaErrorNotSupported);
}

TEST_F(Memory, CopiesBetweenDevices) {
  sim::Config config = strict();
  config.devices = 2;
  sim::reset(config);
  unsigned char* const on_0 = make_device(16);
  CUDA_OK(cudaSetDevice(1));
  unsigned char* const on_1 = make_device(16);
  cudaStream_t stream = make_stream();
  CUDA_OK(cudaMemsetAsync(on_1, 6, 16, stream));
  CUDA_OK(cudaMemcpyPeerAsync(on_0, 0, on_1, 1, 16, stream));
  EXPECT_EQ(cudaMemcpyPeerAsync(on_0, 1, on_1, 0, 16, stream), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyPeerAsync(on_0, 0, on_1, 2, 16, stream), cudaErrorInvalidDevice);
  EXPECT_TRUE(all_are(read(on_0, 16), 6));
}

TEST_F(Memory, DriverEntryPoints) {
  cudaDriverEntryPointQueryResult status = cudaDriverEntryPointSymbolNotFound;
  void* pointer = nullptr;
  CUDA_OK(cudaGetDriverEntryPointByVersion("cuMemsetD32Async", &pointer, 12000, cudaEnableDefault,
                                           &status));
  ASSERT_EQ(status, cudaDriverEntryPointSuccess);
  using Set32 = CUresult (*)(CUdeviceptr, unsigned, std::size_t, CUstream);
  const auto set_32 = reinterpret_cast<Set32>(pointer);
  CUDA_OK(cudaGetDriverEntryPointByVersion("cuMemsetD2D16Async", &pointer, 12000, cudaEnableDefault,
                                           &status));
  using Set2D16 =
      CUresult (*)(CUdeviceptr, std::size_t, unsigned short, std::size_t, std::size_t, CUstream);
  const auto set_2d_16 = reinterpret_cast<Set2D16>(pointer);

  cudaStream_t stream = make_stream();
  unsigned char* const device = make_device(16);
  const auto address = reinterpret_cast<CUdeviceptr>(device);
  EXPECT_EQ(set_32(address, 0x04030201U, 4, stream), CUDA_SUCCESS);
  EXPECT_EQ(set_2d_16(address + 2, 8, 0xBBAA, 1, 2, stream), CUDA_SUCCESS);
  EXPECT_EQ(read(device, 16), (Bytes{1, 2, 0xAA, 0xBB, 1, 2, 3, 4, 1, 2, 0xAA, 0xBB, 1, 2, 3, 4}));
  EXPECT_EQ(set_32(address + 1, 0, 1, stream), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
  EXPECT_EQ(sim::call_count("cuMemsetD32Async"), 2U);

  CUDA_OK(cudaGetDriverEntryPointByVersion("cuNoSuchThing", &pointer, 12000, 0, &status));
  EXPECT_EQ(status, cudaDriverEntryPointSymbolNotFound);
  EXPECT_EQ(pointer, nullptr);
}

}  // namespace
