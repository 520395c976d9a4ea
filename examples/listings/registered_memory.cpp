// SPDX-License-Identifier: BSL-1.0
//
// Memory that other code allocated, a vector here, pinned for some copies: they run while the host
// goes on, as with PinnedBuffer.
#include <culvert/culvert.hpp>

#include <cstdio>
#include <numeric>
#include <vector>

using namespace culvert;

int main() try {
  const Environment env = Environment::probe();
  if (!env.usable()) {
    std::printf("RegisteredMemory=Skipped %s\n", env.reason());
    return 77;
  }
  const Stream stream;
  std::vector<int> samples(10'000), result(10'000);
  std::iota(samples.begin(), samples.end(), 0);
  DeviceBuffer<int> x(samples.size(), stream);
  {
    const RegisteredBuffer source(samples), destination(result);  // slow: keep them
    copy(x, source, stream);                                      // neither blocks the host
    copy(destination, x, stream);
    stream.synchronize();  // before the registrations end
  }
  const bool passed = result == samples;
  std::printf("Last=%d\n", result.back());
  std::printf("RegisteredMemory Passed=%s\n", passed ? "True" : "False");
  return passed ? 0 : 1;
} catch (const Error& error) {
  std::fprintf(stderr, "registered_memory: %s\n", error.what());
  return 1;
}
