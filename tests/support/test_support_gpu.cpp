// SPDX-License-Identifier: BSL-1.0
#include <culvert/copy.hpp>
#include <culvert/device_buffer.hpp>

#include "support/test_support.hpp"

namespace support {

bool is_simulated() { return false; }

void reset_runtime(int) {}

std::uint64_t runtime_calls() { return 0; }

void expect_no_leaks(std::size_t) {}

void delay(cudaStream_t stream) {
  constexpr std::size_t size = std::size_t{1} << 30;
  constexpr int copies = 200;  // each takes about half a millisecond on an H200
  struct Scratch {
    culvert::DeviceBuffer<std::byte> from{size};
    culvert::DeviceBuffer<std::byte> to{size};
    // A test may end while its streams still use the memory.
    ~Scratch() { culvert::Device::current().synchronize(); }
  };
  static Scratch scratch;
  const culvert::DeviceSpan<std::byte> to = scratch.to;
  for (int i = 0; i < copies; ++i) culvert::copy(to, scratch.from, culvert::StreamRef(stream));
}

}  // namespace support
