// SPDX-License-Identifier: BSL-1.0
#include "kernels.hpp"

#include <cooperative_groups.h>

namespace kernels {

namespace {

__device__ std::size_t thread_of_grid() {
  return std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
}
__device__ std::size_t threads_of_grid() { return std::size_t{gridDim.x} * blockDim.x; }

}  // namespace

__global__ void nothing() {}

__global__ void store_values(Values* result, int integer, unsigned unsigned_integer,
                             long long long_integer, unsigned char byte, bool boolean, float real,
                             double long_real, Pair pair, Color color) {
  *result = {integer, unsigned_integer, long_integer, byte, boolean, real, long_real, pair, color};
}

__global__ void store_pointers(const void** result, float* a, const float* b, void* c,
                               const void* d) {
  result[0] = a;
  result[1] = b;
  result[2] = c;
  result[3] = d;
}

__global__ void see_launch(Seen* seen) {
  atomicAdd(&seen->threads, 1u);
  if (blockIdx.x != 0 || blockIdx.y != 0 || blockIdx.z != 0) return;
  if (threadIdx.x != 0 || threadIdx.y != 0 || threadIdx.z != 0) return;
  seen->grid[0] = gridDim.x;
  seen->grid[1] = gridDim.y;
  seen->grid[2] = gridDim.z;
  seen->block[0] = blockDim.x;
  seen->block[1] = blockDim.y;
  seen->block[2] = blockDim.z;
  asm volatile("mov.u32 %0, %%dynamic_smem_size;" : "=r"(seen->shared_memory_bytes));
}

__global__ void scale(float* x, float factor, std::size_t count) {
  for (std::size_t i = thread_of_grid(); i < count; i += threads_of_grid()) x[i] *= factor;
}

__global__ void increment(int* x, std::size_t count) {
  for (std::size_t i = thread_of_grid(); i < count; i += threads_of_grid()) ++x[i];
}

__global__ void add(const float* a, const float* b, float* sum, std::size_t count) {
  for (std::size_t i = thread_of_grid(); i < count; i += threads_of_grid()) sum[i] = a[i] + b[i];
}

__global__ void add_spans(culvert::DeviceSpan<const float> from, culvert::DeviceSpan<float> to) {
  const std::size_t i = thread_of_grid();
  if (i < to.size()) to.data()[i] += from.data()[i];
}

__global__ void reverse(const int* from, int* to, unsigned count) {
  extern __shared__ int elements[];
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) elements[i] = from[i];
  __syncthreads();
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) to[i] = elements[count - 1 - i];
}

__global__ void see_clusters([[maybe_unused]] unsigned (*sizes)[3],
                             [[maybe_unused]] unsigned* ranks) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  const auto cluster = cooperative_groups::this_cluster();
  const dim3 size = cluster.dim_blocks();
  if (threadIdx.x == 0) {
    sizes[blockIdx.x][0] = size.x;
    sizes[blockIdx.x][1] = size.y;
    sizes[blockIdx.x][2] = size.z;
    ranks[blockIdx.x] = cluster.block_rank();
  }
  cluster.sync();
#endif
}

__global__ void total(const int* from, unsigned count, int* partial, int* totals) {
  if (threadIdx.x == 0) {
    int sum = 0;
    for (unsigned i = blockIdx.x; i < count; i += gridDim.x) sum += from[i];
    partial[blockIdx.x] = sum;
  }
  cooperative_groups::this_grid().sync();
  if (threadIdx.x == 0) {
    int sum = 0;
    for (unsigned i = 0; i < gridDim.x; ++i) sum += partial[i];
    totals[blockIdx.x] = sum;
  }
}

__global__ void produce(int* x, int value, unsigned count) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
  __nanosleep(100000);
#endif
  for (std::size_t i = thread_of_grid(); i < count; i += threads_of_grid()) x[i] = value;
}

__global__ void consume(const int* x, int* result, unsigned count) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
  for (std::size_t i = thread_of_grid(); i < count; i += threads_of_grid()) result[i] = x[i] + 1;
}

}  // namespace kernels
