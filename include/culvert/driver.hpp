// SPDX-License-Identifier: BSL-1.0
//
// The few functions that only CUDA's driver has, obtained through the runtime: nothing need
// link libcuda.
#pragma once

#include <culvert/runtime.hpp>

#include <cuda.h>

namespace culvert::inline CULVERT_ABI::detail {

// The driver's asynchronous sets of 1, 2 and 4 bytes, in one and two dimensions.
struct DriverSets {
  CUresult (*set_16)(CUdeviceptr, unsigned short, std::size_t, CUstream);
  CUresult (*set_32)(CUdeviceptr, unsigned, std::size_t, CUstream);
  CUresult (*set_2d_8)(CUdeviceptr, std::size_t, unsigned char, std::size_t, std::size_t, CUstream);
  CUresult (*set_2d_16)(CUdeviceptr, std::size_t, unsigned short, std::size_t, std::size_t,
                        CUstream);
  CUresult (*set_2d_32)(CUdeviceptr, std::size_t, unsigned, std::size_t, std::size_t, CUstream);
};

template <class Function>
void load_entry_point(Function& function, const char* name, SourceLocation where) {
  void* address = nullptr;
  cudaDriverEntryPointQueryResult found{};
#if CUDART_VERSION >= 12050
  const char* const getter = "cudaGetDriverEntryPointByVersion";
  const cudaError_t status =
      try_call(cudaGetDriverEntryPointByVersion, name, &address, 12000u, cudaEnableDefault, &found);
#else
  const char* const getter = "cudaGetDriverEntryPoint";
  const cudaError_t status =
      try_call(cudaGetDriverEntryPoint, name, &address, cudaEnableDefault, &found);
#endif
  if (status != cudaSuccess) raise(status, getter, where, name);
  if (address == nullptr) {
    raise(cudaErrorSymbolNotFound, getter, where,
          std::string("the driver has no function ") + name);
  }
  function = reinterpret_cast<Function>(address);
}

[[nodiscard, gnu::cold, gnu::noinline]] inline DriverSets load_driver_sets(SourceLocation where) {
  DriverSets result{};
  load_entry_point(result.set_16, "cuMemsetD16Async", where);
  load_entry_point(result.set_32, "cuMemsetD32Async", where);
  load_entry_point(result.set_2d_8, "cuMemsetD2D8Async", where);
  load_entry_point(result.set_2d_16, "cuMemsetD2D16Async", where);
  load_entry_point(result.set_2d_32, "cuMemsetD2D32Async", where);
  return result;
}

// Loaded once, at the first use.
[[nodiscard]] inline const DriverSets& driver_sets(SourceLocation where) {
  static const DriverSets sets = load_driver_sets(where);
  return sets;
}

// Calls a function of the driver. Its results have the numbers of the runtime's errors, and
// leave the runtime's last error alone.
template <class... Parameters>
inline void call_driver(SourceLocation where, const char* name, CUresult (*function)(Parameters...),
                        std::type_identity_t<Parameters>... arguments) {
  const CUresult result = function(arguments...);
  if (result != CUDA_SUCCESS) [[unlikely]] {
    saw_failure(static_cast<cudaError_t>(result));
    raise(static_cast<cudaError_t>(result), name, where, {});
  }
}

}  // namespace culvert::inline CULVERT_ABI::detail
