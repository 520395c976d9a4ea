// SPDX-License-Identifier: BSL-1.0
//
// Stream capture: forks, events, what the captured work does, and odd ends.
#include <cstring>

#include "graph_support.hpp"
#include "groups.hpp"

namespace facts {
namespace {

constexpr std::size_t size = 64;

void set(void* memory, cudaStream_t stream) { need(cudaMemsetAsync(memory, 1, 4, stream)); }

void forks() {
  const Stream first;
  const Stream second;
  const Event there;
  const Event back;
  const DeviceMemory memory(size);
  const auto fork = [&] {
    begin(first);
    set(memory, first);
    need(cudaEventRecord(there, first));
    need(cudaStreamWaitEvent(second, there, 0));
  };
  const auto join = [&] {
    need(cudaEventRecord(back, second));
    need(cudaStreamWaitEvent(first, back, 0));
  };
  fork();
  text("status of a forked stream", capture_status(second));
  text("forked and not used, end", end_and_tell(first));
  text("forked and not used, status of the fork", capture_status(second));
  fork();
  set(memory, second);
  text("unjoined, end", end_and_tell(first));
  text("unjoined, status of the fork", capture_status(second));
  error("unjoined, work of the fork after the end", cudaMemsetAsync(memory, 1, 4, second));
  error("unjoined, work of the stream after the end", cudaMemsetAsync(memory, 1, 4, first));
  need(cudaDeviceSynchronize());
  fork();
  set(memory, second);
  join();
  text("joined, end", end_and_tell(first));
  text("joined, status of the fork", capture_status(second));
  fork();
  set(memory, second);
  join();
  set(memory, second);
  text("used after the join, end", end_and_tell(first));
  fork();
  set(memory, second);
  text("end of the forked stream", end_and_tell(second));
  text("status after the end of the forked stream", capture_status(first));
  if (capture_status(first) != "none") text("end of the first after that", end_and_tell(first));
  fork();
  error("begin in a forked stream", cudaStreamBeginCapture(second, cudaStreamCaptureModeGlobal));
  (void)cudaEventRecord(back, second);
  (void)cudaStreamWaitEvent(first, back, 0);
  text("end after a begin in a forked stream", end_and_tell(first));
  // The forked stream is a blocking one, or the per-thread one.
  begin(first);
  need(cudaEventRecord(there, first));
  error("fork to per-thread", cudaStreamWaitEvent(cudaStreamPerThread, there, 0));
  if (capture_status(cudaStreamPerThread) == "active") {
    need(cudaEventRecord(back, cudaStreamPerThread));
    need(cudaStreamWaitEvent(first, back, 0));
  }
  text("end after a fork to per-thread", end_and_tell(first));
  begin(first);
  need(cudaEventRecord(there, first));
  error("fork to legacy", cudaStreamWaitEvent(cudaStreamLegacy, there, 0));
  text("end after a fork to legacy", end_and_tell(first));
}

void two_captures() {
  const Stream first;
  const Stream second;
  const Event event;
  const DeviceMemory memory(size);
  begin(first);
  begin(second);
  set(memory, first);
  set(memory, second);
  need(cudaEventRecord(event, first));
  error("wait for another capture's event", cudaStreamWaitEvent(second, event, 0));
  text("after that, status of the waiting one", capture_status(second));
  text("after that, status of the other", capture_status(first));
  text("end of the waiting one", end_and_tell(second));
  text("end of the other", end_and_tell(first));
}

void event_in_captures() {
  const Stream stream;
  const Stream other;
  const Event event;
  const Event never;
  const DeviceMemory memory(size);
  begin(stream);
  error("wait for an event that was never recorded", cudaStreamWaitEvent(stream, never, 0));
  text("end after that wait", end_and_tell(stream));
  for (const unsigned flags : {1U, 2U}) {
    need(cudaEventRecord(event, other));
    other.synchronize();
    begin(stream);
    error("cudaEventRecordWithFlags " + std::to_string(flags),
          cudaEventRecordWithFlags(event, stream, flags));
    text("end after record flags " + std::to_string(flags), end_and_tell(stream));
    error("query of the event after record flags " + std::to_string(flags), cudaEventQuery(event));
    begin(stream);
    error("cudaStreamWaitEvent flags " + std::to_string(flags),
          cudaStreamWaitEvent(stream, event, flags));
    text("end after wait flags " + std::to_string(flags), end_and_tell(stream));
  }
  begin(stream);
  set(memory, stream);
  need(cudaEventRecord(event, stream));
  text("captured event, end", end_and_tell(stream));
  error("captured event after the end, query", cudaEventQuery(event));
  error("captured event after the end, synchronize", cudaEventSynchronize(event));
  error("captured event after the end, wait", cudaStreamWaitEvent(other, event, 0));
  float ms = 0;
  error("captured event after the end, elapsed", cudaEventElapsedTime(&ms, event, event));
  begin(stream);
  error("captured event of an ended capture, wait in a capture",
        cudaStreamWaitEvent(stream, event, 0));
  text("end after waiting for it", end_and_tell(stream));
  error("captured event, recorded again", cudaEventRecord(event, other));
  other.synchronize();
  error("recorded again, query", cudaEventQuery(event));
  // Destroyed meanwhile.
  cudaEvent_t made = nullptr;
  begin(stream);
  set(memory, stream);
  need(cudaEventCreate(&made));
  need(cudaEventRecord(made, stream));
  error("event destroyed in a capture", cudaEventDestroy(made));
  text("end after the event was destroyed", end_and_tell(stream));
}

// What a capture takes unseen.
void wrong_arguments() {
  const Stream stream;
  const PageableMemory pageable(size);
  const DeviceMemory memory(size);
  const auto told = [&](const std::string& name, cudaError_t answer) {
    error("captured, " + name, answer);
    cudaGraph_t made = nullptr;
    error("captured, " + name + ", end", cudaStreamEndCapture(stream, &made));
    if (made == nullptr) return;
    const Graph graph(made);
    cudaGraphExec_t exec = nullptr;
    error("captured, " + name + ", instantiate", cudaGraphInstantiate(&exec, graph, 0));
    if (exec != nullptr) need(cudaGraphExecDestroy(exec));
  };
  begin(stream);
  told("a set of null", cudaMemsetAsync(nullptr, 1, 4, stream));
  begin(stream);
  told("a set of pageable memory", cudaMemsetAsync(pageable, 1, 4, stream));
  begin(stream);
  told("a set past the end", cudaMemsetAsync(memory, 1, size + 4096, stream));
  begin(stream);
  told("a copy to null", cudaMemcpyAsync(nullptr, memory, 4, cudaMemcpyDefault, stream));
  begin(stream);
  told("a copy of the wrong kind",
       cudaMemcpyAsync(pageable, memory, 4, cudaMemcpyHostToDevice, stream));
  begin(stream);
  told("a copy past the end",
       cudaMemcpyAsync(memory, pageable, size + 4096, cudaMemcpyHostToDevice, stream));
}

void fill_number(void* data) { ++*static_cast<int*>(data); }

void work() {
  const Stream stream;
  const DeviceMemory device(size);
  const PinnedMemory source(size);
  const PinnedMemory target(size);
  int calls = 0;
  source.bytes()[0] = 1;
  begin(stream);
  need(cudaMemcpyAsync(device, source, size, cudaMemcpyHostToDevice, stream));
  need(cudaLaunchHostFunc(stream, fill_number, &calls));
  need(cudaMemcpyAsync(target, device, size, cudaMemcpyDeviceToHost, stream));
  const Graph graph(end(stream));
  const Exec exec(graph);
  number("host function, runs before a launch", calls);
  source.bytes()[0] = 2;
  need(cudaGraphLaunch(exec, stream));
  stream.synchronize();
  number("host function, runs after a launch", calls);
  number("pinned source changed before the launch, read", target.bytes()[0]);
  source.bytes()[0] = 3;
  need(cudaGraphLaunch(exec, stream));
  stream.synchronize();
  number("host function, runs after two launches", calls);
  number("pinned source changed before the second launch, read", target.bytes()[0]);
  text("shape", shape(graph));
}

void pageable_work() {
  const Stream stream;
  const DeviceMemory device(size);
  const PageableMemory source(size);
  const PageableMemory target(size);
  source.bytes()[0] = 1;
  begin(stream, cudaStreamCaptureModeRelaxed);
  const cudaError_t to_device =
      cudaMemcpyAsync(device, source, size, cudaMemcpyHostToDevice, stream);
  const cudaError_t to_host = cudaMemcpyAsync(target, device, size, cudaMemcpyDeviceToHost, stream);
  cudaGraph_t made = nullptr;
  const cudaError_t ending = cudaStreamEndCapture(stream, &made);
  error("pageable to device", to_device);
  error("device to pageable", to_host);
  error("end with pageable copies", ending);
  if (made == nullptr) return;
  const Graph graph(made);
  const Exec exec(graph);
  source.bytes()[0] = 2;
  need(cudaGraphLaunch(exec, stream));
  stream.synchronize();
  number("pageable source changed before the launch, read", target.bytes()[0]);
}

void memory_nodes() {
  const Stream stream;
  const PinnedMemory target(size);
  void* pointer = nullptr;
  void* outside = nullptr;
  need(cudaMallocAsync(&outside, size, stream));
  stream.synchronize();
  begin(stream);
  error("cudaMallocAsync", cudaMallocAsync(&pointer, size, stream));
  yes_no("its pointer is null", pointer == nullptr);
  error("cudaMemsetAsync of it", cudaMemsetAsync(pointer, 4, size, stream));
  error("copy of it", cudaMemcpyAsync(target, pointer, size, cudaMemcpyDeviceToHost, stream));
  error("cudaFreeAsync of it", cudaFreeAsync(pointer, stream));
  cudaGraph_t made = nullptr;
  error("end with memory nodes", cudaStreamEndCapture(stream, &made));
  if (made != nullptr) {
    const Graph graph(made);
    const Exec exec(graph);
    text("shape with memory nodes", shape(graph));
    error("launch with memory nodes", cudaGraphLaunch(exec, stream));
    error("launch with memory nodes again", cudaGraphLaunch(exec, stream));
    error("synchronize after them", cudaStreamSynchronize(stream));
    number("the byte that came through", target.bytes()[size - 1]);
  }
  begin(stream);
  error("cudaFreeAsync of memory from outside", cudaFreeAsync(outside, stream));
  text("end after that free", end_and_tell(stream));
  error("cudaFreeAsync of it after the capture", cudaFreeAsync(outside, stream));
  stream.synchronize();
  begin(stream);
  error("cudaMallocAsync of 0 bytes", cudaMallocAsync(&pointer, 0, stream));
  text("end after cudaMallocAsync of 0 bytes", end_and_tell(stream));
}

}  // namespace

void capture_work() {
  section("forks", forks);
  section("two captures", two_captures);
  section("events", event_in_captures);
  section("work", work);
  section("pageable", pageable_work);
  section("memory", memory_nodes);
  section("wrong arguments", wrong_arguments);
}

namespace {

void destroyed_streams() {
  const Stream first;
  const Event there;
  const Event back;
  const DeviceMemory memory(size);
  cudaStream_t second = nullptr;
  need(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  begin(first);
  need(cudaEventRecord(there, first));
  need(cudaStreamWaitEvent(second, there, 0));
  set(memory, second);
  need(cudaEventRecord(back, second));
  need(cudaStreamWaitEvent(first, back, 0));
  error("destroy of a joined stream", cudaStreamDestroy(second));
  text("status after the destroy of a joined stream", capture_status(first));
  text("end after the destroy of a joined stream", end_and_tell(first));
}

void without_graph() {
  const Stream stream;
  begin(stream);
  error("end with a null graph", cudaStreamEndCapture(stream, nullptr));
  text("status after a null graph", capture_status(stream));
  if (capture_status(stream) != "none") text("end after a null graph", end_and_tell(stream));
}

void destroyed_capture() {
  const DeviceMemory memory(size);
  const Stream other;
  cudaStream_t stream = nullptr;
  need(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  begin(stream);
  set(memory, stream);
  const cudaError_t answer = cudaStreamDestroy(stream);
  error("destroy of a capturing stream", answer);
  if (answer != cudaSuccess) {
    text("end after that", end_and_tell(stream));
    error("destroy after that", cudaStreamDestroy(stream));
  }
  void* pointer = nullptr;
  error("cudaMalloc after the destroy of a capturing stream", cudaMalloc(&pointer, size));
  error("cudaDeviceSynchronize after it", cudaDeviceSynchronize());
  if (pointer != nullptr) need(cudaFree(pointer));
}

}  // namespace

void capture_ends() {
  section("joined streams", destroyed_streams);
  section("destroyed capture", destroyed_capture);
  section("without a graph", without_graph);
}

}  // namespace facts
