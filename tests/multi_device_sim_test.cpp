// SPDX-License-Identifier: BSL-1.0
//
// Several devices.
#include <culvert/culvert.hpp>
#include <culvert/sim/sim.hpp>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "support/expect_error.hpp"

using namespace culvert;
using support::expect_error;

namespace {

constexpr std::size_t size = 4099;
using Bytes = std::vector<std::byte>;

class MultiDeviceTest : public support::RuntimeTest {
 protected:
  MultiDeviceTest() : RuntimeTest(3) { kept_events = 3; }

  const Device first{0}, second{1}, third{2};
};

int device_of(const void* memory) {
  cudaPointerAttributes attributes{};
  EXPECT_EQ(cudaPointerGetAttributes(&attributes, memory), cudaSuccess);
  return attributes.device;
}

TEST_F(MultiDeviceTest, OrdinalsGoUpToTheCount) {
  EXPECT_EQ(Device::count(), 3);
  expect_error([] { (void)Device(3); },
               {cudaErrorInvalidDevice, "culvert::Device", {"3", "sees 3 devices"}});
}

TEST_F(MultiDeviceTest, CreationLeavesTheCurrentDevice) {
  for (const Device device : {first, second, third}) {
    third.make_current();
    const Stream stream{{.device = device, .priority = Priority::highest}};
    EXPECT_EQ(Device::current(), third);
    EXPECT_EQ(stream.device(), device);
    EXPECT_EQ(StreamRef(stream).device(), device);

    // An event is recorded on a stream of its own device only.
    const Event event{{.device = device}};
    EXPECT_EQ(Device::current(), third);
    stream.record(event);
    const TimedEvent timed{{.device = device}};
    EXPECT_EQ(Device::current(), third);
    stream.record(timed);

    const MemoryPool pool{{.device = device}};
    EXPECT_EQ(Device::current(), third);
    const DeviceBuffer<int> from_pool(100, stream, pool);
    EXPECT_EQ(device_of(from_pool.data()), device.ordinal());
    const DeviceBuffer<int> in_stream(100, stream);
    EXPECT_EQ(device_of(in_stream.data()), device.ordinal());
    const DeviceBuffer<int> plain(100, device);
    EXPECT_EQ(device_of(plain.data()), device.ordinal());
    EXPECT_EQ(Device::current(), third);
    const DeviceBuffer<int> current(100);
    EXPECT_EQ(device_of(current.data()), third.ordinal());
  }
}

TEST_F(MultiDeviceTest, FailedCreationLeavesTheCurrentDevice) {
  sim::fail("cudaStreamCreateWithFlags", cudaErrorUnknown);
  EXPECT_THROW((Stream{{.device = second}}), Error);
  EXPECT_EQ(Device::current(), first);
  sim::fail("cudaMalloc", cudaErrorMemoryAllocation);
  EXPECT_THROW(DeviceBuffer<int>(100, second), OutOfMemory);
  EXPECT_EQ(Device::current(), first);
}

TEST_F(MultiDeviceTest, GuardsNestAndSurviveExceptions) {
  {
    const DeviceGuard outer(second);
    EXPECT_EQ(Device::current(), second);
    {
      const DeviceGuard inner(third);
      EXPECT_EQ(Device::current(), third);
      const DeviceGuard same(third);
      EXPECT_EQ(Device::current(), third);
    }
    EXPECT_EQ(Device::current(), second);
    try {
      const DeviceGuard inner(first);
      throw std::runtime_error("left by an exception");
    } catch (const std::runtime_error&) {
      EXPECT_EQ(Device::current(), second);
    }
  }
  EXPECT_EQ(Device::current(), first);
}

TEST_F(MultiDeviceTest, CurrentDeviceIsTheThreads) {
  second.make_current();
  support::in_threads(1, [&](int) {
    EXPECT_EQ(Device::current(), first);
    third.make_current();
  });
  EXPECT_EQ(Device::current(), second);
}

TEST_F(MultiDeviceTest, RecordsOnStreamsOfAnyDevice) {
  const Stream streams[] = {Stream{{.device = first}}, Stream{{.device = second}},
                            Stream{{.device = third}}};
  const auto record_all = [&](Device current) {
    current.make_current();
    for (const Stream& stream : streams) {
      support::delay(stream.get());
      const Event event = stream.record();
      const TimedEvent timed = stream.record_timed();
      EXPECT_FALSE(event.is_done());
      timed.synchronize();
      EXPECT_TRUE(event.is_done());
      EXPECT_EQ(Device::current(), current);
    }
  };
  for (const Device current : {first, second, third}) {
    record_all(current);
    support::in_threads(1, [&](int) { record_all(current); });
  }
}

TEST_F(MultiDeviceTest, EventOfAnotherDeviceIsRefusedByCuda) {
  const Stream stream{{.device = second}};
  const Event event;
  expect_error([&] { stream.record(event); }, {cudaErrorInvalidResourceHandle, "cudaEventRecord"});
}

TEST_F(MultiDeviceTest, TimeBetweenDevicesIsRefused) {
  const TimedEvent here;
  const TimedEvent there{{.device = second}};
  const Stream a;
  const Stream b{{.device = second}};
  a.record(here);
  b.record(there);
  // Redundant: that the calls succeed, and how many there are, is the test.
  a.synchronize();
  // Redundant: that the calls succeed, and how many there are, is the test.
  b.synchronize();
  expect_error([&] { (void)elapsed(here, there); },
               {cudaErrorInvalidResourceHandle, "cudaEventElapsedTime", {"different devices"}});
}

// Bytes go from device to device; each step waits for the one before.
class Relay {
 public:
  Relay(Device from, Device to)
      : a({.device = from}), b({.device = to}), x_(size, from), y_(size, to) {
    std::ranges::copy(expected_, source_.begin());
    std::ranges::fill(result_, support::poison);
    support::write_device(x_.data(), support::poisoned(size));
  }
  void produce() { copy(x_, source_, a); }
  void consume() {
    copy(y_, x_, b);
    copy(result_, y_, b);
    b.synchronize();
  }
  bool arrived() const { return std::ranges::equal(result_, expected_); }

 private:
  const Bytes expected_ = support::random_bytes(size);
  PinnedBuffer<std::byte> source_{size};
  PinnedBuffer<std::byte> result_{size};

 public:
  const Stream a, b;

 private:
  DeviceBuffer<std::byte> x_, y_;
};

TEST_F(MultiDeviceTest, EventsCrossDevices) {
  for (const bool with_wait : {true, false}) {
    Relay relay(first, second);
    relay.produce();
    const Event produced = relay.a.record();
    if (with_wait) relay.b.wait(produced);
    relay.consume();
    EXPECT_EQ(relay.arrived(), with_wait);
  }
}

TEST_F(MultiDeviceTest, JoinsCrossDevices) {
  for (const Device from : {first, second, third}) {
    for (const Device to : {first, second, third}) {
      for (const Device current : {first, second, third}) {
        current.make_current();
        Relay relay(from, to);
        relay.produce();
        relay.b.wait(relay.a);
        EXPECT_EQ(Device::current(), current);
        relay.consume();
        EXPECT_TRUE(relay.arrived());
      }
    }
  }
  // One kept event for each device.
  EXPECT_EQ(sim::live().events, 3u);
}

TEST_F(MultiDeviceTest, JoinsUseTheEventOfTheRightDevice) {
  const Stream a, b;
  const Stream there{{.device = third}};
  // Redundant: that the calls succeed, and how many there are, is the test.
  b.wait(a);
  // Redundant: that the calls succeed, and how many there are, is the test.
  b.wait(there);
  // Redundant: that the calls succeed, and how many there are, is the test.
  b.wait(a);
  const std::uint64_t created = sim::call_count("cudaEventCreateWithFlags");
  // The event used last is tried first: one record and one wait.
  const std::uint64_t calls = sim::call_count();
  // Redundant: that the calls succeed, and how many there are, is the test.
  b.wait(a);
  EXPECT_EQ(sim::call_count(), calls + 2);
  for (int i = 0; i < 10; ++i) {
    // Redundant: that the calls succeed, and how many there are, is the test.
    b.wait(a);
    // Redundant: that the calls succeed, and how many there are, is the test.
    there.wait(b);
    // Redundant: that the calls succeed, and how many there are, is the test.
    a.wait(there);
  }
  EXPECT_EQ(sim::call_count("cudaEventCreateWithFlags"), created);
  EXPECT_EQ(sim::live().events, 2u);
}

TEST_F(MultiDeviceTest, DefaultStreamsOfTwoDevicesAreUnordered) {
  DeviceBuffer<std::byte> x(size, first);
  support::write_device(x.data(), support::poisoned(size));
  PinnedBuffer<std::byte> source(size);
  PinnedBuffer<std::byte> result(size);
  std::ranges::fill(source, std::byte{1});
  copy(x, source, StreamRef::legacy());
  {
    const DeviceGuard guard(second);
    copy(result, x, StreamRef::legacy());
    StreamRef::legacy().synchronize();
  }
  EXPECT_EQ(std::ranges::count(result, support::poison), std::ptrdiff_t{size});
}

TEST_F(MultiDeviceTest, SynchronizeMeansOneDevice) {
  const Stream a;
  const Stream b{{.device = second}};
  support::delay(a.get());
  support::delay(b.get());
  second.synchronize();
  EXPECT_EQ(Device::current(), first);
  EXPECT_TRUE(b.is_done());
  EXPECT_FALSE(a.is_done());
}

TEST_F(MultiDeviceTest, MemoryInfoIsTheDevices) {
  const std::size_t free[] = {first.memory_info().free, second.memory_info().free,
                              third.memory_info().free};
  constexpr std::size_t allocated = 64 << 20;
  const DeviceBuffer<std::byte> buffer(allocated, second);
  EXPECT_EQ(first.memory_info().free, free[0]);
  EXPECT_LE(second.memory_info().free, free[1] - allocated);
  EXPECT_EQ(third.memory_info().free, free[2]);
  EXPECT_EQ(Device::current(), first);
}

TEST_F(MultiDeviceTest, EachDeviceHasItsPools) {
  const MemoryPoolRef pool = MemoryPoolRef::default_of(second);
  EXPECT_FALSE(pool == MemoryPoolRef::default_of(first));
  const Stream stream{{.device = second}};
  const DeviceBuffer<int> buffer(1000, stream);
  // Redundant: a pool counts at the call.
  stream.synchronize();
  EXPECT_GE(pool.statistics().used, 4000u);
  EXPECT_EQ(MemoryPoolRef::default_of(first).statistics().used, 0u);
}

}  // namespace
