// SPDX-License-Identifier: BSL-1.0
//
// Host functions: C++ callables that run on the host in the order of a stream.
#pragma once

#include <culvert/collect.hpp>
#include <culvert/stream.hpp>

#include <exception>
#include <memory>

namespace culvert::inline CULVERT_ABI {

namespace detail {

struct LaunchHost;

// Whether what was passed, an F, can be kept and then called as a Called. Where it cannot, an
// assertion says why.
template <class Called, class F>
[[nodiscard]] consteval bool is_host_callable() {
  constexpr bool can_be_called = std::is_invocable_v<Called>;
  constexpr bool can_be_kept = std::is_constructible_v<std::decay_t<F>, F&&>;
  static_assert(can_be_called, "host function: the callable cannot be called without arguments");
  static_assert(can_be_kept,
                "host function: the callable can be neither moved nor copied from what was passed: "
                "std::move it");
  return can_be_called && can_be_kept;
}

// A null function pointer would crash in CUDA's thread.
template <class F>
void refuse_null(const F& function, const char* operation, SourceLocation where) {
  if constexpr (std::is_pointer_v<F>) {
    if (function == nullptr) [[unlikely]] {
      refuse(where, operation, "the function is null");
    }
  }
}

// A callable too large for any slot, or aligned more than one, has memory of its own.
template <class F>
class Boxed {
 public:
  template <class G>
  explicit Boxed(std::in_place_t, G&& function) : Boxed(::new F(static_cast<G&&>(function))) {}
  explicit Boxed(F* taken) noexcept : function_(taken) {}
  Boxed(Boxed&& other) noexcept : function_(std::exchange(other.function_, nullptr)) {}
  Boxed& operator=(Boxed&&) = delete;
  ~Boxed() { ::delete function_; }
  [[nodiscard]] F& get() noexcept { return *function_; }

 private:
  F* function_;
};
template <class F>
class Unboxed {
 public:
  template <class G>
  explicit Unboxed(std::in_place_t, G&& function) : function_(static_cast<G&&>(function)) {}
  [[nodiscard]] F& get() noexcept { return function_; }

 private:
  F function_;
};

inline constexpr std::size_t slot_alignment = 16;
// `other` is what the body holds besides.
template <class F, std::size_t other>
using Stored = std::conditional_t<sizeof(F) + other <=
                                          process::HostSlot::room(process::HostSlot::classes - 1) &&
                                      alignof(F) <= slot_alignment,
                                  Unboxed<F>, Boxed<F>>;

// A slot that holds a new body, with its first holds. Gives the slot back where the body's
// constructor throws.
template <class Body, class... Arguments>
[[nodiscard]] process::HostSlot* fill_slot(const process::HostSlotBody& operations,
                                           std::uint64_t first_holds, Arguments&&... arguments) {
  using process::HostSlot;
  constexpr std::size_t size_class = sizeof(Body) <= HostSlot::room(0)   ? 0
                                     : sizeof(Body) <= HostSlot::room(1) ? 1
                                                                         : 2;
  static_assert(sizeof(Body) <= HostSlot::room(size_class) && alignof(Body) <= slot_alignment);
  struct Undo {
    HostSlot* slot;
    ~Undo() {
      if (slot != nullptr) slot->give_back();
    }
  } undo{process::acquire_host_slot(size_class)};
  HostSlot* const slot = undo.slot;
  ::new (slot->body()) Body(static_cast<Arguments&&>(arguments)...);
  undo.slot = nullptr;
  slot->operations = &operations;
  slot->start(first_holds);
  return slot;
}

[[gnu::cold, gnu::noinline]] inline void report_repeat() noexcept {
  process::failure_handler.load()(
      Failure{cudaErrorInvalidResourceHandle, "culvert::launch_host",
              "a graph repeats the launch of a callable that is gone: capture a HostFunc, which "
              "must live until the graph's last launch is complete",
              SourceLocation::none()});
}

// What the runtime calls for each launch, with the ticket of the slot.
inline void CUDART_CB run_host_slot(void* ticket) noexcept {
  using process::HostSlot;
  const auto bits = reinterpret_cast<std::uint64_t>(ticket);
  const auto number = static_cast<unsigned>(bits);
  HostSlot& slot = *process::host_slot_chunk(number).slot(number % process::HostSlotChunk::most);
  switch (slot.begin(bits >> HostSlot::generation_shift)) {
    case HostSlot::Begin::yes:
      break;
    case HostSlot::Begin::stale:
      report_repeat();
      return;
    case HostSlot::Begin::dropped:
      return;
  }
  process::in_host_function = true;
  slot.operations->run(slot.body());
  slot.give_up(HostSlot::running);
  process::in_host_function = false;
}

[[gnu::cold, gnu::noinline]] inline void report_exception(cudaError_t status, const char* what,
                                                          SourceLocation where) noexcept {
  process::failure_handler.load()(
      Failure{status, "culvert::launch_host: an exception left the host function", what, where});
}

// Calls a function for whose exceptions nobody waits.
template <class F>
void call_reporting(F&& function, [[maybe_unused]] SourceLocation where) noexcept {
#if CULVERT_HAS_EXCEPTIONS
  try {
    (void)static_cast<F&&>(function)();
  } catch (const Error& error) {
    report_exception(error.status(), error.what(), where);
  } catch (const std::exception& exception) {
    report_exception(cudaErrorUnknown, exception.what(), where);
  } catch (...) {
    report_exception(cudaErrorUnknown, "not derived from std::exception", where);
  }
#else
  (void)static_cast<F&&>(function)();
#endif
}

// A callable whose result nobody waits for.
template <class F>
struct CallableBody {
  SourceLocation where;
  Stored<F, sizeof(SourceLocation)> function;

  template <class G>
  CallableBody(SourceLocation place, G&& callable)
      : where(place), function(std::in_place, static_cast<G&&>(callable)) {}

  static void run_and_destroy(void* body) noexcept {
    CallableBody& self = *static_cast<CallableBody*>(body);
    call_reporting(static_cast<F&&>(self.function.get()), self.where);
    std::destroy_at(&self);
  }
  static void run(void* body) noexcept {
    CallableBody& self = *static_cast<CallableBody*>(body);
    call_reporting(self.function.get(), self.where);
  }
  static void destroy(void* body) noexcept { std::destroy_at(static_cast<CallableBody*>(body)); }
  static void keep(void*) noexcept {}

  // For one launch, with which the callable ends; and for any number.
  static constexpr process::HostSlotBody one_launch{&run_and_destroy, &destroy, &keep};
  static constexpr process::HostSlotBody any_launches{&run, &keep, &destroy};
};

// The owner's hold of a slot.
template <std::uint64_t Owner>
struct HostSlotTraits {
  using handle_type = process::HostSlot*;
  static handle_type invalid() noexcept { return nullptr; }
  static bool is_invalid(handle_type slot) noexcept { return slot == nullptr; }
  static void destroy(handle_type slot) noexcept { slot->give_up(Owner); }
};

// Launches a slot that has one pending hold for it.
inline void launch_slot(StreamRef stream, process::HostSlot* slot, SourceLocation where) {
  const cudaError_t status =
      try_call(cudaLaunchHostFunc, stream.get(), cudaHostFn_t{&run_host_slot}, slot->ticket());
  if (status != cudaSuccess) [[unlikely]] {
    slot->cancel();
    raise(status, "cudaLaunchHostFunc", where, {});
  }
}

}  // namespace detail

// A callable that can be launched any number of times, on any streams. Move-only, as large as a
// pointer. The callable lives until the HostFunc and all its launches have ended, so a HostFunc
// may end while launches are pending.
//
//   HostFunc count([&] { ++frames; });
//   launch_host(a, count);
//   launch_host(a, count);
//
// Launches in streams that nothing orders may run at the same time, as CUDA sees fit: the
// callable must bear that. A captured launch runs at every launch of its graph; the HostFunc
// must then live until the graph's last launch is complete.
template <class F>
class HostFunc {
  static_assert(std::is_object_v<F> && std::is_same_v<F, std::decay_t<F>>);
  using Body = detail::CallableBody<F>;

 public:
  // Takes the callable, which is called as an lvalue without arguments.
  // @throws Error where it is a null function pointer; what its constructor throws;
  // std::bad_alloc.
  explicit HostFunc(F callable, SourceLocation where = SourceLocation::current()) {
    if constexpr (detail::is_host_callable<F&, F>()) {
      detail::refuse_null(callable, "culvert::HostFunc", where);
      slot_.reset(detail::fill_slot<Body>(Body::any_launches, process::HostSlot::reusable, where,
                                          static_cast<F&&>(callable)));
    }
  }

  HostFunc(const HostFunc&) = delete;             // std::move it
  HostFunc& operator=(const HostFunc&) = delete;  // std::move it
  HostFunc(HostFunc&&) noexcept = default;
  HostFunc& operator=(HostFunc&&) noexcept = default;

  // The callable. Pending and running launches use it too.
  // @throws Error where this was moved from or reset.
  [[nodiscard]] F& function(SourceLocation where = SourceLocation::current()) const {
    return static_cast<Body*>(checked(where)->body())->function.get();
  }

  // Ends this owner now. Launches that are pending still run.
  void reset() noexcept { slot_.reset(); }

 private:
  friend struct detail::LaunchHost;
  process::HostSlot* checked(SourceLocation where) const {
    if (!slot_.owns()) [[unlikely]] {
      detail::refuse_empty_owner(where, "culvert::HostFunc");
    }
    return slot_.get();
  }

  detail::UniqueHandle<detail::HostSlotTraits<process::HostSlot::reusable>> slot_;
};

namespace detail {

template <class T>
inline constexpr bool is_host_func = false;
template <class F>
inline constexpr bool is_host_func<HostFunc<F>> = true;

struct LaunchHost {
  template <class F>
  requires(!is_host_func<std::decay_t<F>>) void operator()(
      StreamRef stream, F&& function, SourceLocation where = SourceLocation::current()) const {
    using Function = std::decay_t<F>;
    if constexpr (is_host_callable<Function, F>()) {
      refuse_null(function, "culvert::launch_host", where);
      collect_if_any();
      using Body = CallableBody<Function>;
      launch_slot(stream,
                  fill_slot<Body>(Body::one_launch, process::HostSlot::pending, where,
                                  static_cast<F&&>(function)),
                  where);
    }
  }

  template <class F>
  void operator()(StreamRef stream, const HostFunc<F>& function,
                  SourceLocation where = SourceLocation::current()) const {
    process::HostSlot* const slot = function.checked(where);
    collect_if_any();
    if (!slot->add_pending()) [[unlikely]] {
      refuse(where, "culvert::launch_host",
             "launches of this HostFunc were dropped after an error that stopped CUDA (or millions "
             "are pending)",
             cudaErrorInvalidResourceHandle);
    }
    launch_slot(stream, slot, where);
  }
};

}  // namespace detail

// launch_host(stream, callable): calls it on the host once all work now in the stream is
// complete; later work of the stream waits until it has returned (cudaLaunchHostFunc). Does not
// block the host. The callable is moved (or copied) into culvert's own memory and called as an
// rvalue, without arguments; what it returns is dropped. Any move-only callable is taken.
//
// The callable is destroyed exactly once: after it ran, on the thread that ran it; or, where CUDA
// refuses the launch, before this throws; or, where an error stopped the stream's work for good so
// that CUDA never calls it (measured on an H200), by the next call of culvert that sees the error.
//
// Its destructor must not throw.
//
// It must make no CUDA call, direct or indirect (error 800), and must not wait for work that
// does. An owner of CUDA memory that ends in it, as a captured PinnedBuffer does, is safe: its
// memory is given back later; see collect(). It may signal another thread, which may then call
// CUDA. An exception that leaves it goes to the failure handler; async_host has a future for it.
//
// Allocates nothing once as many are in flight as ever before, for callables of up to 1984 bytes;
// larger or over-aligned ones are allocated each time.
//
// launch_host(stream, host_func): the same for a HostFunc.
//
// Do not capture the launch of a callable: it runs at the graph's first launch only, and each
// later one goes to the failure handler. Capture a HostFunc. (Asking at each launch whether the
// stream is being captured took 0.1 of the launch's time, measured on an H200.)
//
// @throws Error where the function is null or the HostFunc was moved from; and what CUDA answers,
// also for failures of earlier asynchronous work.
inline constexpr detail::LaunchHost launch_host{};

}  // namespace culvert::inline CULVERT_ABI
