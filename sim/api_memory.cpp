// SPDX-License-Identifier: BSL-1.0
// Device memory outside of stream order, and what a pointer is.
#include "sim/call.hpp"
#include "sim/memory_words.hpp"

namespace {

using namespace culvert::sim::detail;

std::uintptr_t address_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

}  // namespace

extern "C" {

cudaError_t cudaMalloc(void** pointer, std::size_t size) {
  return api("cudaMalloc", unsafe_in_capture, [&](Call& call) {
    if (pointer == nullptr) return cudaErrorInvalidValue;
    *pointer = nullptr;
    if (size == 0) return cudaSuccess;
    const BlockPtr block = call.process.allocate(call.lock, call.thread.device, size, nullptr);
    if (!block) return cudaErrorMemoryAllocation;
    block->made_by = "cudaMalloc";
    call.process.memory.poison(*block);
    *pointer = reinterpret_cast<void*>(block->address);
    return cudaSuccess;
  });
}

cudaError_t cudaFree(void* pointer) {
  return api("cudaFree", unsafe_in_capture, [&](Call& call) {
    if (pointer == nullptr) return cudaSuccess;
    BlockPtr block = call.process.memory.find(address_of(pointer));
    if (!block) block = call.process.host.find(address_of(pointer));
    const bool fits = block && block->address == address_of(pointer) && !block->free_requested &&
                      !block->is_variable && (!block->of_graph || block->graph_live);
    if (!fits || (block->kind != BlockKind::device && block->kind != BlockKind::managed)) {
      report_wrong_free(call.process, "cudaFree", pointer, "memory of a device");
      return cudaErrorInvalidValue;
    }
    const cudaError_t failure = call.process.failure(block->device);
    if (failure != cudaSuccess) return failure;
    // No other call may use or free it while the lock is away.
    block->free_requested = true;
    block->freed_by = "cudaFree";
    if (block->pool && !block->of_graph) {  // as on an H200: it waits for nothing
      block->pool->give_back(block->size, block->pool->freed_in);
      call.process.release(*block);
      return cudaSuccess;
    }
    const cudaError_t error = call.wait(call.process.scheduler.touching(*block), block->device);
    if (block->of_graph) {
      block->free_requested = false;  // a later launch allocates it again
      block->graph_live = false;
    }
    if (error == cudaSuccess && block->state != BlockState::freed) call.process.release(*block);
    return error;
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  return api("cudaPointerGetAttributes", [&](Call& call) {
    if (attributes == nullptr) return cudaErrorInvalidValue;
    *attributes = cudaPointerAttributes{};
    void* const same = const_cast<void*>(pointer);
    if (const BlockPtr block = call.process.memory.find(address_of(pointer))) {
      attributes->type = cudaMemoryTypeDevice;
      attributes->device = block->device;
      attributes->devicePointer = same;
    } else if (const BlockPtr pinned = call.process.host.find(address_of(pointer))) {
      attributes->type =
          pinned->kind == BlockKind::managed ? cudaMemoryTypeManaged : cudaMemoryTypeHost;
      attributes->device = pinned->device;
      attributes->devicePointer = same;
      attributes->hostPointer = same;
    } else {
      attributes->type = cudaMemoryTypeUnregistered;
      attributes->device = cudaInvalidDeviceId;
      attributes->hostPointer = same;
    }
    return cudaSuccess;
  });
}

}  // extern "C"
