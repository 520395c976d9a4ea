// SPDX-License-Identifier: BSL-1.0
//
// One-dimensional copies: arguments, kinds, ranges.
#include <cstring>

#include "facts.hpp"
#include "groups.hpp"

namespace facts {
namespace {

constexpr std::size_t size = 1024;

// By either function.
template <class Report>
void both(void* to, const void* from, std::size_t count, cudaMemcpyKind kind, Report report) {
  const Stream stream;
  report("cudaMemcpy", cudaMemcpy(to, from, count, kind));
  need(cudaDeviceSynchronize());
  report("cudaMemcpyAsync", cudaMemcpyAsync(to, from, count, kind, stream));
  stream.synchronize();
}

void copy(const std::string& name, void* to, const void* from, std::size_t count,
          cudaMemcpyKind kind) {
  both(to, from, count, kind,
       [&](const char* function, cudaError_t answer) { error(name + ", " + function, answer); });
}

cudaMemcpyKind kind_number(int number) { return number_as<cudaMemcpyKind>(number); }

void zero_sizes() {
  const DeviceMemory device(size);
  const PinnedMemory pinned(size);
  copy("zero bytes", device, pinned, 0, cudaMemcpyHostToDevice);
  copy("zero bytes, null pointers", nullptr, nullptr, 0, cudaMemcpyDefault);
  copy("zero bytes, null pointers, device to device", nullptr, nullptr, 0,
       cudaMemcpyDeviceToDevice);
  copy("zero bytes, kind of the other direction", device, pinned, 0, cudaMemcpyDeviceToHost);
  for (const int number : {5, 99, -1}) {
    const std::string name = "kind " + std::to_string(number);
    copy("zero bytes, " + name, device, pinned, 0, kind_number(number));
    copy("zero bytes, null pointers, " + name, nullptr, nullptr, 0, kind_number(number));
    copy(name, device, pinned, size, kind_number(number));
  }
}

void content() {
  const DeviceMemory device(size);
  const DeviceMemory second(size);
  const PinnedMemory pinned(size);
  const PinnedMemory result(size);
  const PageableMemory pageable(size);
  const Stream stream;
  std::memset(pageable, 3, size);
  copy("pageable to pageable in one block", pageable.bytes() + 512, pageable, 512,
       cudaMemcpyHostToHost);
  copy("pageable to pinned", pinned, pageable, size, cudaMemcpyHostToHost);
  yes_no("and the bytes are there", std::memcmp(pinned, pageable, size) == 0);
  copy("to an interior address", device.bytes() + 100, pinned.bytes() + 7, 11,
       cudaMemcpyHostToDevice);
  copy("from an interior address", result.bytes() + 1, device.bytes() + 100, 11,
       cudaMemcpyDeviceToHost);
  yes_no("and the bytes are there, from an interior address",
         std::memcmp(result.bytes() + 1, pinned.bytes() + 7, 11) == 0);
  copy("device to itself", device, device, size, cudaMemcpyDeviceToDevice);
  copy("overlapping in the device", device, device.bytes() + 256, 512, cudaMemcpyDeviceToDevice);
  error("cudaMemcpyPeerAsync to the same device",
        cudaMemcpyPeerAsync(second, 0, device, 0, size, stream));
  error("cudaMemcpyPeerAsync, zero bytes", cudaMemcpyPeerAsync(second, 0, device, 0, 0, stream));
  error("cudaMemcpyPeerAsync to device -1",
        cudaMemcpyPeerAsync(second, -1, device, 0, size, stream));
  error("cudaMemcpyPeerAsync from device 99",
        cudaMemcpyPeerAsync(second, 0, device, 99, size, stream));
  error("cudaMemcpyPeerAsync to device 99, zero bytes",
        cudaMemcpyPeerAsync(second, 99, device, 0, 0, stream));
  error("cudaMemcpyPeerAsync from pinned memory",
        cudaMemcpyPeerAsync(second, 0, pinned, 0, size, stream));
  stream.synchronize();
}

void nulls() {
  const DeviceMemory device(size);
  copy("null destination, host to device", nullptr, PinnedMemory(size), size,
       cudaMemcpyHostToDevice);
  copy("null destination, device to device", nullptr, device, size, cudaMemcpyDeviceToDevice);
  copy("null source, device to device", device, nullptr, size, cudaMemcpyDeviceToDevice);
  copy("null source, device to host", PinnedMemory(size), nullptr, size, cudaMemcpyDeviceToHost);
  copy("null destination, device to host", nullptr, device, size, cudaMemcpyDeviceToHost);
  copy("null source, host to device", device, nullptr, size, cudaMemcpyHostToDevice);
}

}  // namespace

void copies() {
  section("zero sizes", zero_sizes);
  section("content", content);
  section("nulls", nulls);
}

namespace {

void kinds() {
  const struct {
    const char* name;
    Kind kind;
  } memories[] = {{"pageable", Kind::pageable}, {"pinned", Kind::pinned}, {"device", Kind::device}};
  constexpr const char* names[] = {"host to host", "host to device", "device to host",
                                   "device to device", "default"};
  for (const auto& to : memories) {
    for (const auto& from : memories) {
      const Memory target(to.kind, size);
      const Memory source(from.kind, size);
      for (int kind = 0; kind < 5; ++kind) {
        copy(std::string(from.name) + " to " + to.name + " as " + names[kind], target, source, size,
             kind_number(kind));
      }
    }
  }
}

void ranges() {
  const DeviceMemory large(2 * size);
  const DeviceMemory device(size);  // the last, so that no other follows it
  const PinnedMemory pinned(2 * size);
  const PageableMemory pageable(2 * size);
  copy("the whole", pageable, device, size, cudaMemcpyDeviceToHost);
  copy("one byte past the end of the source", pageable, device, size + 1, cudaMemcpyDeviceToHost);
  copy("twice the source", pageable, device, 2 * size, cudaMemcpyDeviceToHost);
  copy("twice the source, to pinned", pinned, device, 2 * size, cudaMemcpyDeviceToHost);
  copy("twice the source, to the device", large, device, 2 * size, cudaMemcpyDeviceToDevice);
  copy("twice the source, default", pageable, device, 2 * size, cudaMemcpyDefault);
  copy("from the interior past the end", pageable, device.bytes() + 1, size,
       cudaMemcpyDeviceToHost);
  copy("from one past the end", pageable, device.bytes() + size, 1, cudaMemcpyDeviceToHost);
  copy("one byte past the end of the destination", device, pageable, size + 1,
       cudaMemcpyHostToDevice);
  copy("twice the destination", device, pageable, 2 * size, cudaMemcpyHostToDevice);
  copy("twice the destination, from pinned", device, pinned, 2 * size, cudaMemcpyHostToDevice);
  copy("twice the destination, from the device", device, large, 2 * size, cudaMemcpyDeviceToDevice);
  copy("the largest size", device, large, static_cast<std::size_t>(-1), cudaMemcpyDeviceToDevice);
  const DeviceMemory odd(1000);
  copy("past the end of 1000 bytes, by one", pageable, odd, 1001, cudaMemcpyDeviceToHost);
}

void freed() {
  const PageableMemory pageable(size);
  const DeviceMemory other(size);
  void* device = nullptr;
  need(cudaMalloc(&device, 4 << 20));
  need(cudaFree(device));
  copy("from freed memory", pageable, device, size, cudaMemcpyDeviceToHost);
  copy("to freed memory", device, pageable, size, cudaMemcpyHostToDevice);
  copy("from freed memory to the device", other, device, size, cudaMemcpyDeviceToDevice);
  error("set of freed memory", cudaMemset(device, 0, size));
}

}  // namespace

void copy_kinds() { section("kinds", kinds); }
void copy_ranges() { section("ranges", ranges); }
void freed_memory() { section("freed", freed); }

}  // namespace facts
