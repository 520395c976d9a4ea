// SPDX-License-Identifier: BSL-1.0
//
// Asynchronous copies with pinned and with pageable host memory. The call that enqueues a copy
// returns at once only where the host memory is pinned: the device reads and writes it by itself.
// Pageable memory goes through a buffer of the driver, and the calling thread takes part.
#include <culvert/culvert.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <numeric>
#include <vector>

using namespace culvert;

namespace {

bool passed = true;

void check(bool ok, const char* what) {
  if (ok) return;
  passed = false;
  std::fprintf(stderr, "Not so: %s\n", what);
}

// Copies, and prints how long the call took on the host and the copy on the device. Times are
// printed and not checked: they depend on the machine. On the simulated runtime the device's
// times are made up.
template <class Destination, class Source>
void timed_copy(const char* name, Destination& to, const Source& from, const Stream& stream) {
  // Redundant: so that only the copy is timed.
  stream.synchronize();
  const TimedEvent start = stream.record_timed();
  const auto before = std::chrono::steady_clock::now();
  copy(to, from, stream);
  const std::chrono::duration<double, std::milli> call = std::chrono::steady_clock::now() - before;
  const bool done = stream.is_done();  // pinned: most likely not yet
  const TimedEvent stop = stream.record_timed();
  stop.synchronize();
  std::printf("%s=True CallMs=%.3f CopyMs=%.3f DoneAtReturn=%s\n", name, call.count(),
              static_cast<double>(elapsed(start, stop).count()), done ? "True" : "False");
}

void run() {
  constexpr std::size_t size = std::size_t{4} << 20;
  Stream stream;
  DeviceBuffer<int> x(size, stream), y(size, stream);
  PinnedBuffer<int> pinned_source(size), pinned(size);
  std::vector<int> pageable_source(size), pageable(size);
  std::iota(pinned_source.begin(), pinned_source.end(), 1);
  std::iota(pageable_source.begin(), pageable_source.end(), 2);
  std::fill(pinned.begin(), pinned.end(), 0);

  // The first copies of a process also set things up, so one of each kind goes ahead.
  // Redundant: what these two give is not looked at.
  copy_and_wait(x, pinned_source, stream);
  // Redundant: what these two give is not looked at.
  copy_and_wait(y, pageable_source, stream);
  fill(x, 0, stream);
  fill(y, 0, stream);

  timed_copy("PinnedToDevice", x, pinned_source, stream);
  timed_copy("DeviceToPinned", pinned, x, stream);
  timed_copy("PageableToDevice", y, pageable_source, stream);
  timed_copy("DeviceToPageable", pageable, y, stream);

  // timed_copy waits for each copy. Without a wait neither side may be touched, also where the
  // memory is pageable: that the call blocks is what CUDA does, and nothing to build on.
  check(std::ranges::equal(pinned, pinned_source), "the pinned copies moved every byte");
  check(pageable == pageable_source, "the pageable copies moved every byte");
}

}  // namespace

int main() try {
  const Environment env = Environment::probe();
  if (!env.usable()) {
    std::printf("AsyncCopy=Skipped %s\n", env.reason());
    return 77;
  }
  run();
  std::printf("AsyncCopy Passed=%s\n", passed ? "True" : "False");
  return passed ? 0 : 1;
} catch (const Error& error) {
  std::fprintf(stderr, "async_copy: %s\n", error.what());
  return 1;
}
