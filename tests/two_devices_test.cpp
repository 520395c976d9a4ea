// SPDX-License-Identifier: BSL-1.0
//
// Work on a device that is not the current one, with two real devices where there are two.
#include <culvert/culvert.hpp>

#include <algorithm>
#include <cstdio>
#include <thread>

using namespace culvert;

namespace {

int failures = 0;

void expect(bool right, const char* what) {
  if (right) return;
  std::printf("not so: %s\n", what);
  ++failures;
}

bool all_are(const PinnedBuffer<int>& buffer, int value) {
  return std::all_of(buffer.begin(), buffer.end(), [&](int found) { return found == value; });
}

template <class Work>
cudaError_t error_of(Work&& work) {
  try {
    work();
    return cudaSuccess;
  } catch (const Error& error) {
    return error.status();
  }
}

void run() {
  constexpr std::size_t size = 100'000;
  const Device first(0), second(1);
  Stream a{{.device = first}}, b{{.device = second}};
  expect(Device::current() == first, "creation leaves the current device");
  expect(a.device() == first && b.device() == second, "streams know their devices");

  // From here on the second device is used while the first is current.
  DeviceBuffer<int> ordered(size, b), plain(size, second), here(size, first);
  PinnedBuffer<int> host(size);
  fill(ordered, 7, b);
  copy_and_wait(host, ordered, b);
  expect(all_are(host, 7), "stream-ordered memory of the other device is filled and read");
  fill(plain, 8, b);
  copy_and_wait(host, plain, b);
  expect(all_are(host, 8), "plain memory of the other device is filled and read");

  fill(here, 9, a);
  b.wait(a);
  copy(plain, here, b);
  copy_and_wait(host, plain, b);
  expect(all_are(host, 9), "a copy across devices comes after the join of their streams");
  expect(error_of([&] {
           DeviceBuffer<int> ordered_here(size, a);
           a.synchronize();
           copy(ordered, ordered_here, b);
         }) == cudaErrorInvalidValue,
         "stream-ordered memory of two devices is not copied");

  const Event event = b.record();
  const TimedEvent timed = b.record_timed();
  a.wait(event);
  event.synchronize();
  timed.synchronize();
  expect(event.is_done() && timed.is_done(), "events of the other device");
  const Event of_the_first;
  expect(error_of([&] { b.record(of_the_first); }) == cudaErrorInvalidResourceHandle,
         "an event of the wrong device is refused");

  for (int i = 0; i < 3; ++i) {  // kept events of both devices, in turn
    b.wait(a);
    a.wait(b);
  }
  std::thread([&] {
    b.wait(a);
    b.record().synchronize();
    expect(Device::current() == first, "another thread's current device");
  }).join();
  {
    const DeviceGuard guard(second);
    const Stream inner;
    expect(inner.device() == second, "the guard's device is current");
    a.wait(inner);
    inner.wait(a);
  }
  expect(Device::current() == first, "the guard restores");
  expect(peek_last_error() == cudaSuccess, "no error is left behind");
  a.synchronize();
  b.synchronize();
}

}  // namespace

int main() {
  if (Environment::probe().device_count() < 2) return 77;
  const cudaError_t status = error_of(run);
  expect(status == cudaSuccess, cudaGetErrorName(status));
  return failures == 0 ? 0 : 1;
}
