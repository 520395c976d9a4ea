// SPDX-License-Identifier: BSL-1.0
// Attributes of streams, in both forms.
#include "sim/attributes.hpp"
#include "sim/entry.hpp"
#include "sim/stream_settings.hpp"

namespace {

using namespace culvert::sim::detail;

// Made when it is first needed: most streams have no attributes.
StreamSettings& settings_of(Stream& stream) {
  if (!stream.settings) stream.settings = std::make_shared<StreamSettings>();
  return *stream.settings;
}

bool is_valid(const cudaAccessPolicyWindow& window) {
  return window.num_bytes <= max_access_policy_window && window.hitRatio >= 0 &&
         window.hitRatio <= 1 && window.missProp != cudaAccessPropertyPersisting;
}

bool is_valid(const cudaLaunchMemSyncDomainMap& map) {
  return map.default_ < memory_sync_domains && map.remote < memory_sync_domains;
}

cudaError_t set(Stream& stream, cudaLaunchAttributeID id, const cudaLaunchAttributeValue& value) {
  switch (id) {
    case cudaStreamAttributeAccessPolicyWindow:
      if (!is_valid(value.accessPolicyWindow)) return cudaErrorInvalidValue;
      settings_of(stream).window = value.accessPolicyWindow;
      return cudaSuccess;
    case cudaStreamAttributeSynchronizationPolicy:
      if (value.syncPolicy < cudaSyncPolicyAuto || value.syncPolicy > cudaSyncPolicyBlockingSync) {
        return cudaErrorInvalidValue;
      }
      settings_of(stream).policy = value.syncPolicy;
      return cudaSuccess;
    case cudaStreamAttributeMemSyncDomainMap:
      if (!is_valid(value.memSyncDomainMap)) return cudaErrorInvalidValue;
      settings_of(stream).domains = value.memSyncDomainMap;
      return cudaSuccess;
    case cudaStreamAttributeMemSyncDomain:
      if (value.memSyncDomain != cudaLaunchMemSyncDomainDefault &&
          value.memSyncDomain != cudaLaunchMemSyncDomainRemote) {
        return cudaErrorInvalidValue;
      }
      settings_of(stream).domain = value.memSyncDomain;
      return cudaSuccess;
    case cudaStreamAttributePriority:
      if (value.priority < greatest_priority || value.priority > least_priority) {
        return cudaErrorInvalidValue;
      }
      stream.priority = value.priority;
      return cudaSuccess;
    default:
      return cudaErrorInvalidValue;
  }
}

cudaError_t get(Stream& stream, cudaLaunchAttributeID id, cudaLaunchAttributeValue& value) {
  const StreamSettings settings = stream.settings ? *stream.settings : StreamSettings();
  switch (id) {
    case cudaStreamAttributeAccessPolicyWindow:
      value.accessPolicyWindow = settings.window;
      return cudaSuccess;
    case cudaStreamAttributeSynchronizationPolicy:
      value.syncPolicy = settings.policy;
      return cudaSuccess;
    case cudaStreamAttributeMemSyncDomainMap:
      value.memSyncDomainMap = settings.domains;
      return cudaSuccess;
    case cudaStreamAttributeMemSyncDomain:
      value.memSyncDomain = settings.domain;
      return cudaSuccess;
    case cudaStreamAttributePriority:
      value.priority = stream.priority;
      return cudaSuccess;
    default:
      return cudaErrorInvalidValue;
  }
}

cudaError_t set_attribute(NullStream null, cudaStream_t handle, cudaLaunchAttributeID id,
                          const cudaLaunchAttributeValue* value) {
  return stream_api("cudaStreamSetAttribute", handle, null,
                    [&](Call&, const StreamPtr& stream) -> cudaError_t {
                      return value == nullptr ? cudaErrorInvalidValue : set(*stream, id, *value);
                    });
}

cudaError_t get_attribute(NullStream null, cudaStream_t handle, cudaLaunchAttributeID id,
                          cudaLaunchAttributeValue* value) {
  return stream_api("cudaStreamGetAttribute", handle, null,
                    [&](Call&, const StreamPtr& stream) -> cudaError_t {
                      return value == nullptr ? cudaErrorInvalidValue : get(*stream, id, *value);
                    });
}

cudaError_t copy_attributes(NullStream null, cudaStream_t to, cudaStream_t from) {
  return stream_api("cudaStreamCopyAttributes", to, null, [&](Call& call, const StreamPtr& stream) {
    const StreamPtr source = call.stream(from, null);
    if (!source) return cudaErrorInvalidResourceHandle;
    if (source->device != stream->device) return cudaErrorInvalidValue;
    stream->settings = nullptr;
    if (source->settings) settings_of(*stream) = *source->settings;
    stream->priority = source->priority;
    return cudaSuccess;
  });
}

}  // namespace

extern "C" {

cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaLaunchAttributeID id,
                                   const cudaLaunchAttributeValue* value) {
  return set_attribute(NullStream::legacy, stream, id, value);
}

cudaError_t cudaStreamSetAttribute_ptsz(cudaStream_t stream, cudaLaunchAttributeID id,
                                        const cudaLaunchAttributeValue* value) {
  return set_attribute(NullStream::per_thread, stream, id, value);
}

cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaLaunchAttributeID id,
                                   cudaLaunchAttributeValue* value) {
  return get_attribute(NullStream::legacy, stream, id, value);
}

cudaError_t cudaStreamGetAttribute_ptsz(cudaStream_t stream, cudaLaunchAttributeID id,
                                        cudaLaunchAttributeValue* value) {
  return get_attribute(NullStream::per_thread, stream, id, value);
}

cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
  return copy_attributes(NullStream::legacy, to, from);
}

cudaError_t cudaStreamCopyAttributes_ptsz(cudaStream_t to, cudaStream_t from) {
  return copy_attributes(NullStream::per_thread, to, from);
}

}  // extern "C"
