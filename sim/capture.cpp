// SPDX-License-Identifier: BSL-1.0
#include "sim/capture.hpp"

#include <algorithm>
#include <atomic>
#include <unordered_set>
#include <utility>

#include "sim/node_work.hpp"

namespace culvert::sim::detail {
namespace {

// A number that no other thread ever has.
std::uint64_t this_thread_number() {
  static std::atomic<std::uint64_t> issued{0};
  thread_local const std::uint64_t number = ++issued;
  return number;
}

void join(Process& process, const CapturePtr& capture, const StreamPtr& stream,
          std::vector<Edge> after) {
  auto part = std::make_shared<StreamCapture>();
  part->capture = capture;
  part->next = std::move(after);
  capture->parts.push_back(part);
  capture->streams.push_back(stream);
  stream->capture = std::move(part);
  stream->recorder = [&process, to = stream.get()](Work work) {
    record_node(process, *to, node_of(std::move(work), *to->capture->capture->graph, to->device));
  };
}

void leave(Stream& stream) {
  stream.capture = nullptr;
  stream.recorder = nullptr;
}

void end(Process& process, Capture& capture) {
  for (const StreamPtr& stream : capture.streams) leave(*stream);
  capture.streams.clear();
  capture.parts.clear();
  capture.origin = nullptr;
  capture.ended = true;
  capture.graph->capturing = false;
  std::erase_if(process.graphs.captures,
                [&](const CapturePtr& each) { return each.get() == &capture; });
}

// Whether all that was captured leads to the stream in which it began.
bool is_joined(const Capture& capture) {
  std::unordered_set<const Node*> reached;
  std::vector<const Node*> left;
  const auto reach = [&](const std::vector<Edge>& edges) {
    for (const Edge& edge : edges) {
      if (reached.insert(edge.from).second) left.push_back(edge.from);
    }
  };
  reach(capture.origin->capture->next);
  reach(capture.let_go);
  while (!left.empty()) {
    const Node* const node = left.back();
    left.pop_back();
    reach(node->dependencies);
  }
  return std::all_of(capture.parts.begin(), capture.parts.end(), [&](const auto& part) {
    return std::all_of(part->next.begin(), part->next.end(),
                       [&](const Edge& edge) { return reached.count(edge.from) != 0; });
  });
}

NodePtr event_node(cudaGraphNodeType type, const std::shared_ptr<Event>& event, cudaEvent_t handle,
                   int device) {
  auto node = std::make_shared<Node>();
  node->type = type;
  node->device = device;
  node->event = event;
  node->event_handle = handle;
  return node;
}

}  // namespace

cudaError_t begin_capture(Process& process, const StreamPtr& stream, cudaStreamCaptureMode mode,
                          GraphPtr graph, std::vector<Edge> first) {
  if (stream->kind == StreamKind::legacy) return cudaErrorStreamCaptureUnsupported;
  if (stream->capture) return cudaErrorIllegalState;
  auto capture = std::make_shared<Capture>();
  capture->id = process.graphs.next_capture_id++;
  capture->mode = mode;
  capture->thread = this_thread_number();
  if (!graph) {
    graph = std::make_shared<Graph>();
    graph->device = stream->device;
    give_handles(process, graph);
  }
  graph->capturing = true;
  capture->graph = std::move(graph);
  capture->origin = stream;
  join(process, capture, stream, std::move(first));
  process.graphs.captures.push_back(std::move(capture));
  return cudaSuccess;
}

cudaError_t end_capture(Process& process, const StreamPtr& stream, cudaGraph_t* graph) {
  *graph = nullptr;
  if (!stream->capture) return cudaErrorIllegalState;
  const CapturePtr capture = stream->capture->capture;
  if (capture->origin != stream) {
    return refuse_in_capture(*stream, cudaErrorStreamCaptureUnmatched);
  }
  if (capture->mode != cudaStreamCaptureModeRelaxed && capture->thread != this_thread_number()) {
    drop_capture(process, *capture);
    return cudaErrorStreamCaptureWrongThread;
  }
  if (capture->invalid) {
    drop_capture(process, *capture);
    return cudaErrorStreamCaptureInvalidated;
  }
  if (!is_joined(*capture)) {
    drop_capture(process, *capture);
    return cudaErrorStreamCaptureUnjoined;
  }
  *graph = capture->graph->as_handle();
  end(process, *capture);
  return cudaSuccess;
}

void leave_capture(Process& process, Stream& stream) {
  const CapturePtr capture = stream.capture->capture;
  if (capture->origin.get() == &stream) return drop_capture(process, *capture);
  leave(stream);
  std::erase_if(capture->streams, [&](const StreamPtr& each) { return each.get() == &stream; });
}

void drop_capture(Process& process, Capture& capture) {
  end(process, capture);
  end_handles(process, *capture.graph);
}

bool blocks_legacy(const Capture& capture, int device) {
  return std::any_of(capture.streams.begin(), capture.streams.end(), [&](const StreamPtr& stream) {
    return stream->device == device && stream->kind == StreamKind::blocking;
  });
}

cudaError_t refuse_in_capture(Stream& stream, cudaError_t error) {
  if (stream.capture) stream.capture->capture->invalid = true;
  return error;
}

cudaError_t check_capture(Process& process, Stream& stream, InCapture rule) {
  if (rule == InCapture::answers) return cudaSuccess;
  if (stream.kind == StreamKind::legacy) {
    cudaError_t answer = cudaSuccess;
    for (const CapturePtr& capture : process.graphs.captures) {
      if (!blocks_legacy(*capture, stream.device)) continue;
      capture->invalid = true;
      answer = cudaErrorStreamCaptureImplicit;
    }
    return answer;
  }
  if (!stream.capture) return cudaSuccess;
  if (rule == InCapture::refused) {
    return refuse_in_capture(stream, cudaErrorStreamCaptureUnsupported);
  }
  return stream.capture->capture->invalid ? cudaErrorStreamCaptureInvalidated : cudaSuccess;
}

cudaError_t check_unsafe(Process& process, const ThreadState& thread) {
  if (thread.capture_mode == cudaStreamCaptureModeRelaxed) return cudaSuccess;
  cudaError_t answer = cudaSuccess;
  for (const CapturePtr& capture : process.graphs.captures) {
    const bool prohibits = capture->thread == this_thread_number()
                               ? capture->mode != cudaStreamCaptureModeRelaxed
                               : capture->mode == cudaStreamCaptureModeGlobal &&
                                     thread.capture_mode == cudaStreamCaptureModeGlobal;
    if (!prohibits) continue;
    capture->invalid = true;
    answer = cudaErrorStreamCaptureUnsupported;
  }
  return answer;
}

cudaError_t check_event_use(Process& process, const ThreadState& thread, const Event& event) {
  if (!event.captured) return check_unsafe(process, thread);
  return ask_captured(event);
}

cudaError_t ask_captured(const Event& event) {
  Capture& capture = *event.captured->capture;
  if (capture.ended || capture.invalid) return cudaErrorInvalidValue;
  capture.invalid = true;
  return cudaErrorCapturedEvent;
}

cudaError_t check_device_wait(Process& process, int device) {
  cudaError_t answer = cudaSuccess;
  for (const CapturePtr& capture : process.graphs.captures) {
    const auto& streams = capture->streams;
    if (std::none_of(streams.begin(), streams.end(),
                     [&](const StreamPtr& stream) { return stream->device == device; })) {
      continue;
    }
    capture->invalid = true;
    answer = cudaErrorStreamCaptureUnsupported;
  }
  return answer;
}

void record_node(Process& process, Stream& stream, NodePtr node) {
  StreamCapture& part = *stream.capture;
  Node& added = add_node(process, *part.capture->graph, std::move(node), part.next);
  part.next.assign(1, {&added, {}});
}

cudaError_t record_in_capture(Process& process, const StreamPtr& stream,
                              const std::shared_ptr<Event>& event, cudaEvent_t handle,
                              unsigned flags) {
  if (flags == cudaEventRecordExternal) {
    record_node(process, *stream,
                event_node(cudaGraphNodeTypeEventRecord, event, handle, stream->device));
    return cudaSuccess;
  }
  if (flags != cudaEventRecordDefault) return cudaErrorInvalidValue;
  event->captured =
      std::make_shared<EventCapture>(EventCapture{stream->capture->capture, stream->capture->next});
  event->record = nullptr;
  event->answers = 0;
  return cudaSuccess;
}

cudaError_t wait_in_capture(Process& process, const StreamPtr& stream,
                            const std::shared_ptr<Event>& event, cudaEvent_t handle,
                            unsigned flags) {
  const CapturePtr own = stream->capture ? stream->capture->capture : nullptr;
  if (flags == cudaEventWaitExternal) {
    if (!own) return cudaErrorIllegalState;
    record_node(process, *stream,
                event_node(cudaGraphNodeTypeWaitEvent, event, handle, stream->device));
    return cudaSuccess;
  }
  if (flags != cudaEventWaitDefault) return cudaErrorInvalidValue;
  if (!event->captured) {
    if (!event->record) return cudaSuccess;  // nothing to wait for
    return refuse_in_capture(*stream, cudaErrorStreamCaptureIsolation);
  }
  const CapturePtr other = event->captured->capture;
  if (other->ended) return refuse_in_capture(*stream, cudaErrorInvalidValue);
  if (other->invalid) return cudaErrorStreamCaptureInvalidated;
  if (own && own != other) {
    own->invalid = true;
    other->invalid = true;
    return cudaErrorStreamCaptureMerge;
  }
  if (!own) {
    if (stream->kind == StreamKind::legacy) {
      other->invalid = true;
      return cudaErrorStreamCaptureImplicit;
    }
    join(process, other, stream, event->captured->after);
    return cudaSuccess;
  }
  std::vector<Edge>& next = stream->capture->next;
  for (const Edge& edge : event->captured->after) {
    if (std::none_of(next.begin(), next.end(),
                     [&](const Edge& known) { return known.from == edge.from; })) {
      next.push_back(edge);
    }
  }
  return cudaSuccess;
}

}  // namespace culvert::sim::detail
