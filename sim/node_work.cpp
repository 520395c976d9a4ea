// SPDX-License-Identifier: BSL-1.0
#include "sim/node_work.hpp"

#include <utility>

#include "sim/entry.hpp"
#include "sim/report.hpp"
#include "sim/transfer.hpp"

namespace culvert::sim::detail {
namespace {

cudaGraphNodeType type_of(OpKind kind) {
  switch (kind) {
    case OpKind::copy:
      return cudaGraphNodeTypeMemcpy;
    case OpKind::fill:
      return cudaGraphNodeTypeMemset;
    case OpKind::allocate:
      return cudaGraphNodeTypeMemAlloc;
    case OpKind::release:
      return cudaGraphNodeTypeMemFree;
    case OpKind::host_function:
      return cudaGraphNodeTypeHost;
    case OpKind::kernel:
      return cudaGraphNodeTypeKernel;
    case OpKind::marker:
      break;
  }
  return cudaGraphNodeTypeEmpty;
}

// Calls `enqueue(stream)` with a stream that gives its work here.
template <class Enqueue>
cudaError_t record(const Call& call, Work& work, Enqueue&& enqueue) {
  const auto stream = std::make_shared<Stream>();
  stream->kind = StreamKind::non_blocking;
  stream->device = call.thread.device;
  stream->recorder = [&](Work recorded) { work = std::move(recorded); };
  return enqueue(stream);
}

// The rows of one plane.
cudaError_t copy_plane(Call& call, const cudaMemcpy3DParms& params, std::size_t plane, Work& work) {
  const auto first = [&](const cudaPitchedPtr& memory, const cudaPos& at) {
    return static_cast<std::byte*>(memory.ptr) +
           ((at.z + plane) * memory.ysize + at.y) * memory.pitch + at.x;
  };
  const Copy copied{.function = "a memcpy node",
                    .to = first(params.dstPtr, params.dstPos),
                    .to_pitch = params.dstPtr.pitch,
                    .from = first(params.srcPtr, params.srcPos),
                    .from_pitch = params.srcPtr.pitch,
                    .width = params.extent.width,
                    .height = params.extent.height,
                    .kind = params.kind};
  return record(call, work, [&](const StreamPtr& stream) {
    return copy(call, stream, copied, CopyCall::asynchronous);
  });
}

}  // namespace

NodePtr node_of(Work work, const Graph& graph, int device) {
  auto node = std::make_shared<Node>();
  node->type = type_of(work.kind);
  node->device = device;
  if (work.kind == OpKind::allocate) {
    node->memory = make_graph_memory(work.touches.front().block, graph);
  } else if (work.kind == OpKind::release) {
    node->memory = work.touches.front().block->graph_memory.lock();
    (node->memory->owner == &graph ? node->memory->freed_by_owner
                                   : node->memory->freed_by_another) = true;
  }
  node->work = std::move(work);
  return node;
}

cudaError_t kernel_work(Call& call, const cudaKernelNodeParams& params,
                        const std::vector<cudaLaunchAttribute>& attributes, Work& work) {
  if (params.extra != nullptr) {
    report("a kernel node with its arguments in one buffer (\"extra\") is not supported");
    return cudaErrorNotSupported;
  }
  std::vector<cudaLaunchAttribute> copied = attributes;
  cudaLaunchConfig_t config{};
  config.gridDim = params.gridDim;
  config.blockDim = params.blockDim;
  config.dynamicSmemBytes = params.sharedMemBytes;
  config.attrs = copied.data();
  config.numAttrs = static_cast<unsigned>(copied.size());
  return record(call, work, [&](const StreamPtr& stream) {
    return entry::launch_kernel_on(call, stream, "a kernel node", config, params.func,
                                   params.kernelParams);
  });
}

cudaError_t copy_work(Call& call, const cudaMemcpy3DParms& params, Work& work) {
  if (params.srcArray != nullptr || params.dstArray != nullptr) {
    report("a memcpy node with an array is not supported");
    return cudaErrorNotSupported;
  }
  const cudaExtent size = params.extent;
  if (size.width == 0 || size.height == 0 || size.depth == 0) return cudaErrorInvalidValue;
  const auto fits = [&](const cudaPitchedPtr& memory) {
    return size.height <= 1 || memory.pitch >= size.width;
  };
  if (!fits(params.srcPtr) || !fits(params.dstPtr)) return cudaErrorInvalidPitchValue;
  work = Work{.kind = OpKind::copy, .name = "a memcpy node"};
  std::vector<std::function<void()>> planes;
  for (std::size_t plane = 0; plane < size.depth; ++plane) {
    Work part;
    const cudaError_t error = copy_plane(call, params, plane, part);
    if (error != cudaSuccess) return error;
    work.touches.insert(work.touches.end(), part.touches.begin(), part.touches.end());
    work.cost.engine = part.cost.engine;
    work.cost.bytes += part.cost.bytes;
    planes.push_back(std::move(part.action));
  }
  work.action = [planes = std::move(planes)] {
    for (const auto& plane : planes) plane();
  };
  work.params = node_params(params);
  return cudaSuccess;
}

cudaError_t fill_work(Call& call, const cudaMemsetParams& params, Work& work) {
  const unsigned element = params.elementSize;
  if ((element != 1 && element != 2 && element != 4) || params.width == 0 || params.height == 0) {
    return cudaErrorInvalidValue;
  }
  work = Work{.kind = OpKind::fill, .name = "a memset node"};
  const cudaError_t error = record(call, work, [&](const StreamPtr& stream) {
    return fill(call, stream,
                {"a memset node", params.dst, params.pitch, params.value, element, params.width,
                 params.height},
                false);
  });
  work.params = node_params(params);
  return error;
}

cudaError_t host_work(const cudaHostNodeParams& params, Work& work) {
  if (params.fn == nullptr) return cudaErrorInvalidValue;
  work = Work{.kind = OpKind::host_function,
              .name = "a host node",
              .action = [params] { params.fn(params.userData); },
              .cost = {.engine = Engine::host},
              .params = node_params(params)};
  return cudaSuccess;
}

cudaMemcpy3DParms row_copy(void* to, const void* from, std::size_t count, cudaMemcpyKind kind) {
  cudaMemcpy3DParms params{};
  params.srcPtr = {const_cast<void*>(from), count, count, 1};
  params.dstPtr = {to, count, count, 1};
  params.extent = {count, 1, 1};
  params.kind = kind;
  return params;
}

}  // namespace culvert::sim::detail
