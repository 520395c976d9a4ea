// SPDX-License-Identifier: BSL-1.0
//
// What calls answer while a host function holds a stream, and which stream waits for which.
#include <vector>

#include "facts.hpp"
#include "groups.hpp"

namespace facts {
namespace {

void answers(const std::string& name, cudaStream_t held, cudaStream_t idle) {
  const Event before;
  const Event after;
  const DeviceMemory memory(4);
  float ms = 0;
  need(cudaEventRecord(before, held));
  need(cudaStreamSynchronize(held));
  {
    const Gate gate(held);
    error(name + ", query", cudaStreamQuery(held));
    error(name + ", last error after the query", cudaPeekAtLastError());
    need(cudaEventRecord(after, held));
    error(name + ", query of an event before the work", cudaEventQuery(before));
    error(name + ", query of an event after the work", cudaEventQuery(after));
    error(name + ", last error after that", cudaPeekAtLastError());
    error(name + ", elapsed to the event after the work", cudaEventElapsedTime(&ms, before, after));
    error(name + ", query of another non-blocking stream", cudaStreamQuery(idle));
    error(name + ", query of the legacy stream", cudaStreamQuery(cudaStreamLegacy));
    error(name + ", query of the per-thread stream", cudaStreamQuery(cudaStreamPerThread));
  }
  error(name + ", synchronize", cudaStreamSynchronize(held));
  error(name + ", query when it is done", cudaStreamQuery(held));
  error(name + ", elapsed when it is done", cudaEventElapsedTime(&ms, before, after));
}

void all_answers() {
  const Stream blocking(cudaStreamDefault);
  const Stream non_blocking;
  const Stream idle;
  answers("blocking stream busy", blocking, idle);
  answers("non-blocking stream busy", non_blocking, idle);
  answers("legacy stream busy", cudaStreamLegacy, idle);
  answers("per-thread stream busy", cudaStreamPerThread, idle);
}

struct Named {
  const char* name;
  cudaStream_t stream;
};

// Which streams' later work waits for the work of a busy one.
void waits() {
  const Stream blocking(cudaStreamDefault);
  const Stream second_blocking(cudaStreamDefault);
  const Stream non_blocking;
  const Stream second_non_blocking;
  const DeviceMemory memory(4);
  const Named held[] = {{"blocking", blocking},
                        {"non-blocking", non_blocking},
                        {"legacy", cudaStreamLegacy},
                        {"per-thread", cudaStreamPerThread}};
  const Named later[] = {{"a blocking stream", second_blocking},
                         {"a non-blocking stream", second_non_blocking},
                         {"the legacy stream", cudaStreamLegacy},
                         {"the per-thread stream", cudaStreamPerThread}};
  for (const Named& first : held) {
    for (const Named& second : later) {
      if (first.stream == second.stream) continue;
      {
        const Gate gate(first.stream);
        need(cudaMemsetAsync(memory, 1, 4, second.stream));
        yes_no(std::string(first.name) + " busy, work of " + second.name + " waits",
               !finishes(second.stream));
      }
      need(cudaDeviceSynchronize());
    }
  }
}

void waits_by_the_legacy_stream() {
  const Stream blocking(cudaStreamDefault);
  const Stream second_blocking(cudaStreamDefault);
  const Stream non_blocking;
  const Event event(cudaEventDisableTiming);
  const DeviceMemory memory(4);
  const auto work = [&](cudaStream_t stream) { need(cudaMemsetAsync(memory, 1, 4, stream)); };
  {
    const Gate gate(blocking);
    work(cudaStreamLegacy);
    work(second_blocking);
    yes_no("blocking busy, then legacy work, work of another blocking stream waits",
           !finishes(second_blocking));
  }
  need(cudaDeviceSynchronize());
  {
    const Gate gate(blocking);
    need(cudaEventRecord(event, cudaStreamLegacy));
    yes_no("blocking busy, an event recorded in the legacy stream waits", !finishes(event));
    need(cudaStreamWaitEvent(non_blocking, event, 0));
    work(non_blocking);
    yes_no("and a non-blocking stream waits by it", !finishes(non_blocking));
  }
  need(cudaDeviceSynchronize());
  {
    const Gate gate(blocking);
    need(cudaEventRecord(event, cudaStreamLegacy));
    work(second_blocking);
    yes_no("blocking busy, then an event in legacy, work of another blocking stream waits",
           !finishes(second_blocking));
  }
  need(cudaDeviceSynchronize());
  {
    const Gate gate(cudaStreamLegacy);
    need(cudaEventRecord(event, second_blocking));
    yes_no("legacy busy, an event recorded in a blocking stream waits", !finishes(event));
  }
  need(cudaDeviceSynchronize());
  {
    // Made while the legacy stream is busy.
    const Gate gate(cudaStreamLegacy);
    const Stream late(cudaStreamDefault);
    work(late);
    yes_no("legacy busy, work of a blocking stream made then waits", !finishes(late));
  }
  need(cudaDeviceSynchronize());
}

void waits_across_threads() {
  const DeviceMemory memory(4);
  bool waited = false;
  {
    const Gate gate(cudaStreamPerThread);
    in_thread([&] {
      need(cudaMemsetAsync(memory, 1, 4, cudaStreamPerThread));
      waited = !finishes(cudaStreamPerThread);
    });
  }
  yes_no("per-thread busy, work of another thread's waits", waited);
  need(cudaDeviceSynchronize());
}

struct Log {
  std::string text;
};
struct Note {
  Log* log;
  char letter;
};

void write(void* data) {
  const auto* const note = static_cast<const Note*>(data);
  note->log->text += note->letter;
}

// Orders that are given: each host function waits for the one before.
void orders() {
  const Stream first(cudaStreamDefault);
  const Stream second(cudaStreamDefault);
  const Stream third;
  const Event event(cudaEventDisableTiming);
  Log log;
  std::vector<Note> notes;
  notes.reserve(16);
  const auto note = [&](cudaStream_t stream) {
    notes.push_back({&log, static_cast<char>('a' + static_cast<int>(notes.size()))});
    need(cudaLaunchHostFunc(stream, write, &notes.back()));
  };
  note(first);
  note(cudaStreamLegacy);
  note(second);
  note(cudaStreamLegacy);
  note(cudaStreamPerThread);
  note(cudaStreamLegacy);
  note(first);
  need(cudaDeviceSynchronize());
  text("host functions by way of the legacy stream", log.text);
  log.text.clear();
  notes.clear();
  for (int i = 0; i < 3; ++i) {
    note(third);
    need(cudaEventRecord(event, third));
    need(cudaStreamWaitEvent(first, event, 0));
    note(first);
    need(cudaEventRecord(event, first));
    need(cudaStreamWaitEvent(third, event, 0));
  }
  need(cudaDeviceSynchronize());
  text("host functions by way of events", log.text);
}

}  // namespace

void busy() {
  section("answers", all_answers);
  section("waits", waits);
  section("waits by the legacy stream", waits_by_the_legacy_stream);
  section("waits across threads", waits_across_threads);
  section("orders", orders);
}

}  // namespace facts
