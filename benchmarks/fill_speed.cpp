// SPDX-License-Identifier: BSL-1.0
//
// The speed of fill() for values of several sizes against cudaMemset of the same memory, both
// in turn in one run, timed on the device.
//
// usage: fill_speed [MEBIBYTES]   (default 256)
#include <culvert/culvert.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

using namespace culvert;

template <std::size_t size>
struct Value {
  std::array<unsigned char, size> bytes;
};

template <std::size_t size>
Value<size> distinct_bytes() {
  Value<size> value;
  for (std::size_t i = 0; i < size; ++i) value.bytes[i] = static_cast<unsigned char>(i + 1);
  return value;
}

template <class Work>
float milliseconds(const Stream& stream, Work&& work) {
  const TimedEvent start = stream.record_timed();
  work();
  const TimedEvent stop = stream.record_timed();
  stop.synchronize();
  return elapsed(start, stop).count();
}

float median(std::vector<float>& values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

template <std::size_t size>
void measure(std::size_t bytes) {
  constexpr int rounds = 21;
  Stream stream;
  DeviceBuffer<Value<size>> buffer(bytes / size, stream);
  std::vector<float> set, filled;
  for (int round = -3; round < rounds; ++round) {  // three to warm up
    const float a = milliseconds(stream, [&] { fill_bytes(buffer, 0x5a, stream); });
    const float b = milliseconds(stream, [&] { fill(buffer, distinct_bytes<size>(), stream); });
    if (round < 0) continue;
    set.push_back(a);
    filled.push_back(b);
  }
  const float m = median(set);
  const float f = median(filled);
  std::printf("%6zu %12.4f %12.4f %8.2f\n", size, static_cast<double>(m), static_cast<double>(f),
              static_cast<double>(f / m));
}

}  // namespace

int main(int argc, char** argv) {
  const Environment env = Environment::probe();
  if (!env.usable()) {
    std::printf("skipped: %s\n", env.reason());
    return 77;
  }
  const std::size_t bytes = (argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 256) << 20;
  std::printf("%s, %zu MiB, medians of 21\n", Device::current().name().c_str(), bytes >> 20);
  std::printf("  size    memset ms      fill ms    ratio\n");
  measure<1>(bytes);
  measure<2>(bytes);
  measure<4>(bytes);
  measure<8>(bytes);
  measure<12>(bytes);
  measure<16>(bytes);
  measure<64>(bytes);
  return 0;
}
