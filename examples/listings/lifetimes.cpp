// SPDX-License-Identifier: BSL-1.0
//
// Memory that ends before the work that uses it: it is handed to the stream, which keeps it as
// long as needed. And results that cannot be read before they are there.
#include <culvert/culvert.hpp>
#include <culvert/pending.hpp>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <vector>

using namespace culvert;

namespace {

constexpr std::size_t size = 1 << 16;

bool passed = true;

void check(bool ok, const char* what) {
  if (ok) return;
  passed = false;
  std::fprintf(stderr, "Not so: %s\n", what);
}

// Enqueues copies of a local buffer, and returns at once.
void send(DeviceBuffer<int>& to_a, StreamRef a, DeviceBuffer<int>& to_b, StreamRef b) {
  PinnedBuffer<int> staging(size);
  std::iota(staging.begin(), staging.end(), 1);
  copy(to_a, staging, a);
  copy(to_b, staging, b);
  retire({a, b}, std::move(staging));  // both streams still read it
}

void run() {
  Stream a, b;
  DeviceBuffer<int> x(size, a), y(size, b);
  send(x, a, y, b);

  Pending<std::vector<int>> from_x = read_back(x, a);  // returns at once
  Pending<std::vector<int>> from_y = read_back(y, b);
  (void)read_back(y, b);  // one that nobody wants: its memory lives until the copy is complete

  const std::vector<int> result_x = from_x.get();  // waits
  const std::vector<int> result_y = from_y.get();
  check(result_x.front() == 1 && result_x.back() == static_cast<int>(size), "x is right");
  check(result_x == result_y, "y is the same");
  std::printf("Elements=%zu\n", result_x.size());

  collect_and_wait();  // at the end: all that was handed to streams has ended
}

}  // namespace

int main() try {
  const Environment env = Environment::probe();
  if (!env.usable()) {
    std::printf("Lifetimes=Skipped %s\n", env.reason());
    return 77;
  }
  run();
  std::printf("Lifetimes Passed=%s\n", passed ? "True" : "False");
  return passed ? 0 : 1;
} catch (const Error& error) {
  std::fprintf(stderr, "lifetimes: %s\n", error.what());
  return 1;
}
