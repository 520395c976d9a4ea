// SPDX-License-Identifier: BSL-1.0
//
// Events: records, waits, times.
#include <chrono>
#include <thread>

#include "facts.hpp"
#include "groups.hpp"

namespace facts {
namespace {

void unrecorded() {
  const Stream stream;
  const Event never;
  const Event other;
  const Event recorded;
  float ms = 0;
  error("never recorded, query", cudaEventQuery(never));
  error("never recorded, synchronize", cudaEventSynchronize(never));
  error("never recorded, wait", cudaStreamWaitEvent(stream, never, 0));
  error("never recorded, the stream after the wait", cudaStreamSynchronize(stream));
  error("never recorded, elapsed", cudaEventElapsedTime(&ms, never, other));
  error("never recorded, elapsed of the same", cudaEventElapsedTime(&ms, never, never));
  need(cudaEventRecord(recorded, stream));
  stream.synchronize();
  error("elapsed from a record to none", cudaEventElapsedTime(&ms, recorded, never));
  error("elapsed from none to a record", cudaEventElapsedTime(&ms, never, recorded));
}

void pause(void*) { std::this_thread::sleep_for(std::chrono::milliseconds(3)); }

void elapsed() {
  const Stream stream;
  const Event first;
  const Event second;
  const Event untimed(cudaEventDisableTiming);
  float ms = -1;
  need(cudaEventRecord(first, stream));
  need(cudaLaunchHostFunc(stream, pause, nullptr));
  need(cudaEventRecord(second, stream));
  need(cudaEventRecord(untimed, stream));
  stream.synchronize();
  error("elapsed", cudaEventElapsedTime(&ms, first, second));
  yes_no("elapsed is positive", ms > 0);
  error("elapsed reversed", cudaEventElapsedTime(&ms, second, first));
  yes_no("elapsed reversed is negative", ms < 0);
  ms = -1;
  error("elapsed of the same event", cudaEventElapsedTime(&ms, first, first));
  yes_no("elapsed of the same event is zero", ms == 0);
  error("elapsed to one without timing", cudaEventElapsedTime(&ms, first, untimed));
  error("elapsed from one without timing", cudaEventElapsedTime(&ms, untimed, second));
  error("elapsed of one without timing", cudaEventElapsedTime(&ms, untimed, untimed));
  error("elapsed, null result", cudaEventElapsedTime(nullptr, first, second));
  {
    const Gate gate(stream);
    need(cudaEventRecord(second, stream));
    ms = -1;
    error("elapsed to a pending one", cudaEventElapsedTime(&ms, first, second));
    yes_no("elapsed to a pending one leaves the result", ms == -1);
    error("elapsed from a pending one", cudaEventElapsedTime(&ms, second, first));
    error("elapsed of a pending one", cudaEventElapsedTime(&ms, second, second));
    const Event never;
    error("elapsed from a pending one to none", cudaEventElapsedTime(&ms, second, never));
    error("elapsed from a pending one to one without timing",
          cudaEventElapsedTime(&ms, second, untimed));
  }
  stream.synchronize();
}

void records() {
  const Stream held;
  const Stream idle;
  const Event event;
  for (const unsigned flags : {0U, 1U, 2U, 4U}) {
    error("cudaEventRecordWithFlags " + std::to_string(flags),
          cudaEventRecordWithFlags(event, idle, flags));
    error("cudaStreamWaitEvent flags " + std::to_string(flags),
          cudaStreamWaitEvent(idle, event, flags));
  }
  error("record in null", cudaEventRecord(event, nullptr));
  error("record in legacy", cudaEventRecord(event, cudaStreamLegacy));
  error("record in per-thread", cudaEventRecord(event, cudaStreamPerThread));
  need(cudaDeviceSynchronize());

  need(cudaEventRecord(event, idle));
  idle.synchronize();
  {
    const Gate gate(held);
    error("complete, query", cudaEventQuery(event));
    need(cudaEventRecord(event, held));
    error("recorded again in a busy stream, query", cudaEventQuery(event));
    need(cudaEventRecord(event, idle));
    idle.synchronize();
    error("recorded a third time in an idle stream, query", cudaEventQuery(event));
    error("recorded a third time in an idle stream, synchronize", cudaEventSynchronize(event));
  }
  held.synchronize();
}

void waits() {
  const Stream held;
  const Stream idle;
  const Stream waiting;
  const Event event;
  const DeviceMemory memory(4);
  const auto work = [&] { need(cudaMemsetAsync(memory, 1, 4, waiting)); };
  need(cudaEventRecord(event, idle));
  need(cudaStreamWaitEvent(waiting, event, 0));
  {
    const Gate gate(held);
    need(cudaEventRecord(event, held));
    work();
    yes_no("a wait before the event is recorded again waits for the later record",
           !finishes(waiting));
  }
  held.synchronize();
  waiting.synchronize();
  {
    const Gate gate(held);
    need(cudaEventRecord(event, held));
    need(cudaStreamWaitEvent(waiting, event, 0));
    need(cudaEventRecord(event, idle));
    work();
    yes_no("a wait waits for the earlier record after the event is recorded again",
           !finishes(waiting));
  }
  held.synchronize();
  waiting.synchronize();
  {
    const Gate gate(held);
    cudaEvent_t other = nullptr;
    need(cudaEventCreate(&other));
    need(cudaEventRecord(other, held));
    need(cudaStreamWaitEvent(waiting, other, 0));
    error("destroy of a pending event", cudaEventDestroy(other));
    work();
    yes_no("a wait goes on after its event was destroyed", !finishes(waiting));
  }
  held.synchronize();
  waiting.synchronize();
  {
    const Gate gate(held);
    need(cudaEventRecord(event, held));
    error("a stream waits for its own event", cudaStreamWaitEvent(held, event, 0));
    error("the legacy stream waits for an event", cudaStreamWaitEvent(cudaStreamLegacy, event, 0));
    need(cudaMemsetAsync(memory, 1, 4, cudaStreamLegacy));
    yes_no("and the legacy stream is held", !finishes(cudaStreamLegacy));
  }
  error("and all end", cudaDeviceSynchronize());
}

void kinds() {
  const Stream stream;
  const Event sleeping(cudaEventBlockingSync | cudaEventDisableTiming);
  const Event shared(cudaEventInterprocess | cudaEventDisableTiming);
  need(cudaLaunchHostFunc(stream, pause, nullptr));
  need(cudaEventRecord(sleeping, stream));
  error("blocking-sync event, synchronize", cudaEventSynchronize(sleeping));
  error("interprocess event, record", cudaEventRecord(shared, stream));
  error("interprocess event, wait", cudaStreamWaitEvent(stream, shared, 0));
  error("interprocess event, synchronize", cudaEventSynchronize(shared));
  error("interprocess event, query", cudaEventQuery(shared));
}

}  // namespace

void events() {
  section("unrecorded", unrecorded);
  section("elapsed", elapsed);
  section("records", records);
  section("waits", waits);
  section("kinds", kinds);
}

}  // namespace facts
