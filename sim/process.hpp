// SPDX-License-Identifier: BSL-1.0
// The state of the simulated runtime in this process.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "culvert/sim/sim.hpp"
#include "sim/background.hpp"
#include "sim/clock.hpp"
#include "sim/device_memory.hpp"
#include "sim/device_settings.hpp"
#include "sim/event.hpp"
#include "sim/experiment.hpp"
#include "sim/faults.hpp"
#include "sim/freed.hpp"
#include "sim/graph_state.hpp"
#include "sim/handle_table.hpp"
#include "sim/host_memory.hpp"
#include "sim/internal_thread.hpp"
#include "sim/pool.hpp"
#include "sim/scheduler.hpp"
#include "sim/stream.hpp"

namespace culvert::sim::detail {

using PoolPtr = std::shared_ptr<Pool>;

struct Variable;  // variables.hpp

// What cudaFuncSetAttribute set for a kernel on a device.
struct KernelSettings {
  int dynamic_shared_memory = -1;  // -1: nothing set
  bool non_portable_clusters = false;
};

struct Device {
  DeviceStreams streams;
  PoolPtr default_pool;
  PoolPtr current_pool;
  std::set<int> peers;  // devices whose memory it may access
  std::map<const void*, KernelSettings> kernels;
  std::map<std::shared_ptr<const Variable>, BlockPtr> variables;  // those that were used
  DeviceSettings settings = {};
};

// What stands between <<< and >>> of a launch.
struct LaunchConfiguration {
  dim3 grid;
  dim3 block;
  std::size_t shared_memory = 0;
  cudaStream_t stream = nullptr;
};

// What CUDA keeps for each host thread.
struct ThreadState {
  int device = 0;
  cudaError_t last_error = cudaSuccess;
  cudaStreamCaptureMode capture_mode = cudaStreamCaptureModeGlobal;
  std::uint64_t clock_ns = 0;         // virtual time up to which it has waited
  std::vector<StreamPtr> per_thread;  // the per-thread default stream of each device, if used
  std::vector<LaunchConfiguration> configurations;  // of launches that have begun
};

// Never destroyed, since other threads may use it until the process ends. `mutex` guards all of it.
class Process {
 public:
  static Process& instance();
  // Whether the program has made any call.
  static bool exists() { return made_; }

  void reset(Lock& lock, const Config& wanted);
  void reset_device(Lock& lock, int device);

  // This thread's state, made when it is first asked for.
  ThreadState& thread();

  // The per-thread default stream of this thread.
  StreamPtr per_thread_stream(ThreadState& thread, int device);
  StreamPtr make_stream(int device, StreamKind kind, unsigned flags, int priority);

  // Enqueues for this thread, after `others` too; null ones are skipped. What the schedule wants
  // to run at once has run when it returns. Null where the stream records its work.
  OpPtr enqueue(Lock& lock, const StreamPtr& stream, Work work, const Ops& others = {});
  // Waits for this thread until the operations are done.
  void wait(Lock& lock, const Ops& ops);
  Device& device_of(const Stream& stream) { return device(stream.device); }
  Device& device(int index) { return devices[static_cast<std::size_t>(index)]; }
  cudaError_t failure(int device) const {
    return static_cast<cudaError_t>(scheduler.failure(device));
  }

  // A live block, or null if there is no room even after pending frees have run.
  BlockPtr allocate(Lock& lock, int device, std::size_t size, const PoolPtr& pool);
  void release(Block& block);
  std::size_t free_memory(int device) const;
  // Pools give back what they need not keep: those of which memory was last freed in this stream,
  // or all.
  void trim_pools(std::optional<unsigned long long> stream = {});

  std::mutex mutex;
  Config config;
  Scheduler scheduler;
  Background background{mutex, scheduler};
  InternalThread internal_thread{mutex};
  RandomOrder random;
  Clock clock;
  Faults faults;
  Experiment experiment;
  DeviceMemory memory;
  HostMemory host;
  FreedBlocks freed;
  HandleTable<Stream> streams{HandleKind::stream};
  HandleTable<Event> events{HandleKind::event};
  HandleTable<Pool> pools{HandleKind::pool};
  GraphState graphs;
  std::vector<Device> devices;
  std::size_t illegal_accesses = 0;  // that the simulation has seen since the last reset
  bool forked = false;               // the child of a fork cannot use CUDA

 private:
  static std::atomic<bool> made_;
  struct ThreadEnd;

  Process();
  void set_up(const Config& wanted);
  void end_thread(ThreadState* state);
  std::uint64_t latest_clock() const;
  std::size_t kept_by_pools(int device) const;

  std::vector<std::unique_ptr<ThreadState>> threads_;
  unsigned long long next_stream_id_ = 0;
};

}  // namespace culvert::sim::detail
