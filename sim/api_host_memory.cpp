// SPDX-License-Identifier: BSL-1.0
// Pinned host memory.
#include <sys/mman.h>
#include <unistd.h>

#include "sim/call.hpp"
#include "sim/memory_words.hpp"

namespace {

using namespace culvert::sim::detail;

std::uintptr_t address_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

cudaError_t allocate(const char* function, void** pointer, std::size_t size, unsigned flags) {
  return api(function, unsafe_in_capture, [&](Call& call) {
    constexpr unsigned known =
        cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
    if (pointer == nullptr) return cudaErrorInvalidValue;
    *pointer = nullptr;
    if ((flags & ~known) != 0) return cudaErrorInvalidValue;
    if (size == 0) return cudaSuccess;
    const BlockPtr block = call.process.host.allocate(size, flags, call.thread.device);
    if (!block) return cudaErrorMemoryAllocation;
    block->made_by = function;
    *pointer = block->bytes;
    return cudaSuccess;
  });
}

// Whether all of it is memory of this process.
bool is_mapped(const void* pointer, std::size_t size) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t begin = address_of(pointer) / page * page;
  const std::uintptr_t end = address_of(pointer) + size;
  if (end < address_of(pointer)) return false;
  // Does nothing but look.
  return msync(reinterpret_cast<void*>(begin), end - begin, MS_ASYNC) == 0;
}

// Whether CUDA knows the memory, however it came to it.
bool is_known(const Call& call, const void* pointer) {
  return call.process.memory.contains(address_of(pointer)) ||
         call.process.host.find(address_of(pointer)) != nullptr;
}

// Ends an allocation or a registration, after the pending work that uses it.
cudaError_t release(Call& call, const char* function, const void* pointer, BlockKind kind,
                    cudaError_t unknown) {
  const BlockPtr block = call.process.host.find(address_of(pointer));
  if (!block || block->address != address_of(pointer) || block->kind != kind ||
      block->free_requested) {
    report_wrong_free(call.process, function, pointer,
                      kind == BlockKind::host ? "pinned memory" : "registered memory");
    return unknown;
  }
  block->free_requested = true;
  block->freed_by = function;
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
  return api("cudaFreeHost", unsafe_in_capture, [&](Call& call) -> cudaError_t {
    if (pointer == nullptr) return cudaSuccess;
    return release(call, "cudaFreeHost", pointer, BlockKind::host, cudaErrorInvalidValue);
  });
}

cudaError_t cudaHostRegister(void* pointer, std::size_t size, unsigned flags) {
  return api("cudaHostRegister", unsafe_in_capture, [&](Call& call) {
    constexpr unsigned known = cudaHostRegisterPortable | cudaHostRegisterMapped |
                               cudaHostRegisterIoMemory | cudaHostRegisterReadOnly;
    if (pointer == nullptr || size == 0 || (flags & ~known) != 0 ||
        call.process.memory.contains(address_of(pointer)) || !is_mapped(pointer, size)) {
      return cudaErrorInvalidValue;
    }
    if (call.process.host.overlaps(address_of(pointer), size)) {
      const BlockPtr block = call.process.host.find(address_of(pointer));
      return block && block->kind != BlockKind::registered ? cudaErrorInvalidValue
                                                           : cudaErrorHostMemoryAlreadyRegistered;
    }
    call.process.host.add_registered(pointer, size, flags, call.thread.device)->made_by =
        "cudaHostRegister";
    return cudaSuccess;
  });
}

cudaError_t cudaHostUnregister(void* pointer) {
  return api("cudaHostUnregister", unsafe_in_capture, [&](Call& call) -> cudaError_t {
    if (pointer == nullptr) return cudaErrorInvalidValue;
    return release(
        call, "cudaHostUnregister", pointer, BlockKind::registered,
        is_known(call, pointer) ? cudaErrorInvalidValue : cudaErrorHostMemoryNotRegistered);
  });
}

cudaError_t cudaHostGetDevicePointer(void** device_pointer, void* pointer, unsigned flags) {
  return api("cudaHostGetDevicePointer", [&](Call& call) {
    if (device_pointer == nullptr || flags != 0 || pointer == nullptr) {
      return cudaErrorInvalidValue;
    }
    *device_pointer = nullptr;
    const BlockPtr block = call.process.host.find(address_of(pointer));
    if (!block || block->kind == BlockKind::managed) return cudaErrorInvalidValue;
    *device_pointer = pointer;
    return cudaSuccess;
  });
}

cudaError_t cudaHostGetFlags(unsigned* flags, void* pointer) {
  return api("cudaHostGetFlags", [&](Call& call) {
    if (flags == nullptr) return cudaErrorInvalidValue;
    const BlockPtr block = call.process.host.find(address_of(pointer));
    if (!block || block->kind == BlockKind::managed) return cudaErrorInvalidValue;
    // With unified addressing all pinned memory is mapped. Whether it is portable is not told.
    const bool allocated = block->kind == BlockKind::host;
    *flags = (allocated ? block->flags & cudaHostAllocWriteCombined : 0) | cudaHostAllocMapped;
    return cudaSuccess;
  });
}

}  // extern "C"
