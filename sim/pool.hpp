// SPDX-License-Identifier: BSL-1.0
// The books of one memory pool. The bytes are the device's; a pool only counts them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>

#include "sim/call_site.hpp"

namespace culvert::sim::detail {

struct Pool {
  std::uintptr_t handle = 0;
  int device = 0;
  bool is_default = false;
  CallSite made;
  std::size_t max_size = 0;  // 0: as much as the device has
  std::uint64_t release_threshold = 0;
  int reuse_follow_event_dependencies = 1;
  int reuse_allow_opportunistic = 1;
  int reuse_allow_internal_dependencies = 1;

  // What cudaMemPoolSetAccess allows other devices, by the bits of cudaMemAccessFlags.
  std::map<int, int> access;

  std::uint64_t used = 0;  // what the program asked for and has not given back
  std::uint64_t used_high = 0;
  std::uint64_t taken = 0;     // of the device, until what frees it has run
  std::uint64_t reserved = 0;  // taken, and freed but kept
  std::uint64_t reserved_high = 0;
  unsigned long long freed_in = 0;  // the last stream in which memory was freed

  bool is_accessible(int from_device) const {
    if (from_device == device) return true;
    const auto found = access.find(from_device);
    return found != access.end() && found->second != 0;
  }

  bool has_room(std::size_t bytes) const {
    return max_size == 0 || (taken <= max_size && bytes <= max_size - taken);
  }

  // An allocation of `bytes`, for which the device gives `capacity`.
  void take(std::size_t bytes, std::size_t capacity) {
    used += bytes;
    taken += capacity;
    reserved = std::max(reserved, taken);
    used_high = std::max(used_high, used);
    reserved_high = std::max(reserved_high, reserved);
  }

  // The program frees it, in a stream.
  void give_back(std::size_t bytes, unsigned long long stream) {
    used -= bytes;
    freed_in = stream;
  }

  // What frees it has run.
  void end(std::size_t capacity) { taken -= capacity; }

  // Gives back what is kept beyond this.
  void trim(std::uint64_t keep) { reserved = std::max(taken, std::min(reserved, keep)); }
};

}  // namespace culvert::sim::detail
