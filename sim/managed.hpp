// SPDX-License-Identifier: BSL-1.0
// What a program advised about the pages of a managed allocation. It changes no byte; it can be
// asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cuda_runtime_api.h"

namespace culvert::sim::detail {

inline constexpr std::size_t managed_page = 4096;

struct PageAdvice {
  bool read_mostly = false;
  std::uint8_t accessed_by = 0;  // a bit for each device
  bool accessed_by_host = false;
  cudaMemLocation preferred = {cudaMemLocationTypeInvalid, 0};
  cudaMemLocation prefetched = {cudaMemLocationTypeInvalid, 0};
};

struct Managed {
  explicit Managed(std::size_t size) : pages((size + managed_page - 1) / managed_page) {}

  std::vector<PageAdvice> pages;
};

}  // namespace culvert::sim::detail
