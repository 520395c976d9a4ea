// SPDX-License-Identifier: BSL-1.0
// Device memory for rows, each of which begins where a row may begin.
#include <limits>

#include "sim/attributes.hpp"
#include "sim/call.hpp"

namespace {

using namespace culvert::sim::detail;

// `rows` of `width` bytes. Nothing is allocated for none.
cudaError_t allocate(Call& call, const char* function, void*& pointer, std::size_t& pitch,
                     std::size_t width, std::size_t rows) {
  constexpr std::size_t unit = culvert::sim::device_alignment;
  pointer = nullptr;
  pitch = 0;
  if (width > max_pitch) return cudaErrorInvalidValue;
  const std::size_t row = (width + unit - 1) / unit * unit;
  if (width == 0 || rows == 0) return cudaSuccess;
  if (rows > std::numeric_limits<std::size_t>::max() / row) return cudaErrorMemoryAllocation;
  const BlockPtr block = call.process.allocate(call.lock, call.thread.device, row * rows, nullptr);
  if (!block) return cudaErrorMemoryAllocation;
  block->made_by = function;
  call.process.memory.poison(*block);
  pointer = reinterpret_cast<void*>(block->address);
  pitch = row;
  return cudaSuccess;
}

}  // namespace

extern "C" {

cudaError_t cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width,
                            std::size_t height) {
  constexpr const char* function = "cudaMallocPitch";
  return api(function, unsafe_in_capture, [&](Call& call) {
    if (pointer == nullptr || pitch == nullptr) return cudaErrorInvalidValue;
    return allocate(call, function, *pointer, *pitch, width, height);
  });
}

cudaError_t cudaMalloc3D(cudaPitchedPtr* pointer, cudaExtent extent) {
  constexpr const char* function = "cudaMalloc3D";
  return api(function, unsafe_in_capture, [&](Call& call) {
    if (pointer == nullptr) return cudaErrorInvalidValue;
    if (extent.depth != 0 && extent.height > std::numeric_limits<std::size_t>::max() / extent.depth)
      return cudaErrorMemoryAllocation;
    pointer->xsize = extent.width;
    pointer->ysize = extent.height;
    return allocate(call, function, pointer->ptr, pointer->pitch, extent.width,
                    extent.height * extent.depth);
  });
}

}  // extern "C"
