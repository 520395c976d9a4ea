// SPDX-License-Identifier: BSL-1.0
//
// Events: a mark in a stream that the host or another stream can wait for.
#pragma once

#include <culvert/device.hpp>
#include <culvert/fwd.hpp>
#include <culvert/unique_handle.hpp>

namespace culvert::inline CULVERT_ABI {

// How an event is created.
struct EventOptions {
  // The device, the current one by default. An event is recorded on streams of its device;
  // any device's stream can wait for it.
  DeviceChoice device = {};
  // false: synchronize() spins or yields, whichever the device's flags say, and returns
  // sooner. true: it sleeps and leaves the core to other threads
  // (cudaEventBlockingSync).
  bool blocking_sync = false;
};

namespace detail {

struct EventTraits {
  using handle_type = cudaEvent_t;
  // Null is no event, and the runtime refuses it with error 400.
  static handle_type invalid() noexcept { return nullptr; }
  static bool is_invalid(handle_type handle) noexcept { return handle == nullptr; }
  static void destroy(handle_type handle) noexcept {
    call_in_destructor("cudaEventDestroy", cudaEventDestroy, handle);
  }
};

// The operations that every kind of event has. Derived gives checked(where), the handle.
template <class Derived>
class EventVerbs {
 public:
  // Waits until the work before the last record is complete. An event never recorded is
  // complete. Blocks the host (cudaEventSynchronize).
  // @throws Error also for failures of earlier asynchronous work.
  void synchronize(SourceLocation where = SourceLocation::current()) const {
    refuse_in_host_function(where, "cudaEventSynchronize");
    call(where, "cudaEventSynchronize", cudaEventSynchronize, checked(where));
    collect_if_any();
  }

  // Whether the work before the last record is complete. Does not block (cudaEventQuery).
  // @throws Error also for failures of earlier asynchronous work.
  [[nodiscard]] bool is_done(SourceLocation where = SourceLocation::current()) const {
    refuse_in_host_function(where, "cudaEventQuery");
    return query(where, "cudaEventQuery", cudaEventQuery, checked(where));
  }

 private:
  cudaEvent_t checked(SourceLocation where) const {
    return static_cast<const Derived&>(*this).checked(where);
  }
};

// An owned event. `flags` are what its kind adds to the options.
template <class Derived, unsigned flags>
class OwnedEvent : public EventVerbs<Derived> {
 public:
  // Takes ownership of an event that other code created.
  // @throws Error where it is null.
  [[nodiscard]] static Derived from_handle(cudaEvent_t handle,
                                           SourceLocation where = SourceLocation::current()) {
    if (handle == nullptr) refuse(where, "culvert::Event::from_handle", "the handle is null");
    return Derived(Adopt{}, handle);
  }

  // The raw handle; null after a move.
  [[nodiscard]] cudaEvent_t get() const noexcept { return handle_.get(); }
  // Gives the handle, and the duty to destroy it, to the caller.
  [[nodiscard]] cudaEvent_t release() noexcept { return handle_.release(); }
  // Destroys the event now. Waits that were enqueued for it still hold.
  void reset() noexcept { handle_.reset(); }

 protected:
  struct Adopt {};
  OwnedEvent(Adopt, cudaEvent_t handle) noexcept : handle_(handle) {}
  OwnedEvent(const EventOptions& options, SourceLocation where) {
    options.device.with(where, [&] {
      call(where, "cudaEventCreateWithFlags", cudaEventCreateWithFlags, handle_.address(),
           flags | (options.blocking_sync ? cudaEventBlockingSync : 0u));
    });
  }

 private:
  friend EventVerbs<Derived>;
  friend EventRef;
  cudaEvent_t checked(SourceLocation where) const {
    if (!handle_.owns()) [[unlikely]] {
      refuse_empty_owner(where, "culvert::Event");
    }
    return handle_.get();
  }

  UniqueHandle<EventTraits> handle_;
};

}  // namespace detail

// An event without timing: the cheap kind, for ordering. Move-only; destroys the event at
// its end, which neither blocks nor undoes a wait.
//
//   Event done = stream.record();
//   done.synchronize();
class Event : public detail::OwnedEvent<Event, cudaEventDisableTiming> {
 public:
  // Creates an event, never recorded (cudaEventCreateWithFlags). Record it with
  // stream.record(event); recording again replaces the mark. Does not block.
  // @throws Error where the runtime refuses.
  Event(SourceLocation where = SourceLocation::current()) : OwnedEvent(EventOptions{}, where) {}
  explicit Event(const EventOptions& options, SourceLocation where = SourceLocation::current())
      : OwnedEvent(options, where) {}

  Event(const Event&) = delete;             // std::move it, or pass an EventRef
  Event& operator=(const Event&) = delete;  // std::move it, or pass an EventRef
  Event(Event&&) noexcept = default;
  Event& operator=(Event&&) noexcept = default;

 private:
  friend OwnedEvent;
  // Constructors are not inherited: clang would give this header as the caller's place.
  Event(Adopt adopt, cudaEvent_t handle) noexcept : OwnedEvent(adopt, handle) {}
};

// An event that also takes the time on the device; see elapsed.hpp. Otherwise as Event.
class TimedEvent : public detail::OwnedEvent<TimedEvent, cudaEventDefault> {
 public:
  // Creates an event, never recorded (cudaEventCreateWithFlags). Record it with
  // stream.record(event); recording again replaces the mark. Does not block.
  // @throws Error where the runtime refuses.
  TimedEvent(SourceLocation where = SourceLocation::current())
      : OwnedEvent(EventOptions{}, where) {}
  explicit TimedEvent(const EventOptions& options, SourceLocation where = SourceLocation::current())
      : OwnedEvent(options, where) {}

  TimedEvent(const TimedEvent&) = delete;             // std::move it, or pass an EventRef
  TimedEvent& operator=(const TimedEvent&) = delete;  // std::move it, or pass an EventRef
  TimedEvent(TimedEvent&&) noexcept = default;
  TimedEvent& operator=(TimedEvent&&) noexcept = default;

 private:
  friend OwnedEvent;
  TimedEvent(Adopt adopt, cudaEvent_t handle) noexcept : OwnedEvent(adopt, handle) {}
};

// A view of an event that something else owns, of either kind. One pointer.
class EventRef : public detail::EventVerbs<EventRef> {
 public:
  // @throws Error where the handle is null, or the owner was moved from.
  EventRef(cudaEvent_t handle, SourceLocation where = SourceLocation::current()) : handle_(handle) {
    if (handle == nullptr) [[unlikely]] {
      detail::refuse(where, "culvert::EventRef", "the handle is null",
                     cudaErrorInvalidResourceHandle);
    }
  }
  EventRef(const Event& event, SourceLocation where = SourceLocation::current())
      : handle_(event.checked(where)) {}
  EventRef(const TimedEvent& event, SourceLocation where = SourceLocation::current())
      : handle_(event.checked(where)) {}

  EventRef(std::nullptr_t) = delete;      // null is no event
  EventRef(const Event&&) = delete;       // the event ends with the expression: give it a name
  EventRef(const TimedEvent&&) = delete;  // the event ends with the expression: give it a name

  [[nodiscard]] cudaEvent_t get() const noexcept { return handle_; }

  friend bool operator==(EventRef a, EventRef b) noexcept { return a.handle_ == b.handle_; }

 private:
  friend detail::EventVerbs<EventRef>;
  cudaEvent_t checked(SourceLocation) const noexcept { return handle_; }

  cudaEvent_t handle_;
};

}  // namespace culvert::inline CULVERT_ABI
