// SPDX-License-Identifier: BSL-1.0
// Callbacks, which host functions replace.
#include "sim/entry.hpp"

namespace culvert::sim::detail::entry {

cudaError_t add_callback(NullStream null, cudaStream_t handle, cudaStreamCallback_t callback,
                         void* data, unsigned flags) {
  constexpr const char* name = "cudaStreamAddCallback";
  constexpr Rules rules{.in_capture = InCapture::refused};
  return stream_api(name, rules, handle, null, [&](Call& call, const StreamPtr& stream) {
    if (callback == nullptr || flags != 0) return cudaErrorInvalidValue;
    // Unlike a host function it is called after an error, too.
    const auto run = [callback, handle, data](int error) {
      callback(handle, static_cast<cudaError_t>(error), data);
    };
    call.process.enqueue(call.lock, stream,
                         {.kind = OpKind::host_function,
                          .name = name,
                          .action = [run] { run(cudaSuccess); },
                          .cost = {.engine = Engine::host},
                          .if_dropped = run});
    return call.process.failure(stream->device);
  });
}

}  // namespace culvert::sim::detail::entry

extern "C" cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
                                             void* data, unsigned flags) {
  using namespace culvert::sim::detail;
  return entry::add_callback(NullStream::legacy, stream, callback, data, flags);
}
