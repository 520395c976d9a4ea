// SPDX-License-Identifier: BSL-1.0
//
// Launches from a .cu file, beside the kernels.
#include <culvert/culvert.hpp>

#include <cstddef>
#include <string>
#include <vector>

#include "support/expect_error.hpp"
#include "support/test_support.hpp"

using namespace culvert;
using support::expect_error;
using support::expect_refused;

namespace {

__global__ void scale(float* x, float factor, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) x[i] *= factor;
}

template <class T>
__global__ void set_all(T* x, T value, int count) {
  for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x)) {
    x[i] = value;
  }
}

// Compiled for blocks of at most 128 threads.
__global__ void __launch_bounds__(128) bounded(int* x) { x[threadIdx.x] = 1; }

using LaunchCudaTest = support::RuntimeTest;

TEST_F(LaunchCudaTest, KernelOfThisFile) {
  constexpr int count = 1000;
  const Stream stream;
  DeviceBuffer<float> x(count, stream);
  fill(x, 1.5f, stream);
  const BlockSize size = suggest_block_size(scale);
  launch(stream, {.grid = grid_for(count, size.threads), .block = size.threads}, scale, x, 2.0f,
         count);
  std::vector<float> result(count);
  copy_and_wait(result, x, stream);
  EXPECT_EQ(result, std::vector<float>(count, 3.0f));
}

TEST_F(LaunchCudaTest, KernelTemplates) {
  const Stream stream;
  DeviceBuffer<int> integers(100, stream);
  DeviceBuffer<double> reals(100, stream);
  launch(stream, {.block = 64}, set_all<int>, integers, 7, 100);
  launch(stream, {.block = 64}, set_all<double>, reals, 0.5, 100);
  std::vector<int> seven(100);
  std::vector<double> half(100);
  copy_and_wait(seven, integers, stream);
  copy_and_wait(half, reals, stream);
  EXPECT_EQ(seven, std::vector<int>(100, 7));
  EXPECT_EQ(half, std::vector<double>(100, 0.5));
}

TEST_F(LaunchCudaTest, BesidesTripleBrackets) {
  const Stream stream;
  DeviceBuffer<float> x(256, stream);
  fill(x, 1.0f, stream);
  scale<<<1, 256, 0, stream.get()>>>(x.data(), 3.0f, 256);
  launch(stream, {.block = 256}, scale, x, 2.0f, 256);
  std::vector<float> result(256);
  copy_and_wait(result, x, stream);
  EXPECT_EQ(result, std::vector<float>(256, 6.0f));
}

TEST_F(LaunchCudaTest, KernelsOwnLimit) {
  const Stream stream;
  DeviceBuffer<int> x(128, stream);
  launch(stream, {.block = 128}, bounded, x);
  stream.synchronize();
  EXPECT_LE(suggest_block_size(bounded).threads, 128u);
  try {
    launch(stream, {.block = 256}, bounded, x);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("block 256 x 1 x 1"), std::string::npos);
    EXPECT_EQ(peek_last_error(), cudaSuccess);
  }
}

TEST_F(LaunchCudaTest, ErrorsNameTheCallersLine) {
  const Stream stream;
  DeviceBuffer<float> x(1, stream);
  expect_refused([&] { launch(stream, {.grid = 0}, scale, x, 1.0f, 1); },
                 {cudaErrorInvalidConfiguration, "culvert::launch", {"a dimension is 0"}});
  expect_error([&] { launch(stream, {.block = 2000}, scale, x, 1.0f, 1); },
               {cudaErrorInvalidValue, "cudaLaunchKernelExC", {"block 2000 x 1 x 1"}});
  scale<<<0, 1, 0, stream.get()>>>(x.data(), 1.0f, 1);  // what culvert refuses
  const cudaError_t empty_grid = last_error();
  std::printf("an empty grid is error %d\n", empty_grid);
  EXPECT_TRUE(empty_grid == cudaErrorInvalidConfiguration || empty_grid == cudaErrorInvalidValue);
}

}  // namespace
