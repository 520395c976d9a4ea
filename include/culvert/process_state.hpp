// SPDX-License-Identifier: BSL-1.0
//
// All state that culvert keeps for the process or a thread, in one place: the handler for
// failures that cannot be thrown, the marks of a forked child and of a host function, what is
// kept for each thread (events and slots for host functions), and calls that wait for a thread
// that may make them. (The slots themselves are in host_slot.hpp.)
//
// It stands outside the inline namespace of version.hpp: files of every kind share it. With
// hidden visibility each shared object has a copy of its own: a handler set in one is not seen
// by another.
#pragma once

#include <culvert/host_slot.hpp>
#include <culvert/source_location.hpp>

#include <cstdio>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace culvert {

// A failure that could not be thrown: in a destructor, or without exceptions.
struct Failure {
  cudaError_t status;    // what CUDA answered
  const char* function;  // the runtime call, or culvert's operation
  const char* detail;    // what was wrong, or ""
  SourceLocation where;  // the caller; an empty file where a destructor failed
};

// Called for each failure that cannot be thrown. It must not throw, and may be called from
// several threads at once.
using FailureHandler = void (*)(const Failure&) noexcept;

namespace process {

// The default handler: one line on stderr.
inline void print_failure(const Failure& failure) noexcept {
  std::fprintf(stderr, "culvert: %s%s%s failed: %s (%d): %s", failure.function,
               *failure.detail ? ": " : "", failure.detail, cudaGetErrorName(failure.status),
               static_cast<int>(failure.status), cudaGetErrorString(failure.status));
  if (*failure.where.file) {
    std::fprintf(stderr, " (at %s:%u)", failure.where.file, failure.where.line);
  }
  std::fputc('\n', stderr);
}

inline constinit Atomic<FailureHandler> failure_handler{&print_failure};

// Set in a child made by fork(). CUDA does not survive a fork, so owners destroyed there
// make no CUDA call.
inline constinit Atomic<bool> forked_child{false};

// Set while the thread runs a host function or ends what one held. No CUDA call may be made
// then, so an owner that ends there hands its call to `deferred_calls`.
inline constinit thread_local bool in_host_function = false;

// A call that gives a resource back, to be made by a host thread that may call CUDA; see
// collect.hpp.
struct DeferredCall {
  DeferredCall* next;
  void (*make)(DeferredCall*) noexcept;  // makes the call and deletes this
};
inline constinit Atomic<DeferredCall*> deferred_calls{nullptr};

// Events that one thread keeps to join two streams, one for each device used so. `recent` is
// the one used last: with one device in use no question need be asked.
struct KeptEvents {
  static constexpr int capacity = 64;
  cudaEvent_t events[capacity];  // a device's place is its ordinal modulo capacity
  int recent;
  unsigned generation;
};

// What culvert keeps for one thread.
struct ThreadKeep {
  KeptEvents events{};
  HostSlotPool host_slots[HostSlot::classes];
  ThreadKeep* next = nullptr;
};

// The calling thread's; null until it first needs it.
inline constinit thread_local ThreadKeep* thread_keep = nullptr;
// Set once the thread has given it back, in its last destructors.
inline constinit thread_local bool thread_keep_ended = false;

// Those whose thread has ended, for the next thread. Their events are never destroyed: at exit
// the runtime may be gone, and after a device reset destroying an event crashes (measured on
// an H200). Their number is that of the threads alive at one time.
inline constinit ThreadKeep* idle_thread_keeps = nullptr;
inline constinit Atomic<bool> idle_thread_keeps_locked{false};

// Kept events of an older generation are not used again; see forget_kept_events.
inline constinit Atomic<unsigned> kept_events_generation{0};

// Holds the lock of the idle ones.
class IdleThreadKeepsLock {
 public:
  IdleThreadKeepsLock() noexcept {
    while (idle_thread_keeps_locked.exchange(true)) {
    }
  }
  IdleThreadKeepsLock(const IdleThreadKeepsLock&) = delete;
  IdleThreadKeepsLock& operator=(const IdleThreadKeepsLock&) = delete;
  ~IdleThreadKeepsLock() { idle_thread_keeps_locked.release(false); }
};

// Lends one to a thread until it ends.
class ThreadKeepLease {
 public:
  ThreadKeepLease() : keep_(borrow()) { thread_keep = keep_; }
  ThreadKeepLease(const ThreadKeepLease&) = delete;
  ThreadKeepLease& operator=(const ThreadKeepLease&) = delete;
  ~ThreadKeepLease() {
    give_back(keep_);
    thread_keep = nullptr;
    thread_keep_ended = true;
  }

  [[nodiscard]] static ThreadKeep* borrow() {
    {
      const IdleThreadKeepsLock lock;
      ThreadKeep* const idle = idle_thread_keeps;
      if (idle != nullptr) {
        idle_thread_keeps = idle->next;
        return idle;
      }
    }
    return new ThreadKeep;
  }
  static void give_back(ThreadKeep* keep) noexcept {
    const IdleThreadKeepsLock lock;
    keep->next = idle_thread_keeps;
    idle_thread_keeps = keep;
  }

 private:
  ThreadKeep* keep_;
};

// The calling thread's, lent at its first use.
inline ThreadKeep& leased_thread_keep() {
  static thread_local const ThreadKeepLease lease;
  return *thread_keep;
}

// A slot of a size class for a host function: 0 to HostSlot::classes - 1.
// @throws std::bad_alloc
[[nodiscard]] inline HostSlot* acquire_host_slot(std::size_t size_class) {
  if (thread_keep != nullptr) [[likely]] {
    return thread_keep->host_slots[size_class].acquire(size_class);
  }
  if (!thread_keep_ended) return leased_thread_keep().host_slots[size_class].acquire(size_class);
  // A late destructor of an ending thread.
  ThreadKeep* const keep = ThreadKeepLease::borrow();
  struct Back {
    ThreadKeep* keep;
    ~Back() { ThreadKeepLease::give_back(keep); }
  } const back{keep};
  return keep->host_slots[size_class].acquire(size_class);
}

#if defined(__unix__) || defined(__APPLE__)
inline const int fork_mark_installed = pthread_atfork(nullptr, nullptr, [] {
  forked_child.store(true);
  idle_thread_keeps_locked.release(false);  // whoever held it is not in the child
});
#endif

}  // namespace process

// Replaces the handler for failures that cannot be thrown and returns the one before.
// A null handler restores the default, which prints one line on stderr.
inline FailureHandler set_failure_handler(FailureHandler handler) noexcept {
  return process::failure_handler.exchange(handler ? handler : &process::print_failure);
}

// Tells culvert that a device was reset (cudaDeviceReset), so that it drops the events it
// keeps for stream.wait(stream). A reset ends every stream, event and allocation of the
// device: destroy their owners before it, since CUDA crashes on such a handle afterwards.
inline void forget_kept_events() noexcept { process::kept_events_generation.add(1); }

}  // namespace culvert
