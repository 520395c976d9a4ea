// SPDX-License-Identifier: BSL-1.0
//
// What graphs keep alive, through CUDA's user objects: until the graph, its copies, all that was
// instantiated from it, and their last launches have ended.
#pragma once

#include <culvert/runtime.hpp>

#include <optional>
#include <utility>

namespace culvert::inline CULVERT_ABI::detail {

// The graph that the stream's capture builds; null where the stream is not being captured, or its
// capture is invalid. Allowed in every capture.
[[nodiscard]] inline cudaError_t try_capturing_graph(cudaStream_t stream,
                                                     cudaGraph_t& graph) noexcept {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  graph = nullptr;
#if CUDART_VERSION >= 13000
  const cudaError_t result = try_call(cudaStreamGetCaptureInfo, stream, &status, nullptr, &graph,
                                      nullptr, nullptr, nullptr);
#else
  const cudaError_t result =
      try_call(cudaStreamGetCaptureInfo_v2, stream, &status, nullptr, &graph, nullptr, nullptr);
#endif
  if (status != cudaStreamCaptureStatusActive) graph = nullptr;
  return result;
}
[[nodiscard]] inline cudaGraph_t capturing_graph(cudaStream_t stream, SourceLocation where) {
  cudaGraph_t graph = nullptr;
  const cudaError_t status = try_capturing_graph(stream, graph);
  if (status != cudaSuccess) [[unlikely]] {
    raise(status, "cudaStreamGetCaptureInfo", where, {});
  }
  return graph;
}

// Marks that no CUDA call may be made.
class HostFunctionMark {
 public:
  HostFunctionMark() noexcept : before_(std::exchange(process::in_host_function, true)) {}
  HostFunctionMark(const HostFunctionMark&) = delete;
  HostFunctionMark& operator=(const HostFunctionMark&) = delete;
  ~HostFunctionMark() { process::in_host_function = before_; }

 private:
  bool before_;
};

// The runtime's own function: nvcc adds overloads of this name.
inline constexpr cudaError_t (*user_object_create)(cudaUserObject_t*, void*, cudaHostFn_t, unsigned,
                                                   unsigned) = cudaUserObjectCreate;

// Makes the graph call end(object) once nothing holds it any more, on a thread of CUDA's or on one
// that destroys a graph. Where that fails it is called nevertheless, soon.
[[nodiscard]] inline cudaError_t try_hold_in_graph(cudaGraph_t graph, void* object,
                                                   cudaHostFn_t end) noexcept {
  cudaUserObject_t user_object = nullptr;
  cudaError_t status = try_call(user_object_create, &user_object, object, end, 1u,
                                unsigned{cudaUserObjectNoDestructorSync});
  if (status != cudaSuccess) [[unlikely]] {
    end(object);
    return status;
  }
  status = try_call(cudaGraphRetainUserObject, graph, user_object, 1u,
                    unsigned{cudaGraphUserObjectMove});
  if (status != cudaSuccess) [[unlikely]] {
    (void)try_call(cudaUserObjectRelease, user_object, 1u);
  }
  return status;
}
inline void hold_in_graph(cudaGraph_t graph, void* object, cudaHostFn_t end, SourceLocation where) {
  const cudaError_t status = try_hold_in_graph(graph, object, end);
  if (status != cudaSuccess) [[unlikely]] {
    raise(status, "cudaGraphRetainUserObject", where, {});
  }
}

template <class T>
struct HeldObject {
  std::optional<T> object;
  static void CUDART_CB end(void* self) noexcept {
    const HostFunctionMark mark;
    delete static_cast<HeldObject*>(self);
  }
};

// Moves an object into the graph's keeping and gives a reference to it.
// @throws Error, and std::bad_alloc, before which the object stays where it was.
template <class T>
T& move_into_graph(cudaGraph_t graph, T&& object, SourceLocation where) {
  auto* const held = new HeldObject<T>;
  hold_in_graph(graph, held, &HeldObject<T>::end, where);
  return held->object.emplace(static_cast<T&&>(object));
}

}  // namespace culvert::inline CULVERT_ABI::detail
