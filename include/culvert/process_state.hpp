// SPDX-License-Identifier: BSL-1.0
//
// All state that culvert keeps for the process or a thread, in one place: the handler for
// failures that cannot be thrown, the mark of a forked child, and the kept events.
//
// It stands outside the inline namespace of version.hpp: files of every kind share it. With
// hidden visibility each shared object has a copy of its own: a handler set in one is not seen
// by another.
#pragma once

#include <culvert/atomic.hpp>
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

// Events that one thread keeps to join two streams, one for each device used so. `recent` is
// the one used last: with one device in use no question need be asked.
struct KeptEvents {
  static constexpr int capacity = 64;
  cudaEvent_t events[capacity];  // a device's place is its ordinal modulo capacity
  int recent;
  unsigned generation;
  KeptEvents* next;
};

// The calling thread's kept events; null until it first joins two streams.
inline constinit thread_local KeptEvents* kept_events = nullptr;
// Set once the thread has given them back, in its last destructors.
inline constinit thread_local bool kept_events_ended = false;

// Kept events whose thread has ended, for the next thread. They are never destroyed: at exit
// the runtime may be gone, and after a device reset destroying an event crashes (measured on
// an H200). Their number is that of the threads alive at one time.
inline constinit KeptEvents* idle_kept_events = nullptr;
inline constinit Atomic<bool> idle_kept_events_locked{false};

// Kept events of an older generation are not used again; see forget_kept_events.
inline constinit Atomic<unsigned> kept_events_generation{0};

// Holds the lock of the idle kept events.
class IdleKeptEventsLock {
 public:
  IdleKeptEventsLock() noexcept {
    while (idle_kept_events_locked.exchange(true)) {
    }
  }
  IdleKeptEventsLock(const IdleKeptEventsLock&) = delete;
  IdleKeptEventsLock& operator=(const IdleKeptEventsLock&) = delete;
  ~IdleKeptEventsLock() { idle_kept_events_locked.release(false); }
};

// Lends kept events to a thread until it ends.
class KeptEventsLease {
 public:
  KeptEventsLease() {
    {
      const IdleKeptEventsLock lock;
      kept_events = idle_kept_events;
      if (kept_events != nullptr) idle_kept_events = kept_events->next;
    }
    if (kept_events == nullptr) kept_events = new KeptEvents{};
  }
  KeptEventsLease(const KeptEventsLease&) = delete;
  KeptEventsLease& operator=(const KeptEventsLease&) = delete;
  ~KeptEventsLease() {
    const IdleKeptEventsLock lock;
    kept_events->next = idle_kept_events;
    idle_kept_events = kept_events;
    kept_events = nullptr;
    kept_events_ended = true;
  }
};

// The calling thread's kept events, lent at its first use.
inline KeptEvents& leased_kept_events() {
  static thread_local const KeptEventsLease lease;
  return *kept_events;
}

#if defined(__unix__) || defined(__APPLE__)
inline const int fork_mark_installed = pthread_atfork(nullptr, nullptr, [] {
  forked_child.store(true);
  idle_kept_events_locked.release(false);  // whoever held it is not in the child
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
