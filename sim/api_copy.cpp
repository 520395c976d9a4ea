// SPDX-License-Identifier: BSL-1.0
// Copies and fills.
#include "sim/entry.hpp"
#include "sim/transfer.hpp"

namespace culvert::sim::detail::entry {
namespace {

// No bytes are no work, so they harm no capture.
constexpr Rules rules_for(std::size_t count) {
  return {.in_capture = count == 0 ? InCapture::answers : InCapture::recorded};
}

cudaError_t check_pitches(std::size_t to, std::size_t from, std::size_t width, std::size_t height) {
  // One row needs no pitch.
  const auto fits = [&](std::size_t pitch) {
    return width <= pitch || (height == 1 && pitch == 0);
  };
  if (height == 0 || (fits(to) && fits(from))) return cudaSuccess;
  return height == 1 ? cudaErrorInvalidValue : cudaErrorInvalidPitchValue;
}

}  // namespace

cudaError_t memcpy(NullStream null, void* to, const void* from, std::size_t count,
                   cudaMemcpyKind kind) {
  constexpr const char* function = "cudaMemcpy";
  return stream_api(function, rules_for(count), nullptr, null,
                    [&](Call& call, const StreamPtr& stream) {
                      return copy(call, stream, {function, to, count, from, count, count, 1, kind},
                                  CopyCall::synchronous);
                    });
}

cudaError_t memcpy_async(NullStream null, void* to, const void* from, std::size_t count,
                         cudaMemcpyKind kind, cudaStream_t handle) {
  constexpr const char* function = "cudaMemcpyAsync";
  return stream_api(function, rules_for(count), handle, null,
                    [&](Call& call, const StreamPtr& stream) {
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
        const cudaError_t wrong = check_pitches(to_pitch, from_pitch, width, height);
        if (wrong != cudaSuccess) return wrong;
        return copy(call, stream, {function, to, to_pitch, from, from_pitch, width, height, kind},
                    CopyCall::asynchronous);
      });
}

cudaError_t memcpy_2d(NullStream null, void* to, std::size_t to_pitch, const void* from,
                      std::size_t from_pitch, std::size_t width, std::size_t height,
                      cudaMemcpyKind kind) {
  constexpr const char* function = "cudaMemcpy2D";
  return stream_api(
      function, nullptr, null, [&](Call& call, const StreamPtr& stream) -> cudaError_t {
        const cudaError_t wrong = check_pitches(to_pitch, from_pitch, width, height);
        if (wrong != cudaSuccess) return wrong;
        return copy(call, stream, {function, to, to_pitch, from, from_pitch, width, height, kind},
                    CopyCall::synchronous);
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

cudaError_t memset_2d(NullStream null, void* to, std::size_t pitch, int value, std::size_t width,
                      std::size_t height) {
  constexpr const char* function = "cudaMemset2D";
  return stream_api(function, nullptr, null, [&](Call& call, const StreamPtr& stream) {
    const auto byte = static_cast<unsigned char>(value);
    return fill(call, stream, {function, to, pitch, byte, 1, width, height}, true);
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

cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  return entry::memcpy_2d(NullStream::legacy, to, to_pitch, from, from_pitch, width, height, kind);
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

cudaError_t cudaMemset2D(void* to, std::size_t pitch, int value, std::size_t width,
                         std::size_t height) {
  return entry::memset_2d(NullStream::legacy, to, pitch, value, width, height);
}

}  // extern "C"
