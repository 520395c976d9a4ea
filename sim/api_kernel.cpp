// SPDX-License-Identifier: BSL-1.0
// Kernels: host functions that a program defines in their place.
#include <algorithm>
#include <limits>
#include <utility>

#include "sim/attributes.hpp"
#include "sim/entry.hpp"
#include "sim/report.hpp"

namespace culvert::sim::detail {
namespace {

constexpr unsigned portable_cluster = 8;
constexpr unsigned largest_cluster = 16;
constexpr int registers_of_a_kernel = 32;

struct Kernel {
  std::size_t parameters = 0;
  KernelBinder bind;
};

using KernelPtr = std::shared_ptr<const Kernel>;

// Its own lock: kernels are defined before main, too.
class Kernels {
 public:
  static Kernels& instance() {
    static Kernels* const kernels = new Kernels;
    return *kernels;
  }

  void define(const void* kernel, KernelPtr definition) {
    const std::lock_guard lock(mutex_);
    kernels_[kernel] = std::move(definition);
  }

  KernelPtr find(const void* kernel) {
    const std::lock_guard lock(mutex_);
    const auto found = kernels_.find(kernel);
    return found == kernels_.end() ? nullptr : found->second;
  }

 private:
  std::mutex mutex_;
  std::map<const void*, KernelPtr> kernels_;
};

// Leaves a body that touches what it cannot.
struct IllegalAddress {};

// The operation that this thread runs, while it runs the body of a kernel.
thread_local const Op* running_kernel = nullptr;

void run_kernel(const Op& op, const KernelAction& action, const KernelLaunch& launch) {
  running_kernel = &op;
  try {
    action(launch);
  } catch (const IllegalAddress&) {
    Process& process = Process::instance();
    const Lock lock(process.mutex);
    process.scheduler.fail(op.device, cudaErrorIllegalAddress);
  }
  running_kernel = nullptr;
}

int attribute(const Call& call, cudaDeviceAttr attribute) {
  int value = 0;
  (void)device_attribute(call.process.config, attribute, call.thread.device, value);
  return value;
}

KernelSettings settings(Call& call, const void* kernel) {
  const auto found = call.device().kernels.find(kernel);
  KernelSettings result = found == call.device().kernels.end() ? KernelSettings() : found->second;
  if (result.dynamic_shared_memory < 0) {
    result.dynamic_shared_memory = attribute(call, cudaDevAttrMaxSharedMemoryPerBlock);
  }
  return result;
}

cudaError_t no_definition() {
  report("the kernel has no definition: culvert::sim::define_kernel gives it one");
  return cudaErrorInvalidDeviceFunction;
}

std::uint64_t count_of(dim3 size) { return std::uint64_t{size.x} * size.y * size.z; }

bool within(const Call& call, dim3 size, const cudaDeviceAttr (&limits)[3]) {
  const unsigned axes[3] = {size.x, size.y, size.z};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto limit = static_cast<unsigned>(attribute(call, limits[axis]));
    if (axes[axis] == 0 || axes[axis] > limit) return false;
  }
  return true;
}

bool is_valid_size(const Call& call, dim3 grid, dim3 block) {
  return within(call, grid,
                {cudaDevAttrMaxGridDimX, cudaDevAttrMaxGridDimY, cudaDevAttrMaxGridDimZ}) &&
         within(call, block,
                {cudaDevAttrMaxBlockDimX, cudaDevAttrMaxBlockDimY, cudaDevAttrMaxBlockDimZ}) &&
         count_of(block) <= static_cast<unsigned>(attribute(call, cudaDevAttrMaxThreadsPerBlock));
}

bool is_valid_cluster(const KernelLaunch& launch, bool non_portable) {
  const dim3 cluster = launch.cluster;
  if (cluster.x == 0 || cluster.y == 0 || cluster.z == 0) return false;
  return count_of(cluster) <= (non_portable ? largest_cluster : portable_cluster) &&
         launch.grid.x % cluster.x == 0 && launch.grid.y % cluster.y == 0 &&
         launch.grid.z % cluster.z == 0;
}

// Resident blocks on a multiprocessor, as far as threads and shared memory limit them.
int resident_blocks(Call& call, const void* kernel, int threads, std::size_t shared_memory) {
  const int warp = attribute(call, cudaDevAttrWarpSize);
  if (threads > attribute(call, cudaDevAttrMaxThreadsPerBlock) ||
      shared_memory > static_cast<std::size_t>(settings(call, kernel).dynamic_shared_memory)) {
    return 0;
  }
  const int whole_warps = (threads + warp - 1) / warp * warp;
  int blocks = std::min(attribute(call, cudaDevAttrMaxBlocksPerMultiprocessor),
                        attribute(call, cudaDevAttrMaxThreadsPerMultiProcessor) / whole_warps);
  const int each =
      static_cast<int>(shared_memory) + attribute(call, cudaDevAttrReservedSharedMemoryPerBlock);
  return std::min(blocks, attribute(call, cudaDevAttrMaxSharedMemoryPerMultiprocessor) / each);
}

cudaError_t read_attributes(const cudaLaunchConfig_t& config, KernelLaunch& launch) {
  if (config.numAttrs != 0 && config.attrs == nullptr) return cudaErrorInvalidValue;
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    const cudaLaunchAttributeValue& value = config.attrs[i].val;
    switch (config.attrs[i].id) {
      case cudaLaunchAttributeClusterDimension:
        launch.cluster = dim3(value.clusterDim.x, value.clusterDim.y, value.clusterDim.z);
        break;
      case cudaLaunchAttributeCooperative:
        launch.cooperative = value.cooperative != 0;
        break;
      case cudaLaunchAttributePriority:
        launch.priority = value.priority;
        break;
      case cudaLaunchAttributeProgrammaticStreamSerialization:
        launch.programmatic_serialization = value.programmaticStreamSerializationAllowed != 0;
        break;
      case cudaLaunchAttributeIgnore:
      // Hints, which change no result.
      case cudaLaunchAttributeAccessPolicyWindow:
      case cudaLaunchAttributeSynchronizationPolicy:
      case cudaLaunchAttributeClusterSchedulingPolicyPreference:
      case cudaLaunchAttributeMemSyncDomainMap:
      case cudaLaunchAttributeMemSyncDomain:
        break;
      default:
        return cudaErrorNotSupported;
    }
  }
  return cudaSuccess;
}

cudaError_t check_launch(Call& call, const KernelLaunch& launch, const void* kernel) {
  const KernelSettings allowed = settings(call, kernel);
  // Error 1 and not 9 (measured on an H200 with CUDA 13.0).
  if (!is_valid_size(call, launch.grid, launch.block)) return cudaErrorInvalidValue;
  if (launch.shared_memory_bytes > static_cast<std::size_t>(allowed.dynamic_shared_memory)) {
    return cudaErrorInvalidValue;
  }
  if (!is_valid_cluster(launch, allowed.non_portable_clusters)) return cudaErrorInvalidClusterSize;
  if (launch.cooperative) {
    const int resident = resident_blocks(call, kernel, static_cast<int>(count_of(launch.block)),
                                         launch.shared_memory_bytes);
    const int together = resident * attribute(call, cudaDevAttrMultiProcessorCount);
    if (count_of(launch.grid) > static_cast<unsigned>(together)) {
      return cudaErrorCooperativeLaunchTooLarge;
    }
  }
  return cudaSuccess;
}

cudaError_t launch_on(Call& call, const StreamPtr& stream, const char* name,
                      const cudaLaunchConfig_t& config, const void* kernel, void** arguments) {
  const KernelPtr definition = Kernels::instance().find(kernel);
  if (!definition) return no_definition();
  // A kernel is loaded for the current device, on which a launch has to be.
  if (stream->device != call.thread.device) return cudaErrorInvalidResourceHandle;
  KernelLaunch launch{.grid = config.gridDim,
                      .block = config.blockDim,
                      .cluster = dim3(1, 1, 1),
                      .shared_memory_bytes = config.dynamicSmemBytes,
                      .priority = stream->priority,
                      .device = stream->device};
  cudaError_t error = read_attributes(config, launch);
  if (error == cudaSuccess) error = check_launch(call, launch, kernel);
  if (error != cudaSuccess) return error;
  if (definition->parameters != 0 && arguments == nullptr) return cudaErrorInvalidValue;
  for (std::size_t i = 0; i < definition->parameters; ++i) {
    if (arguments[i] == nullptr) return cudaErrorInvalidValue;
  }

  const OpPtr op = make_op(OpKind::kernel, name);
  op->action = [self = op.get(), action = definition->bind(arguments), launch] {
    run_kernel(*self, action, launch);
  };
  call.process.enqueue(call.lock, stream, op);
  return call.process.failure(stream->device);
}

bool can_access(Process& process, int device, const Block& block) {
  if (block.kind != BlockKind::device || block.device == device) return true;
  return !block.pool && process.device(device).peers.count(block.device) != 0;
}

// Why a kernel cannot touch these bytes, or null.
const char* fault(Process& process, const Op& op, const BlockPtr& block, std::uintptr_t address,
                  std::size_t size) {
  if (!block) return "which is no device or pinned memory, or was freed";
  if (block->state == BlockState::reserved) return "before its allocation in stream order";
  if (block->state == BlockState::freed) return "after it was freed";
  if (!can_access(process, op.device, *block)) return "on a device that it has no access to";
  const std::size_t offset = address - block->address;
  return size > block->size - offset ? "beyond the end of the allocation" : nullptr;
}

}  // namespace

void define_kernel(const void* kernel, std::size_t parameters, KernelBinder bind) {
  if (kernel == nullptr) refuse("define_kernel: the kernel is null");
  Kernels::instance().define(kernel,
                             std::make_shared<const Kernel>(Kernel{parameters, std::move(bind)}));
}

void* memory(const void* pointer, std::size_t count, std::size_t element_size) {
  const Op* const op = running_kernel;
  if (op == nullptr) refuse("memory: it was called outside the body of a kernel");
  if (count == 0) return const_cast<void*>(pointer);
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  const std::size_t size = count > most / element_size ? most : count * element_size;
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const char* why = nullptr;
  {
    Process& process = Process::instance();
    const Lock lock(process.mutex);
    const BlockPtr block = process.memory.contains(address) ? process.memory.find(address)
                                                            : process.host.find(address);
    why = fault(process, *op, block, address, size);
    if (why == nullptr) return block->bytes + (address - block->address);
  }
  report(
      "a kernel (operation %llu, stream %llu, device %d) touched %zu bytes at 0x%llx %s: "
      "illegal address",
      static_cast<unsigned long long>(op->sequence), op->stream, op->device, size,
      static_cast<unsigned long long>(address), why);
  throw IllegalAddress();
}

namespace entry {

cudaError_t launch_kernel(NullStream null, const void* kernel, dim3 grid, dim3 block,
                          void** arguments, std::size_t shared_memory, cudaStream_t handle) {
  constexpr const char* name = "cudaLaunchKernel";
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared_memory;
  return stream_api(name, handle, null, [&](Call& call, const StreamPtr& stream) {
    return launch_on(call, stream, name, config, kernel, arguments);
  });
}

cudaError_t launch_kernel_ex(NullStream null, const cudaLaunchConfig_t* config, const void* kernel,
                             void** arguments) {
  constexpr const char* name = "cudaLaunchKernelExC";
  const cudaStream_t handle = config != nullptr ? config->stream : nullptr;
  return stream_api(name, handle, null, [&](Call& call, const StreamPtr& stream) {
    if (config == nullptr) return cudaErrorInvalidValue;
    return launch_on(call, stream, name, *config, kernel, arguments);
  });
}

}  // namespace entry
}  // namespace culvert::sim::detail

extern "C" {

using namespace culvert::sim::detail;

cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                             std::size_t shared_memory, cudaStream_t stream) {
  return entry::launch_kernel(NullStream::legacy, kernel, grid, block, arguments, shared_memory,
                              stream);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* kernel,
                                void** arguments) {
  return entry::launch_kernel_ex(NullStream::legacy, config, kernel, arguments);
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel) {
  return api("cudaFuncGetAttributes", [&](Call& call) {
    if (attributes == nullptr) return cudaErrorInvalidValue;
    if (!Kernels::instance().find(kernel)) return no_definition();
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
    if (!Kernels::instance().find(kernel)) return no_definition();
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

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* kernel,
                                                                   int threads,
                                                                   std::size_t shared_memory,
                                                                   unsigned flags) {
  return api("cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", [&](Call& call) {
    if (blocks == nullptr || threads <= 0 || flags > cudaOccupancyDisableCachingOverride) {
      return cudaErrorInvalidValue;
    }
    if (!Kernels::instance().find(kernel)) return no_definition();
    *blocks = resident_blocks(call, kernel, threads, shared_memory);
    return cudaSuccess;
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel,
                                                          int threads, std::size_t shared_memory) {
  return api("cudaOccupancyMaxActiveBlocksPerMultiprocessor", [&](Call& call) {
    if (blocks == nullptr || threads <= 0) return cudaErrorInvalidValue;
    if (!Kernels::instance().find(kernel)) return no_definition();
    *blocks = resident_blocks(call, kernel, threads, shared_memory);
    return cudaSuccess;
  });
}

}  // extern "C"
