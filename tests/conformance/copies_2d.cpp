// SPDX-License-Identifier: BSL-1.0
//
// Copies and sets in two dimensions, and plain sets.
#include <cstring>

#include "facts.hpp"
#include "groups.hpp"

namespace facts {
namespace {

constexpr std::size_t pitch = 64;
constexpr std::size_t rows = 4;

struct Shape {
  const char* name;
  std::size_t to_pitch;
  std::size_t from_pitch;
  std::size_t width;
  std::size_t height;
};

void shapes() {
  const Stream stream;
  const DeviceMemory device(pitch * rows);
  const PinnedMemory pinned(pitch * rows);
  const Shape cases[] = {
      {"plain", pitch, pitch, pitch, rows},
      {"narrow", pitch, pitch, 10, rows},
      {"width greater than the destination's pitch", 32, pitch, 33, 2},
      {"width greater than the source's pitch", pitch, 32, 33, 2},
      {"width greater than the pitch, one row", 32, 32, 33, 1},
      {"width greater than the pitch, no row", 32, 32, 33, 0},
      {"width 0", pitch, pitch, 0, rows},
      {"height 0", pitch, pitch, 10, 0},
      {"pitch 0 and width 0", 0, 0, 0, rows},
      {"pitch 0", 0, 0, 1, 1},
      {"the last row is not whole", pitch, pitch, 10, rows},
      {"one row past the end", pitch, pitch, pitch, rows + 1},
      {"one byte past the end, as the pitch is greater", pitch + 1, pitch, pitch, rows},
      {"pitch of the device's limit", 0x7fffffff, pitch, 10, 1},
      {"pitch above the device's limit", std::size_t{1} << 31, pitch, 10, 1},
      {"pitch of 1 << 40", std::size_t{1} << 40, pitch, 10, 1},
  };
  for (const Shape& one : cases) {
    error(std::string("cudaMemcpy2DAsync, ") + one.name,
          cudaMemcpy2DAsync(device, one.to_pitch, pinned, one.from_pitch, one.width, one.height,
                            cudaMemcpyHostToDevice, stream));
    stream.synchronize();
  }
}

void ends() {
  // An allocation that ends with the last row's width.
  const Stream stream;
  const DeviceMemory device(pitch * (rows - 1) + 10);
  const PinnedMemory pinned(pitch * rows);
  error("cudaMemcpy2DAsync, exactly to the end",
        cudaMemcpy2DAsync(device, pitch, pinned, pitch, 10, rows, cudaMemcpyHostToDevice, stream));
  stream.synchronize();
  error("cudaMemset2DAsync, exactly to the end",
        cudaMemset2DAsync(device, pitch, 1, 10, rows, stream));
  stream.synchronize();
}

void kinds() {
  const Stream stream;
  const DeviceMemory device(pitch * rows);
  const PinnedMemory pinned(pitch * rows);
  const PageableMemory pageable(pitch * rows);
  const auto kind = [](int number) { return number_as<cudaMemcpyKind>(number); };
  for (const int number : {0, 1, 2, 3, 4, 5, -1}) {
    const std::string name = "cudaMemcpy2DAsync, kind " + std::to_string(number);
    error(name + ", pinned to device",
          cudaMemcpy2DAsync(device, pitch, pinned, pitch, 10, rows, kind(number), stream));
    stream.synchronize();
    error(name + ", pageable to device",
          cudaMemcpy2DAsync(device, pitch, pageable, pitch, 10, rows, kind(number), stream));
    stream.synchronize();
    error(name + ", height 0",
          cudaMemcpy2DAsync(device, pitch, pinned, pitch, 10, 0, kind(number), stream));
  }
  error("cudaMemcpy2DAsync, null pointers, width 0",
        cudaMemcpy2DAsync(nullptr, pitch, nullptr, pitch, 0, rows, cudaMemcpyDefault, stream));
  error("cudaMemcpy2DAsync, null destination",
        cudaMemcpy2DAsync(nullptr, pitch, pinned, pitch, 10, rows, cudaMemcpyHostToDevice, stream));
}

void sets_2d() {
  const Stream stream;
  const DeviceMemory device(pitch * rows);
  const Shape cases[] = {{"plain", pitch, 0, pitch, rows},
                         {"narrow", pitch, 0, 10, rows},
                         {"width greater than the pitch", 32, 0, 33, 2},
                         {"width greater than the pitch, one row", 32, 0, 33, 1},
                         {"width 0", pitch, 0, 0, rows},
                         {"height 0", pitch, 0, 10, 0},
                         {"width greater than the pitch, no row", 32, 0, 33, 0},
                         {"pitch 0", 0, 0, 1, 1},
                         {"pitch 0, two rows", 0, 0, 1, 2},
                         {"one row past the end", pitch, 0, pitch, rows + 1}};
  for (const Shape& one : cases) {
    error(std::string("cudaMemset2DAsync, ") + one.name,
          cudaMemset2DAsync(device, one.to_pitch, 1, one.width, one.height, stream));
    stream.synchronize();
  }
  error("cudaMemset2DAsync, null, width 0", cudaMemset2DAsync(nullptr, pitch, 1, 0, rows, stream));
  error("cudaMemset2DAsync, null", cudaMemset2DAsync(nullptr, pitch, 1, 10, rows, stream));
}

}  // namespace

void copies_2d() {
  section("shapes", shapes);
  section("ends", ends);
  section("sets", sets_2d);
  section("kinds", kinds);
}

namespace {

constexpr std::size_t size = 1024;

void set(const std::string& name, void* to, int value, std::size_t count) {
  const Stream stream;
  error(name + ", cudaMemset", cudaMemset(to, value, count));
  need(cudaDeviceSynchronize());
  error(name + ", cudaMemsetAsync", cudaMemsetAsync(to, value, count, stream));
  stream.synchronize();
}

void plain_sets() {
  const DeviceMemory device(size);
  const PinnedMemory pinned(size);
  const PageableMemory pageable(size);
  set("device", device, 1, size);
  set("interior", device.bytes() + 3, 1, 5);
  set("zero bytes", device, 1, 0);
  set("null, zero bytes", nullptr, 1, 0);
  set("pinned", pinned, 5, size);
  yes_no("pinned memory has the value", pinned.bytes()[size - 1] == 5);
  set("pageable, zero bytes", pageable, 1, 0);
  set("a value of 0x1ff", device, 0x1ff, size);
  need(cudaMemcpy(pageable, device, size, cudaMemcpyDeviceToHost));
  number("a value of 0x1ff, the byte", pageable.bytes()[0]);
  set("a value of -2", device, -2, size);
  need(cudaMemcpy(pageable, device, size, cudaMemcpyDeviceToHost));
  number("a value of -2, the byte", pageable.bytes()[0]);
}

void bad_sets() {
  const DeviceMemory device(size);
  const PageableMemory pageable(size);
  set("one byte past the end", device, 1, size + 1);
  set("twice the size", device, 1, 2 * size);
  set("one past the end", device.bytes() + size, 1, 1);
  set("null", nullptr, 1, size);
  set("pageable", pageable, 1, size);
}

}  // namespace

void sets() {
  section("plain", plain_sets);
  section("bad", bad_sets);
}

}  // namespace facts
