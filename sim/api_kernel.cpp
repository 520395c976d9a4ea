// SPDX-License-Identifier: BSL-1.0
// Kernels: host functions that a program defines in their place.
#include <limits>
#include <utility>

#include "sim/entry.hpp"
#include "sim/kernel_limits.hpp"
#include "sim/kernels.hpp"
#include "sim/report.hpp"
#include "sim/variables.hpp"

namespace culvert::sim::detail {
namespace {

// Leaves a body that touches what it cannot.
struct IllegalAddress {};

void run_kernel(const KernelAction& action, const KernelLaunch& launch) {
  try {
    action(launch);
  } catch (const IllegalAddress&) {
    Process& process = Process::instance();
    const Lock lock(process.mutex);
    ++process.illegal_accesses;
    process.scheduler.fail(launch.device, cudaErrorIllegalAddress);
  }
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

// As nodes of a graph tell them.
std::shared_ptr<const NodeParams> params_of(const cudaLaunchConfig_t& config,
                                            const KernelLaunch& launch, const void* kernel,
                                            void** arguments,
                                            const std::vector<std::size_t>& sizes) {
  KernelParams params;
  params.function = kernel;
  params.grid = launch.grid;
  params.block = launch.block;
  params.shared_memory = static_cast<unsigned>(launch.shared_memory_bytes);
  params.arguments = std::make_shared<KernelArguments>(arguments, sizes);
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    const cudaLaunchAttributeID id = config.attrs[i].id;
    if (id != cudaLaunchAttributeIgnore && id != cudaLaunchAttributePriority) {
      params.attributes.push_back(config.attrs[i]);
    }
  }
  cudaLaunchAttribute priority{};
  priority.id = cudaLaunchAttributePriority;
  priority.val.priority = launch.priority;
  params.attributes.push_back(priority);
  return node_params(std::move(params));
}

cudaError_t launch_on(Call& call, const StreamPtr& stream, const char* name,
                      const cudaLaunchConfig_t& config, const void* kernel, void** arguments) {
  const KernelPtr definition = Kernels::instance().find(kernel);
  if (!definition) return no_definition(kernel);
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
  const std::size_t parameters = definition->sizes.size();
  if (parameters != 0 && arguments == nullptr) return cudaErrorInvalidValue;
  for (std::size_t i = 0; i < parameters; ++i) {
    if (arguments[i] == nullptr) return cudaErrorInvalidValue;
  }

  Work work{
      .kind = OpKind::kernel,
      .name = name,
      .action = [action = definition->bind(arguments), launch] { run_kernel(action, launch); },
      .cost = {.engine = Engine::kernel, .time_ns = definition->time_ns(launch)}};
  if (stream->recorder) {
    work.params = params_of(config, launch, kernel, arguments, definition->sizes);
  }
  call.process.enqueue(call.lock, stream, std::move(work));
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
  if (const char* const why = why_not_live(*block)) return why;
  if (!can_access(process, op.device, *block)) return "on a device that it has no access to";
  const std::size_t offset = address - block->address;
  return size > block->size - offset ? "beyond the end of the allocation" : nullptr;
}

}  // namespace

void* memory(const void* pointer, std::size_t count, std::size_t element_size) {
  const Op* const op = Scheduler::running_user_code();
  if (op == nullptr || op->work.kind != OpKind::kernel)
    refuse("memory: it was called outside the body of a kernel");
  if (count == 0) return const_cast<void*>(pointer);
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  const std::size_t size = count > most / element_size ? most : count * element_size;
  auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const char* why = nullptr;
  {
    Process& process = Process::instance();
    const Lock lock(process.mutex);
    BlockPtr block = process.memory.contains(address) ? process.memory.find(address)
                                                      : process.host.find(address);
    if (const VariablePtr variable = block ? nullptr : Variables::instance().containing(address)) {
      block = memory_of(process, variable, op->device);
      if (block) address += block->address - variable->symbol;
    }
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

void* variable(const char* name, std::size_t count, std::size_t element_size) {
  const std::vector<VariablePtr> found = Variables::instance().named(name);
  if (found.size() != 1) {
    refuse("variable: there are %zu variables of the name %s", found.size(), name);
  }
  return memory(reinterpret_cast<const void*>(found.front()->symbol), count, element_size);
}

namespace entry {

cudaError_t launch_kernel_on(Call& call, const StreamPtr& stream, const char* name,
                             const cudaLaunchConfig_t& config, const void* kernel,
                             void** arguments) {
  return launch_on(call, stream, name, config, kernel, arguments);
}

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

cudaError_t launch_cooperative_kernel(NullStream null, const void* kernel, dim3 grid, dim3 block,
                                      void** arguments, std::size_t shared_memory,
                                      cudaStream_t handle) {
  constexpr const char* name = "cudaLaunchCooperativeKernel";
  cudaLaunchAttribute cooperative{};
  cooperative.id = cudaLaunchAttributeCooperative;
  cooperative.val.cooperative = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared_memory;
  config.attrs = &cooperative;
  config.numAttrs = 1;
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

cudaError_t cudaLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                        std::size_t shared_memory, cudaStream_t stream) {
  return entry::launch_cooperative_kernel(NullStream::legacy, kernel, grid, block, arguments,
                                          shared_memory, stream);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* kernel,
                                void** arguments) {
  return entry::launch_kernel_ex(NullStream::legacy, config, kernel, arguments);
}

}  // extern "C"
