// SPDX-License-Identifier: BSL-1.0
#include "sim/leaks.hpp"

#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "culvert/host_slot.hpp"
#include "culvert/process_state.hpp"
#include "sim/call_site.hpp"
#include "sim/graph.hpp"
#include "sim/graph_exec.hpp"
#include "sim/report.hpp"

namespace culvert::sim::detail {
namespace {

constexpr std::size_t most_lines = 50;

// The events that culvert keeps for joining streams and for the results of host functions. Those of
// threads that are still alive are not found.
std::set<std::uintptr_t> kept_by_culvert() {
  std::set<std::uintptr_t> kept;
  const auto add = [&](cudaEvent_t event) { kept.insert(reinterpret_cast<std::uintptr_t>(event)); };
  const auto add_all = [&](const process::ThreadKeep& keep) {
    for (const cudaEvent_t event : keep.events.events) add(event);
  };
  {
    const process::IdleThreadKeepsLock lock;
    for (const process::ThreadKeep* keep = process::idle_thread_keeps; keep != nullptr;
         keep = keep->next) {
      add_all(*keep);
    }
  }
  if (process::thread_keep != nullptr) add_all(*process::thread_keep);
  process::for_each_host_slot([&](const process::HostSlot& slot) { add(slot.event); });
  return kept;
}

// What was made by the same line.
struct Group {
  std::size_t objects = 0;
  std::size_t bytes = 0;  // 0 for what has no size
};

class Leaks {
 public:
  void add(const char* kind, const CallSite& made, std::size_t bytes = 0) {
    Group& group = groups_[{kind, describe(made)}];
    ++group.objects;
    group.bytes += bytes;
    ++count_;
  }

  void print() const {
    std::size_t printed = 0;
    for (const auto& [key, group] : groups_) {
      if (printed++ == most_lines) {
        report("leaked: more at %zu other lines", groups_.size() - most_lines);
        return;
      }
      const auto& [kind, where] = key;
      const std::string size =
          group.bytes == 0 ? "" : ", " + std::to_string(group.bytes) + " bytes";
      report("leaked: %zu %s%s%s, made at %s", group.objects, kind.c_str(),
             group.objects == 1 ? "" : "s", size.c_str(), where.c_str());
    }
  }

  std::size_t count() const { return count_; }

 private:
  std::map<std::pair<std::string, std::string>, Group> groups_;
  std::size_t count_ = 0;
};

const char* name_of(const Block& block) {
  switch (block.kind) {
    case BlockKind::device:
      return "device allocation";
    case BlockKind::host:
      return "pinned allocation";
    case BlockKind::managed:
      return "managed allocation";
    case BlockKind::registered:
      return "registration of host memory";
  }
  return "allocation";
}

// Runs after the destructors of the program's static objects.
[[gnu::destructor(101)]] void look_for_leaks() {
  const LeakCheck check = leak_check_from_environment();
  if (check == LeakCheck::off || !Process::exists()) return;
  Process& process = Process::instance();
  const Lock lock(process.mutex, std::try_to_lock);
  // A thread that still runs may hold it; a forked child has not made what it sees.
  if (!lock.owns_lock() || process.forked) return;
  if (print_leaks(process) != 0 && check == LeakCheck::fail) std::_Exit(2);
}

}  // namespace

LeakCheck leak_check_from_environment() {
  const char* const text = std::getenv("CULVERT_SIM_LEAKS");
  const std::string_view name = text == nullptr ? "" : text;
  if (name.empty() || name == "report") return LeakCheck::report;
  if (name == "off") return LeakCheck::off;
  if (name == "fail") return LeakCheck::fail;
  refuse("CULVERT_SIM_LEAKS is \"%s\": \"off\", \"report\" or \"fail\" is needed", text);
}

std::size_t print_leaks(const Process& process) {
  Leaks leaks;
  process.streams.for_each([&](const Stream& stream) { leaks.add("stream", stream.made); });
  process.graphs.graphs.for_each([&](const Graph& graph) {
    if (!graph.is_child) leaks.add("graph", graph.made);
  });
  process.graphs.execs.for_each(
      [&](const GraphExec& exec) { leaks.add("executable graph", exec.made); });
  const std::set<std::uintptr_t> kept = kept_by_culvert();
  process.events.for_each_handle([&](std::uintptr_t handle, const Event& event) {
    if (kept.count(handle) == 0) leaks.add("event", event.made);
  });
  process.pools.for_each([&](const Pool& pool) {
    if (!pool.is_default) leaks.add("memory pool", pool.made);
  });
  const auto add_block = [&](const Block& block) {
    // Given back, though that has not run; or a variable of the program.
    if (block.free_requested || block.is_variable) return;
    leaks.add(name_of(block), block.made, block.size);
  };
  process.memory.for_each(add_block);
  process.host.for_each(add_block);
  leaks.print();
  return leaks.count();
}

}  // namespace culvert::sim::detail
