// SPDX-License-Identifier: BSL-1.0
//
// Host functions: code of the host that runs in the order of a stream, after the work before it.
// Here one signals another thread, one gives a value back, and one is launched many times.
//
// A host function runs on a thread of CUDA. It must make no CUDA call, and it must not wait for
// work that is enqueued behind it. Keep it short, and let another thread do what is long.
#include <culvert/culvert.hpp>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <numeric>
#include <thread>

using namespace culvert;

namespace {

bool passed = true;

void check(bool ok, const char* what) {
  if (ok) return;
  passed = false;
  std::fprintf(stderr, "Not so: %s\n", what);
}

void run() {
  constexpr std::size_t size = 1000;
  Stream stream;
  DeviceBuffer<int> x(size, stream);
  PinnedBuffer<int> host(size);
  std::fill(host.begin(), host.end(), 0);

  // 1. Signal a thread that waits, when the stream has come this far.
  std::mutex mutex;
  std::condition_variable changed;
  bool ready = false;

  fill(x, 5, stream);
  copy(host, x, stream);
  launch_host(stream, [&] {  // returns at once; the function runs after the copy
    const std::lock_guard lock(mutex);
    ready = true;
    changed.notify_one();
  });

  long long consumed = 0;
  std::thread consumer([&] {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return ready; });
    consumed = std::accumulate(host.begin(), host.end(), 0ll);  // the copy is complete
  });
  consumer.join();
  // Redundant: for the sum, but the function uses `mutex` until it returns.
  stream.synchronize();
  std::printf("SignalledSum=%lld\n", consumed);
  check(consumed == 5 * static_cast<long long>(size), "the signal came after the copy");

  // 2. A value, or an exception, from a host function.
  fill(x, 6, stream);
  copy(host, x, stream);
  HostFuture<long long> sum =
      async_host(stream, [&host] { return std::accumulate(host.begin(), host.end(), 0ll); });
  const long long value = sum.get();  // blocks the host until the function has run
  std::printf("FutureSum=%lld\n", value);
  check(value == 6 * static_cast<long long>(size), "the future's value was made after the copy");

  // 3. One function, launched many times: nothing is allocated at each launch.
  std::atomic<int> steps{0};
  HostFunc count([&steps] { ++steps; });
  for (int i = 0; i < 10; ++i) {
    fill(x, i, stream);
    launch_host(stream, count);
  }
  stream.synchronize();
  std::printf("Steps=%d\n", steps.load());
  check(steps == 10, "the function ran once for each launch");
}

}  // namespace

int main() try {
  const Environment env = Environment::probe();
  if (!env.usable()) {
    std::printf("HostFunction=Skipped %s\n", env.reason());
    return 77;
  }
  run();
  std::printf("HostFunction Passed=%s\n", passed ? "True" : "False");
  return passed ? 0 : 1;
} catch (const Error& error) {
  std::fprintf(stderr, "host_function: %s\n", error.what());
  return 1;
}
