// SPDX-License-Identifier: BSL-1.0
// Captures: streams whose work becomes a graph, and what may not be called meanwhile.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/graph.hpp"
#include "sim/process.hpp"

namespace culvert::sim::detail {

// One sequence, from its begin to its end.
struct Capture {
  unsigned long long id = 0;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::uint64_t thread = 0;  // that began it
  GraphPtr graph;
  bool invalid = false;
  bool ended = false;
  StreamPtr origin;
  std::vector<StreamPtr> streams;                     // all in it now
  std::vector<std::shared_ptr<StreamCapture>> parts;  // also of streams that were destroyed
  std::vector<Edge> let_go;                           // nodes that need not be joined
};

using CapturePtr = std::shared_ptr<Capture>;

struct StreamCapture {
  CapturePtr capture;
  std::vector<Edge> next;  // what the next node depends on

  // What cudaStreamGetCaptureInfo points to.
  std::vector<cudaGraphNode_t> told_nodes;
  std::vector<cudaGraphEdgeData> told_data;
};

// What an event stands for that was recorded in a capture.
struct EventCapture {
  CapturePtr capture;
  std::vector<Edge> after;
};

// What a function does with a stream that is captured.
enum class InCapture {
  recorded,  // it becomes a node
  refused,   // it is an error, which invalidates the capture
  answers,   // it tells about the stream as always
};

cudaError_t begin_capture(Process& process, const StreamPtr& stream, cudaStreamCaptureMode mode,
                          GraphPtr graph, std::vector<Edge> first);
cudaError_t end_capture(Process& process, const StreamPtr& stream, cudaGraph_t* graph);
// For a stream that is destroyed.
void leave_capture(Process& process, Stream& stream);
// Ends it without a graph. Also one that the program gave is gone then, as measured on an H200.
void drop_capture(Process& process, Capture& capture);

// Whether a call on this stream is allowed. What is not allowed invalidates captures, here and in
// the functions below.
cudaError_t check_capture(Process& process, Stream& stream, InCapture rule);
// The same for calls that CUDA calls potentially unsafe.
cudaError_t check_unsafe(Process& process, const ThreadState& thread);
// For queries of an event and waits of the host for it.
cudaError_t check_event_use(Process& process, const ThreadState& thread, const Event& event);
// The same for one that was recorded in a capture.
cudaError_t ask_captured(const Event& event);
cudaError_t check_device_wait(Process& process, int device);
// Whether a captured stream keeps the legacy stream of the device from being used.
bool blocks_legacy(const Capture& capture, int device);
// For what a captured stream does not take.
cudaError_t refuse_in_capture(Stream& stream, cudaError_t error);

void record_node(Process& process, Stream& stream, NodePtr node);
cudaError_t record_in_capture(Process& process, const StreamPtr& stream,
                              const std::shared_ptr<Event>& event, cudaEvent_t handle,
                              unsigned flags);
cudaError_t wait_in_capture(Process& process, const StreamPtr& stream,
                            const std::shared_ptr<Event>& event, cudaEvent_t handle,
                            unsigned flags);

}  // namespace culvert::sim::detail
