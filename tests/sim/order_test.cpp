// SPDX-License-Identifier: BSL-1.0
// What runs when: streams, events, the legacy default stream, both schedules.
#include "sim/stream.hpp"

#include <memory>

#include "sim_fixture.hpp"

namespace {

class Order : public SimTest {};

using Log = std::vector<int>;

struct Note {
  Log* log;
  int number;
};

void write_note(void* data) {
  const Note* const note = static_cast<const Note*>(data);
  note->log->push_back(note->number);
}

TEST_F(Order, NothingRunsBeforeSomethingWaits) {
  cudaStream_t stream = make_stream();
  unsigned char* const device = make_device(16);
  unsigned char* const pinned = make_pinned(16);
  CUDA_OK(cudaMemsetAsync(device, 0x1FF, 16, stream));
  CUDA_OK(cudaMemcpyAsync(pinned, device, 16, cudaMemcpyDeviceToHost, stream));
  EXPECT_EQ(sim::pending(), 2U);
  EXPECT_EQ(pinned[0], 0);
  CUDA_OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(sim::pending(), 0U);
  EXPECT_EQ(pinned[0], 0xFF);  // the value is used as a byte
}

TEST_F(Order, OnlyAncestorsRun) {
  Log log;
  Note notes[] = {{&log, 0}, {&log, 1}, {&log, 2}, {&log, 3}};
  cudaStream_t a = make_stream();
  cudaStream_t b = make_stream();
  cudaEvent_t event = make_event();
  CUDA_OK(cudaLaunchHostFunc(a, write_note, &notes[0]));
  CUDA_OK(cudaEventRecord(event, a));
  CUDA_OK(cudaLaunchHostFunc(a, write_note, &notes[1]));
  CUDA_OK(cudaLaunchHostFunc(b, write_note, &notes[2]));
  CUDA_OK(cudaStreamWaitEvent(b, event, 0));
  CUDA_OK(cudaLaunchHostFunc(b, write_note, &notes[3]));
  CUDA_OK(cudaStreamSynchronize(b));
  EXPECT_EQ(log, (Log{2, 0, 3}));
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT_EQ(log, (Log{2, 0, 3, 1}));
}

TEST_F(Order, WhatNothingOrdersRunsLastOneFirst) {
  Log log;
  Note notes[] = {{&log, 0}, {&log, 1}, {&log, 2}, {&log, 3}};
  cudaStream_t a = make_stream();
  cudaStream_t b = make_stream();
  CUDA_OK(cudaLaunchHostFunc(a, write_note, &notes[0]));
  CUDA_OK(cudaLaunchHostFunc(b, write_note, &notes[1]));
  CUDA_OK(cudaLaunchHostFunc(a, write_note, &notes[2]));
  CUDA_OK(cudaLaunchHostFunc(b, write_note, &notes[3]));
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT_EQ(log, (Log{1, 3, 0, 2}));
}

TEST_F(Order, EagerRunsAtTheCall) {
  sim::set_schedule(sim::Schedule::eager);
  cudaStream_t stream = make_stream();
  unsigned char* const device = make_device(16);
  unsigned char* const pinned = make_pinned(16);
  CUDA_OK(cudaMemsetAsync(device, 7, 16, stream));
  CUDA_OK(cudaMemcpyAsync(pinned, device, 16, cudaMemcpyDeviceToHost, stream));
  EXPECT_EQ(pinned[15], 7);
  EXPECT_EQ(sim::pending(), 0U);
}

TEST_F(Order, AWaitUsesTheRecordOfItsTime) {
  Log log;
  Note first{&log, 1};
  Note second{&log, 2};
  cudaStream_t a = make_stream();
  cudaStream_t b = make_stream();
  cudaEvent_t event = make_event();
  CUDA_OK(cudaLaunchHostFunc(a, write_note, &first));
  CUDA_OK(cudaEventRecord(event, a));
  CUDA_OK(cudaStreamWaitEvent(b, event, 0));
  CUDA_OK(cudaLaunchHostFunc(a, write_note, &second));
  CUDA_OK(cudaEventRecord(event, a));  // a later record does not change the wait
  CUDA_OK(cudaEventDestroy(event));    // nor does the end of the event
  CUDA_OK(cudaStreamSynchronize(b));
  EXPECT_EQ(log, (Log{1}));
}

TEST_F(Order, ReRecordReplaces) {
  Log log;
  Note note{&log, 1};
  cudaStream_t stream = make_stream();
  cudaEvent_t event = make_event();
  CUDA_OK(cudaEventRecord(event, stream));
  CUDA_OK(cudaLaunchHostFunc(stream, write_note, &note));
  CUDA_OK(cudaEventRecord(event, stream));
  CUDA_OK(cudaEventSynchronize(event));
  EXPECT_EQ(log, (Log{1}));
}

TEST_F(Order, AnUnrecordedEventIsComplete) {
  cudaStream_t stream = make_stream();
  cudaEvent_t event = make_event();
  EXPECT_EQ(cudaEventQuery(event), cudaSuccess);
  EXPECT_EQ(cudaEventSynchronize(event), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(stream, event, 0), cudaSuccess);
  EXPECT_EQ(sim::pending(), 0U);
}

TEST_F(Order, LegacyWaitsForBlockingStreamsAndTheyForIt) {
  Log log;
  Note notes[] = {{&log, 0}, {&log, 1}, {&log, 2}, {&log, 3}};
  cudaStream_t blocking = make_stream(cudaStreamDefault);
  cudaStream_t other = make_stream(cudaStreamDefault);
  cudaStream_t apart = make_stream(cudaStreamNonBlocking);
  CUDA_OK(cudaLaunchHostFunc(apart, write_note, &notes[0]));
  CUDA_OK(cudaLaunchHostFunc(blocking, write_note, &notes[1]));
  CUDA_OK(cudaLaunchHostFunc(nullptr, write_note, &notes[2]));
  CUDA_OK(cudaLaunchHostFunc(other, write_note, &notes[3]));
  CUDA_OK(cudaStreamSynchronize(other));
  EXPECT_EQ(log, (Log{1, 2, 3}));
  CUDA_OK(cudaStreamSynchronize(apart));
  EXPECT_EQ(log, (Log{1, 2, 3, 0}));
}

TEST_F(Order, LegacySynchronizeCoversBlockingStreams) {
  Log log;
  Note notes[] = {{&log, 0}, {&log, 1}, {&log, 2}};
  cudaStream_t blocking = make_stream(cudaStreamDefault);
  cudaStream_t apart = make_stream(cudaStreamNonBlocking);
  CUDA_OK(cudaLaunchHostFunc(blocking, write_note, &notes[0]));
  CUDA_OK(cudaLaunchHostFunc(cudaStreamPerThread, write_note, &notes[1]));
  CUDA_OK(cudaLaunchHostFunc(apart, write_note, &notes[2]));
  CUDA_OK(cudaStreamSynchronize(cudaStreamLegacy));
  EXPECT_EQ(log, (Log{1, 0}));  // nothing orders them
}

TEST_F(Order, LegacyCoversADestroyedBlockingStream) {
  Log log;
  Note note{&log, 1};
  cudaStream_t blocking = make_stream(cudaStreamDefault);
  CUDA_OK(cudaLaunchHostFunc(blocking, write_note, &note));
  CUDA_OK(cudaStreamDestroy(blocking));
  EXPECT_TRUE(log.empty());
  CUDA_OK(cudaStreamSynchronize(nullptr));
  EXPECT_EQ(log, (Log{1}));
}

TEST_F(Order, DefaultStreamsOfTwoDevicesAreUnordered) {
  sim::Config config = strict();
  config.devices = 2;
  sim::reset(config);
  Log log;
  Note notes[] = {{&log, 0}, {&log, 1}};
  CUDA_OK(cudaLaunchHostFunc(nullptr, write_note, &notes[0]));
  CUDA_OK(cudaSetDevice(1));
  CUDA_OK(cudaLaunchHostFunc(nullptr, write_note, &notes[1]));
  CUDA_OK(cudaStreamSynchronize(nullptr));
  EXPECT_EQ(log, (Log{1}));
  CUDA_OK(cudaSetDevice(0));
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT_EQ(log, (Log{1, 0}));
}

TEST_F(Order, EventsCrossDevices) {
  sim::Config config = strict();
  config.devices = 2;
  sim::reset(config);
  Log log;
  Note note{&log, 1};
  cudaStream_t on_0 = make_stream();
  cudaEvent_t event = make_event();
  CUDA_OK(cudaSetDevice(1));
  cudaStream_t on_1 = make_stream();
  EXPECT_EQ(cudaEventRecord(event, on_1), cudaErrorInvalidResourceHandle);
  CUDA_OK(cudaLaunchHostFunc(on_0, write_note, &note));
  CUDA_OK(cudaEventRecord(event, on_0));
  CUDA_OK(cudaStreamWaitEvent(on_1, event, 0));
  CUDA_OK(cudaStreamSynchronize(on_1));
  EXPECT_EQ(log, (Log{1}));
}

TEST_F(Order, QueriesAnswerNotReadyALimitedNumberOfTimes) {
  cudaStream_t stream = make_stream();
  cudaEvent_t event = make_event();
  unsigned char* const device = make_device(16);
  CUDA_OK(cudaMemsetAsync(device, 1, 16, stream));
  CUDA_OK(cudaEventRecord(event, stream));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(cudaEventQuery(event), cudaErrorNotReady);
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(event), cudaSuccess);
  CUDA_OK(cudaMemsetAsync(device, 2, 16, stream));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(cudaStreamQuery(stream), cudaErrorNotReady);
  EXPECT_EQ(cudaStreamQuery(stream), cudaSuccess);
  EXPECT_EQ(sim::pending(), 0U);
}

TEST_F(Order, ElapsedIsVirtualTime) {
  constexpr std::size_t size = std::size_t{16} << 20;
  cudaStream_t stream = make_stream();
  unsigned char* const device = make_device(size);
  cudaEvent_t start = make_event(cudaEventDefault);
  cudaEvent_t end = make_event(cudaEventDefault);
  cudaEvent_t untimed = make_event();
  float time = -1.0F;
  EXPECT_EQ(cudaEventElapsedTime(&time, start, end), cudaErrorInvalidResourceHandle);
  CUDA_OK(cudaEventRecord(start, stream));
  CUDA_OK(cudaMemsetAsync(device, 1, size, stream));
  CUDA_OK(cudaEventRecord(end, stream));
  CUDA_OK(cudaEventRecord(untimed, stream));
  EXPECT_EQ(cudaEventElapsedTime(&time, start, end), cudaErrorNotReady);
  CUDA_OK(cudaEventSynchronize(end));
  CUDA_OK(cudaEventElapsedTime(&time, start, end));
  // The latency of a fill, its bytes at 3.9 TB/s, and the record.
  EXPECT_FLOAT_EQ(time, static_cast<float>((2600.0 + size / 3900) / 1e6));
  EXPECT_EQ(cudaEventElapsedTime(&time, start, untimed), cudaErrorInvalidResourceHandle);
}

TEST_F(Order, WorkAfterAWaitOfTheHostIsLaterInVirtualTime) {
  cudaStream_t a = make_stream();
  cudaStream_t b = make_stream();
  unsigned char* const device = make_device(1 << 20);
  cudaEvent_t start = make_event(cudaEventDefault);
  cudaEvent_t end = make_event(cudaEventDefault);
  CUDA_OK(cudaEventRecord(start, a));
  CUDA_OK(cudaMemsetAsync(device, 1, 1 << 20, a));
  CUDA_OK(cudaStreamSynchronize(a));
  CUDA_OK(cudaEventRecord(end, b));
  CUDA_OK(cudaEventSynchronize(end));
  float time = 0.0F;
  CUDA_OK(cudaEventElapsedTime(&time, start, end));
  EXPECT_FLOAT_EQ(time, static_cast<float>((2600.0 + (1 << 20) / 3900) / 1e6));
}

TEST_F(Order, ALongChainOfPendingOperationsRunsAndIsForgotten) {
  constexpr int count = 300'000;  // recursion would overflow any stack
  cudaStream_t stream = make_stream();
  cudaEvent_t event = make_event();
  for (int i = 0; i < count; ++i) CUDA_OK(cudaEventRecord(event, stream));
  EXPECT_EQ(sim::pending(), static_cast<std::size_t>(count));
  CUDA_OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(sim::pending(), 0U);
  for (int i = 0; i < count; ++i) CUDA_OK(cudaEventRecord(event, stream));
  sim::reset(strict());
  EXPECT_EQ(sim::pending(), 0U);
}

TEST(DeviceStreams, EndedStreamsAreForgotten) {
  using sim::detail::Stream;
  sim::detail::DeviceStreams streams(std::make_shared<Stream>());
  std::vector<std::weak_ptr<Stream>> added;
  for (int i = 0; i < 1000; ++i) {
    const auto stream = std::make_shared<Stream>();
    stream->destroyed = i % 100 != 0;
    streams.add_blocking(stream);
    added.push_back(stream);
  }
  const auto kept = std::count_if(added.begin(), added.end(),
                                  [](const std::weak_ptr<Stream>& s) { return !s.expired(); });
  EXPECT_GE(kept, 10);
  EXPECT_LE(kept, 50);
}

}  // namespace
