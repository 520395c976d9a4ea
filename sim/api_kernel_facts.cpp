// SPDX-License-Identifier: BSL-1.0
// What a program asks of a kernel and sets for it.
#include "sim/kernel_limits.hpp"
#include "sim/kernels.hpp"
#include "sim/report.hpp"

using namespace culvert::sim::detail;

extern "C" {

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel) {
  return api("cudaFuncGetAttributes", [&](Call& call) {
    if (attributes == nullptr) return cudaErrorInvalidValue;
    if (!Kernels::instance().contains(kernel)) return no_definition(kernel);
    const KernelSettings set = settings(call, kernel);
    *attributes = cudaFuncAttributes{};
    attributes->maxThreadsPerBlock = attribute(call, cudaDevAttrMaxThreadsPerBlock);
    attributes->numRegs = registers_of_a_kernel;
    attributes->ptxVersion = 10 * attribute(call, cudaDevAttrComputeCapabilityMajor) +
                             attribute(call, cudaDevAttrComputeCapabilityMinor);
    attributes->binaryVersion = attributes->ptxVersion;
    attributes->maxDynamicSharedSizeBytes = set.dynamic_shared_memory;
    attributes->preferredShmemCarveout = -1;
    attributes->nonPortableClusterSizeAllowed = set.non_portable_clusters ? 1 : 0;
    return cudaSuccess;
  });
}

cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute which, int value) {
  return api("cudaFuncSetAttribute", [&](Call& call) {
    if (!Kernels::instance().contains(kernel)) return no_definition(kernel);
    switch (which) {
      case cudaFuncAttributeMaxDynamicSharedMemorySize:
        if (value < 0 || value > attribute(call, cudaDevAttrMaxSharedMemoryPerBlockOptin)) {
          return cudaErrorInvalidValue;
        }
        call.device().kernels[kernel].dynamic_shared_memory = value;
        return cudaSuccess;
      case cudaFuncAttributeNonPortableClusterSizeAllowed:
        call.device().kernels[kernel].non_portable_clusters = value != 0;
        return cudaSuccess;
      case cudaFuncAttributePreferredSharedMemoryCarveout:
        return value >= -1 && value <= 100 ? cudaSuccess : cudaErrorInvalidValue;
      default:
        return cudaErrorNotSupported;
    }
  });
}

// A preference, which changes no result.
cudaError_t cudaFuncSetCacheConfig(const void* kernel, cudaFuncCache preference) {
  return api("cudaFuncSetCacheConfig", [&](Call&) {
    if (!Kernels::instance().contains(kernel)) return no_definition(kernel);
    const bool known =
        preference >= cudaFuncCachePreferNone && preference <= cudaFuncCachePreferEqual;
    return known ? cudaSuccess : cudaErrorInvalidValue;
  });
}

cudaError_t cudaGetKernel(cudaKernel_t* handle, const void* kernel) {
  return api("cudaGetKernel", [&](Call&) {
    if (handle == nullptr) return cudaErrorInvalidValue;
    if (!Kernels::instance().contains(kernel)) return no_definition(kernel);
    *handle = static_cast<cudaKernel_t>(const_cast<void*>(kernel));
    return cudaSuccess;
  });
}

cudaError_t cudaFuncGetName(const char** name, const void* kernel) {
  return api("cudaFuncGetName", [&](Call&) {
    if (name == nullptr) return cudaErrorInvalidValue;
    if (!Kernels::instance().contains(kernel)) return no_definition(kernel);
    const char* const mangled = Kernels::instance().mangled_name(kernel);
    if (mangled == nullptr) {
      report("cudaFuncGetName knows only the names of kernels in .cu files that nvcc compiled");
      return cudaErrorNotSupported;
    }
    *name = mangled;
    return cudaSuccess;
  });
}

cudaError_t cudaFuncGetParamInfo(const void* kernel, std::size_t index, std::size_t* offset,
                                 std::size_t* size) {
  return api("cudaFuncGetParamInfo", [&](Call&) {
    const KernelPtr definition = Kernels::instance().find(kernel);
    if (!definition) return no_definition(kernel);
    if (offset == nullptr || index >= definition->sizes.size()) return cudaErrorInvalidValue;
    std::size_t end = 0;
    for (std::size_t i = 0; i <= index; ++i) {
      const std::size_t alignment = definition->alignments[i];
      *offset = (end + alignment - 1) / alignment * alignment;
      end = *offset + definition->sizes[i];
    }
    if (size != nullptr) *size = definition->sizes[index];
    return cudaSuccess;
  });
}

}  // extern "C"
