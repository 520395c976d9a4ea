// SPDX-License-Identifier: BSL-1.0
//
// Graphs from code that enqueues into streams.
#pragma once

#include <culvert/graph.hpp>
#include <culvert/stream.hpp>

namespace culvert::inline CULVERT_ABI {

// Which calls a capture forbids, since they could not be captured, or would wait for what is not
// executed: cudaMalloc, cudaEventQuery and the like (CUDA programming guide, "Prohibited and
// unhandled operations"). A forbidden call ends the capture. What culvert does by itself, such as
// freeing a buffer at its end, is never forbidden.
enum class CaptureMode {
  per_thread = cudaStreamCaptureModeThreadLocal,  // to this thread
  global = cudaStreamCaptureModeGlobal,           // to all threads
  relaxed = cudaStreamCaptureModeRelaxed,         // none
};

namespace detail {

// One capture: ended and discarded unless it is finished.
class CaptureScope {
 public:
  CaptureScope(StreamRef stream, CaptureMode mode, SourceLocation where) : stream_(stream) {
    call(where, "cudaStreamBeginCapture", cudaStreamBeginCapture, stream.get(),
         static_cast<cudaStreamCaptureMode>(mode));
    process::attention.add(process::one_capture);
  }
  CaptureScope(const CaptureScope&) = delete;
  CaptureScope& operator=(const CaptureScope&) = delete;
  ~CaptureScope() {
    if (finished_) return;
    cudaGraph_t graph = nullptr;
    (void)end(graph);  // that the capture is discarded is no failure
    if (graph != nullptr) call_in_destructor("cudaGraphDestroy", cudaGraphDestroy, graph);
  }

  [[nodiscard]] Graph finish(SourceLocation where) {
    finished_ = true;
    cudaGraph_t graph = nullptr;
    const cudaError_t status = end(graph);
    if (status == cudaSuccess) return Graph::from_handle(graph, where);
    if (graph != nullptr) (void)try_call(cudaGraphDestroy, graph);
    raise(status, "cudaStreamEndCapture", where, reason(status));
  }

 private:
  [[nodiscard]] cudaError_t end(cudaGraph_t& graph) noexcept {
    const cudaError_t status = try_call(cudaStreamEndCapture, stream_.get(), &graph);
    process::attention.add(~process::one_capture + 1);
    return status;
  }
  [[nodiscard]] static std::string reason(cudaError_t status) {
    if (status == cudaErrorStreamCaptureUnjoined) {
      return "a stream that waited for the captured one was not joined: end with "
             "captured.wait(other)";
    }
    if (status == cudaErrorStreamCaptureInvalidated) {
      return "a call in the capture was one that captures forbid";
    }
    return {};
  }

  StreamRef stream_;
  bool finished_ = false;
};

struct Capture {
  template <class Body>
  [[nodiscard]] Graph operator()(StreamRef stream, Body&& body,
                                 CaptureMode mode = CaptureMode::per_thread,
                                 SourceLocation where = SourceLocation::current()) const {
    static_assert(std::is_invocable_v<Body, StreamRef> || std::is_invocable_v<Body>,
                  "capture: the body is called with a StreamRef, or without arguments");
    CaptureScope scope(stream, mode, where);
    if constexpr (std::is_invocable_v<Body, StreamRef>) {
      (void)static_cast<Body&&>(body)(stream);
    } else if constexpr (std::is_invocable_v<Body>) {
      (void)static_cast<Body&&>(body)();
    }
    return scope.finish(where);
  }
};

}  // namespace detail

// capture(stream, body): calls body(stream) at once, and gives a graph of what it enqueues in the
// stream, which is not executed. Does not block the host.
//
//   const Graph graph = capture(stream, [&](StreamRef s) {
//     copy(device, host, s);
//     launch(s, config, kernel, device, n);
//     copy(host, device, s);
//   });
//
// Other streams take part once they wait for the captured one (other.wait(s)); they must be joined
// before the end (s.wait(other)). Captures of several streams may be nested. An exception that
// leaves the body ends the capture and discards what was captured.
//
// A host function that is launched in it goes to the graph and runs at each of its launches. A
// DeviceBuffer that is created in it, with a captured stream as home, is the graph's own memory,
// valid only in the graph: let it end in the capture. One that was created before and ends in it
// goes to the graph, as what is retired does.
//
// @throws what the body throws; Error where the stream cannot be captured (the legacy default
// stream; a stream that is captured already), another stream was not joined, or a forbidden call
// ended the capture.
inline constexpr detail::Capture capture{};

}  // namespace culvert::inline CULVERT_ABI
