// SPDX-License-Identifier: BSL-1.0
// Virtual time: when each operation starts and ends on a device whose speeds are given. It is
// reckoned when the operation is enqueued, so it does not depend on when the simulation runs it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "culvert/sim/sim.hpp"
#include "sim/op.hpp"

namespace culvert::sim::detail {

// The times at which something is in use. Uses that touch become one, so few are kept.
class BusyTimes {
 public:
  // The first time from `from` on at which it is free for so long.
  std::uint64_t first_gap(std::uint64_t from, std::uint64_t duration) const;
  // Nanoseconds in use in [begin, end).
  std::uint64_t in_use(std::uint64_t begin, std::uint64_t end) const;
  void add(std::uint64_t begin, std::uint64_t end);

 private:
  std::map<std::uint64_t, std::uint64_t> busy_;  // end by begin
};

class Clock {
 public:
  void restart(const CostModel& model, int devices);
  // Fills in when the operation ends. Its dependencies and the host gave it a `start_ns`.
  void place(Op& op);

 private:
  struct DeviceTimes {
    BusyTimes to_device;
    BusyTimes to_host;
    std::vector<BusyTimes> kernels;  // one for each that may run at a time
  };

  std::uint64_t place_transfer(std::uint64_t start, std::size_t bytes, BusyTimes& own,
                               const BusyTimes& other, double gigabytes_per_second) const;

  CostModel model_;
  std::vector<DeviceTimes> devices_;
};

}  // namespace culvert::sim::detail
