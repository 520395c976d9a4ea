// SPDX-License-Identifier: BSL-1.0
//
// Copies and sets in three dimensions, pitched allocations.
#include <cstdint>

#include "facts.hpp"
#include "groups.hpp"

namespace facts {
namespace {

constexpr std::size_t pitch = 64;
constexpr std::size_t rows = 4;
constexpr std::size_t layers = 3;

// cudaPitchedPtr, cudaExtent and cudaPos, without the C++ header that makes them.
cudaPitchedPtr pitched(void* pointer, std::size_t row_pitch = pitch, std::size_t row_count = rows) {
  cudaPitchedPtr result{};
  result.ptr = pointer;
  result.pitch = row_pitch;
  result.xsize = row_pitch;
  result.ysize = row_count;
  return result;
}

cudaExtent extent(std::size_t width, std::size_t height, std::size_t depth) {
  cudaExtent result{};
  result.width = width;
  result.height = height;
  result.depth = depth;
  return result;
}

void copy(const std::string& name, const cudaMemcpy3DParms& parameters) {
  const Stream stream;
  error("cudaMemcpy3DAsync, " + name, cudaMemcpy3DAsync(&parameters, stream));
  stream.synchronize();
}

void plain_copies() {
  const DeviceMemory device(pitch * rows * layers);
  const PinnedMemory pinned(pitch * rows * layers);
  cudaMemcpy3DParms plain{};
  plain.srcPtr = pitched(pinned);
  plain.dstPtr = pitched(device);
  plain.extent = extent(pitch, rows, layers);
  plain.kind = cudaMemcpyHostToDevice;
  copy("plain", plain);
  const auto with = [&](const char* name, auto change) {
    cudaMemcpy3DParms parameters = plain;
    change(parameters);
    copy(name, parameters);
  };
  with("width 0", [](cudaMemcpy3DParms& p) { p.extent.width = 0; });
  with("height 0", [](cudaMemcpy3DParms& p) { p.extent.height = 0; });
  with("depth 0", [](cudaMemcpy3DParms& p) { p.extent.depth = 0; });
  with("narrow, at a position", [](cudaMemcpy3DParms& p) {
    p.extent = extent(10, 2, 2);
    p.srcPos.x = 3;
    p.srcPos.y = 1;
    p.dstPos.z = 1;
  });
  with("width greater than the pitch", [](cudaMemcpy3DParms& p) {
    p.srcPtr.pitch = 32;
    p.extent = extent(33, 2, 2);
  });
  with("height greater than the layer's", [](cudaMemcpy3DParms& p) {
    p.srcPtr.ysize = 2;
    p.extent = extent(10, 3, 2);
  });
  with("one layer, height greater than the layer's", [](cudaMemcpy3DParms& p) {
    p.srcPtr.ysize = 2;
    p.dstPtr.ysize = 2;
    p.extent = extent(10, 3, 1);
  });
  with("one layer past the end", [](cudaMemcpy3DParms& p) { p.extent.depth = layers + 1; });
  with("a position past the end", [](cudaMemcpy3DParms& p) { p.dstPos.z = 1; });
  with("x position and width greater than the pitch", [](cudaMemcpy3DParms& p) {
    p.extent = extent(pitch, 1, 1);
    p.srcPos.x = 1;
  });
  with("kind of the other direction",
       [](cudaMemcpy3DParms& p) { p.kind = cudaMemcpyDeviceToHost; });
  with("kind 5", [](cudaMemcpy3DParms& p) { p.kind = number_as<cudaMemcpyKind>(5); });
  with("kind -1", [](cudaMemcpy3DParms& p) { p.kind = number_as<cudaMemcpyKind>(-1); });
  with("no source", [](cudaMemcpy3DParms& p) { p.srcPtr = {}; });
  with("no destination", [](cudaMemcpy3DParms& p) { p.dstPtr = {}; });
  copy("all zero", cudaMemcpy3DParms{});
}

void sets_3d() {
  const Stream stream;
  const DeviceMemory device(pitch * rows * layers);
  const auto set = [&](const char* name, cudaPitchedPtr to, cudaExtent size) {
    error(std::string("cudaMemset3DAsync, ") + name, cudaMemset3DAsync(to, 1, size, stream));
    stream.synchronize();
  };
  set("plain", pitched(device), extent(pitch, rows, layers));
  set("width 0", pitched(device), extent(0, rows, layers));
  set("height 0", pitched(device), extent(pitch, 0, layers));
  set("depth 0", pitched(device), extent(pitch, rows, 0));
  set("width greater than the pitch", pitched(device, 32), extent(33, 2, 2));
  set("height greater than the layer's", pitched(device, pitch, 2), extent(10, 3, 2));
  set("one layer past the end", pitched(device), extent(pitch, rows, layers + 1));
  set("pitch times height greater than any size", pitched(device, pitch, SIZE_MAX / pitch + 1),
      extent(1, 1, 2));
  set("slices past the last address", pitched(device, pitch, SIZE_MAX / pitch), extent(1, 1, 9));
  set("null, width 0", pitched(nullptr), extent(0, rows, layers));
  set("null", pitched(nullptr), extent(10, 2, 2));
}

void allocations() {
  void* pointer = nullptr;
  std::size_t row = 0;
  error("cudaMallocPitch", cudaMallocPitch(&pointer, &row, 100, 3));
  yes_no("its pitch is at least the width", row >= 100);
  number("its pitch", static_cast<long long>(row));
  need(cudaFree(pointer));
  pointer = &row;
  error("cudaMallocPitch, width 0", cudaMallocPitch(&pointer, &row, 0, 3));
  yes_no("width 0 gives null", pointer == nullptr);
  number("width 0, its pitch", static_cast<long long>(row));
  pointer = &row;
  error("cudaMallocPitch, height 0", cudaMallocPitch(&pointer, &row, 100, 0));
  yes_no("height 0 gives null", pointer == nullptr);
  error("cudaMallocPitch, null pointer", cudaMallocPitch(nullptr, &row, 100, 3));
  cudaPitchedPtr volume{};
  error("cudaMalloc3D", cudaMalloc3D(&volume, extent(100, 3, 2)));
  number("cudaMalloc3D, xsize", static_cast<long long>(volume.xsize));
  number("cudaMalloc3D, ysize", static_cast<long long>(volume.ysize));
  number("cudaMalloc3D, pitch", static_cast<long long>(volume.pitch));
  need(cudaFree(volume.ptr));
  error("cudaMalloc3D, width 0", cudaMalloc3D(&volume, extent(0, 3, 2)));
  yes_no("cudaMalloc3D, width 0 gives null", volume.ptr == nullptr);
}

void nulls() {
  const Stream stream;
  void* pointer = nullptr;
  error("cudaMallocPitch, null pitch", cudaMallocPitch(&pointer, nullptr, 100, 3));
  error("cudaMemcpy3DAsync, null parameters", cudaMemcpy3DAsync(nullptr, stream));
}

}  // namespace

void copies_3d() {
  section("copies", plain_copies);
  section("sets", sets_3d);
  section("allocations", allocations);
  section("nulls", nulls);
}

}  // namespace facts
