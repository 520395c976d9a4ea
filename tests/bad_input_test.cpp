// SPDX-License-Identifier: BSL-1.0
//
// Every misuse is answered with an exact error. What culvert refuses itself, it refuses before
// any CUDA call: expect_refused checks that too, where calls are counted.
#include <culvert/culvert.hpp>

#include <climits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "support/expect_error.hpp"

using namespace culvert;
using support::expect_error;
using support::expect_refused;
using support::Expected;

namespace {

// What is left of an owner after a move.
template <class Owner>
Owner moved_from(Owner owner) {
  const Owner taken = std::move(owner);
  return owner;  // NOLINT(bugprone-use-after-move)
}

Expected used_after_move(const std::string& type) {
  return {cudaErrorInvalidResourceHandle, type, {"moved from"}};
}

class BadInputTest : public support::RuntimeTest {
 protected:
  const Stream stream;
  DeviceBuffer<int> buffer{4, stream};
  std::vector<int> four{1, 2, 3, 4};
  std::vector<int> five{1, 2, 3, 4, 5};
};

TEST_F(BadInputTest, CopyOfDifferentSizes) {
  PinnedBuffer<int> pinned(5);
  int array[3] = {};
  expect_refused([&] { copy(buffer, five, stream); },
                 {cudaErrorInvalidValue, "culvert::copy", {"destination has 4", "source 5"}});
  expect_refused([&] { copy(pinned, buffer, stream); },
                 {cudaErrorInvalidValue, "culvert::copy", {"destination has 5", "source 4"}});
  expect_refused([&] { copy(buffer.subspan(0, 2), buffer.subspan(0, 3), stream); },
                 {cudaErrorInvalidValue, "culvert::copy", {"destination has 2", "source 3"}});
  expect_refused([&] { copy(array, four, stream); },
                 {cudaErrorInvalidValue, "culvert::copy", {"destination has 3", "source 4"}});
  expect_refused(
      [&] { copy_and_wait(buffer, five, stream); },
      {cudaErrorInvalidValue, "culvert::copy_and_wait", {"destination has 4", "source 5"}});
  expect_refused([&] { copy(buffer, std::span<int>(), stream); },
                 {cudaErrorInvalidValue, "culvert::copy", {"destination has 4", "source 0"}});
}

TEST_F(BadInputTest, NullWithASize) {
  const std::span<int> null(static_cast<int*>(nullptr), 4);
  const Expected null_host{cudaErrorInvalidValue, "culvert::copy", {"null host pointer", "4"}};
  expect_refused([&] { copy(buffer, null, stream); }, null_host);
  expect_refused([&] { copy(null, buffer, stream); }, null_host);
  const Expected null_device{cudaErrorInvalidValue, "culvert::DeviceSpan", {"null", "4 elements"}};
  expect_refused([] { (void)DeviceSpan<int>(nullptr, 4); }, null_device);
  expect_refused([] { (void)DeviceBuffer<int>::from_handle(nullptr, 4); }, null_device);
  expect_refused([&] { (void)DeviceBuffer<int>::from_handle(nullptr, 4, stream); }, null_device);
  expect_refused([] { (void)PinnedBuffer<int>::from_handle(nullptr, 4); },
                 {cudaErrorInvalidValue, "culvert::PinnedBuffer::from_handle", {"null"}});
}

TEST_F(BadInputTest, MovedFromStream) {
  const Stream gone = moved_from(Stream());
  const Event event;
  const TimedEvent timed;
  const EventRef view = event;
  const MemoryPool pool;
  DeviceBuffer<int> result;
  const Expected expected = used_after_move("culvert::Stream");
  expect_refused([&] { gone.synchronize(); }, expected);
  expect_refused([&] { (void)gone.is_done(); }, expected);
  expect_refused([&] { (void)gone.record(); }, expected);
  expect_refused([&] { (void)gone.record_timed(); }, expected);
  expect_refused([&] { gone.record(event); }, expected);
  expect_refused([&] { gone.record(timed); }, expected);
  expect_refused([&] { gone.record(view); }, expected);
  expect_refused([&] { gone.wait(event); }, expected);
  expect_refused([&] { gone.wait(timed); }, expected);
  expect_refused([&] { gone.wait(view); }, expected);
  expect_refused([&] { gone.wait(stream); }, expected);
  expect_refused([&] { stream.wait(gone); }, expected);
  expect_refused([&] { (void)gone.id(); }, expected);
  expect_refused([&] { (void)gone.kind(); }, expected);
  expect_refused([&] { (void)gone.flags(); }, expected);
  expect_refused([&] { (void)gone.priority(); }, expected);
  expect_refused([&] { (void)gone.device(); }, expected);
  expect_refused([&] { (void)StreamRef(gone); }, expected);
  expect_refused([&] { (void)StreamRef(gone.get()); }, expected);
  expect_refused([&] { copy(buffer, four, gone); }, expected);
  expect_refused([&] { copy_and_wait(four, buffer, gone); }, expected);
  expect_refused([&] { fill(buffer, 1, gone); }, expected);
  expect_refused([&] { fill_bytes(buffer, 1, gone); }, expected);
  expect_refused([&] { (void)DeviceBuffer<int>(4, gone); }, expected);
  expect_refused([&] { (void)DeviceBuffer<int>(4, gone, pool); }, expected);
  expect_refused([&] { (void)DeviceBuffer<int>::try_allocate(result, 4, gone); }, expected);
  expect_refused([&] { buffer.rebind(gone); }, expected);
}

TEST_F(BadInputTest, ReleasedAndResetStream) {
  Stream released;
  const Stream owner = Stream::from_handle(released.release());
  expect_refused([&] { released.synchronize(); }, used_after_move("culvert::Stream"));
  Stream reset;
  reset.reset();
  expect_refused([&] { reset.synchronize(); }, used_after_move("culvert::Stream"));
}

template <class EventType>
void expect_moved_from_event_refused(const Stream& stream) {
  const EventType gone = moved_from(EventType());
  const Expected expected = used_after_move("culvert::Event");
  expect_refused([&] { gone.synchronize(); }, expected);
  expect_refused([&] { (void)gone.is_done(); }, expected);
  expect_refused([&] { stream.record(gone); }, expected);
  expect_refused([&] { stream.wait(gone); }, expected);
  expect_refused([&] { StreamRef(stream).record(gone); }, expected);
  expect_refused([&] { StreamRef(stream).wait(gone); }, expected);
  expect_refused([&] { (void)EventRef(gone); }, expected);
}

TEST_F(BadInputTest, MovedFromEvent) {
  expect_moved_from_event_refused<Event>(stream);
  expect_moved_from_event_refused<TimedEvent>(stream);
}

TEST_F(BadInputTest, NullEvent) {
  const cudaEvent_t null = nullptr;
  expect_refused([&] { (void)EventRef(null); },
                 {cudaErrorInvalidResourceHandle, "culvert::EventRef", {"null"}});
  expect_refused([&] { (void)Event::from_handle(null); },
                 {cudaErrorInvalidValue, "culvert::Event::from_handle", {"null"}});
  expect_refused([&] { (void)TimedEvent::from_handle(null); },
                 {cudaErrorInvalidValue, "culvert::Event::from_handle", {"null"}});
}

TEST_F(BadInputTest, DefaultStreamHasNoOwner) {
  const Expected expected{
      cudaErrorInvalidResourceHandle, "culvert::Stream::from_handle", {"default stream"}};
  const Stream gone = moved_from(Stream());
  for (const cudaStream_t handle :
       {cudaStream_t{}, cudaStreamLegacy, cudaStreamPerThread, gone.get()}) {
    expect_refused([&] { (void)Stream::from_handle(handle); }, expected);
  }
}

TEST_F(BadInputTest, MovedFromPool) {
  const MemoryPool gone = moved_from(MemoryPool());
  const Expected expected = used_after_move("culvert::MemoryPool");
  expect_refused([&] { gone.set_release_threshold(1); }, expected);
  expect_refused([&] { (void)gone.release_threshold(); }, expected);
  expect_refused([&] { gone.trim(); }, expected);
  expect_refused([&] { (void)gone.statistics(); }, expected);
  expect_refused([&] { gone.reset_high_water(); }, expected);
  expect_refused([&] { (void)MemoryPoolRef(gone); }, expected);
  expect_refused([&] { (void)DeviceBuffer<int>(4, stream, gone); }, expected);

  const cudaMemPool_t null = nullptr;
  expect_refused([&] { (void)MemoryPoolRef(null); },
                 {cudaErrorInvalidResourceHandle, "culvert::MemoryPoolRef", {"null"}});
  expect_refused([&] { (void)MemoryPool::from_handle(null); },
                 {cudaErrorInvalidValue, "culvert::MemoryPool::from_handle", {"null"}});
}

TEST_F(BadInputTest, MovedFromDeviceBuffer) {
  DeviceBuffer<int> gone = moved_from(DeviceBuffer<int>(4, stream));
  const DeviceBuffer<int>& constant = gone;
  DeviceBuffer<int> empty;
  const Expected expected = used_after_move("culvert::DeviceBuffer");
  expect_refused([&] { copy(gone, four, stream); }, expected);
  expect_refused([&] { copy(four, gone, stream); }, expected);
  expect_refused([&] { copy(four, constant, stream); }, expected);
  expect_refused([&] { copy(gone, empty, stream); }, expected);
  expect_refused([&] { copy_and_wait(empty, gone, stream); }, expected);
  expect_refused([&] { fill(gone, 1, stream); }, expected);
  expect_refused([&] { fill_bytes(gone, 1, stream); }, expected);
  expect_refused([&] { (void)gone.device_span(); }, expected);
  expect_refused([&] { (void)constant.device_span(); }, expected);
  expect_refused([&] { (void)gone.subspan(0, 0); }, expected);
  expect_refused([&] { (void)constant.subspan(0, 0); }, expected);
  expect_refused([&] { (void)gone.home(); }, expected);
  expect_refused([&] { gone.rebind(stream); }, expected);
}

TEST_F(BadInputTest, ReleasedAndResetDeviceBuffer) {
  DeviceBuffer<int> released(4);
  const auto owner = DeviceBuffer<int>::from_handle(released.release(), 4);
  expect_refused([&] { fill(released, 1, stream); }, used_after_move("culvert::DeviceBuffer"));
  buffer.reset();
  expect_refused([&] { fill(buffer, 1, stream); }, used_after_move("culvert::DeviceBuffer"));
  // A new one may take its place.
  buffer = DeviceBuffer<int>(4, stream);
  copy(buffer, four, stream);
}

TEST_F(BadInputTest, MovedFromPinnedBuffer) {
  PinnedBuffer<int> gone = moved_from(PinnedBuffer<int>(4));
  const PinnedBuffer<int>& constant = gone;
  DeviceBuffer<int> empty;
  const Expected expected = used_after_move("culvert::PinnedBuffer");
  expect_refused([&] { copy(gone, buffer, stream); }, expected);
  expect_refused([&] { copy(buffer, gone, stream); }, expected);
  expect_refused([&] { copy(buffer, constant, stream); }, expected);
  expect_refused([&] { copy(empty, gone, stream); }, expected);
  expect_refused([&] { copy_and_wait(gone, buffer, stream); }, expected);
  expect_refused([&] { (void)gone.host_span(); }, expected);
  expect_refused([&] { (void)constant.host_span(); }, expected);
  expect_refused([&] { (void)gone.mapped_span(); }, expected);
  gone = PinnedBuffer<int>(4);
  // Redundant: that it is accepted is the test.
  copy_and_wait(gone, buffer, stream);
}

TEST_F(BadInputTest, Ordinals) {
  expect_refused([] { (void)Device(-1); },
                 {cudaErrorInvalidDevice, "culvert::Device", {"-1", "negative"}});
  const std::string count = std::to_string(Device::count());
  expect_error([] { (void)Device(Device::count()); },
               {cudaErrorInvalidDevice, "culvert::Device", {count, "sees " + count}});
  expect_error([] { (void)Device(INT_MAX); },
               {cudaErrorInvalidDevice, "culvert::Device", {std::to_string(INT_MAX)}});
}

TEST_F(BadInputTest, Priorities) {
  const PriorityRange range = Device::current().priority_range();
  const auto expected = [&](int priority) {
    return Expected{
        cudaErrorInvalidValue,
        "culvert::Stream",
        {"priority " + std::to_string(priority), std::to_string(range.highest) + " (highest)",
         std::to_string(range.lowest) + " (lowest)"}};
  };
  for (const int priority : {range.lowest + 1, range.highest - 1, INT_MAX, INT_MIN}) {
    expect_error([&] { (void)Stream{{.priority = priority}}; }, expected(priority));
  }
}

TEST_F(BadInputTest, SizesThatOverflow) {
  const MemoryPool pool;
  const Device device(0);
  for (const std::size_t size : {SIZE_MAX, std::size_t{PTRDIFF_MAX} / sizeof(int) + 1}) {
    const std::vector<std::string> texts{"overflows", std::to_string(size), "4 bytes"};
    const Expected in_buffer{cudaErrorInvalidValue, "culvert::DeviceBuffer", texts};
    expect_refused([&] { (void)DeviceBuffer<int>(size); }, in_buffer);
    expect_refused([&] { (void)DeviceBuffer<int>(size, device); }, in_buffer);
    expect_refused([&] { (void)DeviceBuffer<int>(size, stream); }, in_buffer);
    expect_refused([&] { (void)DeviceBuffer<int>(size, stream, pool); }, in_buffer);
    const Expected in_pinned{cudaErrorInvalidValue, "culvert::PinnedBuffer", texts};
    expect_refused([&] { (void)PinnedBuffer<int>(size); }, in_pinned);
    expect_refused([&] { (void)PinnedBuffer<int>(size, {.mapped = true}); }, in_pinned);
    expect_refused([&] { (void)DeviceSpan<int>(buffer.data(), size); },
                   {cudaErrorInvalidValue, "culvert::DeviceSpan", texts});
  }
}

TEST_F(BadInputTest, MoreThanThereIs) {
  const MemoryPool pool;
  const std::size_t size = 4 * Device::current().memory_info().total;
  const std::string text = "for " + std::to_string(size) + " bytes";
  const auto expected = [&](const char* function) {
    return Expected{cudaErrorMemoryAllocation, function, {text}};
  };
  using Bytes = DeviceBuffer<std::byte>;
  expect_error([&] { (void)Bytes(size); }, expected("cudaMalloc"));
  expect_error([&] { (void)Bytes(size, Device(0)); }, expected("cudaMalloc"));
  expect_error([&] { (void)Bytes(size, stream); }, expected("cudaMallocAsync"));
  expect_error([&] { (void)Bytes(size, stream, pool); }, expected("cudaMallocFromPoolAsync"));
  // More than any machine has.
  const std::size_t huge = std::size_t{1} << 46;
  expect_error(
      [&] { (void)PinnedBuffer<std::byte>(huge); },
      {cudaErrorMemoryAllocation, "cudaHostAlloc", {"for " + std::to_string(huge) + " bytes"}});

  // The program goes on.
  copy(buffer, four, stream);
  std::vector<int> result(4);
  copy_and_wait(result, buffer, stream);
  EXPECT_EQ(result, four);
}

TEST_F(BadInputTest, Elapsed) {
  const TimedEvent never;
  const TimedEvent done = stream.record_timed();
  stream.synchronize();
  support::delay(stream.get());
  const TimedEvent unfinished = stream.record_timed();
  const TimedEvent gone = moved_from(TimedEvent());

  const Expected unrecorded{
      cudaErrorInvalidResourceHandle, "cudaEventElapsedTime", {"never recorded"}};
  expect_error([&] { (void)elapsed(never, done); }, unrecorded);
  expect_error([&] { (void)elapsed(done, never); }, unrecorded);
  expect_error([&] { (void)try_elapsed(never, done); }, unrecorded);
  expect_error([&] { (void)try_elapsed(done, never); }, unrecorded);

  const Expected not_ready{
      cudaErrorNotReady, "cudaEventElapsedTime", {"not complete", "try_elapsed"}};
  expect_error([&] { (void)elapsed(done, unfinished); }, not_ready);
  expect_error([&] { (void)elapsed(unfinished, done); }, not_ready);
  EXPECT_EQ(try_elapsed(done, unfinished), std::nullopt);

  const Expected moved = used_after_move("culvert::Event");
  expect_refused([&] { (void)elapsed(gone, done); }, moved);
  expect_refused([&] { (void)elapsed(done, gone); }, moved);
  expect_refused([&] { (void)try_elapsed(gone, done); }, moved);
  expect_refused([&] { (void)try_elapsed(done, gone); }, moved);
  stream.synchronize();
}

TEST_F(BadInputTest, FillBytesOutsideOfAByte) {
  for (const int value : {-1, 256, INT_MAX, INT_MIN}) {
    expect_refused([&] { fill_bytes(buffer, value, stream); },
                   {cudaErrorInvalidValue, "culvert::fill_bytes", {std::to_string(value)}});
  }
}

TEST_F(BadInputTest, PartsOutside) {
  const DeviceBuffer<int>& constant = buffer;
  const Expected expected{
      cudaErrorInvalidValue, "culvert::DeviceSpan::subspan", {"are not inside 4"}};
  expect_refused([&] { (void)buffer.subspan(0, 5); }, expected);
  expect_refused([&] { (void)buffer.subspan(5, 0); }, expected);
  expect_refused([&] { (void)constant.subspan(3, 2); }, expected);
  expect_refused([&] { (void)constant.subspan(1, SIZE_MAX); }, expected);
}

TEST_F(BadInputTest, NoHome) {
  DeviceBuffer<int> plain(4);
  const Expected expected{
      cudaErrorInvalidValue, "culvert::DeviceBuffer", {"without a stream", "home"}};
  expect_refused([&] { (void)plain.home(); }, expected);
  expect_refused([&] { plain.rebind(stream); }, expected);
}

}  // namespace
