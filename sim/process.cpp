// SPDX-License-Identifier: BSL-1.0
#include "sim/process.hpp"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "sim/config.hpp"
#include "sim/report.hpp"
#include "sim/startup_check.hpp"
#include "sim/stray_access.hpp"

namespace culvert::sim::detail {
namespace {

// As on an H200. That of the legacy stream is of device 0, and one more for each other device.
constexpr unsigned long long legacy_stream_id = 7;
constexpr unsigned long long first_stream_id = 13;

thread_local ThreadState* this_thread = nullptr;
thread_local bool this_thread_ended = false;

// Static objects are destroyed after the main thread's thread_local ones and may make calls.
bool is_main_thread() { return syscall(SYS_gettid) == getpid(); }

void report_stale(Process& process, const Op& op, const Touch& touch) {
  report(
      "%s (operation %llu, stream %llu, device %d) touched %zu bytes at 0x%llx %s: illegal address",
      op.work.name, static_cast<unsigned long long>(op.sequence), op.stream, op.device, touch.size,
      static_cast<unsigned long long>(touch.block->address) + touch.offset,
      why_not_live(*touch.block));
  ++process.illegal_accesses;
  process.scheduler.fail(op.device, cudaErrorIllegalAddress);
}

}  // namespace

struct Process::ThreadEnd {
  ThreadState* state = nullptr;
  ~ThreadEnd() {
    if (state != nullptr && !is_main_thread()) Process::instance().end_thread(state);
  }
};

Process& Process::instance() {
  // Reachable through this pointer, so it is no leak.
  static Process* const process = new Process;
  return *process;
}

std::atomic<bool> Process::made_{false};

Process::Process() {
  check_startup();
  watch_for_stray_accesses();
  made_ = true;
  scheduler.set_hooks({[this] { background.watch(); }, [this] { background.wake(); },
                       [this](const Op& op, const Touch& touch) { report_stale(*this, op, touch); },
                       [this](std::function<void()> job) { internal_thread.add(std::move(job)); }});
  experiment = experiment_from_environment();
  set_up(checked(config_from_environment()));
  std::atexit([] {
    end_experiment(Process::instance().experiment);
    Process::instance().background.stop();
  });
  // The child must find the lock free.
  pthread_atfork([] { Process::instance().mutex.lock(); },
                 [] { Process::instance().mutex.unlock(); },
                 [] {
                   Process& process = Process::instance();
                   process.forked = true;
                   process.background.forked();
                   process.internal_thread.forked();
                   process.mutex.unlock();
                 });
}

void Process::set_up(const Config& wanted) {
  config = wanted;
  if (experiment.order) {
    config.schedule = experiment.order->schedule;
    config.seed = experiment.order->seed;
  }
  background.set_limits(config);
  scheduler.serialize_host_functions(config.serialize_host_functions);
  random.restart(config.seed);
  clock.restart(config.cost, config.devices);
  if (!memory.map(config.devices, config.device_memory)) {
    refuse("the system gives no address space for %d devices with %zu bytes", config.devices,
           config.device_memory);
  }
  next_stream_id_ = first_stream_id;
  for (int index = 0; index < config.devices; ++index) {
    auto legacy = std::make_shared<Stream>();
    legacy->kind = StreamKind::legacy;
    legacy->id = legacy_stream_id + static_cast<unsigned long long>(index);
    legacy->device = index;
    auto pool = std::make_shared<Pool>();
    pool->device = index;
    pool->is_default = true;
    pool->handle = pools.add(pool);
    devices.push_back({DeviceStreams(std::move(legacy)), pool, pool, {}, {}, {}});
  }
}

void Process::reset(Lock& lock, const Config& wanted) {
  const Config next = checked(wanted);
  graphs.forget_user_objects();
  scheduler.drop_all();
  scheduler.wait_until_quiet(lock);
  scheduler.drop_all();
  graphs.drop(-1);
  internal_thread.drop(lock);
  for (int index = 0; index < max_devices; ++index) scheduler.recover(index);
  const auto every = [](const auto&) { return true; };
  streams.remove_if(every);
  events.remove_if(every);
  pools.remove_if(every);
  devices.clear();
  host.release_all(-1);
  faults = Faults();
  illegal_accesses = 0;
  freed.clear();
  for (const auto& state : threads_) *state = ThreadState();
  set_up(next);
}

void Process::reset_device(Lock& lock, int index) {
  // The work is finished first, unless the device failed.
  const bool failed = scheduler.failure(index) != 0;
  if (!failed) wait(lock, scheduler.on_device(index));
  scheduler.drop(index);
  // A reset does not mend a failed device, as measured on an H200.
  if (failed) scheduler.fail(index, cudaErrorDevicesUnavailable);
  const auto here = [&](const auto& object) { return object.device == index; };
  graphs.drop(index);
  streams.remove_if(here);
  events.remove_if(here);
  pools.remove_if([&](const Pool& pool) { return here(pool) && !pool.is_default; });
  for (const auto& state : threads_) {
    const auto position = static_cast<std::size_t>(index);
    if (position < state->per_thread.size()) state->per_thread[position] = nullptr;
  }
  memory.release_all(index);
  host.release_all(index);

  Device& reset = device(index);
  StreamPtr legacy = reset.streams.legacy();
  legacy->tail = nullptr;
  legacy->answers = 0;
  reset.streams = DeviceStreams(std::move(legacy));
  const std::uintptr_t handle = reset.default_pool->handle;
  *reset.default_pool = Pool();
  reset.default_pool->handle = handle;
  reset.default_pool->device = index;
  reset.default_pool->is_default = true;
  reset.current_pool = reset.default_pool;
  reset.peers.clear();
  reset.kernels.clear();
  reset.variables.clear();
  reset.settings = {};
}

ThreadState& Process::thread() {
  if (this_thread == nullptr) {
    auto state = std::make_unique<ThreadState>();
    // It was started by a thread that had waited for some work.
    state->clock_ns = latest_clock();
    this_thread = threads_.emplace_back(std::move(state)).get();
    // A call may come from another thread_local destructor, after `end` was destroyed.
    if (!this_thread_ended) {
      thread_local ThreadEnd end;
      end.state = this_thread;
    }
  }
  return *this_thread;
}

void Process::end_thread(ThreadState* state) {
  const Lock lock(mutex);
  for (const StreamPtr& stream : state->per_thread) {
    if (stream) stream->destroyed = true;
  }
  this_thread = nullptr;
  this_thread_ended = true;
  std::erase_if(threads_, [&](const auto& owned) { return owned.get() == state; });
}

StreamPtr Process::make_stream(int index, StreamKind kind, unsigned flags, int priority) {
  auto stream = std::make_shared<Stream>();
  stream->made = CallSite::here();
  stream->kind = kind;
  stream->id = next_stream_id_++;
  stream->device = index;
  stream->flags = flags;
  stream->priority = priority;
  if (kind == StreamKind::blocking) device(index).streams.add_blocking(stream);
  return stream;
}

StreamPtr Process::per_thread_stream(ThreadState& thread, int index) {
  const auto position = static_cast<std::size_t>(index);
  if (thread.per_thread.size() <= position) thread.per_thread.resize(position + 1);
  StreamPtr& stream = thread.per_thread[position];
  if (!stream) {
    stream = std::make_shared<Stream>();
    stream->id = next_stream_id_++;
    stream->device = index;
    device(index).streams.add_blocking(stream);
  }
  return stream;
}

OpPtr Process::enqueue(Lock& lock, const StreamPtr& stream, Work work, const Ops& others) {
  if (stream->recorder) {
    stream->recorder(std::move(work));
    return nullptr;
  }
  const auto op = std::make_shared<Op>();
  op->work = std::move(work);
  op->device = stream->device;
  op->stream = stream->id;
  // What a thread enqueues comes after what it has waited for.
  op->start_ns = thread().clock_ns;
  for (const OpPtr& other : others) depend(*op, other);
  device_of(*stream).streams.append(op, *stream);
  clock.place(*op);
  if (stream->fails_in != 0 && --stream->fails_in == 0) op->error = stream->fails_with;
  scheduler.submit(op);
  if (config.schedule == Schedule::eager) scheduler.poll(lock, {op});
  if (config.schedule == Schedule::random) scheduler.run_some(lock, random);
  return op;
}

void Process::wait(Lock& lock, const Ops& ops) {
  scheduler.wait(lock, ops, config.schedule == Schedule::random ? &random : nullptr);
  std::uint64_t& clock_ns = thread().clock_ns;
  for (const OpPtr& op : ops) {
    if (op) clock_ns = std::max(clock_ns, op->finish_ns);
  }
}

std::uint64_t Process::latest_clock() const {
  std::uint64_t latest = 0;
  for (const auto& state : threads_) latest = std::max(latest, state->clock_ns);
  return latest;
}

BlockPtr Process::allocate(Lock& lock, int index, std::size_t size, const PoolPtr& pool) {
  const auto take = [&]() -> BlockPtr {
    return !pool || pool->has_room(size) ? memory.allocate(index, size) : nullptr;
  };
  BlockPtr block = take();
  if (!block) {
    // A free that is enqueued but has not run may make room.
    scheduler.poll(lock, scheduler.releasing(index));
    block = take();
  }
  if (!block) return nullptr;
  block->pool = pool;
  if (pool) pool->take(block->size, block->capacity);
  // What pools keep gives way to what is used.
  if (memory.used(index) + kept_by_pools(index) > memory.bytes_per_device()) {
    pools.for_each([&](Pool& other) {
      if (other.device == index) other.trim(0);
    });
  }
  return block;
}

void Process::release(Block& block) {
  freed.add(block);
  if (block.kind != BlockKind::device) return host.release(block);
  if (block.of_graph) {
    block.state = BlockState::freed;
    return;
  }
  if (block.pool) block.pool->end(block.capacity);
  memory.release(block);
}

std::size_t Process::kept_by_pools(int index) const {
  std::size_t kept = 0;
  pools.for_each([&](const Pool& pool) {
    if (pool.device == index) kept += static_cast<std::size_t>(pool.reserved - pool.taken);
  });
  return kept;
}

std::size_t Process::free_memory(int index) const {
  return memory.bytes_per_device() - memory.used(index) - kept_by_pools(index);
}

void Process::trim_pools(std::optional<unsigned long long> stream) {
  pools.for_each([&](Pool& pool) {
    if (!stream || *stream == pool.freed_in) pool.trim(pool.release_threshold);
  });
}

}  // namespace culvert::sim::detail
