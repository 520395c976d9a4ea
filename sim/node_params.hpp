// SPDX-License-Identifier: BSL-1.0
// What the program asked of a node, in the form in which CUDA tells it.
#pragma once

#include <cstddef>
#include <memory>
#include <variant>
#include <vector>

#include "cuda_runtime_api.h"

namespace culvert::sim::detail {

// Copies of a kernel's arguments. Never changed, so nodes share it.
struct KernelArguments {
  KernelArguments(void** arguments, const std::vector<std::size_t>& sizes) {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const auto* const bytes = static_cast<const std::byte*>(arguments[i]);
      values.emplace_back(bytes, bytes + sizes[i]);
    }
    for (std::vector<std::byte>& value : values) pointers.push_back(value.data());
  }
  KernelArguments(const KernelArguments&) = delete;
  KernelArguments& operator=(const KernelArguments&) = delete;

  std::vector<std::vector<std::byte>> values;
  std::vector<void*> pointers;
};

struct KernelParams {
  const void* function = nullptr;
  dim3 grid;
  dim3 block;
  unsigned shared_memory = 0;
  std::shared_ptr<KernelArguments> arguments;
  std::vector<cudaLaunchAttribute> attributes;
};

struct NodeParams {
  std::variant<std::monostate, KernelParams, cudaMemcpy3DParms, cudaMemsetParams,
               cudaHostNodeParams, cudaMemAllocNodeParams>
      value;
};

template <class Params>
std::shared_ptr<const NodeParams> node_params(Params params) {
  return std::make_shared<const NodeParams>(NodeParams{std::move(params)});
}

}  // namespace culvert::sim::detail
