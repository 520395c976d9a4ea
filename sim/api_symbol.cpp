// SPDX-License-Identifier: BSL-1.0
// __device__, __constant__ and __managed__ variables of .cu files, by their symbols.
#include "sim/entry.hpp"
#include "sim/transfer.hpp"
#include "sim/variables.hpp"

namespace culvert::sim::detail {
namespace {

// The address on the current device.
cudaError_t address_of(Call& call, const void* symbol, void** address, std::size_t* size) {
  const VariablePtr variable = Variables::instance().find(symbol);
  if (!variable) return cudaErrorInvalidSymbol;
  const BlockPtr block = memory_of(call.process, variable, call.thread.device);
  if (!block) return cudaErrorMemoryAllocation;
  *address = reinterpret_cast<void*>(block->address);
  *size = variable->size;
  return cudaSuccess;
}

// Part of a variable, and memory of any kind that it is copied to or from.
struct SymbolCopy {
  const char* function;
  const void* symbol;
  std::size_t offset;
  std::size_t count;
  cudaMemcpyKind kind;
  cudaMemcpyKind with_host;  // the kind that means the host
};

// `body(address)` copies.
template <class Body>
cudaError_t with_symbol(Call& call, const SymbolCopy& copy, Body&& body) {
  if (copy.kind != copy.with_host && copy.kind != cudaMemcpyDeviceToDevice &&
      copy.kind != cudaMemcpyDefault) {
    return cudaErrorInvalidMemcpyDirection;
  }
  void* address = nullptr;
  std::size_t size = 0;
  const cudaError_t error = address_of(call, copy.symbol, &address, &size);
  if (error != cudaSuccess) return error;
  if (copy.offset > size || copy.count > size - copy.offset) return cudaErrorInvalidValue;
  return body(static_cast<std::byte*>(address) + copy.offset);
}

cudaError_t copy_to(NullStream null, const SymbolCopy& which, const void* from, cudaStream_t handle,
                    CopyCall family) {
  return stream_api(which.function, handle, null, [&](Call& call, const StreamPtr& stream) {
    return with_symbol(call, which, [&](void* to) {
      return copy(
          call, stream,
          {which.function, to, which.count, from, which.count, which.count, 1, cudaMemcpyDefault},
          family);
    });
  });
}

cudaError_t copy_from(NullStream null, const SymbolCopy& which, void* to, cudaStream_t handle,
                      CopyCall family) {
  return stream_api(which.function, handle, null, [&](Call& call, const StreamPtr& stream) {
    return with_symbol(call, which, [&](const void* from) {
      return copy(
          call, stream,
          {which.function, to, which.count, from, which.count, which.count, 1, cudaMemcpyDefault},
          family);
    });
  });
}

}  // namespace

namespace entry {

cudaError_t memcpy_to_symbol(NullStream null, const void* symbol, const void* from,
                             std::size_t count, std::size_t offset, cudaMemcpyKind kind) {
  return copy_to(null, {"cudaMemcpyToSymbol", symbol, offset, count, kind, cudaMemcpyHostToDevice},
                 from, nullptr, CopyCall::synchronous);
}

cudaError_t memcpy_from_symbol(NullStream null, void* to, const void* symbol, std::size_t count,
                               std::size_t offset, cudaMemcpyKind kind) {
  return copy_from(null,
                   {"cudaMemcpyFromSymbol", symbol, offset, count, kind, cudaMemcpyDeviceToHost},
                   to, nullptr, CopyCall::synchronous);
}

cudaError_t memcpy_to_symbol_async(NullStream null, const void* symbol, const void* from,
                                   std::size_t count, std::size_t offset, cudaMemcpyKind kind,
                                   cudaStream_t stream) {
  return copy_to(null,
                 {"cudaMemcpyToSymbolAsync", symbol, offset, count, kind, cudaMemcpyHostToDevice},
                 from, stream, CopyCall::asynchronous);
}

cudaError_t memcpy_from_symbol_async(NullStream null, void* to, const void* symbol,
                                     std::size_t count, std::size_t offset, cudaMemcpyKind kind,
                                     cudaStream_t stream) {
  return copy_from(
      null, {"cudaMemcpyFromSymbolAsync", symbol, offset, count, kind, cudaMemcpyDeviceToHost}, to,
      stream, CopyCall::asynchronous);
}

}  // namespace entry
}  // namespace culvert::sim::detail

extern "C" {

using namespace culvert::sim::detail;

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t count,
                               std::size_t offset, cudaMemcpyKind kind) {
  return entry::memcpy_to_symbol(NullStream::legacy, symbol, from, count, offset, kind);
}

cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t count,
                                 std::size_t offset, cudaMemcpyKind kind) {
  return entry::memcpy_from_symbol(NullStream::legacy, to, symbol, count, offset, kind);
}

cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, std::size_t count,
                                    std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
  return entry::memcpy_to_symbol_async(NullStream::legacy, symbol, from, count, offset, kind,
                                       stream);
}

cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, std::size_t count,
                                      std::size_t offset, cudaMemcpyKind kind,
                                      cudaStream_t stream) {
  return entry::memcpy_from_symbol_async(NullStream::legacy, to, symbol, count, offset, kind,
                                         stream);
}

cudaError_t cudaGetSymbolAddress(void** pointer, const void* symbol) {
  return api("cudaGetSymbolAddress", [&](Call& call) {
    if (pointer == nullptr) return cudaErrorInvalidValue;
    std::size_t size = 0;
    return address_of(call, symbol, pointer, &size);
  });
}

cudaError_t cudaGetSymbolSize(std::size_t* size, const void* symbol) {
  return api("cudaGetSymbolSize", [&](Call&) {
    if (size == nullptr) return cudaErrorInvalidValue;
    const VariablePtr variable = Variables::instance().find(symbol);
    if (!variable) return cudaErrorInvalidSymbol;
    *size = variable->size;
    return cudaSuccess;
  });
}

}  // extern "C"
