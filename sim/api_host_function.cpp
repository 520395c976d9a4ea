// SPDX-License-Identifier: BSL-1.0
// Host functions.
#include "sim/entry.hpp"

namespace culvert::sim::detail::entry {

cudaError_t launch_host_function(NullStream null, cudaStream_t handle, cudaHostFn_t function,
                                 void* data) {
  constexpr const char* name = "cudaLaunchHostFunc";
  return stream_api(name, handle, null, [&](Call& call, const StreamPtr& stream) {
    if (function == nullptr) return cudaErrorInvalidValue;
    Work work{.kind = OpKind::host_function,
              .name = name,
              .action = [function, data] { function(data); },
              .cost = {.engine = Engine::host}};
    if (stream->recorder) work.params = node_params(cudaHostNodeParams{function, data});
    call.process.enqueue(call.lock, stream, std::move(work));
    return call.process.failure(stream->device);
  });
}

}  // namespace culvert::sim::detail::entry

extern "C" cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  using namespace culvert::sim::detail;
  return entry::launch_host_function(NullStream::legacy, stream, function, data);
}
