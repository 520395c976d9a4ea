// SPDX-License-Identifier: BSL-1.0
// Pinned host memory.
#include "sim/call.hpp"

namespace {

using namespace culvert::sim::detail;

std::uintptr_t address_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

cudaError_t allocate(const char* function, void** pointer, std::size_t size, unsigned flags) {
  return api(function, [&](Call& call) {
    constexpr unsigned known =
        cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
    if (pointer == nullptr || (flags & ~known) != 0) return cudaErrorInvalidValue;
    *pointer = nullptr;
    if (size == 0) return cudaSuccess;
    const BlockPtr block = call.process.host.allocate(size, flags, call.thread.device);
    if (!block) return cudaErrorMemoryAllocation;
    *pointer = block->bytes;
    return cudaSuccess;
  });
}

// Ends an allocation or a registration, after the pending work that uses it.
cudaError_t release(Call& call, const void* pointer, BlockKind kind, cudaError_t unknown) {
  const BlockPtr block = call.process.host.find(address_of(pointer));
  if (!block || block->address != address_of(pointer) || block->kind != kind ||
      block->free_requested) {
    return unknown;
  }
  block->free_requested = true;
  const cudaError_t error = call.wait(call.process.scheduler.touching(*block), call.thread.device);
  if (error == cudaSuccess && block->state != BlockState::freed) {
    call.process.release(*block);
  } else {
    block->free_requested = false;
  }
  return error;
}

}  // namespace

extern "C" {

cudaError_t cudaHostAlloc(void** pointer, std::size_t size, unsigned flags) {
  return allocate("cudaHostAlloc", pointer, size, flags);
}

cudaError_t cudaMallocHost(void** pointer, std::size_t size) {
  return allocate("cudaMallocHost", pointer, size, cudaHostAllocDefault);
}

cudaError_t cudaFreeHost(void* pointer) {
  return api("cudaFreeHost", [&](Call& call) -> cudaError_t {
    if (pointer == nullptr) return cudaSuccess;
    return release(call, pointer, BlockKind::host, cudaErrorInvalidValue);
  });
}

cudaError_t cudaHostRegister(void* pointer, std::size_t size, unsigned flags) {
  return api("cudaHostRegister", [&](Call& call) {
    constexpr unsigned known = cudaHostRegisterPortable | cudaHostRegisterMapped |
                               cudaHostRegisterIoMemory | cudaHostRegisterReadOnly;
    if (pointer == nullptr || size == 0 || (flags & ~known) != 0 ||
        call.process.memory.contains(address_of(pointer))) {
      return cudaErrorInvalidValue;
    }
    if (call.process.host.overlaps(address_of(pointer), size)) {
      return cudaErrorHostMemoryAlreadyRegistered;
    }
    call.process.host.add_registered(pointer, size, flags, call.thread.device);
    return cudaSuccess;
  });
}

cudaError_t cudaHostUnregister(void* pointer) {
  return api("cudaHostUnregister", [&](Call& call) -> cudaError_t {
    if (pointer == nullptr) return cudaErrorInvalidValue;
    return release(call, pointer, BlockKind::registered, cudaErrorHostMemoryNotRegistered);
  });
}

cudaError_t cudaHostGetDevicePointer(void** device_pointer, void* pointer, unsigned flags) {
  return api("cudaHostGetDevicePointer", [&](Call& call) {
    if (device_pointer == nullptr || flags != 0) return cudaErrorInvalidValue;
    *device_pointer = nullptr;
    if (!call.process.host.find(address_of(pointer))) return cudaErrorInvalidValue;
    *device_pointer = pointer;
    return cudaSuccess;
  });
}

cudaError_t cudaHostGetFlags(unsigned* flags, void* pointer) {
  return api("cudaHostGetFlags", [&](Call& call) {
    if (flags == nullptr) return cudaErrorInvalidValue;
    const BlockPtr block = call.process.host.find(address_of(pointer));
    if (!block || block->kind != BlockKind::host) return cudaErrorInvalidValue;
    // With unified addressing all pinned memory is mapped.
    *flags = block->flags | cudaHostAllocMapped;
    return cudaSuccess;
  });
}

}  // extern "C"
