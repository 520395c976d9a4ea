// SPDX-License-Identifier: BSL-1.0
#include "sim/clock.hpp"

#include <algorithm>
#include <iterator>

namespace culvert::sim::detail {
namespace {

// A gigabyte in a second is a byte in a nanosecond.
std::uint64_t time_of(std::size_t bytes, double gigabytes_per_second) {
  return static_cast<std::uint64_t>(static_cast<double>(bytes) / gigabytes_per_second);
}

constexpr std::size_t most_uses = 1024;

}  // namespace

std::uint64_t BusyTimes::first_gap(std::uint64_t from, std::uint64_t duration) const {
  auto next = busy_.upper_bound(from);
  if (next != busy_.begin()) from = std::max(from, std::prev(next)->second);
  while (next != busy_.end() && next->first < from + duration) {
    from = std::max(from, next->second);
    ++next;
  }
  return from;
}

std::uint64_t BusyTimes::in_use(std::uint64_t begin, std::uint64_t end) const {
  std::uint64_t sum = 0;
  auto next = busy_.upper_bound(begin);
  if (next != busy_.begin()) --next;
  for (; next != busy_.end() && next->first < end; ++next) {
    const std::uint64_t from = std::max(begin, next->first);
    const std::uint64_t to = std::min(end, next->second);
    if (from < to) sum += to - from;
  }
  return sum;
}

void BusyTimes::add(std::uint64_t begin, std::uint64_t end) {
  if (begin == end) return;
  auto next = busy_.lower_bound(begin);
  if (next != busy_.begin() && std::prev(next)->second == begin) {
    begin = std::prev(next)->first;
    busy_.erase(std::prev(next));
  }
  if (next != busy_.end() && next->first == end) {
    end = next->second;
    busy_.erase(next);
  }
  busy_[begin] = end;
  if (busy_.size() > most_uses) {
    // The oldest gap counts as used: only work that is ready long before could have taken it.
    const auto oldest = busy_.begin();
    const auto second = std::next(oldest);
    oldest->second = second->second;
    busy_.erase(second);
  }
}

void Clock::restart(const CostModel& model, int devices) {
  model_ = model;
  devices_.assign(static_cast<std::size_t>(devices), {});
  for (DeviceTimes& device : devices_) {
    device.kernels.resize(static_cast<std::size_t>(model.concurrent_kernels));
  }
}

std::uint64_t Clock::place_transfer(std::uint64_t start, std::size_t bytes, BusyTimes& own,
                                    const BusyTimes& other, double gigabytes_per_second) const {
  std::uint64_t duration = model_.copy_latency_ns + time_of(bytes, gigabytes_per_second);
  start = own.first_gap(start, duration);
  // While the other direction is busy it keeps its speed, and this one has what is left of both.
  const double left = model_.both_directions_gb_per_s - gigabytes_per_second;
  const double share = std::clamp(left / gigabytes_per_second, 0.05, 1.0);
  if (share < 1.0) {
    const auto shared = static_cast<double>(other.in_use(start, start + duration));
    duration += static_cast<std::uint64_t>(shared * (1.0 - share) / share);
    start = own.first_gap(start, duration);
  }
  own.add(start, start + duration);
  return start + duration;
}

void Clock::place(Op& op) {
  DeviceTimes& device = devices_[static_cast<std::size_t>(op.device)];
  const Cost& cost = op.work.cost;
  switch (cost.engine) {
    case Engine::none:
      op.finish_ns = op.start_ns + cost.time_ns;
      break;
    case Engine::event:
      op.finish_ns = op.start_ns + model_.event_record_ns;
      break;
    case Engine::host:
      op.finish_ns = op.start_ns + model_.host_function_ns + cost.time_ns +
                     time_of(cost.bytes, model_.host_to_host_gb_per_s);
      break;
    case Engine::to_device:
      op.finish_ns = place_transfer(op.start_ns, cost.bytes, device.to_device, device.to_host,
                                    model_.host_to_device_gb_per_s);
      break;
    case Engine::to_host:
      op.finish_ns = place_transfer(op.start_ns, cost.bytes, device.to_host, device.to_device,
                                    model_.device_to_host_gb_per_s);
      break;
    case Engine::on_device:
      op.finish_ns = op.start_ns + model_.copy_latency_ns + cost.time_ns +
                     time_of(cost.bytes, model_.device_gb_per_s);
      break;
    case Engine::kernel: {
      const std::uint64_t duration = model_.kernel_launch_ns + cost.time_ns;
      // The one on which it can start first.
      BusyTimes* best = &device.kernels.front();
      for (BusyTimes& lane : device.kernels) {
        if (lane.first_gap(op.start_ns, duration) < best->first_gap(op.start_ns, duration)) {
          best = &lane;
        }
        if (best->first_gap(op.start_ns, duration) == op.start_ns) break;
      }
      const std::uint64_t start = best->first_gap(op.start_ns, duration);
      best->add(start, start + duration);
      op.finish_ns = start + duration;
      break;
    }
  }
}

}  // namespace culvert::sim::detail
