// SPDX-License-Identifier: BSL-1.0
// Driver entry points that the runtime hands out. Their types are those of cuda.h.
#include <cuda.h>

#include <cstring>

#include "sim/entry.hpp"
#include "sim/transfer.hpp"

namespace {

using namespace culvert::sim::detail;

// The driver does not touch the runtime's last error. Where both know an error, the numbers agree.
constexpr Rules driver_call{.sets_last_error = false};

CUresult driver_fill(NullStream null, CUstream stream, CUdeviceptr to, Fill request) {
  request.to = reinterpret_cast<void*>(to);
  const auto error =
      stream_api(request.function, driver_call, stream, null,
                 [&](Call& call, const StreamPtr& on) { return fill(call, on, request, false); });
  return static_cast<CUresult>(error);
}

// `Name` gives the name under which the calls are counted.
template <class Value, class Name, NullStream null>
CUresult fill_row(CUdeviceptr to, Value value, std::size_t count, CUstream stream) {
  return driver_fill(null, stream, to,
                     {Name::text, nullptr, count * sizeof(Value), value, sizeof(Value), count, 1});
}

template <class Value, class Name, NullStream null>
CUresult fill_rows(CUdeviceptr to, std::size_t pitch, Value value, std::size_t width,
                   std::size_t height, CUstream stream) {
  return driver_fill(null, stream, to,
                     {Name::text, nullptr, pitch, value, sizeof(Value), width, height});
}

struct D8 {
  static constexpr const char* text = "cuMemsetD8Async";
};
struct D16 {
  static constexpr const char* text = "cuMemsetD16Async";
};
struct D32 {
  static constexpr const char* text = "cuMemsetD32Async";
};
struct D2D8 {
  static constexpr const char* text = "cuMemsetD2D8Async";
};
struct D2D16 {
  static constexpr const char* text = "cuMemsetD2D16Async";
};
struct D2D32 {
  static constexpr const char* text = "cuMemsetD2D32Async";
};

struct EntryPoint {
  const char* name;
  unsigned since;
  void* legacy;
  void* per_thread;
};

template <class Name, class Value>
EntryPoint row_entry() {
  return {Name::text, 3020, reinterpret_cast<void*>(&fill_row<Value, Name, NullStream::legacy>),
          reinterpret_cast<void*>(&fill_row<Value, Name, NullStream::per_thread>)};
}

template <class Name, class Value>
EntryPoint rows_entry() {
  return {Name::text, 3020, reinterpret_cast<void*>(&fill_rows<Value, Name, NullStream::legacy>),
          reinterpret_cast<void*>(&fill_rows<Value, Name, NullStream::per_thread>)};
}

// Null if the name is not among them.
const EntryPoint* find_entry_point(const char* name) {
  static const EntryPoint entries[] = {
      row_entry<D8, unsigned char>(),      row_entry<D16, unsigned short>(),
      row_entry<D32, unsigned>(),          rows_entry<D2D8, unsigned char>(),
      rows_entry<D2D16, unsigned short>(), rows_entry<D2D32, unsigned>(),
  };
  for (const EntryPoint& entry : entries) {
    if (std::strcmp(entry.name, name) == 0) return &entry;
  }
  return nullptr;
}

}  // namespace

namespace culvert::sim::detail::entry {

cudaError_t get_driver_entry_point(NullStream null, const char* function, const char* symbol,
                                   void** pointer, unsigned version, unsigned long long flags,
                                   cudaDriverEntryPointQueryResult* status) {
  return api(function, asks_runtime, [&](Call&) {
    if (symbol == nullptr || *symbol == '\0' || pointer == nullptr ||
        flags > cudaEnablePerThreadDefaultStream) {
      return cudaErrorInvalidValue;
    }
    *pointer = nullptr;
    const auto answer = [&](cudaDriverEntryPointQueryResult result) {
      if (status != nullptr) *status = result;
      return cudaSuccess;
    };
    const EntryPoint* const found = find_entry_point(symbol);
    if (found == nullptr) return answer(cudaDriverEntryPointSymbolNotFound);
    if (version < found->since) return answer(cudaDriverEntryPointVersionNotSufficent);
    const bool per_thread = flags == cudaEnablePerThreadDefaultStream ||
                            (flags == cudaEnableDefault && null == NullStream::per_thread);
    *pointer = per_thread ? found->per_thread : found->legacy;
    return answer(cudaDriverEntryPointSuccess);
  });
}

}  // namespace culvert::sim::detail::entry

extern "C" {

cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** pointer, unsigned version,
                                             unsigned long long flags,
                                             cudaDriverEntryPointQueryResult* status) {
  return entry::get_driver_entry_point(NullStream::legacy, "cudaGetDriverEntryPointByVersion",
                                       symbol, pointer, version, flags, status);
}

cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** pointer, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* status) {
  return entry::get_driver_entry_point(NullStream::legacy, "cudaGetDriverEntryPoint", symbol,
                                       pointer, CUDART_VERSION, flags, status);
}

}  // extern "C"
