// SPDX-License-Identifier: BSL-1.0
#include "sim/copy_3d.hpp"

#include <limits>

#include "sim/attributes.hpp"
#include "sim/report.hpp"

namespace culvert::sim::detail {
namespace {

struct Corner {
  std::byte* pointer = nullptr;
  std::size_t pitch = 0;
  std::size_t slice = 0;
};

bool product(std::size_t a, std::size_t b, std::size_t& result) {
  if (b != 0 && a > std::numeric_limits<std::size_t>::max() / b) return false;
  result = a * b;
  return true;
}

cudaError_t corner_of(const Side& side, cudaExtent extent, Corner& corner) {
  const cudaPitchedPtr& whole = side.pointer;
  const cudaPos& at = side.position;
  // One row needs no pitch.
  const bool one_row = extent.height == 1 && extent.depth == 1 && at.y == 0 && at.z == 0;
  if (!one_row || whole.pitch != 0) {
    if (whole.pitch > max_pitch) return cudaErrorInvalidValue;
    if (!one_row && extent.width > whole.pitch) return cudaErrorInvalidPitchValue;
    if (at.x > whole.pitch || extent.width > whole.pitch - at.x) return cudaErrorInvalidValue;
  }
  if (extent.depth > 1 && extent.height > whole.ysize) return cudaErrorInvalidPitchValue;
  if (at.y > whole.ysize || extent.height > whole.ysize - at.y) return cudaErrorInvalidValue;
  std::size_t layers = 0;
  std::size_t rows = 0;
  corner.pitch = whole.pitch;
  if (!product(whole.pitch, whole.ysize, corner.slice) || !product(corner.slice, at.z, layers) ||
      !product(whole.pitch, at.y, rows)) {
    return cudaErrorInvalidValue;
  }
  corner.pointer = static_cast<std::byte*>(whole.ptr);
  if (corner.pointer != nullptr) corner.pointer += layers + rows + at.x;
  return cudaSuccess;
}

}  // namespace

cudaError_t refuse_arrays(const char* function) {
  report("%s: the simulated runtime has no CUDA arrays", function);
  return cudaErrorNotSupported;
}

cudaError_t copy_of(const char* function, const Side& to, const Side& from, cudaExtent extent,
                    Copy& copy) {
  for (const Side* side : {&to, &from}) {
    if (side->array != nullptr && side->pointer.ptr != nullptr) return cudaErrorInvalidValue;
  }
  if (to.array != nullptr || from.array != nullptr) return refuse_arrays(function);
  copy.function = function;
  copy.width = extent.width;
  copy.height = extent.height;
  copy.depth = extent.depth;
  if (extent.width == 0 || extent.height == 0 || extent.depth == 0) return cudaSuccess;
  if (to.pointer.ptr == nullptr || from.pointer.ptr == nullptr) return cudaErrorInvalidValue;
  Corner target;
  Corner source;
  const cudaError_t wrong_target = corner_of(to, extent, target);
  if (wrong_target != cudaSuccess) return wrong_target;
  const cudaError_t wrong_source = corner_of(from, extent, source);
  if (wrong_source != cudaSuccess) return wrong_source;
  copy.to = target.pointer;
  copy.to_pitch = target.pitch;
  copy.to_slice = target.slice;
  copy.from = source.pointer;
  copy.from_pitch = source.pitch;
  copy.from_slice = source.slice;
  return cudaSuccess;
}

}  // namespace culvert::sim::detail
