// SPDX-License-Identifier: BSL-1.0
// What shares with other processes, which the simulated runtime does not; and the profiler's
// switches, which have nothing to switch.
#include "sim/call.hpp"
#include "sim/report.hpp"

namespace {

using namespace culvert::sim::detail;

cudaError_t refuse_sharing(const char* function) {
  return api(function, [&](Call&) {
    report("%s: the simulated runtime shares nothing with other processes", function);
    return cudaErrorNotSupported;
  });
}

}  // namespace

extern "C" {

cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t*, cudaEvent_t) {
  return refuse_sharing("cudaIpcGetEventHandle");
}

cudaError_t cudaIpcOpenEventHandle(cudaEvent_t*, cudaIpcEventHandle_t) {
  return refuse_sharing("cudaIpcOpenEventHandle");
}

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t*, void*) {
  return refuse_sharing("cudaIpcGetMemHandle");
}

cudaError_t cudaIpcOpenMemHandle(void**, cudaIpcMemHandle_t, unsigned) {
  return refuse_sharing("cudaIpcOpenMemHandle");
}

cudaError_t cudaIpcCloseMemHandle(void*) { return refuse_sharing("cudaIpcCloseMemHandle"); }

cudaError_t cudaMemPoolExportToShareableHandle(void*, cudaMemPool_t, cudaMemAllocationHandleType,
                                               unsigned) {
  return refuse_sharing("cudaMemPoolExportToShareableHandle");
}

cudaError_t cudaMemPoolImportFromShareableHandle(cudaMemPool_t*, void*, cudaMemAllocationHandleType,
                                                 unsigned) {
  return refuse_sharing("cudaMemPoolImportFromShareableHandle");
}

cudaError_t cudaMemPoolExportPointer(cudaMemPoolPtrExportData*, void*) {
  return refuse_sharing("cudaMemPoolExportPointer");
}

cudaError_t cudaMemPoolImportPointer(void**, cudaMemPool_t, cudaMemPoolPtrExportData*) {
  return refuse_sharing("cudaMemPoolImportPointer");
}

cudaError_t cudaProfilerStart() {
  return api("cudaProfilerStart", [](Call&) { return cudaSuccess; });
}

cudaError_t cudaProfilerStop() {
  return api("cudaProfilerStop", [](Call&) { return cudaSuccess; });
}

}  // extern "C"
