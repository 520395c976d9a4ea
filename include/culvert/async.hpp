// SPDX-License-Identifier: BSL-1.0
//
// Host functions with a result: a value or an exception that the caller waits for.
#pragma once

#include <culvert/host_func.hpp>

namespace culvert::inline CULVERT_ABI {

template <class R>
class HostFuture;

namespace detail {

struct AsyncHost;

// What a future waits for.
template <class R>
class AsyncResult {
  // A large value has memory of its own; one that is a reference is a pointer.
  static constexpr bool is_boxed = [] {
    if constexpr (std::is_object_v<R>) return sizeof(R) > 512 || alignof(R) > slot_alignment;
    return false;
  }();
  using Value = std::conditional_t<
      std::is_void_v<R>, std::nullptr_t,
      std::conditional_t<std::is_reference_v<R>, std::remove_reference_t<R>*,
                         std::conditional_t<is_boxed, Boxed<R>, std::remove_cv_t<R>>>>;

 public:
  AsyncResult() noexcept {}
  AsyncResult(const AsyncResult&) = delete;
  AsyncResult& operator=(const AsyncResult&) = delete;
  ~AsyncResult() {
    if (state_ == State::value) std::destroy_at(std::addressof(value_));
    if (state_ == State::exception) std::destroy_at(&exception_);
  }

  // Calls the function and keeps what it gives.
  template <class F>
  void set_from(F&& function) noexcept {
#if CULVERT_HAS_EXCEPTIONS
    try {
      set_value(static_cast<F&&>(function));
    } catch (...) {
      ::new (static_cast<void*>(&exception_)) std::exception_ptr(std::current_exception());
      state_ = State::exception;
    }
#else
    set_value(static_cast<F&&>(function));
#endif
  }

  // False: the function was not called.
  [[nodiscard]] bool is_set() const noexcept { return state_ != State::none; }

  R take() {
    if (state_ == State::exception) std::rethrow_exception(std::move(exception_));
    if constexpr (std::is_reference_v<R>) {
      return static_cast<R>(*value_);
    } else if constexpr (is_boxed) {
      return std::move(value_.get());
    } else if constexpr (!std::is_void_v<R>) {
      return std::move(value_);
    }
  }

 private:
  enum class State { none, value, exception };

  template <class F>
  void set_value(F&& function) {
    void* const place = static_cast<void*>(std::addressof(value_));
    if constexpr (std::is_void_v<R>) {
      static_cast<F&&>(function)();
      ::new (place) Value(nullptr);
    } else if constexpr (std::is_reference_v<R>) {
      auto&& object = static_cast<F&&>(function)();
      ::new (place) Value(std::addressof(object));
    } else if constexpr (is_boxed) {
      ::new (place) Value(::new R(static_cast<F&&>(function)()));
    } else {
      ::new (place) Value(static_cast<F&&>(function)());
    }
    state_ = State::value;
  }

  union {
    Value value_;
    std::exception_ptr exception_;
  };
  State state_ = State::none;
};

// A result at the beginning, so that a future need not know the function's type.
template <class F, class R>
struct AsyncBody {
  AsyncResult<R> result;
  union {
    Stored<F, sizeof(AsyncResult<R>) + slot_alignment> function;
  };

  template <class G>
  AsyncBody(std::in_place_t, G&& callable) : function(std::in_place, static_cast<G&&>(callable)) {}
  AsyncBody(const AsyncBody&) = delete;
  AsyncBody& operator=(const AsyncBody&) = delete;
  ~AsyncBody() {}

  static void run(void* body) noexcept {
    AsyncBody& self = *static_cast<AsyncBody*>(body);
    self.result.set_from(static_cast<F&&>(self.function.get()));
    drop(body);
  }
  static void drop(void* body) noexcept {
    std::destroy_at(&static_cast<AsyncBody*>(body)->function);
  }
  static void end(void* body) noexcept { std::destroy_at(static_cast<AsyncBody*>(body)); }
  static constexpr process::HostSlotBody operations{&run, &drop, &end};
};

// Records the slot's own event in the stream, and first makes one where it has none that fits.
inline void record_slot_event(StreamRef stream, process::HostSlot& slot, SourceLocation where) {
  const unsigned generation = process::kept_events_generation.load();
  if (slot.event != nullptr && slot.event_generation == generation) [[likely]] {
    const cudaError_t status = try_call(cudaEventRecord, slot.event, stream.get());
    if (status == cudaSuccess) [[likely]] {
      return;
    }
    if (status != cudaErrorInvalidResourceHandle) raise(status, "cudaEventRecord", where, {});
    call_in_destructor("cudaEventDestroy", cudaEventDestroy, std::exchange(slot.event, nullptr));
  }
  slot.event = record_new_event<Event>(stream.get(), where).release();
  slot.event_generation = generation;
}

}  // namespace detail

// What a host function will give: its value or its exception. Move-only, as large as a pointer.
// It may end without being waited for: the function runs all the same.
template <class R>
class HostFuture {
  static_assert(std::is_void_v<R> || std::is_reference_v<R> || std::is_move_constructible_v<R>,
                "HostFuture: the result must be movable");

 public:
  // A future of nothing.
  HostFuture() noexcept = default;
  HostFuture(const HostFuture&) = delete;             // std::move it
  HostFuture& operator=(const HostFuture&) = delete;  // std::move it
  HostFuture(HostFuture&&) noexcept = default;
  HostFuture& operator=(HostFuture&&) noexcept = default;

  // Whether this has a result to wait for: false for a future of nothing, after a move and after
  // get().
  [[nodiscard]] bool valid() const noexcept { return slot_.owns(); }

  // Whether get() would not block: the function has returned and the stream has passed it. Does
  // not block.
  // @throws Error where valid() is false; also for failures of the stream's work.
  [[nodiscard]] bool is_done(SourceLocation where = SourceLocation::current()) const {
    return event(where).is_done(where);
  }

  // Waits until the function has returned and the stream has passed it. Blocks the host.
  // @throws Error where valid() is false, and for failures of the stream's work: then the
  // function may never have run.
  void wait(SourceLocation where = SourceLocation::current()) const { (void)waited(where); }

  // Waits as wait() does, then gives the function's value or throws its exception. All work that
  // was in the stream before the function is then complete. Once only: valid() is false
  // afterwards, but for the errors that wait() throws.
  R get(SourceLocation where = SourceLocation::current()) {
    process::HostSlot* const slot = waited(where);
    struct Release {
      HostFuture& future;
      ~Release() { future.slot_.reset(); }
    } const release{*this};
    return result_of(slot).take();
  }

  // The event behind the function, for streams of any device to wait for. Valid as long as
  // this future has its result.
  // @throws Error where valid() is false.
  [[nodiscard]] EventRef event(SourceLocation where = SourceLocation::current()) const {
    return EventRef(checked(where)->event, where);
  }

 private:
  friend struct detail::AsyncHost;

  static detail::AsyncResult<R>& result_of(process::HostSlot* slot) noexcept {
    return *static_cast<detail::AsyncResult<R>*>(slot->body());
  }

  process::HostSlot* checked(SourceLocation where) const {
    if (!slot_.owns()) [[unlikely]] {
      detail::refuse(where, "culvert::HostFuture",
                     "there is nothing to wait for: it was moved from, or its result was taken",
                     cudaErrorInvalidResourceHandle);
    }
    return slot_.get();
  }

  process::HostSlot* waited(SourceLocation where) const {
    process::HostSlot* const slot = checked(where);
    EventRef(slot->event, where).synchronize(where);
    (void)slot->holds.acquire();  // what the function's thread wrote is seen
    if (!result_of(slot).is_set()) [[unlikely]] {
      detail::refuse(where, "culvert::HostFuture",
                     "the host function was dropped after an error that stopped CUDA",
                     cudaErrorUnknown);
    }
    return slot;
  }

  detail::UniqueHandle<detail::HostSlotTraits<process::HostSlot::future>> slot_;
};

namespace detail {

struct AsyncHost {
  template <class F>
  [[nodiscard]] auto operator()(StreamRef stream, F&& function,
                                SourceLocation where = SourceLocation::current()) const {
    using Function = std::decay_t<F>;
    if constexpr (is_host_func<Function>) {
      static_assert(!is_host_func<Function>,
                    "async_host: a HostFunc has no result: launch_host it, or pass the callable");
    } else if constexpr (is_host_callable<Function, F>()) {
      refuse_null(function, "culvert::async_host", where);
      collect_if_any();
      using R = std::invoke_result_t<Function>;
      using Body = AsyncBody<Function, R>;
      process::HostSlot* const slot =
          fill_slot<Body>(Body::operations, process::HostSlot::pending + process::HostSlot::future,
                          std::in_place, static_cast<F&&>(function));
      HostFuture<R> future;
      future.slot_.reset(slot);
      launch_slot(stream, slot, where);
      record_slot_event(stream, *slot, where);
      return future;
    }
  }
};

}  // namespace detail

// async_host(stream, callable): calls it as launch_host does, and gives a HostFuture of what it
// returns or throws. Does not block the host.
//
//   HostFuture<float> sum = async_host(stream, [&] { return add_up(host); });
//   use(sum.get());    // also orders the caller after the stream's work before the function
//
// The future waits for an event behind the function, in its own slot, not for the function alone:
// after an error that stops the stream's work CUDA never calls the function, and waiting for it
// would not end. In a stream that is being captured nothing can be waited for: get() then throws.
// Everything that launch_host says of the callable holds. Each slot creates its event at the
// first async_host that uses it.
//
// @throws Error as launch_host. Where recording the event fails the function may still run.
inline constexpr detail::AsyncHost async_host{};

}  // namespace culvert::inline CULVERT_ABI
