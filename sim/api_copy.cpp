// SPDX-License-Identifier: BSL-1.0
// Copies and fills.
#include "sim/entry.hpp"
#include "sim/transfer.hpp"

namespace culvert::sim::detail::entry {

cudaError_t memcpy(NullStream null, void* to, const void* from, std::size_t count,
                   cudaMemcpyKind kind) {
  constexpr const char* function = "cudaMemcpy";
  return stream_api(function, nullptr, null, [&](Call& call, const StreamPtr& stream) {
    return copy(call, stream, {function, to, count, from, count, count, 1, kind},
                CopyCall::synchronous);
  });
}

cudaError_t memcpy_async(NullStream null, void* to, const void* from, std::size_t count,
                         cudaMemcpyKind kind, cudaStream_t handle) {
  constexpr const char* function = "cudaMemcpyAsync";
  return stream_api(function, handle, null, [&](Call& call, const StreamPtr& stream) {
    return copy(call, stream, {function, to, count, from, count, count, 1, kind},
                CopyCall::asynchronous);
  });
}

cudaError_t memcpy_2d_async(NullStream null, void* to, std::size_t to_pitch, const void* from,
                            std::size_t from_pitch, std::size_t width, std::size_t height,
                            cudaMemcpyKind kind, cudaStream_t handle) {
  constexpr const char* function = "cudaMemcpy2DAsync";
  return stream_api(
      function, handle, null, [&](Call& call, const StreamPtr& stream) -> cudaError_t {
        if (width > to_pitch || width > from_pitch) return cudaErrorInvalidPitchValue;
        return copy(call, stream, {function, to, to_pitch, from, from_pitch, width, height, kind},
                    CopyCall::asynchronous);
      });
}

cudaError_t memset(NullStream null, void* to, int value, std::size_t count) {
  constexpr const char* function = "cudaMemset";
  return stream_api(function, nullptr, null, [&](Call& call, const StreamPtr& stream) {
    const auto byte = static_cast<unsigned char>(value);
    return fill(call, stream, {function, to, count, byte, 1, count, 1}, true);
  });
}

cudaError_t memset_async(NullStream null, void* to, int value, std::size_t count,
                         cudaStream_t handle) {
  constexpr const char* function = "cudaMemsetAsync";
  return stream_api(function, handle, null, [&](Call& call, const StreamPtr& stream) {
    const auto byte = static_cast<unsigned char>(value);
    return fill(call, stream, {function, to, count, byte, 1, count, 1}, false);
  });
}

cudaError_t memset_2d_async(NullStream null, void* to, std::size_t pitch, int value,
                            std::size_t width, std::size_t height, cudaStream_t handle) {
  constexpr const char* function = "cudaMemset2DAsync";
  return stream_api(function, handle, null, [&](Call& call, const StreamPtr& stream) {
    const auto byte = static_cast<unsigned char>(value);
    return fill(call, stream, {function, to, pitch, byte, 1, width, height}, false);
  });
}

}  // namespace culvert::sim::detail::entry

extern "C" {

using namespace culvert::sim::detail;

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t count, cudaMemcpyKind kind) {
  return entry::memcpy(NullStream::legacy, to, from, count, kind);
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t count, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return entry::memcpy_async(NullStream::legacy, to, from, count, kind, stream);
}

cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t width, std::size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream) {
  return entry::memcpy_2d_async(NullStream::legacy, to, to_pitch, from, from_pitch, width, height,
                                kind, stream);
}

// CUDA has no per-thread form of this one.
cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                std::size_t count, cudaStream_t handle) {
  constexpr const char* function = "cudaMemcpyPeerAsync";
  return stream_api(
      function, handle, NullStream::legacy,
      [&](Call& call, const StreamPtr& stream) -> cudaError_t {
        const int devices = call.process.config.devices;
        const auto is_device = [&](int device) { return device >= 0 && device < devices; };
        if (!is_device(to_device) || !is_device(from_device)) return cudaErrorInvalidDevice;
        const auto lies_on = [&](const void* pointer, int device) {
          const BlockPtr block =
              call.process.memory.find(reinterpret_cast<std::uintptr_t>(pointer));
          return block && block->device == device;
        };
        if (count != 0 && !(lies_on(to, to_device) && lies_on(from, from_device))) {
          return cudaErrorInvalidValue;
        }
        return copy(call, stream,
                    {function, to, count, from, count, count, 1, cudaMemcpyDeviceToDevice},
                    CopyCall::asynchronous);
      });
}

cudaError_t cudaMemset(void* to, int value, std::size_t count) {
  return entry::memset(NullStream::legacy, to, value, count);
}

cudaError_t cudaMemsetAsync(void* to, int value, std::size_t count, cudaStream_t stream) {
  return entry::memset_async(NullStream::legacy, to, value, count, stream);
}

cudaError_t cudaMemset2DAsync(void* to, std::size_t pitch, int value, std::size_t width,
                              std::size_t height, cudaStream_t stream) {
  return entry::memset_2d_async(NullStream::legacy, to, pitch, value, width, height, stream);
}

}  // extern "C"
