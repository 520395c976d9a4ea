// SPDX-License-Identifier: BSL-1.0
// The books of one memory pool. The bytes are the device's; a pool only counts them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace culvert::sim::detail {

struct Pool {
  std::uintptr_t handle = 0;
  int device = 0;
  bool is_default = false;
  std::size_t max_size = 0;  // 0: as much as the device has
  std::uint64_t release_threshold = 0;
  int reuse_follow_event_dependencies = 1;
  int reuse_allow_opportunistic = 1;
  int reuse_allow_internal_dependencies = 1;

  std::uint64_t used = 0;
  std::uint64_t used_high = 0;
  std::uint64_t reserved = 0;  // used, and freed but kept
  std::uint64_t reserved_high = 0;

  bool has_room(std::size_t bytes) const { return max_size == 0 || used + bytes <= max_size; }

  void add(std::size_t bytes) {
    used += bytes;
    reserved = std::max(reserved, used);
    used_high = std::max(used_high, used);
    reserved_high = std::max(reserved_high, reserved);
  }

  void remove(std::size_t bytes) { used -= bytes; }

  // Gives back what is kept beyond this.
  void trim(std::uint64_t keep) { reserved = std::max(used, std::min(reserved, keep)); }
};

}  // namespace culvert::sim::detail
