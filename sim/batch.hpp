// SPDX-License-Identifier: BSL-1.0
// What the batches of copies, prefetches and discards share.
#pragma once

#include <cstddef>

namespace culvert::sim::detail {

// Whether `firsts` says for each of `count` operations which of `groups` attributes it has: the
// first operation of each group, in growing order, from 0.
inline bool is_grouping(const std::size_t* firsts, std::size_t groups, std::size_t count) {
  if (firsts == nullptr || groups == 0 || groups > count || firsts[0] != 0) return false;
  for (std::size_t group = 1; group < groups; ++group) {
    if (firsts[group] <= firsts[group - 1] || firsts[group] >= count) return false;
  }
  return true;
}

// The group of an operation, of such a grouping.
inline std::size_t group_of(const std::size_t* firsts, std::size_t groups, std::size_t operation) {
  std::size_t group = groups - 1;
  while (firsts[group] > operation) --group;
  return group;
}

}  // namespace culvert::sim::detail
