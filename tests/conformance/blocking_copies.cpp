// SPDX-License-Identifier: BSL-1.0
//
// Which copies and sets return before the work of a busy stream.
#include "blocking.hpp"
#include "groups.hpp"

namespace facts {
namespace {

constexpr std::size_t kibibyte = 1024;
constexpr std::size_t large = 8192 * kibibyte;

// In the stream that is held itself.
void asynchronous(const std::string& name, unsigned flags) {
  const Stream held(flags);
  const DeviceMemory device(large);
  const DeviceMemory other(large);
  const PinnedMemory pinned(large);
  const PageableMemory pageable(large);
  const auto copy = [&](const char* what, void* to, const void* from, std::size_t size,
                        cudaMemcpyKind kind) {
    returns_early("cudaMemcpyAsync in a busy " + name + ", " + what, held,
                  [&] { return cudaMemcpyAsync(to, from, size, kind, held); });
  };
  copy("pinned to device", device, pinned, large, cudaMemcpyHostToDevice);
  copy("device to pinned", pinned, device, large, cudaMemcpyDeviceToHost);
  copy("device to device", other, device, large, cudaMemcpyDeviceToDevice);
  copy("pinned to pinned", pinned.bytes(), pinned.bytes() + large / 2, 4 * kibibyte,
       cudaMemcpyHostToHost);
  copy("pageable 16 bytes to device", device, pageable, 16, cudaMemcpyHostToDevice);
  copy("pageable 4 KiB to device", device, pageable, 4 * kibibyte, cudaMemcpyHostToDevice);
  copy("pageable 64 KiB to device", device, pageable, 64 * kibibyte, cudaMemcpyHostToDevice);
  copy("pageable 8 MiB to device", device, pageable, large, cudaMemcpyHostToDevice);
  copy("device to pageable 16 bytes", pageable, device, 16, cudaMemcpyDeviceToHost);
  copy("device to pageable 64 KiB", pageable, device, 64 * kibibyte, cudaMemcpyDeviceToHost);
  copy("pageable to pageable 4 KiB", pageable.bytes(), pageable.bytes() + large / 2, 4 * kibibyte,
       cudaMemcpyHostToHost);
  copy("pageable to pinned 4 KiB", pinned, pageable, 4 * kibibyte, cudaMemcpyHostToHost);
  copy("zero bytes", pinned, device, 0, cudaMemcpyDeviceToHost);
  returns_early("cudaMemsetAsync in a busy " + name + ", device", held,
                [&] { return cudaMemsetAsync(device, 1, large, held); });
  returns_early("cudaMemsetAsync in a busy " + name + ", pinned", held,
                [&] { return cudaMemsetAsync(pinned, 1, large, held); });
  returns_early("cudaMemcpy2DAsync in a busy " + name + ", pinned to device", held, [&] {
    return cudaMemcpy2DAsync(device, 64, pinned, 64, 32, 16, cudaMemcpyHostToDevice, held);
  });
  returns_early("cudaMemcpy2DAsync in a busy " + name + ", pageable to device", held, [&] {
    return cudaMemcpy2DAsync(device, 64, pageable, 64, 32, 16, cudaMemcpyHostToDevice, held);
  });
  returns_early("cudaMemset2DAsync in a busy " + name, held,
                [&] { return cudaMemset2DAsync(device, 64, 1, 32, 16, held); });
}

void synchronous() {
  const DeviceMemory device(large);
  const DeviceMemory other(large);
  const PinnedMemory pinned(large);
  const PageableMemory pageable(large);
  const auto copy = [&](const char* what, void* to, const void* from, std::size_t size,
                        cudaMemcpyKind kind) {
    returns_early_of_both(std::string("cudaMemcpy, ") + what,
                          [&] { return cudaMemcpy(to, from, size, kind); });
  };
  copy("pageable 16 bytes to device", device, pageable, 16, cudaMemcpyHostToDevice);
  copy("pageable 64 KiB to device", device, pageable, 64 * kibibyte, cudaMemcpyHostToDevice);
  copy("pageable 8 MiB to device", device, pageable, large, cudaMemcpyHostToDevice);
  copy("pinned to device", device, pinned, 64 * kibibyte, cudaMemcpyHostToDevice);
  copy("device to device", other, device, 64 * kibibyte, cudaMemcpyDeviceToDevice);
  copy("device to pageable", pageable, device, 64 * kibibyte, cudaMemcpyDeviceToHost);
  copy("device to pinned", pinned, device, 64 * kibibyte, cudaMemcpyDeviceToHost);
  copy("pageable to pageable", pageable.bytes(), pageable.bytes() + large / 2, kibibyte,
       cudaMemcpyHostToHost);
  copy("zero bytes", pageable, device, 0, cudaMemcpyDeviceToHost);
  returns_early_of_both("cudaMemset, device", [&] { return cudaMemset(device, 1, large); });
  returns_early_of_both("cudaMemset, pinned", [&] { return cudaMemset(pinned, 1, kibibyte); });
}

}  // namespace

void blocking_copies() {
  section("non-blocking stream",
          [] { asynchronous("non-blocking stream", cudaStreamNonBlocking); });
  section("blocking stream", [] { asynchronous("blocking stream", cudaStreamDefault); });
  section("synchronous", synchronous);
}

}  // namespace facts
