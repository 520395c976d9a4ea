// SPDX-License-Identifier: BSL-1.0
// Copies and fills of boxes, between named devices and in batches; what is told of wrong ones.
#include <cstdint>
#include <numeric>
#include <string>

#include "sim_fixture.hpp"

namespace {

using Bytes = std::vector<unsigned char>;

class Copies : public SimTest {
 protected:
  static Bytes numbers(std::size_t count) {
    Bytes bytes(count);
    std::iota(bytes.begin(), bytes.end(), static_cast<unsigned char>(0));
    return bytes;
  }

  static void use_devices(int count) {
    sim::Config config = strict();
    config.devices = count;
    sim::reset(config);
  }

  // What is printed while a call is made that answers `error`.
  template <class Call>
  static std::string told(cudaError_t error, Call call) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(call(), error);
    return testing::internal::GetCapturedStderr();
  }

  static void expect_has(const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text << "\nhas not: " << part;
  }
};

TEST_F(Copies, PitchedMemory) {
  void* rows = nullptr;
  std::size_t pitch = 0;
  CUDA_OK(cudaMallocPitch(&rows, &pitch, 100, 4));
  EXPECT_EQ(pitch, 512U);
  CUDA_OK(cudaMemset2D(rows, pitch, 7, 100, 4));
  const Bytes host = numbers(40);
  CUDA_OK(cudaMemcpy2D(rows, pitch, host.data(), 10, 10, 4, cudaMemcpyHostToDevice));
  Bytes back(400);
  CUDA_OK(cudaMemcpy2D(back.data(), 100, rows, pitch, 100, 4, cudaMemcpyDeviceToHost));
  for (std::size_t row = 0; row < 4; ++row) {
    for (std::size_t at = 0; at < 100; ++at) {
      EXPECT_EQ(back[row * 100 + at], at < 10 ? row * 10 + at : 7);
    }
  }
  CUDA_OK(cudaFree(rows));
  CUDA_OK(cudaMallocPitch(&rows, &pitch, 0, 4));
  EXPECT_EQ(rows, nullptr);
  EXPECT_EQ(cudaMemcpy2D(rows, 5, host.data(), 10, 10, 4, cudaMemcpyDefault),
            cudaErrorInvalidPitchValue);
}

TEST_F(Copies, Boxes) {
  cudaPitchedPtr device{};
  const cudaExtent whole{16, 5, 4};
  CUDA_OK(cudaMalloc3D(&device, whole));
  EXPECT_EQ(device.pitch, 512U);
  EXPECT_EQ(device.xsize, 16U);
  EXPECT_EQ(device.ysize, 5U);
  CUDA_OK(cudaMemset3D(device, 0xEE, whole));
  const Bytes host = numbers(3 * 2 * 2);
  cudaMemcpy3DParms params{};
  params.srcPtr = {const_cast<unsigned char*>(host.data()), 3, 3, 2};
  params.dstPtr = device;
  params.dstPos = {1, 2, 1};
  params.extent = {3, 2, 2};
  params.kind = cudaMemcpyHostToDevice;
  CUDA_OK(cudaMemcpy3D(&params));

  cudaStream_t stream = make_stream();
  unsigned char* const pinned = make_pinned(16 * 5 * 4);
  cudaMemcpy3DParms all{};
  all.srcPtr = device;
  all.dstPtr = {pinned, 16, 16, 5};
  all.extent = whole;
  all.kind = cudaMemcpyDefault;
  CUDA_OK(cudaDeviceSynchronize());
  CUDA_OK(cudaMemcpy3DAsync(&all, stream));
  EXPECT_EQ(pinned[0], 0);  // not yet
  CUDA_OK(cudaStreamSynchronize(stream));
  for (std::size_t z = 0; z < 4; ++z) {
    for (std::size_t y = 0; y < 5; ++y) {
      for (std::size_t x = 0; x < 16; ++x) {
        const bool in = x >= 1 && x < 4 && y >= 2 && y < 4 && z >= 1 && z < 3;
        const std::size_t expected = in ? (z - 1) * 6 + (y - 2) * 3 + (x - 1) : 0xEE;
        EXPECT_EQ(pinned[(z * 5 + y) * 16 + x], expected) << x << " " << y << " " << z;
      }
    }
  }
}

TEST_F(Copies, FillsOfBoxes) {
  cudaStream_t stream = make_stream();
  unsigned char* const device = make_device(8 * 4 * 2);
  CUDA_OK(cudaMemset(device, 0, 64));
  CUDA_OK(cudaDeviceSynchronize());
  CUDA_OK(cudaMemset3DAsync({device, 8, 8, 4}, 1, {3, 2, 2}, stream));
  const Bytes bytes = read(device, 64);
  for (std::size_t i = 0; i < 64; ++i) {
    EXPECT_EQ(bytes[i], i % 8 < 3 && i / 8 % 4 < 2 ? 1 : 0) << i;
  }
  EXPECT_EQ(cudaMemset3DAsync({device, 8, 8, 4}, 1, {3, 5, 2}, stream), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset3DAsync({device, 8, 8, 4}, 1, {8, 4, 3}, stream), cudaErrorInvalidValue);
  CUDA_OK(cudaMemset3DAsync({device, 8, 8, 4}, 1, {8, 0, 3}, stream));
}

TEST_F(Copies, WrongBoxes) {
  unsigned char* const device = make_device(64);
  Bytes host(64);
  cudaMemcpy3DParms params{};
  params.srcPtr = {host.data(), 8, 8, 4};
  params.dstPtr = {device, 8, 8, 4};
  params.extent = {8, 4, 2};
  params.kind = cudaMemcpyHostToDevice;
  CUDA_OK(cudaMemcpy3D(&params));
  params.extent = {9, 4, 2};
  EXPECT_EQ(cudaMemcpy3D(&params), cudaErrorInvalidPitchValue);
  params.extent = {8, 5, 2};
  EXPECT_EQ(cudaMemcpy3D(&params), cudaErrorInvalidPitchValue);
  params.extent = {8, 4, 3};
  EXPECT_EQ(cudaMemcpy3D(&params), cudaErrorInvalidValue);
  params.extent = {8, 4, 0};
  CUDA_OK(cudaMemcpy3D(&params));
  params.kind = static_cast<cudaMemcpyKind>(5);
  CUDA_OK(cudaMemcpy3D(&params));  // of nothing
  params.extent = {8, 4, 2};
  EXPECT_EQ(cudaMemcpy3D(&params), cudaErrorInvalidMemcpyDirection);
  params.kind = cudaMemcpyHostToDevice;
  params.srcArray = reinterpret_cast<cudaArray_t>(&params);
  EXPECT_EQ(cudaMemcpy3D(&params), cudaErrorInvalidValue);
  params.srcPtr = {};
  expect_has(told(cudaErrorNotSupported, [&] { return cudaMemcpy3D(&params); }),
             "cudaMemcpy3D: the simulated runtime has no CUDA arrays");
  EXPECT_EQ(cudaMemcpy3D(nullptr), cudaErrorInvalidValue);
}

TEST_F(Copies, BetweenNamedDevices) {
  use_devices(2);
  unsigned char* const on_0 = make_device(64);
  CUDA_OK(cudaMemset(on_0, 5, 64));
  CUDA_OK(cudaSetDevice(1));
  unsigned char* const on_1 = make_device(64);
  CUDA_OK(cudaMemcpyPeer(on_1, 1, on_0, 0, 64));  // after the fill of the other device
  EXPECT_EQ(sim::pending(), 0U);
  EXPECT_TRUE(all_are(read(on_1, 64), 5));
  EXPECT_EQ(cudaMemcpyPeer(on_1, 0, on_0, 0, 64), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyPeer(on_1, 2, on_0, 0, 64), cudaErrorInvalidDevice);

  cudaMemcpy3DPeerParms params{};
  params.srcPtr = {on_1, 8, 8, 4};
  params.srcDevice = 1;
  params.dstPtr = {on_0, 8, 8, 4};
  params.dstDevice = 0;
  params.extent = {8, 4, 2};
  CUDA_OK(cudaMemset(on_1, 6, 64));
  CUDA_OK(cudaMemcpy3DPeer(&params));
  EXPECT_TRUE(all_are(read(on_0, 64), 6));
  CUDA_OK(cudaMemset(on_1, 7, 64));
  CUDA_OK(cudaDeviceSynchronize());
  CUDA_OK(cudaMemcpy3DPeerAsync(&params, make_stream()));
  EXPECT_EQ(sim::pending(), 1U);
  EXPECT_TRUE(all_are(read(on_0, 64), 7));
}

#if CUDART_VERSION >= 13000

cudaMemcpyAttributes reading(cudaMemcpySrcAccessOrder order) {
  cudaMemcpyAttributes attributes{};
  attributes.srcAccessOrder = order;
  return attributes;
}

TEST_F(Copies, ABatchReadsItsSourcesWhenItsAttributesSay) {
  cudaStream_t stream = make_stream();
  unsigned char* const device = make_device(2048);
  unsigned char* const pinned = make_pinned(8);
  Bytes pageable(8, 1);
  pinned[0] = 1;
  void* to[] = {device, device + 512, device + 1024};
  const void* from[] = {pageable.data(), pinned, pageable.data()};
  const std::size_t sizes[] = {8, 8, 8};
  cudaMemcpyAttributes attributes[] = {reading(cudaMemcpySrcAccessOrderDuringApiCall),
                                       reading(cudaMemcpySrcAccessOrderStream)};
  std::size_t firsts[] = {0, 1};
  CUDA_OK(cudaMemcpyBatchAsync(to, from, sizes, 3, attributes, firsts, 2, stream));
  EXPECT_EQ(sim::pending(), 3U);
  pageable[0] = 2;
  pinned[0] = 2;
  EXPECT_EQ(read(device, 8)[0], 1);
  EXPECT_EQ(read(device + 512, 8)[0], 2);
  EXPECT_EQ(read(device + 1024, 8)[0], 2);
}

TEST_F(Copies, NothingOrdersTheCopiesOfABatch) {
  cudaStream_t stream = make_stream();
  unsigned char* const a = make_device(8);
  unsigned char* const b = make_device(8);
  CUDA_OK(cudaMemsetAsync(a, 1, 8, stream));
  CUDA_OK(cudaMemsetAsync(b, 2, 8, stream));
  unsigned char* const c = make_device(8);
  void* to[] = {b, c};
  const void* from[] = {a, b};
  const std::size_t sizes[] = {8, 8};
  cudaMemcpyAttributes attributes = reading(cudaMemcpySrcAccessOrderStream);
  std::size_t first = 0;
  CUDA_OK(cudaMemcpyBatchAsync(to, from, sizes, 2, &attributes, &first, 1, stream));
  EXPECT_TRUE(all_are(read(c, 8), 2));
  EXPECT_TRUE(all_are(read(b, 8), 1));
}

TEST_F(Copies, WrongBatches) {
  cudaStream_t stream = make_stream();
  unsigned char* const device = make_device(64);
  unsigned char* const pinned = make_pinned(64);
  void* to[] = {device, device + 32};
  const void* from[] = {pinned, pinned + 32};
  std::size_t sizes[] = {32, 32};
  cudaMemcpyAttributes attributes[] = {reading(cudaMemcpySrcAccessOrderAny),
                                       reading(cudaMemcpySrcAccessOrderAny)};
  std::size_t firsts[] = {0, 1};
  const auto batch = [&](std::size_t count, std::size_t groups, cudaStream_t on) {
    return cudaMemcpyBatchAsync(to, from, sizes, count, attributes, firsts, groups, on);
  };
  CUDA_OK(batch(2, 2, stream));
  CUDA_OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(batch(2, 2, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(batch(2, 2, cudaStreamLegacy), cudaErrorInvalidValue);
  CUDA_OK(batch(2, 2, cudaStreamPerThread));
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT_EQ(batch(0, 0, stream), cudaErrorInvalidValue);
  EXPECT_EQ(batch(1, 2, stream), cudaErrorInvalidValue);
  firsts[1] = 2;
  EXPECT_EQ(batch(2, 2, stream), cudaErrorInvalidValue);
  firsts[1] = 1;
  attributes[1].srcAccessOrder = cudaMemcpySrcAccessOrderInvalid;
  EXPECT_EQ(batch(2, 2, stream), cudaErrorInvalidValue);
  attributes[1] = attributes[0];
  sizes[1] = 33;
  EXPECT_EQ(batch(2, 2, stream), cudaErrorInvalidValue);
  EXPECT_EQ(sim::pending(), 0U);  // all or none
}

TEST_F(Copies, ABatchOfBoxes) {
  cudaStream_t stream = make_stream();
  unsigned char* const device = make_device(8 * 4 * 2);
  unsigned char* const pinned = make_pinned(3 * 2 * 2);
  std::iota(pinned, pinned + 12, static_cast<unsigned char>(0));
  CUDA_OK(cudaMemsetAsync(device, 0xEE, 64, stream));
  cudaMemcpy3DBatchOp operation{};
  operation.src.type = cudaMemcpyOperandTypePointer;
  operation.src.op.ptr.ptr = pinned;
  operation.dst.type = cudaMemcpyOperandTypePointer;
  operation.dst.op.ptr.ptr = device;
  operation.dst.op.ptr.rowLength = 8;
  operation.dst.op.ptr.layerHeight = 4;
  operation.extent = {3, 2, 2};
  operation.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  CUDA_OK(cudaMemcpy3DBatchAsync(1, &operation, 0, stream));
  const Bytes bytes = read(device, 64);
  for (std::size_t i = 0; i < 64; ++i) {
    const std::size_t x = i % 8;
    const std::size_t y = i / 8 % 4;
    EXPECT_EQ(bytes[i], x < 3 && y < 2 ? i / 32 * 6 + y * 3 + x : 0xEE) << i;
  }
  EXPECT_EQ(cudaMemcpy3DBatchAsync(1, &operation, 1, stream), cudaErrorInvalidValue);
  operation.dst.op.ptr.rowLength = 2;
  EXPECT_EQ(cudaMemcpy3DBatchAsync(1, &operation, 0, stream), cudaErrorInvalidValue);
  operation.dst.type = cudaMemcpyOperandTypeArray;
  EXPECT_EQ(cudaMemcpy3DBatchAsync(1, &operation, 0, stream), cudaErrorNotSupported);
}

#endif

TEST_F(Copies, AWrongRangeIsToldWithBothPlaces) {
  unsigned char* const device = make_device(64);
  unsigned char* const pinned = make_pinned(64);
  const std::string text = told(cudaErrorInvalidValue,
                                [&] { return cudaMemcpy(device, pinned, 65, cudaMemcpyDefault); });
  expect_has(text, "culvert::sim: cudaMemcpy: the destination is 65 bytes at 0x");
  expect_has(text, "1 of them past the end of the device 0 allocation of 64 bytes at 0x");
  expect_has(text, "(cudaMalloc); the source is 65 bytes at 0x");
  expect_has(text, "past the end of the pinned allocation of 64 bytes");
  expect_has(told(cudaErrorInvalidValue, [&] { return cudaMemset(device + 64, 0, 16); }),
             "where no allocation is; the nearest below, the device 0 allocation of 64 bytes");
  expect_has(told(cudaErrorInvalidValue, [&] { return cudaMemset(pinned - 8, 0, 16); }),
             "pageable host memory");
  expect_has(told(cudaErrorInvalidValue, [&] { return cudaMemset(nullptr, 0, 16); }),
             "cudaMemset: the destination is a null pointer");
  Bytes pageable(64);
  expect_has(
      told(cudaErrorInvalidValue,
           [&] { return cudaMemcpy(device, pageable.data(), 64, cudaMemcpyDeviceToDevice); }),
      "which is pageable host memory; the kind of copy does not fit");
}

TEST_F(Copies, MemoryThatWasFreedIsToldAsSuch) {
  cudaStream_t stream = make_stream();
  unsigned char* const device = make_device(64);
  CUDA_OK(cudaFree(device));
  expect_has(told(cudaErrorInvalidValue, [&] { return cudaMemset(device, 0, 16); }),
             "which was freed (by cudaFree)");
  expect_has(told(cudaErrorInvalidValue, [&] { return cudaFree(device); }),
             "freed twice: cudaFree freed the device 0 allocation of 64 bytes");
  void* pool_memory = nullptr;
  CUDA_OK(cudaMallocAsync(&pool_memory, 64, stream));
  CUDA_OK(cudaFreeAsync(pool_memory, stream));
  expect_has(
      told(cudaErrorInvalidValue, [&] { return cudaMemsetAsync(pool_memory, 0, 16, stream); }),
      "(cudaMallocAsync), which cudaFreeAsync frees");
  expect_has(told(cudaErrorInvalidValue, [&] { return cudaFreeAsync(pool_memory, stream); }),
             "freed twice: cudaFreeAsync frees the device 0 allocation");
}

TEST_F(Copies, WrongFreesAreTold) {
  unsigned char* const device = make_device(64);
  unsigned char* const pinned = make_pinned(64);
  expect_has(told(cudaErrorInvalidValue, [&] { return cudaFree(device + 3); }),
             "): 3 bytes behind the beginning of the device 0 allocation of 64 bytes");
  expect_has(told(cudaErrorInvalidValue, [&] { return cudaFree(pinned); }),
             "(cudaMallocHost); it frees memory of a device");
  expect_has(told(cudaErrorInvalidValue, [&] { return cudaFreeHost(device); }),
             "(cudaMalloc); it frees pinned memory");
  Bytes pageable(64);
  expect_has(told(cudaErrorInvalidValue, [&] { return cudaFreeHost(pageable.data()); }),
             "pageable host memory; it frees pinned memory");
  CUDA_OK(cudaFreeHost(pinned));
  expect_has(told(cudaErrorInvalidValue, [&] { return cudaFreeHost(pinned); }),
             "freed twice: cudaFreeHost freed the pinned allocation of 64 bytes");
}

// So that a wait that is missing shows with pageable memory too.
TEST_F(Copies, PageableMemoryMayBeLate) {
  sim::Config config;
  config.late_pageable_copies = true;
  sim::reset(config);
  cudaStream_t stream = make_stream();
  unsigned char* const device = make_device(64);
  Bytes source(64, 1);
  Bytes result(64);
  CUDA_OK(cudaMemcpyAsync(device, source.data(), 64, cudaMemcpyHostToDevice, stream));
  source[63] = 2;  // read when the copy runs
  CUDA_OK(cudaMemcpyAsync(result.data(), device, 64, cudaMemcpyDeviceToHost, stream));
  EXPECT_EQ(result, Bytes(64));
  CUDA_OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(result, source);

  // A copy by cudaMemcpy is complete on return as ever.
  CUDA_OK(cudaMemset(device, 3, 64));
  CUDA_OK(cudaMemcpy(result.data(), device, 64, cudaMemcpyDeviceToHost));
  EXPECT_EQ(result, Bytes(64, 3));
  CUDA_OK(cudaFree(device));
  CUDA_OK(cudaStreamDestroy(stream));
}

}  // namespace
