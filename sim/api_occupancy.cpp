// SPDX-License-Identifier: BSL-1.0
// How many blocks and clusters are resident at a time, as far as threads and shared memory tell.
#include <algorithm>

#include "sim/kernel_limits.hpp"
#include "sim/kernels.hpp"

using namespace culvert::sim::detail;

namespace {

cudaError_t active_blocks(Call& call, int* blocks, const void* kernel, int threads,
                          std::size_t shared_memory) {
  if (blocks == nullptr || threads <= 0) return cudaErrorInvalidValue;
  if (!Kernels::instance().contains(kernel)) return no_definition(kernel);
  *blocks = resident_blocks(call, kernel, threads, shared_memory);
  return cudaSuccess;
}

std::uint64_t count_of(dim3 size) { return std::uint64_t{size.x} * size.y * size.z; }

// Blocks of a launch on the whole device, or 0 if its block is none that can be launched.
unsigned blocks_of_device(Call& call, const void* kernel, const cudaLaunchConfig_t& config) {
  const std::uint64_t threads = count_of(config.blockDim);
  const auto most = static_cast<unsigned>(attribute(call, cudaDevAttrMaxThreadsPerBlock));
  if (threads == 0 || threads > most) return 0;
  const int resident =
      resident_blocks(call, kernel, static_cast<int>(threads), config.dynamicSmemBytes);
  return static_cast<unsigned>(resident * attribute(call, cudaDevAttrMultiProcessorCount));
}

unsigned most_in_cluster(Call& call, const void* kernel) {
  return settings(call, kernel).non_portable_clusters ? largest_cluster : portable_cluster;
}

// Blocks of a cluster, or 0 if the configuration does not tell.
std::uint64_t cluster_of(const cudaLaunchConfig_t& config) {
  for (unsigned i = 0; config.attrs != nullptr && i < config.numAttrs; ++i) {
    if (config.attrs[i].id != cudaLaunchAttributeClusterDimension) continue;
    const auto& cluster = config.attrs[i].val.clusterDim;
    return count_of(dim3(cluster.x, cluster.y, cluster.z));
  }
  return 0;
}

}  // namespace

extern "C" {

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* kernel,
                                                                   int threads,
                                                                   std::size_t shared_memory,
                                                                   unsigned flags) {
  return api("cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", [&](Call& call) {
    if (flags > cudaOccupancyDisableCachingOverride) return cudaErrorInvalidValue;
    return active_blocks(call, blocks, kernel, threads, shared_memory);
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel,
                                                          int threads, std::size_t shared_memory) {
  return api("cudaOccupancyMaxActiveBlocksPerMultiprocessor", [&](Call& call) {
    return active_blocks(call, blocks, kernel, threads, shared_memory);
  });
}

// What is left for each of so many blocks. No GPU was asked how it rounds.
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* size, const void* kernel,
                                                      int blocks, int threads) {
  return api("cudaOccupancyAvailableDynamicSMemPerBlock", [&](Call& call) {
    if (size == nullptr || blocks <= 0 || threads <= 0) return cudaErrorInvalidValue;
    if (!Kernels::instance().contains(kernel)) return no_definition(kernel);
    if (blocks > resident_blocks(call, kernel, threads, 0)) return cudaErrorInvalidValue;
    const int all = attribute(call, cudaDevAttrMaxSharedMemoryPerMultiprocessor);
    const int each = all / blocks - attribute(call, cudaDevAttrReservedSharedMemoryPerBlock);
    const int most = attribute(call, cudaDevAttrMaxSharedMemoryPerBlockOptin);
    *size = static_cast<std::size_t>(std::clamp(each, 0, most));
    return cudaSuccess;
  });
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(int* size, const void* kernel,
                                                 const cudaLaunchConfig_t* config) {
  return api("cudaOccupancyMaxPotentialClusterSize", [&](Call& call) {
    if (size == nullptr || config == nullptr) return cudaErrorInvalidValue;
    if (!Kernels::instance().contains(kernel)) return no_definition(kernel);
    const unsigned together = blocks_of_device(call, kernel, *config);
    if (together == 0) return cudaErrorInvalidValue;
    *size = static_cast<int>(std::min(together, most_in_cluster(call, kernel)));
    return cudaSuccess;
  });
}

// As if the blocks of a cluster could be on any multiprocessors.
cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* kernel,
                                           const cudaLaunchConfig_t* config) {
  return api("cudaOccupancyMaxActiveClusters", [&](Call& call) {
    if (clusters == nullptr || config == nullptr) return cudaErrorInvalidValue;
    if (!Kernels::instance().contains(kernel)) return no_definition(kernel);
    const std::uint64_t cluster = cluster_of(*config);
    if (cluster == 0 || cluster > most_in_cluster(call, kernel)) return cudaErrorInvalidClusterSize;
    *clusters = static_cast<int>(blocks_of_device(call, kernel, *config) / cluster);
    return cudaSuccess;
  });
}

}  // extern "C"
