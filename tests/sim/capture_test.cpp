// SPDX-License-Identifier: BSL-1.0
// Captures of streams: what becomes a graph, and what is not allowed meanwhile.
#include <memory>
#include <thread>

#include "sim_fixture.hpp"

extern "C" cudaError_t cudaStreamBeginCapture_ptsz(cudaStream_t, cudaStreamCaptureMode);
extern "C" cudaError_t cudaStreamEndCapture_ptsz(cudaStream_t, cudaGraph_t*);
extern "C" cudaError_t cudaStreamIsCapturing_ptsz(cudaStream_t, cudaStreamCaptureStatus*);
extern "C" cudaError_t cudaGraphLaunch_ptsz(cudaGraphExec_t, cudaStream_t);
extern "C" cudaError_t cudaMemsetAsync_ptsz(void*, int, std::size_t, cudaStream_t);

namespace {

using Log = std::vector<int>;

struct Note {
  Log* log;
  int number;
};

void write_note(void* data) {
  const Note* const note = static_cast<const Note*>(data);
  note->log->push_back(note->number);
}

void set_to(unsigned char* x, unsigned char value) { *sim::memory(x) = value; }

class Capture : public SimTest {
 protected:
  static void begin(cudaStream_t stream, cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) {
    ASSERT_EQ(cudaStreamBeginCapture(stream, mode), cudaSuccess);
  }

  static cudaGraph_t end(cudaStream_t stream) {
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    EXPECT_NE(graph, nullptr);
    return graph;
  }

  static cudaError_t end_answer(cudaStream_t stream) {
    cudaGraph_t graph = reinterpret_cast<cudaGraph_t>(1);
    const cudaError_t error = cudaStreamEndCapture(stream, &graph);
    EXPECT_EQ(graph, nullptr);
    return error;
  }

  static cudaGraphExec_t instantiate(cudaGraph_t graph) {
    cudaGraphExec_t exec = nullptr;
    EXPECT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    return exec;
  }

  static cudaStreamCaptureStatus status(cudaStream_t stream) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    EXPECT_EQ(cudaStreamIsCapturing(stream, &status), cudaSuccess);
    return status;
  }

  static std::size_t count_nodes(cudaGraph_t graph) {
    std::size_t count = 0;
    EXPECT_EQ(cudaGraphGetNodes(graph, nullptr, &count), cudaSuccess);
    return count;
  }

  // The call is refused and the capture, of a blocking stream, ends with nothing.
  template <class Function>
  static void expect_invalidates(cudaStreamCaptureMode mode, cudaError_t error, Function function,
                                 unsigned flags = cudaStreamNonBlocking) {
    cudaStream_t stream = make_stream(flags);
    begin(stream, mode);
    EXPECT_EQ(function(stream), error);
    EXPECT_EQ(status(stream), cudaStreamCaptureStatusInvalidated);
    unsigned char* const pinned = nullptr;
    EXPECT_EQ(cudaMemsetAsync(pinned, 0, 1, stream), cudaErrorStreamCaptureInvalidated);
    EXPECT_EQ(end_answer(stream), cudaErrorStreamCaptureInvalidated);
    EXPECT_EQ(status(stream), cudaStreamCaptureStatusNone);
    EXPECT_EQ(sim::live().graphs, 0U);
    CUDA_OK(cudaStreamSynchronize(stream));
  }

  template <class Function>
  static void expect_allowed(cudaStreamCaptureMode mode, Function function) {
    cudaStream_t stream = make_stream();
    begin(stream, mode);
    EXPECT_EQ(function(stream), cudaSuccess);
    EXPECT_EQ(status(stream), cudaStreamCaptureStatusActive);
    CUDA_OK(cudaGraphDestroy(end(stream)));
  }
};

constexpr cudaStreamCaptureMode global_mode = cudaStreamCaptureModeGlobal;
constexpr cudaStreamCaptureMode local_mode = cudaStreamCaptureModeThreadLocal;
constexpr cudaStreamCaptureMode relaxed_mode = cudaStreamCaptureModeRelaxed;

TEST_F(Capture, WorkRunsAtEachLaunchAndNotBefore) {
  sim::define_kernel(set_to);
  Log log;
  Note note{&log, 1};
  cudaStream_t stream = make_stream();
  unsigned char* const device = make_device(16);
  unsigned char* const from = make_pinned(16);
  unsigned char* const to = make_pinned(16);
  begin(stream);
  CUDA_OK(cudaMemcpyAsync(device, from, 16, cudaMemcpyHostToDevice, stream));
  CUDA_OK(cudaMemsetAsync(device, 5, 8, stream));
  unsigned char* argument = device;
  unsigned char value = 9;
  void* arguments[] = {&argument, &value};
  CUDA_OK(cudaLaunchKernel(reinterpret_cast<const void*>(set_to), 1, 1, arguments, 0, stream));
  CUDA_OK(cudaMemcpyAsync(to, device, 16, cudaMemcpyDeviceToHost, stream));
  CUDA_OK(cudaLaunchHostFunc(stream, write_note, &note));
  argument = nullptr;  // was copied
  cudaGraph_t graph = end(stream);
  EXPECT_EQ(sim::pending(), 0U);
  EXPECT_EQ(count_nodes(graph), 5U);
  cudaGraphExec_t exec = instantiate(graph);
  sim::run_pending();
  EXPECT_TRUE(log.empty());
  for (int round = 1; round <= 3; ++round) {
    std::fill_n(from, 16, static_cast<unsigned char>(round));  // read anew
    CUDA_OK(cudaGraphLaunch(exec, stream));
    EXPECT_EQ(log.size(), static_cast<std::size_t>(round - 1));
    CUDA_OK(cudaStreamSynchronize(stream));
    EXPECT_EQ(log.size(), static_cast<std::size_t>(round));
    EXPECT_EQ(to[0], 9);
    EXPECT_EQ(to[7], 5);
    EXPECT_EQ(to[8], round);
  }
  CUDA_OK(cudaGraphExecDestroy(exec));
  CUDA_OK(cudaGraphDestroy(graph));
}

TEST_F(Capture, PageableMemoryIsUsedWhenTheGraphRuns) {
  cudaStream_t stream = make_stream();
  unsigned char* const device = make_device(4);
  std::vector<unsigned char> from(4, 1);
  std::vector<unsigned char> to(4, 0);
  begin(stream);
  CUDA_OK(cudaMemcpyAsync(device, from.data(), 4, cudaMemcpyHostToDevice, stream));
  CUDA_OK(cudaMemcpyAsync(to.data(), device, 4, cudaMemcpyDeviceToHost, stream));
  cudaGraphExec_t exec = instantiate(end(stream));
  for (const auto value : std::vector<unsigned char>{2, 3}) {
    std::fill(from.begin(), from.end(), value);
    CUDA_OK(cudaGraphLaunch(exec, stream));
    EXPECT_FALSE(all_are(to, value));
    CUDA_OK(cudaStreamSynchronize(stream));
    EXPECT_TRUE(all_are(to, value));
  }
}

// Two branches that a fork makes: nothing orders them, and each comes before what joins them.
TEST_F(Capture, ForksAndJoinsByEvents) {
  Log log;
  Note notes[] = {{&log, 0}, {&log, 1}, {&log, 2}, {&log, 3}};
  cudaStream_t a = make_stream();
  cudaStream_t b = make_stream();
  cudaEvent_t fork = make_event();
  cudaEvent_t join = make_event();
  begin(a);
  CUDA_OK(cudaLaunchHostFunc(a, write_note, &notes[0]));
  CUDA_OK(cudaEventRecord(fork, a));
  EXPECT_EQ(status(b), cudaStreamCaptureStatusNone);
  CUDA_OK(cudaStreamWaitEvent(b, fork, 0));
  EXPECT_EQ(status(b), cudaStreamCaptureStatusActive);
  CUDA_OK(cudaLaunchHostFunc(b, write_note, &notes[1]));
  CUDA_OK(cudaLaunchHostFunc(a, write_note, &notes[2]));
  CUDA_OK(cudaEventRecord(join, b));
  CUDA_OK(cudaStreamWaitEvent(a, join, 0));
  CUDA_OK(cudaLaunchHostFunc(a, write_note, &notes[3]));
  cudaGraph_t graph = end(a);
  EXPECT_EQ(status(b), cudaStreamCaptureStatusNone);

  std::size_t count = 0;
  CUDA_OK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &count));
  ASSERT_EQ(count, 4U);
  std::size_t nodes = 4;
  std::vector<cudaGraphNode_t> node(nodes);
  CUDA_OK(cudaGraphGetNodes(graph, node.data(), &nodes));
  std::vector<cudaGraphNode_t> from(count);
  std::vector<cudaGraphNode_t> to(count);
  CUDA_OK(cudaGraphGetEdges(graph, from.data(), to.data(), nullptr, &count));
  EXPECT_EQ(from, (std::vector<cudaGraphNode_t>{node[0], node[0], node[2], node[1]}));
  EXPECT_EQ(to, (std::vector<cudaGraphNode_t>{node[1], node[2], node[3], node[3]}));

  cudaGraphExec_t exec = instantiate(graph);
  bool seen[2] = {};
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    sim::set_schedule(seed == 0 ? sim::Schedule::late : sim::Schedule::random);
    log.clear();
    CUDA_OK(cudaGraphLaunch(exec, a));
    CUDA_OK(cudaStreamSynchronize(a));
    ASSERT_EQ(log.size(), 4U);
    EXPECT_EQ(log[0], 0);
    EXPECT_EQ(log[3], 3);
    seen[log[1] == 2] = true;
  }
  EXPECT_TRUE(seen[0] && seen[1]);
}

TEST_F(Capture, WorkThatIsNotJoinedIsAnError) {
  cudaStream_t a = make_stream();
  cudaStream_t b = make_stream();
  cudaEvent_t event = make_event();
  unsigned char* const device = make_device(1);
  begin(a);
  CUDA_OK(cudaEventRecord(event, a));
  CUDA_OK(cudaStreamWaitEvent(b, event, 0));
  CUDA_OK(cudaMemsetAsync(device, 1, 1, b));
  EXPECT_EQ(end_answer(a), cudaErrorStreamCaptureUnjoined);
  EXPECT_EQ(status(b), cudaStreamCaptureStatusNone);
  EXPECT_EQ(sim::live().graphs, 0U);
  // Without work of its own it need not be joined.
  begin(a);
  CUDA_OK(cudaEventRecord(event, a));
  CUDA_OK(cudaStreamWaitEvent(b, event, 0));
  CUDA_OK(cudaGraphDestroy(end(a)));
}

TEST_F(Capture, ACaptureIsEndedWhereItBegan) {
  cudaStream_t stream = make_stream();
  for (const auto mode : {global_mode, local_mode}) {
    begin(stream, mode);
    std::thread([&] { EXPECT_EQ(end_answer(stream), cudaErrorStreamCaptureWrongThread); }).join();
    EXPECT_EQ(end_answer(stream), cudaErrorIllegalState);  // which ended it
  }
  begin(stream, relaxed_mode);
  std::thread([&] { CUDA_OK(cudaGraphDestroy(end(stream))); }).join();
  EXPECT_EQ(end_answer(stream), cudaErrorIllegalState);
  // In a stream that joined it, it is an error that invalidates it.
  cudaStream_t other = make_stream();
  cudaEvent_t event = make_event();
  begin(stream);
  CUDA_OK(cudaEventRecord(event, stream));
  CUDA_OK(cudaStreamWaitEvent(other, event, 0));
  EXPECT_EQ(end_answer(other), cudaErrorStreamCaptureUnmatched);
  EXPECT_EQ(end_answer(stream), cudaErrorStreamCaptureInvalidated);
}

TEST_F(Capture, ArgumentsAreChecked) {
  cudaStream_t stream = make_stream();
  EXPECT_EQ(cudaStreamBeginCapture(stream, static_cast<cudaStreamCaptureMode>(3)),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaStreamBeginCapture(cudaStreamLegacy, global_mode),
            cudaErrorStreamCaptureUnsupported);
  begin(stream);
  EXPECT_EQ(cudaStreamBeginCapture(stream, global_mode), cudaErrorIllegalState);
  EXPECT_EQ(cudaStreamIsCapturing(stream, nullptr), cudaErrorInvalidValue);
  // Without a place for the graph the capture ends all the same.
  CUDA_OK(cudaStreamEndCapture(stream, nullptr));
  EXPECT_EQ(status(stream), cudaStreamCaptureStatusNone);
  EXPECT_EQ(sim::live().graphs, 0U);
}

TEST_F(Capture, AWrongSetIsFoundWhenTheGraphIsInstantiated) {
  cudaStream_t stream = make_stream();
  begin(stream);
  testing::internal::CaptureStderr();
  CUDA_OK(cudaMemsetAsync(nullptr, 0, 1, stream));
  EXPECT_NE(testing::internal::GetCapturedStderr().find("null pointer"), std::string::npos);
  cudaGraph_t graph = end(stream);
  cudaGraphExec_t exec = nullptr;
  EXPECT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaErrorInvalidValue);
  cudaGraph_t outer = nullptr;
  cudaGraphNode_t node = nullptr;
  CUDA_OK(cudaGraphCreate(&outer, 0));
  CUDA_OK(cudaGraphAddChildGraphNode(&node, outer, nullptr, 0, graph));
  EXPECT_EQ(cudaGraphInstantiate(&exec, outer, 0), cudaErrorInvalidValue);
}

TEST_F(Capture, ACapturedStreamIsNeitherWaitedForNorAsked) {
  const auto unsupported = cudaErrorStreamCaptureUnsupported;
  for (const auto mode : {global_mode, relaxed_mode}) {
    expect_invalidates(mode, unsupported, cudaStreamSynchronize);
    expect_invalidates(mode, unsupported, cudaStreamQuery);
    expect_invalidates(mode, unsupported, [](cudaStream_t) { return cudaDeviceSynchronize(); });
    expect_invalidates(mode, unsupported, [](cudaStream_t stream) {
      return cudaStreamAddCallback(
          stream, [](cudaStream_t, cudaError_t, void*) {}, nullptr, 0);
    });
  }
}

TEST_F(Capture, WhatTellsOfAStreamStillAnswers) {
  cudaStream_t stream = make_stream();
  begin(stream);
  unsigned flags = 0;
  int number = 0;
  unsigned long long id = 0;
  CUDA_OK(cudaStreamGetFlags(stream, &flags));
  CUDA_OK(cudaStreamGetPriority(stream, &number));
  CUDA_OK(cudaStreamGetId(stream, &id));
  CUDA_OK(cudaGraphDestroy(end(stream)));
}

TEST_F(Capture, UnsafeCallsOfTheSameThread) {
  unsigned char* const device = make_device(1);
  cudaEvent_t event = make_event();
  const auto allocate = [](cudaStream_t) {
    void* pointer = nullptr;
    return cudaMalloc(&pointer, 16);
  };
  const auto pin = [](cudaStream_t) {
    void* pointer = nullptr;
    return cudaMallocHost(&pointer, 16);
  };
  const auto ask = [&](cudaStream_t) { return cudaEventQuery(event); };
  cudaStream_t other = make_stream();
  const auto wait = [&](cudaStream_t) { return cudaStreamSynchronize(other); };
  const auto allocate_in_other = [&](cudaStream_t) {
    void* pointer = nullptr;
    return cudaMallocAsync(&pointer, 16, other);
  };
  void* memory = nullptr;
  CUDA_OK(cudaMallocAsync(&memory, 16, other));
  const auto free_in_other = [&](cudaStream_t) { return cudaFreeAsync(memory, other); };
  const auto copy = [&](cudaStream_t) {
    unsigned char byte = 0;
    return cudaMemcpy(&byte, device, 1, cudaMemcpyDeviceToHost);
  };
  for (const auto mode : {global_mode, local_mode}) {
    expect_invalidates(mode, cudaErrorStreamCaptureUnsupported, wait);
    expect_invalidates(mode, cudaErrorStreamCaptureUnsupported, allocate_in_other);
    expect_invalidates(mode, cudaErrorStreamCaptureUnsupported, free_in_other);
    expect_invalidates(mode, cudaErrorStreamCaptureUnsupported, allocate);
    expect_invalidates(mode, cudaErrorStreamCaptureUnsupported, pin);
    expect_invalidates(mode, cudaErrorStreamCaptureUnsupported, ask);
    expect_allowed(mode, copy);  // though it waits
    expect_invalidates(mode, cudaErrorStreamCaptureUnsupported,
                       [&](cudaStream_t) { return cudaFree(device); });
  }
}

TEST_F(Capture, UnsafeCallsAreAllowedInARelaxedCaptureOrThread) {
  cudaEvent_t event = make_event();
  const auto allocate = [&](cudaStream_t) {
    EXPECT_EQ(cudaEventQuery(event), cudaSuccess);
    void* pointer = nullptr;
    return cudaMalloc(&pointer, 16);
  };
  expect_allowed(relaxed_mode, allocate);
  cudaStreamCaptureMode mode = relaxed_mode;
  CUDA_OK(cudaThreadExchangeStreamCaptureMode(&mode));
  expect_allowed(global_mode, allocate);
  CUDA_OK(cudaThreadExchangeStreamCaptureMode(&mode));
}

TEST_F(Capture, UnsafeCallsOfAnotherThread) {
  cudaStream_t stream = make_stream();
  const auto in_thread = [](cudaStreamCaptureMode thread_mode) {
    cudaError_t answer = cudaSuccess;
    std::thread([&] {
      CUDA_OK(cudaThreadExchangeStreamCaptureMode(&thread_mode));
      void* pointer = nullptr;
      answer = cudaMalloc(&pointer, 16);
    }).join();
    return answer;
  };
  begin(stream, global_mode);
  EXPECT_EQ(in_thread(local_mode), cudaSuccess);
  EXPECT_EQ(in_thread(relaxed_mode), cudaSuccess);
  EXPECT_EQ(status(stream), cudaStreamCaptureStatusActive);
  EXPECT_EQ(in_thread(global_mode), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(end_answer(stream), cudaErrorStreamCaptureInvalidated);
  begin(stream, local_mode);
  EXPECT_EQ(in_thread(global_mode), cudaSuccess);
  CUDA_OK(cudaGraphDestroy(end(stream)));
}

TEST_F(Capture, TheLegacyStreamWhileABlockingStreamIsCaptured) {
  unsigned char* const device = make_device(1);
  const auto implicit = cudaErrorStreamCaptureImplicit;
  const auto use = [&](cudaStream_t) { return cudaMemsetAsync(device, 0, 1, nullptr); };
  expect_invalidates(relaxed_mode, implicit, use, cudaStreamDefault);
  expect_invalidates(
      relaxed_mode, implicit, [](cudaStream_t) { return cudaStreamSynchronize(nullptr); },
      cudaStreamDefault);
  expect_allowed(relaxed_mode, use);  // that of a non-blocking one does not matter

  cudaStream_t blocking = make_stream(cudaStreamDefault);
  begin(blocking);
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  EXPECT_EQ(cudaStreamIsCapturing(nullptr, &status), implicit);
  EXPECT_EQ(cudaStreamGetCaptureInfo(nullptr, &status), implicit);
  CUDA_OK(cudaGraphDestroy(end(blocking)));  // asking changed nothing
}

TEST_F(Capture, OneDeviceDoesNotDisturbAnother) {
  sim::Config config = strict();
  config.devices = 2;
  sim::reset(config);
  cudaStream_t stream = make_stream(cudaStreamDefault);
  begin(stream, relaxed_mode);
  CUDA_OK(cudaSetDevice(1));
  CUDA_OK(cudaStreamSynchronize(nullptr));
  CUDA_OK(cudaDeviceSynchronize());
  CUDA_OK(cudaSetDevice(0));
  CUDA_OK(cudaGraphDestroy(end(stream)));
}

TEST_F(Capture, TwoCapturesDoNotMerge) {
  cudaStream_t a = make_stream();
  cudaStream_t b = make_stream();
  cudaEvent_t event = make_event();
  begin(a);
  begin(b);
  CUDA_OK(cudaEventRecord(event, a));
  EXPECT_EQ(cudaStreamWaitEvent(b, event, 0), cudaErrorStreamCaptureMerge);
  EXPECT_EQ(end_answer(a), cudaErrorStreamCaptureInvalidated);
  EXPECT_EQ(end_answer(b), cudaErrorStreamCaptureInvalidated);
}

TEST_F(Capture, AnEventFromOutsideIsNotWaitedFor) {
  cudaEvent_t event = make_event();
  cudaStream_t outside = make_stream();
  CUDA_OK(cudaEventRecord(event, outside));
  expect_invalidates(relaxed_mode, cudaErrorStreamCaptureIsolation,
                     [&](cudaStream_t stream) { return cudaStreamWaitEvent(stream, event, 0); });
}

TEST_F(Capture, ACapturedEventIsNotAskedOrWaitedFor) {
  cudaStream_t stream = make_stream();
  cudaStream_t other = make_stream();
  cudaEvent_t event = make_event();
  for (const auto mode : {global_mode, relaxed_mode}) {
    expect_invalidates(mode, cudaErrorCapturedEvent, [&](cudaStream_t captured) {
      EXPECT_EQ(cudaEventRecord(event, captured), cudaSuccess);
      return cudaEventQuery(event);
    });
    expect_invalidates(mode, cudaErrorCapturedEvent, [&](cudaStream_t captured) {
      EXPECT_EQ(cudaEventRecord(event, captured), cudaSuccess);
      return cudaEventSynchronize(event);
    });
  }
  // Also after the capture, until it is recorded again.
  begin(stream);
  CUDA_OK(cudaEventRecord(event, stream));
  CUDA_OK(cudaGraphDestroy(end(stream)));
  EXPECT_EQ(cudaEventQuery(event), cudaErrorInvalidValue);
  EXPECT_EQ(cudaStreamWaitEvent(other, event, 0), cudaErrorInvalidValue);
  float time = 0;
  EXPECT_EQ(cudaEventElapsedTime(&time, event, event), cudaErrorInvalidValue);
  CUDA_OK(cudaEventRecord(event, other));
  CUDA_OK(cudaEventSynchronize(event));
}

TEST_F(Capture, ExternalEventsBecomeNodes) {
  Log log;
  Note notes[] = {{&log, 0}, {&log, 1}, {&log, 2}};
  cudaStream_t stream = make_stream();
  cudaStream_t other = make_stream();
  cudaEvent_t before = make_event();
  cudaEvent_t after = make_event();
  begin(stream);
  CUDA_OK(cudaStreamWaitEvent(stream, before, cudaEventWaitExternal));
  CUDA_OK(cudaLaunchHostFunc(stream, write_note, &notes[1]));
  CUDA_OK(cudaEventRecordWithFlags(after, stream, cudaEventRecordExternal));
  cudaGraph_t graph = end(stream);
  EXPECT_EQ(count_nodes(graph), 3U);
  cudaGraphExec_t exec = instantiate(graph);
  EXPECT_EQ(cudaEventQuery(after), cudaSuccess);  // it was not recorded
  CUDA_OK(cudaLaunchHostFunc(other, write_note, &notes[0]));
  CUDA_OK(cudaEventRecord(before, other));
  CUDA_OK(cudaGraphLaunch(exec, stream));
  CUDA_OK(cudaStreamWaitEvent(other, after, 0));
  CUDA_OK(cudaLaunchHostFunc(other, write_note, &notes[2]));
  CUDA_OK(cudaStreamSynchronize(other));
  EXPECT_EQ(log, (Log{0, 1, 2}));
}

TEST_F(Capture, IntoAGivenGraph) {
  Log log;
  Note notes[] = {{&log, 0}, {&log, 1}};
  cudaStream_t stream = make_stream();
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t node = nullptr;
  CUDA_OK(cudaGraphCreate(&graph, 0));
  const cudaHostNodeParams host{write_note, &notes[0]};
  CUDA_OK(cudaGraphAddHostNode(&node, graph, nullptr, 0, &host));
  CUDA_OK(cudaStreamBeginCaptureToGraph(stream, graph, &node, nullptr, 1, global_mode));
  EXPECT_EQ(cudaGraphDestroy(graph), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphDestroyNode(node), cudaErrorInvalidValue);
  CUDA_OK(cudaLaunchHostFunc(stream, write_note, &notes[1]));
  EXPECT_EQ(end(stream), graph);
  EXPECT_EQ(count_nodes(graph), 2U);
  CUDA_OK(cudaGraphLaunch(instantiate(graph), stream));
  CUDA_OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(log, (Log{0, 1}));
  // The program's graph is gone when the capture fails.
  CUDA_OK(cudaStreamBeginCaptureToGraph(stream, graph, nullptr, nullptr, 0, global_mode));
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(end_answer(stream), cudaErrorStreamCaptureInvalidated);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaErrorInvalidValue);
}

TEST_F(Capture, InfoAndDependencies) {
  cudaStream_t stream = make_stream();
  unsigned char* const device = make_device(2);
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusActive;
  CUDA_OK(cudaStreamGetCaptureInfo(stream, &status));
  EXPECT_EQ(status, cudaStreamCaptureStatusNone);
  EXPECT_EQ(cudaStreamUpdateCaptureDependencies(stream, nullptr, nullptr, 0),
            cudaErrorIllegalState);
  begin(stream);
  CUDA_OK(cudaMemsetAsync(device, 1, 1, stream));
  unsigned long long id = 0;
  cudaGraph_t graph = nullptr;
  const cudaGraphNode_t* nodes = nullptr;
  const cudaGraphEdgeData* data = nullptr;
  std::size_t count = 0;
  CUDA_OK(cudaStreamGetCaptureInfo(stream, &status, &id, &graph, &nodes, &data, &count));
  EXPECT_EQ(status, cudaStreamCaptureStatusActive);
  ASSERT_EQ(count, 1U);
  const cudaGraphNode_t first = nodes[0];
  EXPECT_EQ(data[0].type, 0);
  // Another root, and a node after both.
  CUDA_OK(cudaStreamUpdateCaptureDependencies(stream, nullptr, nullptr, 0,
                                              cudaStreamSetCaptureDependencies));
  CUDA_OK(cudaMemsetAsync(device + 1, 1, 1, stream));
  cudaGraphNode_t added = first;
  CUDA_OK(cudaStreamUpdateCaptureDependencies(stream, &added, nullptr, 1));
  CUDA_OK(cudaStreamGetCaptureInfo(stream, &status, nullptr, nullptr, nullptr, nullptr, &count));
  EXPECT_EQ(count, 2U);
  EXPECT_EQ(cudaStreamUpdateCaptureDependencies(stream, nullptr, nullptr, 1),
            cudaErrorInvalidValue);
  EXPECT_EQ(end(stream), graph);
  std::size_t roots = 0;
  CUDA_OK(cudaGraphGetRootNodes(graph, nullptr, &roots));
  EXPECT_EQ(roots, 2U);
  unsigned long long later = 0;
  begin(stream);
  CUDA_OK(cudaStreamGetCaptureInfo(stream, &status, &later));
  EXPECT_NE(later, id);
  // What was let go need not be joined.
  CUDA_OK(cudaMemsetAsync(device, 1, 1, stream));
  CUDA_OK(cudaStreamUpdateCaptureDependencies(stream, nullptr, nullptr, 0,
                                              cudaStreamSetCaptureDependencies));
  CUDA_OK(cudaGraphDestroy(end(stream)));
}

TEST_F(Capture, AGraphIsNotLaunchedIntoACapture) {
  Log log;
  Note note{&log, 1};
  cudaStream_t stream = make_stream();
  begin(stream);
  CUDA_OK(cudaLaunchHostFunc(stream, write_note, &note));
  cudaGraphExec_t exec = instantiate(end(stream));
  for (const auto mode : {global_mode, relaxed_mode}) {
    begin(stream, mode);
    EXPECT_EQ(cudaGraphLaunch(exec, stream), cudaErrorStreamCaptureUnsupported);
    EXPECT_EQ(end_answer(stream), cudaErrorStreamCaptureInvalidated);
  }
  EXPECT_TRUE(log.empty());
}

TEST_F(Capture, MemoryInStreamOrder) {
  cudaStream_t stream = make_stream();
  unsigned char* const pinned = make_pinned(64);
  void* plain = nullptr;
  CUDA_OK(cudaMallocAsync(&plain, 64, stream));
  begin(stream);
  void* memory = nullptr;
  CUDA_OK(cudaMallocAsync(&memory, 64, stream));
  CUDA_OK(cudaMemsetAsync(memory, 7, 64, stream));
  CUDA_OK(cudaMemcpyAsync(pinned, memory, 64, cudaMemcpyDeviceToHost, stream));
  CUDA_OK(cudaFreeAsync(memory, stream));
  EXPECT_EQ(cudaFreeAsync(memory, stream), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeAsync(plain, stream), cudaErrorInvalidValue);
  cudaGraph_t graph = end(stream);
  EXPECT_EQ(count_nodes(graph), 4U);
  cudaGraphExec_t exec = instantiate(graph);
  for (int round = 0; round < 2; ++round) {
    pinned[0] = 0;
    CUDA_OK(cudaGraphLaunch(exec, stream));
    CUDA_OK(cudaStreamSynchronize(stream));
    EXPECT_EQ(pinned[0], 7);
  }
  EXPECT_EQ(cudaFree(memory), cudaErrorInvalidValue);
}

TEST_F(Capture, DestroyedStreams) {
  cudaStream_t a = make_stream();
  cudaStream_t b = make_stream();
  cudaEvent_t event = make_event();
  unsigned char* const device = make_device(1);
  begin(a);
  CUDA_OK(cudaStreamDestroy(a));  // which drops the capture
  EXPECT_EQ(sim::live().graphs, 0U);
  void* pointer = nullptr;
  CUDA_OK(cudaMalloc(&pointer, 1));
  a = make_stream();
  begin(a);
  CUDA_OK(cudaEventRecord(event, a));
  CUDA_OK(cudaStreamWaitEvent(b, event, 0));
  CUDA_OK(cudaMemsetAsync(device, 1, 1, b));
  CUDA_OK(cudaStreamDestroy(b));
  EXPECT_EQ(end_answer(a), cudaErrorStreamCaptureUnjoined);
}

TEST_F(Capture, ResetsEndIt) {
  cudaStream_t stream = make_stream();
  begin(stream);
  CUDA_OK(cudaDeviceReset());
  EXPECT_EQ(sim::live().graphs, 0U);
  unsigned char* const device = make_device(1);
  stream = make_stream();
  begin(stream);
  CUDA_OK(cudaMemsetAsync(device, 1, 1, stream));
  sim::reset(strict());
  EXPECT_EQ(sim::live().graphs, 0U);
  EXPECT_EQ(cudaStreamEndCapture(stream, nullptr), cudaErrorInvalidResourceHandle);
}

TEST_F(Capture, ThePerThreadStream) {
  unsigned char* const device = make_device(1);
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  CUDA_OK(cudaStreamBeginCapture_ptsz(nullptr, relaxed_mode));
  CUDA_OK(cudaStreamIsCapturing_ptsz(nullptr, &status));
  EXPECT_EQ(status, cudaStreamCaptureStatusActive);
  CUDA_OK(cudaMemsetAsync_ptsz(device, 3, 1, nullptr));
  cudaGraph_t graph = nullptr;
  CUDA_OK(cudaStreamEndCapture_ptsz(nullptr, &graph));
  CUDA_OK(cudaGraphLaunch_ptsz(instantiate(graph), nullptr));
  EXPECT_TRUE(all_are(read(device, 1), 3));
}

}  // namespace
