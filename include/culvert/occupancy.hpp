// SPDX-License-Identifier: BSL-1.0
//
// Help with the size of a launch: block sizes by occupancy, and the grid for so many elements.
#pragma once

#include <culvert/device.hpp>

#include <climits>
#include <concepts>
#include <cstddef>

namespace culvert::inline CULVERT_ABI {

// A block size that keeps a device's multiprocessors as full as the kernel allows.
struct BlockSize {
  unsigned threads;      // in a block
  unsigned full_blocks;  // the smallest grid that fills the device
};

namespace detail {

[[nodiscard]] inline int resident_blocks(const void* kernel, unsigned block,
                                         std::size_t shared_memory_bytes, SourceLocation where) {
  if (block == 0 || block > INT_MAX) {
    refuse(where, "culvert::blocks_per_multiprocessor",
           "a block of " + std::to_string(block) + " threads");
  }
  int blocks = 0;
  constexpr cudaError_t (*count)(int*, const void*, int, std::size_t) =
      cudaOccupancyMaxActiveBlocksPerMultiprocessor;
  call(where, "cudaOccupancyMaxActiveBlocksPerMultiprocessor", count, &blocks, kernel,
       static_cast<int>(block), shared_memory_bytes);
  return blocks;
}

[[nodiscard]] inline cudaFuncAttributes kernel_attributes(const void* kernel,
                                                          SourceLocation where) {
  cudaFuncAttributes attributes{};
  constexpr cudaError_t (*get)(cudaFuncAttributes*, const void*) = cudaFuncGetAttributes;
  call(where, "cudaFuncGetAttributes", get, &attributes, kernel);
  return attributes;
}

// Tries every whole number of warps, the largest first. Of equally full ones the largest wins.
[[nodiscard]] inline BlockSize suggest_block_size(const void* kernel,
                                                  std::size_t shared_memory_bytes, unsigned largest,
                                                  SourceLocation where) {
  const Device device = Device::current(where);
  const int warp = device.attribute(cudaDevAttrWarpSize, where);
  int limit = kernel_attributes(kernel, where).maxThreadsPerBlock;
  if (largest != 0 && largest < static_cast<unsigned>(limit)) limit = static_cast<int>(largest);

  int best = 0;
  int best_blocks = 0;
  for (int threads = limit; threads > 0;
       threads = threads % warp != 0 ? threads - threads % warp : threads - warp) {
    const int blocks =
        resident_blocks(kernel, static_cast<unsigned>(threads), shared_memory_bytes, where);
    if (blocks * threads > best_blocks * best) {
      best = threads;
      best_blocks = blocks;
    }
  }
  if (best == 0) {
    refuse(where, "culvert::suggest_block_size",
           "no block of this kernel fits a multiprocessor with " +
               std::to_string(shared_memory_bytes) + " bytes of dynamic shared memory",
           cudaErrorInvalidConfiguration);
  }
  const int multiprocessors = device.attribute(cudaDevAttrMultiProcessorCount, where);
  return {static_cast<unsigned>(best), static_cast<unsigned>(best_blocks * multiprocessors)};
}

}  // namespace detail

// Blocks of `block` threads that give each of `elements` elements a thread of its own: the
// quotient, rounded up. At least 1, since no grid is empty; the kernel checks its index against
// the number of elements in any case.
// @throws Error where a number is negative, `block` is 0, or the grid would have more blocks than
// CUDA takes in x, 2^31 - 1. Makes no CUDA call.
template <std::integral Elements, std::integral Threads>
[[nodiscard]] constexpr unsigned grid_for(Elements elements, Threads block,
                                          SourceLocation where = SourceLocation::current()) {
  if (std::is_signed_v<Elements> && elements < Elements{0}) {
    detail::refuse(where, "culvert::grid_for",
                   [=] { return std::to_string(elements) + " elements"; });
  }
  const unsigned threads = detail::checked_unsigned(block, "culvert::grid_for", where);
  if (threads == 0) detail::refuse(where, "culvert::grid_for", "the block has 0 threads");
  const auto count = static_cast<unsigned long long>(elements);
  const unsigned long long blocks = count / threads + (count % threads != 0 ? 1 : 0);
  if (blocks > INT_MAX) {
    detail::refuse(where, "culvert::grid_for",
                   std::to_string(elements) + " elements in blocks of " + std::to_string(block) +
                       " threads are more than 2^31 - 1 blocks: use larger blocks, or more than "
                       "one element for each thread");
  }
  return blocks == 0 ? 1u : static_cast<unsigned>(blocks);
}

// Resident blocks of a kernel on one multiprocessor of the current device, at this block size in
// threads and bytes of dynamic shared memory for each block
// (cudaOccupancyMaxActiveBlocksPerMultiprocessor). Times the device's multiprocessors it is the
// largest cooperative grid. 0 where not even one block fits. Does not block the host.
template <class... Parameters, std::integral Threads>
[[nodiscard]] int blocks_per_multiprocessor(void (*kernel)(Parameters...), Threads block,
                                            std::size_t shared_memory_bytes = 0,
                                            SourceLocation where = SourceLocation::current()) {
  return detail::resident_blocks(
      reinterpret_cast<const void*>(kernel),
      detail::checked_unsigned(block, "culvert::blocks_per_multiprocessor", where),
      shared_memory_bytes, where);
}

// The block size in threads, a multiple of a warp where the limits allow, that lets the most
// threads of this kernel be resident on the current device, with this many bytes of dynamic
// shared memory for each block. `largest` bounds it; 0: the kernel's own limit. Does not block
// the host. Asks the runtime once for each size: call it once for a kernel, not once a launch.
//
//   const BlockSize size = suggest_block_size(scale);
//   launch(stream, {.grid = grid_for(n, size.threads), .block = size.threads}, scale, x, 2.0f, n);
//
// @throws Error where no block fits.
template <class... Parameters, std::integral Threads = unsigned>
[[nodiscard]] BlockSize suggest_block_size(void (*kernel)(Parameters...),
                                           std::size_t shared_memory_bytes = 0, Threads largest = 0,
                                           SourceLocation where = SourceLocation::current()) {
  return detail::suggest_block_size(
      reinterpret_cast<const void*>(kernel), shared_memory_bytes,
      detail::checked_unsigned(largest, "culvert::suggest_block_size", where), where);
}

// Allows launches of the kernel on the current device with up to so many bytes of dynamic shared
// memory in a block, which beyond 48 KiB CUDA refuses otherwise (cudaFuncSetAttribute,
// cudaFuncAttributeMaxDynamicSharedMemorySize). Does not block the host.
// @throws Error where the device has less; Device::attribute(
// cudaDevAttrMaxSharedMemoryPerBlockOptin) tells how much it has.
template <class... Parameters>
void allow_shared_memory(void (*kernel)(Parameters...), std::size_t bytes,
                         SourceLocation where = SourceLocation::current()) {
  if (bytes > INT_MAX) {
    detail::refuse(where, "culvert::allow_shared_memory", std::to_string(bytes) + " bytes");
  }
  constexpr cudaError_t (*set)(const void*, cudaFuncAttribute, int) = cudaFuncSetAttribute;
  detail::call(where, "cudaFuncSetAttribute", set, reinterpret_cast<const void*>(kernel),
               cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
}

}  // namespace culvert::inline CULVERT_ABI
