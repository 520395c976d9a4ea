// SPDX-License-Identifier: BSL-1.0
// The work of nodes, made by the functions that enqueue it in streams.
#pragma once

#include "sim/call.hpp"
#include "sim/graph.hpp"

namespace culvert::sim::detail {

// A node of the work that a captured stream was given.
NodePtr node_of(Work work, const Graph& graph, int device);

// What a node of these parameters does, on the current device. It is checked as in a stream.
cudaError_t kernel_work(Call& call, const cudaKernelNodeParams& params,
                        const std::vector<cudaLaunchAttribute>& attributes, Work& work);
cudaError_t copy_work(Call& call, const cudaMemcpy3DParms& params, Work& work);
cudaError_t fill_work(Call& call, const cudaMemsetParams& params, Work& work);
cudaError_t host_work(const cudaHostNodeParams& params, Work& work);

// One row of bytes as CUDA describes it in three dimensions.
cudaMemcpy3DParms row_copy(void* to, const void* from, std::size_t count, cudaMemcpyKind kind);

}  // namespace culvert::sim::detail
