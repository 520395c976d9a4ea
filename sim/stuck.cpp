// SPDX-License-Identifier: BSL-1.0
#include "sim/stuck.hpp"

#include <map>
#include <string>

#include "sim/report.hpp"

namespace culvert::sim::detail {
namespace {

std::string name_of(const Op& op) {
  return std::string(op.work.name) + " (operation " + std::to_string(op.sequence) + ", stream " +
         std::to_string(op.stream) + ")";
}

// What the first unfinished operation of a stream waits for.
std::string reason(const Op& op) {
  if (op.state == OpState::running) return "runs";
  for (const OpPtr& dependency : op.dependencies) {
    if (!dependency->done()) return "waits for " + name_of(*dependency);
  }
  return "waits for nothing, but has not been asked for";
}

}  // namespace

void end_stuck_program(const Scheduler& scheduler, const Op& op, std::chrono::milliseconds limit) {
  report("%s has been running for %lld ms (Config::host_function_limit_ms)", name_of(op).c_str(),
         static_cast<long long>(limit.count()));
  struct First {
    OpPtr op;
    std::size_t count = 0;
  };
  std::map<unsigned long long, First> streams;
  for (const OpPtr& each : scheduler.all()) {
    First& first = streams[each->stream];
    if (!first.op) first.op = each;
    ++first.count;
  }
  for (const auto& [id, first] : streams) {
    report("  stream %llu (device %d): %zu unfinished; %s %s", id, first.op->device, first.count,
           name_of(*first.op).c_str(), reason(*first.op).c_str());
  }
  refuse("the program is stuck");
}

}  // namespace culvert::sim::detail
