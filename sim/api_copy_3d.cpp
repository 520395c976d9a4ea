// SPDX-License-Identifier: BSL-1.0
// Copies and fills in three dimensions, in both forms.
#include "sim/attributes.hpp"
#include "sim/copy_3d.hpp"

namespace {

using namespace culvert::sim::detail;

cudaError_t copy_box(const char* function, NullStream null, const cudaMemcpy3DParms* params,
                     cudaStream_t handle, CopyCall family) {
  return stream_api(
      function, handle, null, [&](Call& call, const StreamPtr& stream) -> cudaError_t {
        if (params == nullptr) return cudaErrorInvalidValue;
        Copy request;
        request.kind = params->kind;
        const cudaError_t error =
            copy_of(function, {params->dstArray, params->dstPos, params->dstPtr},
                    {params->srcArray, params->srcPos, params->srcPtr}, params->extent, request);
        return error != cudaSuccess ? error : copy(call, stream, request, family);
      });
}

cudaError_t fill_box(const char* function, NullStream null, const cudaPitchedPtr& to, int value,
                     const cudaExtent& extent, cudaStream_t handle, bool wait_for_host) {
  return stream_api(function, handle, null,
                    [&](Call& call, const StreamPtr& stream) -> cudaError_t {
                      if (extent.depth > 1 && extent.height > to.ysize)
                        return cudaErrorInvalidValue;
                      Fill request;
                      request.function = function;
                      request.to = to.ptr;
                      request.pitch = to.pitch;
                      request.value = static_cast<unsigned char>(value);
                      request.width = extent.width;
                      request.height = extent.height;
                      request.depth = extent.depth;
                      if (extent.depth > 1) {
                        if (to.pitch > max_pitch) return cudaErrorInvalidValue;
                        request.slice = to.pitch * to.ysize;
                      }
                      return fill(call, stream, request, wait_for_host);
                    });
}

cudaError_t copy_now(NullStream null, const cudaMemcpy3DParms* params) {
  return copy_box("cudaMemcpy3D", null, params, nullptr, CopyCall::synchronous);
}

cudaError_t copy_in_stream(NullStream null, const cudaMemcpy3DParms* params, cudaStream_t stream) {
  return copy_box("cudaMemcpy3DAsync", null, params, stream, CopyCall::asynchronous);
}

cudaError_t fill_now(NullStream null, const cudaPitchedPtr& to, int value,
                     const cudaExtent& extent) {
  return fill_box("cudaMemset3D", null, to, value, extent, nullptr, true);
}

cudaError_t fill_in_stream(NullStream null, const cudaPitchedPtr& to, int value,
                           const cudaExtent& extent, cudaStream_t stream) {
  return fill_box("cudaMemset3DAsync", null, to, value, extent, stream, false);
}

}  // namespace

extern "C" {

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* params) {
  return copy_now(NullStream::legacy, params);
}

cudaError_t cudaMemcpy3D_ptds(const cudaMemcpy3DParms* params) {
  return copy_now(NullStream::per_thread, params);
}

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* params, cudaStream_t stream) {
  return copy_in_stream(NullStream::legacy, params, stream);
}

cudaError_t cudaMemcpy3DAsync_ptsz(const cudaMemcpy3DParms* params, cudaStream_t stream) {
  return copy_in_stream(NullStream::per_thread, params, stream);
}

cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent) {
  return fill_now(NullStream::legacy, to, value, extent);
}

cudaError_t cudaMemset3D_ptds(cudaPitchedPtr to, int value, cudaExtent extent) {
  return fill_now(NullStream::per_thread, to, value, extent);
}

cudaError_t cudaMemset3DAsync(cudaPitchedPtr to, int value, cudaExtent extent,
                              cudaStream_t stream) {
  return fill_in_stream(NullStream::legacy, to, value, extent, stream);
}

cudaError_t cudaMemset3DAsync_ptsz(cudaPitchedPtr to, int value, cudaExtent extent,
                                   cudaStream_t stream) {
  return fill_in_stream(NullStream::per_thread, to, value, extent, stream);
}

}  // extern "C"
