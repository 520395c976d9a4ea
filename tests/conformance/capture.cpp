// SPDX-License-Identifier: BSL-1.0
//
// Stream capture: begin, end, and what may be called meanwhile.
#include <utility>

#include "graph_support.hpp"
#include "groups.hpp"

namespace facts {
namespace {

void ignore(void*) {}

void begins() {
  const Stream stream;
  cudaGraph_t graph = nullptr;
  for (const int mode : {3, -1}) {
    error("begin with mode " + std::to_string(mode),
          cudaStreamBeginCapture(stream, number_as<cudaStreamCaptureMode>(mode)));
  }
  error("begin in null", cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal));
  error("begin in legacy", cudaStreamBeginCapture(cudaStreamLegacy, cudaStreamCaptureModeGlobal));
  error("end without begin", cudaStreamEndCapture(stream, &graph));
  error("end in legacy", cudaStreamEndCapture(cudaStreamLegacy, &graph));
  error("begin in per-thread",
        cudaStreamBeginCapture(cudaStreamPerThread, cudaStreamCaptureModeGlobal));
  text("end in per-thread", end_and_tell(cudaStreamPerThread));
  text("status before", capture_status(stream));
  error("begin", cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  text("status during", capture_status(stream));
  text("status of the legacy stream during", capture_status(cudaStreamLegacy));
  text("status of the per-thread stream during", capture_status(cudaStreamPerThread));
  error("begin twice", cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  text("status after begin twice", capture_status(stream));
  text("end of an empty capture", end_and_tell(stream));
  text("status after the end", capture_status(stream));
  error("end twice", cudaStreamEndCapture(stream, &graph));
  const Stream blocking(cudaStreamDefault);
  begin(blocking);
  text("status of the legacy stream while a blocking stream captures",
       capture_status(cudaStreamLegacy));
  text("status of the blocking stream after that", capture_status(blocking));
  text("end of it", end_and_tell(blocking));
  {
    const Gate gate(stream);
    error("begin in a busy stream", cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    text("end in a busy stream", end_and_tell(stream));
  }
  stream.synchronize();
}

std::string info(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusInvalidated;
  unsigned long long id = 0;
  cudaGraph_t graph = nullptr;
  const cudaGraphNode_t* dependencies = nullptr;
  std::size_t count = 99;
  const cudaError_t answer =
      cudaStreamGetCaptureInfo(stream, &status, &id, &graph, &dependencies, nullptr, &count);
  if (answer != cudaSuccess) return name_of(answer);
  return "status " + std::to_string(status) + ", id " + (id == 0 ? "0" : "not 0") + ", graph " +
         (graph == nullptr ? "null" : "not null") + ", dependencies " +
         (count == 99 ? "as before" : std::to_string(count));
}

void infos() {
  const Stream stream;
  const Stream other;
  const Event event;
  const Event back;
  const DeviceMemory memory(64);
  text("info without a capture", info(stream));
  text("info of legacy", info(cudaStreamLegacy));
  begin(stream);
  text("info at the begin", info(stream));
  need(cudaMemsetAsync(memory, 1, 4, stream));
  text("info after one operation", info(stream));
  need(cudaMemsetAsync(memory, 1, 4, stream));
  text("info after two operations", info(stream));
  need(cudaEventRecord(event, stream));
  text("info after an event", info(stream));
  need(cudaStreamWaitEvent(other, event, 0));
  text("info of a forked stream", info(other));
  need(cudaMemsetAsync(memory, 1, 4, other));
  need(cudaEventRecord(back, other));
  need(cudaStreamWaitEvent(stream, back, 0));
  text("info after a join, the stream has nothing new", info(stream));
  need(cudaMemsetAsync(memory, 1, 4, stream));
  need(cudaStreamWaitEvent(other, event, 0));
  text("info of the other after it waited for an older event", info(other));
  need(cudaEventRecord(back, other));
  need(cudaStreamWaitEvent(stream, back, 0));
  text("info after a join of two ends", info(stream));
  unsigned long long ids[2] = {0, 0};
  cudaStreamCaptureStatus status{};
  need(cudaStreamGetCaptureInfo(stream, &status, &ids[0]));
  need(cudaStreamGetCaptureInfo(other, &status, &ids[1]));
  yes_no("a forked stream has the same id", ids[0] == ids[1]);
  text("end", end_and_tell(stream));
  text("info after the end", info(stream));
  text("info of the other after the end", info(other));
  begin(stream);
  need(cudaStreamGetCaptureInfo(stream, &status, &ids[1]));
  yes_no("the next capture has another id", ids[0] != ids[1]);
  (void)end_and_tell(stream);
}

void dependencies() {
  const Stream stream;
  const DeviceMemory memory(64);
  begin(stream);
  need(cudaMemsetAsync(memory, 1, 4, stream));
  error("set no dependencies", cudaStreamUpdateCaptureDependencies(
                                   stream, nullptr, nullptr, 0, cudaStreamSetCaptureDependencies));
  text("info after that", info(stream));
  need(cudaMemsetAsync(memory, 1, 4, stream));
  error("dependencies with flags 4",
        cudaStreamUpdateCaptureDependencies(stream, nullptr, nullptr, 0, 4));
  text("end with an end that nothing joins", end_and_tell(stream));
  error("dependencies without a capture",
        cudaStreamUpdateCaptureDependencies(stream, nullptr, nullptr, 0,
                                            cudaStreamSetCaptureDependencies));
}

void to_graph() {
  const Stream stream;
  const DeviceMemory memory(64);
  const Graph graph;
  const Graph other;
  cudaGraphNode_t node = nullptr;
  cudaGraphNode_t foreign = nullptr;
  cudaGraph_t result = nullptr;
  need(cudaGraphAddEmptyNode(&node, graph, nullptr, 0));
  need(cudaGraphAddEmptyNode(&foreign, other, nullptr, 0));
  error("to a graph, begin", cudaStreamBeginCaptureToGraph(stream, graph, nullptr, nullptr, 0,
                                                           cudaStreamCaptureModeGlobal));
  text("to a graph, info", info(stream));
  need(cudaMemsetAsync(memory, 1, 4, stream));
  error("to a graph, end", cudaStreamEndCapture(stream, &result));
  yes_no("to a graph, the same graph comes back", result == graph);
  text("to a graph, shape", shape(graph));
  error("after a node, begin", cudaStreamBeginCaptureToGraph(stream, graph, &node, nullptr, 1,
                                                             cudaStreamCaptureModeGlobal));
  text("after a node, info", info(stream));
  need(cudaMemsetAsync(memory, 1, 4, stream));
  error("after a node, end", cudaStreamEndCapture(stream, &result));
  text("after a node, shape", shape(graph));
  error("after a node of another graph",
        cudaStreamBeginCaptureToGraph(stream, graph, &foreign, nullptr, 1,
                                      cudaStreamCaptureModeGlobal));
  if (capture_status(stream) != "none") (void)cudaStreamEndCapture(stream, &result);
  error("to a graph, in legacy",
        cudaStreamBeginCaptureToGraph(cudaStreamLegacy, graph, nullptr, nullptr, 0,
                                      cudaStreamCaptureModeGlobal));
  // Invalidated: what became of the graph.
  need(cudaStreamBeginCaptureToGraph(stream, graph, nullptr, nullptr, 0,
                                     cudaStreamCaptureModeGlobal));
  need(cudaMemsetAsync(memory, 1, 4, stream));
  error("to a graph, synchronize", cudaStreamSynchronize(stream));
  result = nullptr;
  error("to a graph, end when invalidated", cudaStreamEndCapture(stream, &result));
  yes_no("to a graph, null comes back then", result == nullptr);
  std::size_t count = 0;
  error("to a graph, its nodes then", cudaGraphGetNodes(graph, nullptr, &count));
  error("to a graph, its edges then", cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &count));
  error("to a graph, add a node then", cudaGraphAddEmptyNode(&node, graph, nullptr, 0));
}

// What calls answer once a capture is invalidated.
void invalidated() {
  const Stream stream;
  const Stream other;
  const Event event;
  const DeviceMemory memory(64);
  begin(stream);
  need(cudaMemsetAsync(memory, 1, 4, stream));
  need(cudaEventRecord(event, stream));
  need(cudaStreamWaitEvent(other, event, 0));
  error("invalidated by a synchronize", cudaStreamSynchronize(stream));
  text("invalidated, status", capture_status(stream));
  text("invalidated, status of a forked stream", capture_status(other));
  text("invalidated, info", info(stream));
  error("invalidated, cudaMemsetAsync", cudaMemsetAsync(memory, 1, 4, stream));
  error("invalidated, cudaMemcpyAsync",
        cudaMemcpyAsync(memory, memory.bytes() + 8, 4, cudaMemcpyDeviceToDevice, stream));
  error("invalidated, cudaLaunchHostFunc", cudaLaunchHostFunc(stream, ignore, nullptr));
  error("invalidated, cudaEventRecord", cudaEventRecord(event, stream));
  error("invalidated, cudaStreamWaitEvent", cudaStreamWaitEvent(stream, event, 0));
  error("invalidated, cudaEventQuery of its event", cudaEventQuery(event));
  error("invalidated, cudaMemsetAsync in a forked stream", cudaMemsetAsync(memory, 1, 4, other));
  error("invalidated, cudaStreamQuery", cudaStreamQuery(stream));
  error("invalidated, cudaStreamSynchronize", cudaStreamSynchronize(stream));
  error("invalidated, cudaDeviceSynchronize", cudaDeviceSynchronize());
  error("invalidated, begin", cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  text("invalidated, end of a forked stream", end_and_tell(other));
  text("invalidated, end", end_and_tell(stream));
  text("after the end, status", capture_status(stream));
  text("after the end, status of a forked stream", capture_status(other));
  error("after the end, cudaMemsetAsync", cudaMemsetAsync(memory, 1, 4, stream));
  error("after the end, cudaStreamSynchronize", cudaStreamSynchronize(stream));
  error("after the end, cudaMemsetAsync in a forked stream", cudaMemsetAsync(memory, 1, 4, other));
  error("after the end, cudaEventQuery of its event", cudaEventQuery(event));
  error("after the end, cudaEventRecord", cudaEventRecord(event, stream));
  error("after the end, cudaEventSynchronize", cudaEventSynchronize(event));
}

}  // namespace

void capture() {
  section("begins", begins);
  section("infos", infos);
  section("dependencies", dependencies);
  section("invalidated", invalidated);
  section("to graph", to_graph);
}

namespace {

// What the calls during a capture use and leave.
struct World {
  Stream idle;
  Event done;
  Event captured{cudaEventDefault};
  DeviceMemory device{4096};
  PinnedMemory pinned{4096};
  PageableMemory pageable{4096};
  void* to_free = nullptr;
  void* host_to_free = nullptr;
  void* made = nullptr;
  void* host_made = nullptr;
  void* pool_made = nullptr;
  cudaStream_t stream_made = nullptr;
  cudaEvent_t event_made = nullptr;
  void* managed_made = nullptr;
  void* pool_to_free = nullptr;
  cudaMemPool_t pool = nullptr;
  cudaStream_t stream_to_end = nullptr;
  cudaEvent_t event_to_end = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;  // was launched before
  cudaGraphExec_t exec_made = nullptr;
  cudaStream_t stream = nullptr;  // the capturing one
};
World* world;

struct Call {
  const char* name;
  cudaError_t (*call)(World& w);
};

const Call calls[] = {
    {"cudaStreamQuery of it", [](World& w) { return cudaStreamQuery(w.stream); }},
    {"cudaStreamSynchronize of it", [](World& w) { return cudaStreamSynchronize(w.stream); }},
    {"cudaEventQuery of its event", [](World& w) { return cudaEventQuery(w.captured); }},
    {"cudaEventSynchronize of its event",
     [](World& w) { return cudaEventSynchronize(w.captured); }},
    {"cudaEventElapsedTime of its event",
     [](World& w) {
       float ms = 0;
       return cudaEventElapsedTime(&ms, w.done, w.captured);
     }},
    {"cudaStreamQuery of another stream", [](World& w) { return cudaStreamQuery(w.idle); }},
    {"cudaStreamSynchronize of another stream",
     [](World& w) { return cudaStreamSynchronize(w.idle); }},
    {"cudaStreamQuery of legacy", [](World&) { return cudaStreamQuery(cudaStreamLegacy); }},
    {"cudaStreamSynchronize of legacy",
     [](World&) { return cudaStreamSynchronize(cudaStreamLegacy); }},
    {"cudaStreamSynchronize of per-thread",
     [](World&) { return cudaStreamSynchronize(cudaStreamPerThread); }},
    {"cudaDeviceSynchronize", [](World&) { return cudaDeviceSynchronize(); }},
    {"cudaEventQuery of another event", [](World& w) { return cudaEventQuery(w.done); }},
    {"cudaEventSynchronize of another event",
     [](World& w) { return cudaEventSynchronize(w.done); }},
    {"cudaMalloc", [](World& w) { return cudaMalloc(&w.made, 64); }},
    {"cudaFree", [](World& w) { return cudaFree(w.to_free); }},
    {"cudaFree null", [](World&) { return cudaFree(nullptr); }},
    {"cudaMallocHost", [](World& w) { return cudaMallocHost(&w.host_made, 64); }},
    {"cudaFreeHost", [](World& w) { return cudaFreeHost(w.host_to_free); }},
    {"cudaMallocAsync in another stream",
     [](World& w) { return cudaMallocAsync(&w.pool_made, 64, w.idle); }},
    {"cudaMemcpy, device to device",
     [](World& w) {
       return cudaMemcpy(w.device, w.device.bytes() + 8, 4, cudaMemcpyDeviceToDevice);
     }},
    {"cudaMemcpy, pageable to device",
     [](World& w) { return cudaMemcpy(w.device, w.pageable, 4, cudaMemcpyHostToDevice); }},
    {"cudaMemcpy, pinned to device",
     [](World& w) { return cudaMemcpy(w.device, w.pinned, 4, cudaMemcpyHostToDevice); }},
    {"cudaMemcpy, device to pinned",
     [](World& w) { return cudaMemcpy(w.pinned, w.device, 4, cudaMemcpyDeviceToHost); }},
    {"cudaMemcpy, device to pageable",
     [](World& w) { return cudaMemcpy(w.pageable, w.device, 4, cudaMemcpyDeviceToHost); }},
    {"cudaMemcpy, pageable to pageable",
     [](World& w) {
       return cudaMemcpy(w.pageable, w.pageable.bytes() + 8, 4, cudaMemcpyHostToHost);
     }},
    {"cudaMemcpy, zero bytes",
     [](World& w) { return cudaMemcpy(w.device, w.pinned, 0, cudaMemcpyHostToDevice); }},
    {"cudaMemset", [](World& w) { return cudaMemset(w.device, 1, 4); }},
    {"cudaMemset of pinned memory", [](World& w) { return cudaMemset(w.pinned, 1, 4); }},
    {"cudaMemcpyAsync in another stream, device to pageable",
     [](World& w) {
       return cudaMemcpyAsync(w.pageable, w.device, 4, cudaMemcpyDeviceToHost, w.idle);
     }},
    {"cudaFreeAsync in another stream",
     [](World& w) { return cudaFreeAsync(w.pool_to_free, w.idle); }},
    {"cudaMallocManaged", [](World& w) { return cudaMallocManaged(&w.managed_made, 64); }},
    {"cudaHostRegister",
     [](World& w) { return cudaHostRegister(w.pageable, 64, cudaHostRegisterDefault); }},
    {"cudaMemPoolTrimTo", [](World& w) { return cudaMemPoolTrimTo(w.pool, 0); }},
    {"cudaStreamDestroy of another stream",
     [](World& w) { return cudaStreamDestroy(std::exchange(w.stream_to_end, nullptr)); }},
    {"cudaEventDestroy of another event",
     [](World& w) { return cudaEventDestroy(std::exchange(w.event_to_end, nullptr)); }},
    {"cudaGraphInstantiate",
     [](World& w) { return cudaGraphInstantiate(&w.exec_made, w.graph, 0); }},
    {"cudaGraphLaunch in another stream", [](World& w) { return cudaGraphLaunch(w.exec, w.idle); }},
    {"cudaGraphLaunch in it", [](World& w) { return cudaGraphLaunch(w.exec, w.stream); }},
    {"cudaGraphUpload in it", [](World& w) { return cudaGraphUpload(w.exec, w.stream); }},
    {"cudaMallocAsync in it", [](World& w) { return cudaMallocAsync(&w.pool_made, 64, w.stream); }},
    {"cudaMemsetAsync in another stream",
     [](World& w) { return cudaMemsetAsync(w.device, 1, 4, w.idle); }},
    {"cudaMemsetAsync in legacy",
     [](World& w) { return cudaMemsetAsync(w.device, 1, 4, cudaStreamLegacy); }},
    {"cudaMemsetAsync in per-thread",
     [](World& w) { return cudaMemsetAsync(w.device, 1, 4, cudaStreamPerThread); }},
    {"cudaLaunchHostFunc in legacy",
     [](World&) { return cudaLaunchHostFunc(cudaStreamLegacy, ignore, nullptr); }},
    {"cudaEventRecord in legacy",
     [](World& w) { return cudaEventRecord(w.done, cudaStreamLegacy); }},
    {"cudaStreamWaitEvent in legacy",
     [](World& w) { return cudaStreamWaitEvent(cudaStreamLegacy, w.done, 0); }},
    {"cudaStreamWaitEvent of another event",
     [](World& w) { return cudaStreamWaitEvent(w.stream, w.done, 0); }},
    {"cudaMemcpyAsync in it, pageable to device",
     [](World& w) {
       return cudaMemcpyAsync(w.device, w.pageable, 4, cudaMemcpyHostToDevice, w.stream);
     }},
    {"cudaMemcpyAsync in it, device to pageable",
     [](World& w) {
       return cudaMemcpyAsync(w.pageable, w.device, 4, cudaMemcpyDeviceToHost, w.stream);
     }},
    {"cudaMemcpyAsync in it, pageable to pageable",
     [](World& w) {
       return cudaMemcpyAsync(w.pageable, w.pageable.bytes() + 8, 4, cudaMemcpyHostToHost,
                              w.stream);
     }},
    {"cudaMemcpyAsync in it, zero bytes",
     [](World& w) {
       return cudaMemcpyAsync(w.device, w.pinned, 0, cudaMemcpyHostToDevice, w.stream);
     }},
    {"cudaMemcpyAsync in it, kind 99",
     [](World& w) {
       return cudaMemcpyAsync(w.device, w.pinned, 4, number_as<cudaMemcpyKind>(99), w.stream);
     }},
    {"cudaMemsetAsync in it, null",
     [](World& w) { return cudaMemsetAsync(nullptr, 1, 4, w.stream); }},
    {"cudaMemset2DAsync in it",
     [](World& w) { return cudaMemset2DAsync(w.device, 64, 1, 4, 4, w.stream); }},
    {"cudaLaunchHostFunc in it",
     [](World& w) { return cudaLaunchHostFunc(w.stream, ignore, nullptr); }},
    {"cudaLaunchHostFunc in it, null",
     [](World& w) { return cudaLaunchHostFunc(w.stream, nullptr, nullptr); }},
    {"cudaStreamAddCallback in it",
     [](World& w) {
       return cudaStreamAddCallback(
           w.stream, [](cudaStream_t, cudaError_t, void*) {}, nullptr, 0);
     }},
    {"cudaEventCreate", [](World& w) { return cudaEventCreate(&w.event_made); }},
    {"cudaStreamCreate", [](World& w) { return cudaStreamCreate(&w.stream_made); }},
    {"cudaGetDeviceProperties",
     [](World&) {
       cudaDeviceProp properties;
       return cudaGetDeviceProperties(&properties, 0);
     }},
    {"cudaMemGetInfo",
     [](World&) {
       std::size_t size = 0;
       return cudaMemGetInfo(&size, &size);
     }},
    {"cudaPointerGetAttributes",
     [](World& w) {
       cudaPointerAttributes attributes;
       return cudaPointerGetAttributes(&attributes, w.device);
     }},
    {"cudaSetDevice", [](World&) { return cudaSetDevice(0); }},
};

// One call while a stream captures, and what became of the capture.
void during(const Call& call, unsigned flags, cudaStreamCaptureMode mode, bool other_thread) {
  const Stream stream(flags);
  World w;
  need(cudaEventRecord(w.done, w.idle));
  w.idle.synchronize();
  need(cudaMalloc(&w.to_free, 64));
  need(cudaMallocHost(&w.host_to_free, 64));
  need(cudaMallocAsync(&w.pool_to_free, 64, w.idle));
  need(cudaDeviceGetDefaultMemPool(&w.pool, 0));
  need(cudaStreamCreateWithFlags(&w.stream_to_end, cudaStreamNonBlocking));
  need(cudaEventCreate(&w.event_to_end));
  need(cudaGraphCreate(&w.graph, 0));
  cudaGraphNode_t node = nullptr;
  const cudaHostNodeParams host{ignore, nullptr};
  need(cudaGraphAddHostNode(&node, w.graph, nullptr, 0, &host));
  need(cudaGraphInstantiate(&w.exec, w.graph, 0));
  need(cudaGraphLaunch(w.exec, w.idle));
  w.idle.synchronize();
  w.stream = stream;
  world = &w;
  begin(stream, mode);
  need(cudaMemsetAsync(w.device, 1, 4, stream));
  need(cudaEventRecord(w.captured, stream));
  cudaError_t answer = cudaSuccess;
  if (other_thread) {
    in_thread([&] { answer = call.call(w); });
  } else {
    answer = call.call(w);
  }
  const std::string status = capture_status(stream);
  const std::string ending = end_and_tell(stream);
  text(std::string(call.name) + ", " + name_of_mode(mode) +
           (flags == cudaStreamDefault ? ", blocking stream" : "") +
           (other_thread ? ", another thread" : ""),
       name_of(answer) + "; " + status + "; end " + ending);
  (void)cudaDeviceSynchronize();
  (void)cudaFree(w.to_free);
  (void)cudaFreeHost(w.host_to_free);
  if (w.made != nullptr) (void)cudaFree(w.made);
  if (w.host_made != nullptr) (void)cudaFreeHost(w.host_made);
  if (w.pool_made != nullptr) (void)cudaFree(w.pool_made);
  if (w.managed_made != nullptr) (void)cudaFree(w.managed_made);
  (void)cudaHostUnregister(w.pageable);
  (void)cudaFreeAsync(w.pool_to_free, w.idle);
  if (w.stream_to_end != nullptr) (void)cudaStreamDestroy(w.stream_to_end);
  if (w.event_to_end != nullptr) (void)cudaEventDestroy(w.event_to_end);
  if (w.exec_made != nullptr) (void)cudaGraphExecDestroy(w.exec_made);
  (void)cudaGraphExecDestroy(w.exec);
  (void)cudaGraphDestroy(w.graph);
  if (w.stream_made != nullptr) (void)cudaStreamDestroy(w.stream_made);
  if (w.event_made != nullptr) (void)cudaEventDestroy(w.event_made);
  (void)cudaGetLastError();
}

void all(unsigned flags, bool other_thread) {
  for (const Call& call : calls) {
    for (const cudaStreamCaptureMode mode : capture_modes_in_order) {
      during(call, flags, mode, other_thread);
    }
  }
}

void exchange() {
  const Stream stream;
  const auto exchange_to = [](const char* name, int wanted) {
    auto mode = number_as<cudaStreamCaptureMode>(wanted);
    error(std::string("exchange the mode, ") + name, cudaThreadExchangeStreamCaptureMode(&mode));
    number(std::string("the mode before, ") + name, mode);
  };
  // With a null pointer it crashes on a GPU.
  exchange_to("to 3", 3);
  exchange_to("to relaxed", cudaStreamCaptureModeRelaxed);
  void* pointer = nullptr;
  begin(stream);
  error("a relaxed thread, global capture, cudaMalloc", cudaMalloc(&pointer, 64));
  text("a relaxed thread, end", end_and_tell(stream));
  if (pointer != nullptr) need(cudaFree(pointer));
  exchange_to("back to global", cudaStreamCaptureModeGlobal);
  for (const cudaStreamCaptureMode mode : capture_modes_in_order) {
    const std::string name = std::string("a thread whose mode is ") + name_of_mode(mode) +
                             ", global capture by another thread";
    pointer = nullptr;
    begin(stream);
    in_thread([&] {
      cudaStreamCaptureMode before = mode;
      need(cudaThreadExchangeStreamCaptureMode(&before));
      number(name + ", the mode before", before);
      error(name + ", cudaMalloc", cudaMalloc(&pointer, 64));
    });
    text(name + ", end", end_and_tell(stream));
    if (pointer != nullptr) need(cudaFree(pointer));
  }
}

void wrong_thread() {
  for (const cudaStreamCaptureMode mode : capture_modes_in_order) {
    const Stream stream;
    const DeviceMemory memory(64);
    const std::string name = name_of_mode(mode);
    begin(stream, mode);
    in_thread([&] {
      error(name + ", operation by another thread", cudaMemsetAsync(memory, 1, 4, stream));
      text(name + ", end by another thread", end_and_tell(stream));
      text(name + ", status after that", capture_status(stream));
    });
    text(name + ", end by the first thread", end_and_tell(stream));
  }
}

}  // namespace

void capture_modes() {
  section("exchange", exchange);
  section("wrong thread", wrong_thread);
  section("this thread", [] { all(cudaStreamNonBlocking, false); });
  section("blocking stream", [] { all(cudaStreamDefault, false); });
  section("another thread", [] { all(cudaStreamNonBlocking, true); });
}

}  // namespace facts
