// SPDX-License-Identifier: BSL-1.0
// The state of the simulated runtime in this process.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "culvert/sim/sim.hpp"
#include "sim/background.hpp"
#include "sim/device_memory.hpp"
#include "sim/event.hpp"
#include "sim/faults.hpp"
#include "sim/handle_table.hpp"
#include "sim/host_memory.hpp"
#include "sim/pool.hpp"
#include "sim/scheduler.hpp"
#include "sim/stream.hpp"

namespace culvert::sim::detail {

using PoolPtr = std::shared_ptr<Pool>;

// How long a call waits for a host function that it handed to the background.
inline constexpr std::chrono::milliseconds patience{5};

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
};

// What CUDA keeps for each host thread.
struct ThreadState {
  int device = 0;
  cudaError_t last_error = cudaSuccess;
  cudaStreamCaptureMode capture_mode = cudaStreamCaptureModeGlobal;
  std::vector<StreamPtr> per_thread;  // the per-thread default stream of each device, if used
};

// Never destroyed, since other threads may use it until the process ends. `mutex` guards all of it.
class Process {
 public:
  static Process& instance();

  void reset(Lock& lock, const Config& wanted);
  void reset_device(Lock& lock, int device);

  // This thread's state, made when it is first asked for.
  ThreadState& thread();

  // The per-thread default stream of this thread.
  StreamPtr per_thread_stream(ThreadState& thread, int device);
  StreamPtr make_stream(int device, StreamKind kind, unsigned flags, int priority);

  // Enqueues. With the eager schedule it runs, too.
  void enqueue(Lock& lock, const StreamPtr& stream, const OpPtr& op);
  Device& device_of(const Stream& stream) { return device(stream.device); }
  Device& device(int index) { return devices[static_cast<std::size_t>(index)]; }
  cudaError_t failure(int device) const {
    return static_cast<cudaError_t>(scheduler.failure(device));
  }

  // A live block, or null if there is no room even after pending frees have run.
  BlockPtr allocate(Lock& lock, int device, std::size_t size, const PoolPtr& pool);
  void release(Block& block);
  std::size_t free_memory(int device) const;
  // Pools give back what they need not keep, as at each synchronization.
  void trim_pools();

  std::mutex mutex;
  Config config;
  Scheduler scheduler;
  Background background{mutex, scheduler};
  Faults faults;
  DeviceMemory memory;
  HostMemory host;
  HandleTable<Stream> streams{HandleKind::stream};
  HandleTable<Event> events{HandleKind::event};
  HandleTable<Pool> pools{HandleKind::pool};
  std::vector<Device> devices;
  bool forked = false;  // the child of a fork cannot use CUDA

 private:
  struct ThreadEnd;

  Process();
  void set_up(const Config& wanted);
  void end_thread(ThreadState* state);
  std::size_t kept_by_pools(int device) const;

  std::vector<std::unique_ptr<ThreadState>> threads_;
  unsigned long long next_stream_id_ = 0;
  unsigned long long next_per_thread_id_ = 0;
};

}  // namespace culvert::sim::detail
