// SPDX-License-Identifier: BSL-1.0
// Copies between devices that are named.
#include "sim/capture.hpp"
#include "sim/copy_3d.hpp"

namespace {

using namespace culvert::sim::detail;

// Both ends of a copy between devices.
struct Devices {
  int to = 0;
  int from = 0;
};

bool is_device(const Call& call, int device) {
  return device >= 0 && device < call.process.config.devices;
}

// Managed and pinned memory lie on every device.
bool lies_on(const Call& call, const void* pointer, int device) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const BlockPtr block = call.process.memory.find(address);
  return !call.process.memory.contains(address) || !block || block->device == device;
}

cudaError_t check(const Call& call, const Copy& copy, const Devices& devices) {
  if (copy.width == 0 || copy.height == 0 || copy.depth == 0) return cudaSuccess;
  if (!is_device(call, devices.to) || !is_device(call, devices.from)) return cudaErrorInvalidDevice;
  const bool agree = lies_on(call, copy.to, devices.to) && lies_on(call, copy.from, devices.from);
  return agree ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t copy_in_stream(Call& call, const StreamPtr& stream, Copy request,
                           const Devices& devices) {
  const cudaError_t error = check(call, request, devices);
  if (error != cudaSuccess) return error;
  return copy(call, stream, request, CopyCall::asynchronous);
}

// After all work of the devices concerned and before all that comes: so both are waited for, though
// CUDA lets the host go on.
cudaError_t copy_between_all(Call& call, const StreamPtr& stream, const Copy& request,
                             const Devices& devices) {
  const cudaError_t error = check(call, request, devices);
  if (error != cudaSuccess) return error;
  const cudaError_t refused = check_capture(call.process, *stream, InCapture::refused);
  if (refused != cudaSuccess) return refused;
  for (const int device : {stream->device, devices.to, devices.from}) {
    const cudaError_t failure = call.wait(call.process.scheduler.last_on_device(device), device);
    if (failure != cudaSuccess) return failure;
  }
  const cudaError_t failure = copy(call, stream, request, CopyCall::asynchronous);
  if (failure != cudaSuccess) return failure;
  return call.wait(call.process.device_of(*stream).streams.tails(*stream), stream->device);
}

cudaError_t copy_of_params(const char* function, const cudaMemcpy3DPeerParms* params, Copy& copy) {
  if (params == nullptr) return cudaErrorInvalidValue;
  return copy_of(function, {params->dstArray, params->dstPos, params->dstPtr},
                 {params->srcArray, params->srcPos, params->srcPtr}, params->extent, copy);
}

cudaError_t copy_box_now(NullStream null, const cudaMemcpy3DPeerParms* params) {
  constexpr const char* function = "cudaMemcpy3DPeer";
  return stream_api(function, nullptr, null, [&](Call& call, const StreamPtr& stream) {
    Copy request;
    const cudaError_t error = copy_of_params(function, params, request);
    if (error != cudaSuccess) return error;
    return copy_between_all(call, stream, request, {params->dstDevice, params->srcDevice});
  });
}

cudaError_t copy_box_in_stream(NullStream null, const cudaMemcpy3DPeerParms* params,
                               cudaStream_t handle) {
  constexpr const char* function = "cudaMemcpy3DPeerAsync";
  return stream_api(function, handle, null, [&](Call& call, const StreamPtr& stream) {
    Copy request;
    const cudaError_t error = copy_of_params(function, params, request);
    if (error != cudaSuccess) return error;
    return copy_in_stream(call, stream, request, {params->dstDevice, params->srcDevice});
  });
}

}  // namespace

extern "C" {

// CUDA has no per-thread form of the first two.
cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                           std::size_t count) {
  constexpr const char* function = "cudaMemcpyPeer";
  return stream_api(
      function, nullptr, NullStream::legacy, [&](Call& call, const StreamPtr& stream) {
        return copy_between_all(
            call, stream, {function, to, count, from, count, count, 1, cudaMemcpyDeviceToDevice},
            {to_device, from_device});
      });
}

cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                std::size_t count, cudaStream_t handle) {
  constexpr const char* function = "cudaMemcpyPeerAsync";
  return stream_api(function, handle, NullStream::legacy, [&](Call& call, const StreamPtr& stream) {
    return copy_in_stream(call, stream,
                          {function, to, count, from, count, count, 1, cudaMemcpyDeviceToDevice},
                          {to_device, from_device});
  });
}

cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* params) {
  return copy_box_now(NullStream::legacy, params);
}

cudaError_t cudaMemcpy3DPeer_ptds(const cudaMemcpy3DPeerParms* params) {
  return copy_box_now(NullStream::per_thread, params);
}

cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* params, cudaStream_t stream) {
  return copy_box_in_stream(NullStream::legacy, params, stream);
}

cudaError_t cudaMemcpy3DPeerAsync_ptsz(const cudaMemcpy3DPeerParms* params, cudaStream_t stream) {
  return copy_box_in_stream(NullStream::per_thread, params, stream);
}

}  // extern "C"
