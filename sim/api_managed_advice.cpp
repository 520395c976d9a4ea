// SPDX-License-Identifier: BSL-1.0
// Advice about managed memory, and what was advised. CUDA 13 changed the parameters.
#include <algorithm>

#include "sim/managed_range.hpp"

#if CUDART_VERSION >= 13000

namespace {

using namespace culvert::sim::detail;

void set_accessed_by(PageAdvice& page, const cudaMemLocation& location, bool on) {
  if (location.type != cudaMemLocationTypeDevice) {
    page.accessed_by_host = on;
    return;
  }
  const auto bit = static_cast<std::uint8_t>(1U << location.id);
  page.accessed_by =
      static_cast<std::uint8_t>(on ? page.accessed_by | bit : page.accessed_by & ~unsigned{bit});
}

cudaError_t advise(const Call& call, const ManagedRange& range, cudaMemoryAdvise advice,
                   const cudaMemLocation& location) {
  // These do not look at the location.
  const bool located = advice == cudaMemAdviseSetPreferredLocation ||
                       advice == cudaMemAdviseSetAccessedBy ||
                       advice == cudaMemAdviseUnsetAccessedBy;
  if (located && !is_location(call, location)) {
    return location.type == cudaMemLocationTypeDevice ? cudaErrorInvalidDevice
                                                      : cudaErrorInvalidValue;
  }
  const auto for_each = [&](auto change) {
    std::for_each(range.begin(), range.end(), change);
    return cudaSuccess;
  };
  switch (advice) {
    case cudaMemAdviseSetReadMostly:
      return for_each([](PageAdvice& page) { page.read_mostly = true; });
    case cudaMemAdviseUnsetReadMostly:
      return for_each([](PageAdvice& page) { page.read_mostly = false; });
    case cudaMemAdviseSetPreferredLocation:
      return for_each([&](PageAdvice& page) { page.preferred = location; });
    case cudaMemAdviseUnsetPreferredLocation:
      return for_each([](PageAdvice& page) { page.preferred = PageAdvice().preferred; });
    case cudaMemAdviseSetAccessedBy:
      return for_each([&](PageAdvice& page) { set_accessed_by(page, location, true); });
    case cudaMemAdviseUnsetAccessedBy:
      return for_each([&](PageAdvice& page) { set_accessed_by(page, location, false); });
  }
  return cudaErrorInvalidValue;
}

// The location that all pages have, or an invalid one.
cudaMemLocation common(const ManagedRange& range, cudaMemLocation PageAdvice::*location) {
  const cudaMemLocation first = range.begin()->*location;
  const bool same = std::all_of(range.begin(), range.end(), [&](const PageAdvice& page) {
    return (page.*location).type == first.type && (page.*location).id == first.id;
  });
  return same ? first : cudaMemLocation{cudaMemLocationTypeInvalid, 0};
}

int device_of(const cudaMemLocation& location) {
  if (location.type == cudaMemLocationTypeDevice) return location.id;
  return location.type == cudaMemLocationTypeInvalid ? cudaInvalidDeviceId : cudaCpuDeviceId;
}

void list_accessed_by(const Call& call, const ManagedRange& range, int* devices, std::size_t room) {
  std::fill_n(devices, room, cudaInvalidDeviceId);
  const auto every = [&](auto has) { return std::all_of(range.begin(), range.end(), has); };
  std::size_t listed = 0;
  for (int device = 0; device < call.process.config.devices && listed < room; ++device) {
    const auto has = [&](const PageAdvice& page) { return (page.accessed_by >> device & 1) != 0; };
    if (every(has)) devices[listed++] = device;
  }
  const auto has_host = [](const PageAdvice& page) { return page.accessed_by_host; };
  if (listed < room && every(has_host)) devices[listed] = cudaCpuDeviceId;
}

cudaError_t answer(const Call& call, const ManagedRange& range, cudaMemRangeAttribute attribute,
                   void* data, std::size_t size) {
  if (data == nullptr) return cudaErrorInvalidValue;
  int* const numbers = static_cast<int*>(data);
  if (attribute == cudaMemRangeAttributeAccessedBy) {
    if (size == 0 || size % sizeof(int) != 0) return cudaErrorInvalidValue;
    list_accessed_by(call, range, numbers, size / sizeof(int));
    return cudaSuccess;
  }
  if (size != sizeof(int)) return cudaErrorInvalidValue;
  const auto give = [&](int value) {
    *numbers = value;
    return cudaSuccess;
  };
  switch (attribute) {
    case cudaMemRangeAttributeReadMostly:
      return give(std::all_of(range.begin(), range.end(),
                              [](const PageAdvice& page) { return page.read_mostly; })
                      ? 1
                      : 0);
    case cudaMemRangeAttributePreferredLocation:
      return give(device_of(common(range, &PageAdvice::preferred)));
    case cudaMemRangeAttributePreferredLocationType:
      return give(common(range, &PageAdvice::preferred).type);
    case cudaMemRangeAttributePreferredLocationId:
      return give(common(range, &PageAdvice::preferred).id);
    case cudaMemRangeAttributeLastPrefetchLocation:
      return give(device_of(common(range, &PageAdvice::prefetched)));
    case cudaMemRangeAttributeLastPrefetchLocationType:
      return give(common(range, &PageAdvice::prefetched).type);
    case cudaMemRangeAttributeLastPrefetchLocationId:
      return give(common(range, &PageAdvice::prefetched).id);
    default:
      return cudaErrorInvalidValue;
  }
}

}  // namespace

extern "C" {

cudaError_t cudaMemAdvise(const void* pointer, std::size_t count, cudaMemoryAdvise advice,
                          cudaMemLocation location) {
  constexpr const char* function = "cudaMemAdvise";
  return api(function, [&](Call& call) {
    ManagedRange range;
    if (!find_managed(call, function, pointer, count, range)) return cudaErrorInvalidValue;
    return advise(call, range, advice, location);
  });
}

cudaError_t cudaMemRangeGetAttribute(void* data, std::size_t size, cudaMemRangeAttribute attribute,
                                     const void* pointer, std::size_t count) {
  constexpr const char* function = "cudaMemRangeGetAttribute";
  return api(function, [&](Call& call) {
    ManagedRange range;
    if (!find_managed(call, function, pointer, count, range)) return cudaErrorInvalidValue;
    return answer(call, range, attribute, data, size);
  });
}

cudaError_t cudaMemRangeGetAttributes(void** data, std::size_t* sizes,
                                      cudaMemRangeAttribute* attributes, std::size_t number,
                                      const void* pointer, std::size_t count) {
  constexpr const char* function = "cudaMemRangeGetAttributes";
  return api(function, [&](Call& call) -> cudaError_t {
    if (data == nullptr || sizes == nullptr || attributes == nullptr || number == 0) {
      return cudaErrorInvalidValue;
    }
    ManagedRange range;
    if (!find_managed(call, function, pointer, count, range)) return cudaErrorInvalidValue;
    for (std::size_t i = 0; i < number; ++i) {
      const cudaError_t error = answer(call, range, attributes[i], data[i], sizes[i]);
      if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
  });
}

}  // extern "C"

#endif
