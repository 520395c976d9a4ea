// SPDX-License-Identifier: BSL-1.0
//
// Streams: queues of device work that run in order, each independent of the others unless an
// event, a wait or a default stream orders them.
#pragma once

#include <culvert/kept_event.hpp>
#include <culvert/priority.hpp>

#include <cstddef>
#include <cstdint>

namespace culvert::inline CULVERT_ABI {

// How a stream stands to the legacy default stream.
enum class StreamKind {
  non_blocking,  // independent of it (cudaStreamNonBlocking)
  blocking,      // its work and that of the legacy default stream wait for each other
};

// How a stream is created. Every member has a default.
struct StreamOptions {
  DeviceChoice device = {};                    // the current device
  StreamKind kind = StreamKind::non_blocking;  // no implicit waits
  Priority priority = Priority::normal;
};

namespace detail {

// The handle of a Stream that owns nothing. Not null, which is CUDA's default stream: the
// runtime answers this one with error 400 (measured on an H200) and runs nothing.
[[nodiscard]] inline cudaStream_t no_stream() noexcept {
  return reinterpret_cast<cudaStream_t>(~std::uintptr_t{0});
}

struct StreamTraits {
  using handle_type = cudaStream_t;
  static handle_type invalid() noexcept { return no_stream(); }
  static bool is_invalid(handle_type handle) noexcept { return handle == no_stream(); }
  static void destroy(handle_type handle) noexcept {
    collect_if_any();  // what ended in a host function may have to be freed in this stream
    call_in_destructor("cudaStreamDestroy", cudaStreamDestroy, handle);
  }
};

template <class T>
concept ConvertsToStream = std::is_class_v<T> && std::is_convertible_v<const T&, cudaStream_t>;

// The operations of a stream. Derived gives checked(where), a handle that is never null.
template <class Derived>
class StreamVerbs {
 public:
  // Waits until all work in the stream is complete. Blocks the host
  // (cudaStreamSynchronize). On legacy() it also waits for the work of blocking streams.
  // @throws Error also for failures of earlier asynchronous work.
  void synchronize(SourceLocation where = SourceLocation::current()) const {
    call(where, "cudaStreamSynchronize", cudaStreamSynchronize, checked(where));
    collect_if_any();
  }

  // Whether all work in the stream is complete. Does not block (cudaStreamQuery).
  // @throws Error also for failures of earlier asynchronous work.
  [[nodiscard]] bool is_done(SourceLocation where = SourceLocation::current()) const {
    return query(where, "cudaStreamQuery", cudaStreamQuery, checked(where));
  }

  // A new event that is complete once all work now in the stream is. Does not block.
  // Creates an event each time; record(event) uses one again.
  [[nodiscard]] Event record(SourceLocation where = SourceLocation::current()) const {
    return record_new_event<Event>(checked(where), where);
  }
  // The same with an event that takes the time.
  [[nodiscard]] TimedEvent record_timed(SourceLocation where = SourceLocation::current()) const {
    return record_new_event<TimedEvent>(checked(where), where);
  }

  // Records an existing event, in place of its last record (cudaEventRecord). Waits that were
  // enqueued for the last record keep it. Does not block.
  // @throws Error (400) where the event's device is not the stream's.
  void record(EventRef event, SourceLocation where = SourceLocation::current()) const {
    record_into(event.get(), where);
  }
  void record(const Event& event, SourceLocation where = SourceLocation::current()) const {
    record_into(EventRef(event, where).get(), where);
  }
  void record(const TimedEvent& event, SourceLocation where = SourceLocation::current()) const {
    record_into(EventRef(event, where).get(), where);
  }

  // Makes work enqueued here from now on wait, on the device, for the event's last record
  // (cudaStreamWaitEvent). An event never recorded is no wait. The event may be destroyed or
  // recorded again at once; it may be of another device. Does not block the host.
  void wait(EventRef event, SourceLocation where = SourceLocation::current()) const {
    wait_for(event.get(), where);
  }
  void wait(const Event& event, SourceLocation where = SourceLocation::current()) const {
    wait_for(EventRef(event, where).get(), where);
  }
  void wait(const TimedEvent& event, SourceLocation where = SourceLocation::current()) const {
    wait_for(EventRef(event, where).get(), where);
  }

  // Makes work enqueued here from now on wait, on the device, for all work now in `other`,
  // through an event that the calling thread keeps. Does not block the host.
  void wait(StreamRef other, SourceLocation where = SourceLocation::current()) const;

  // The stream's number, which is not used again in this process, as handles are
  // (cudaStreamGetId).
  [[nodiscard]] unsigned long long id(SourceLocation where = SourceLocation::current()) const {
    unsigned long long result = 0;
    call(where, "cudaStreamGetId", cudaStreamGetId, checked(where), &result);
    return result;
  }

  // Whether the stream is blocking. The legacy stream answers blocking (cudaStreamGetFlags).
  [[nodiscard]] StreamKind kind(SourceLocation where = SourceLocation::current()) const {
    return (flags(where) & cudaStreamNonBlocking) != 0 ? StreamKind::non_blocking
                                                       : StreamKind::blocking;
  }

  // The flags as CUDA gives them: cudaStreamDefault or cudaStreamNonBlocking.
  [[nodiscard]] unsigned flags(SourceLocation where = SourceLocation::current()) const {
    unsigned result = 0;
    call(where, "cudaStreamGetFlags", cudaStreamGetFlags, checked(where), &result);
    return result;
  }

  // The priority as a number; smaller is higher (cudaStreamGetPriority).
  [[nodiscard]] int priority(SourceLocation where = SourceLocation::current()) const {
    int result = 0;
    call(where, "cudaStreamGetPriority", cudaStreamGetPriority, checked(where), &result);
    return result;
  }

  // The stream's device; for a default stream the current one. Before CUDA 12.8, which has
  // no query for it, this records an event in the stream to find out.
  [[nodiscard]] Device device(SourceLocation where = SourceLocation::current()) const {
    const cudaStream_t stream = checked(where);
#if CUDART_VERSION >= 12080
    int ordinal = 0;
    call(where, "cudaStreamGetDevice", cudaStreamGetDevice, stream, &ordinal);
    return Device(ordinal, where);
#else
    Device result = Device::current(where);
    record_on_any_device(where, [&](Device device) {
      const Event event(EventOptions{.device = device}, where);
      result = device;
      return try_call(cudaEventRecord, event.get(), stream);
    });
    return result;
#endif
  }

 private:
  cudaStream_t checked(SourceLocation where) const {
    return static_cast<const Derived&>(*this).checked(where);
  }
  void record_into(cudaEvent_t event, SourceLocation where) const {
    call(where, "cudaEventRecord", cudaEventRecord, event, checked(where));
  }
  void wait_for(cudaEvent_t event, SourceLocation where) const {
    call(where, "cudaStreamWaitEvent", cudaStreamWaitEvent, checked(where), event, 0u);
  }
};

}  // namespace detail

// An owned stream. Move-only. Its end neither blocks nor drops work: what was enqueued still
// completes (cudaStreamDestroy). A moved-from Stream is not the default stream: using it is
// an error.
//
//   Stream a, b;
//   fill(x, 1.0f, a);
//   b.wait(a);           // on the device
//   copy(y, x, b);
//   b.synchronize();
class Stream : public detail::StreamVerbs<Stream> {
 public:
  // Creates a non-blocking stream of normal priority on the current device. Does not block.
  Stream(SourceLocation where = SourceLocation::current()) : Stream(StreamOptions{}, where) {}

  // Creates a stream. The current device stays as it was.
  // @throws Error where the priority is outside the device's range, with the range in the
  // text, or where the runtime refuses.
  explicit Stream(const StreamOptions& options, SourceLocation where = SourceLocation::current()) {
    options.device.with(where, [&] {
      call_create(options.kind == StreamKind::blocking ? cudaStreamDefault : cudaStreamNonBlocking,
                  options.priority, where);
    });
  }

  Stream(const Stream&) = delete;             // std::move it, or pass a StreamRef
  Stream& operator=(const Stream&) = delete;  // std::move it, or pass a StreamRef
  Stream(Stream&&) noexcept = default;
  Stream& operator=(Stream&&) noexcept = default;

  // Takes ownership of a stream that other code created.
  // @throws Error where the handle is a default stream, which nobody owns.
  [[nodiscard]] static Stream from_handle(cudaStream_t handle,
                                          SourceLocation where = SourceLocation::current()) {
    if (handle == nullptr || handle == cudaStreamLegacy || handle == cudaStreamPerThread ||
        handle == detail::no_stream()) {
      detail::refuse(where, "culvert::Stream::from_handle",
                     "the handle is no created stream; StreamRef views a default stream",
                     cudaErrorInvalidResourceHandle);
    }
    return Stream(Adopt{}, handle);
  }

  // The raw handle. After a move it is one that CUDA refuses.
  [[nodiscard]] cudaStream_t get() const noexcept { return handle_.get(); }
  // Gives the handle, and the duty to destroy it, to the caller.
  [[nodiscard]] cudaStream_t release() noexcept { return handle_.release(); }
  // Destroys the stream now. Its work still completes.
  void reset() noexcept { handle_.reset(); }

 private:
  friend detail::StreamVerbs<Stream>;
  friend StreamRef;
  struct Adopt {};
  Stream(Adopt, cudaStream_t handle) noexcept : handle_(handle) {}

  cudaStream_t checked(SourceLocation where) const {
    if (!handle_.owns()) [[unlikely]] {
      detail::refuse_empty_owner(where, "culvert::Stream");
    }
    return handle_.get();
  }

  // Creates on the current device. The handle is set only on success.
  void call_create(unsigned flags, Priority priority, SourceLocation where) {
    cudaStream_t created = nullptr;
    const int number =
        priority.is_normal() ? 0 : detail::priority_number(priority, "culvert::Stream", where);
    if (number == 0) {
      detail::call(where, "cudaStreamCreateWithFlags", cudaStreamCreateWithFlags, &created, flags);
    } else {
      detail::call(where, "cudaStreamCreateWithPriority", cudaStreamCreateWithPriority, &created,
                   flags, number);
    }
    handle_.reset(created);
  }

  detail::UniqueHandle<detail::StreamTraits> handle_;
};

// A view of a stream that something else owns, or of a default stream. One pointer, never
// null. Every operation of culvert takes one; Stream and cudaStream_t convert to it.
class StreamRef : public detail::StreamVerbs<StreamRef> {
 public:
  // A null handle held in a variable means the default stream, as everywhere in CUDA, and
  // becomes the explicit handle of the one that this translation unit is compiled for: the
  // per-thread one under CUDA_API_PER_THREAD_DEFAULT_STREAM, else the legacy one.
  // @throws Error where the handle is that of a moved-from Stream.
  StreamRef(cudaStream_t handle, SourceLocation where = SourceLocation::current())
      : handle_(handle != nullptr ? handle : default_handle()) {
    if (handle == detail::no_stream()) [[unlikely]] {
      detail::refuse_empty_owner(where, "culvert::Stream");
    }
  }

  // @throws Error where the Stream was moved from, released or reset.
  StreamRef(const Stream& stream, SourceLocation where = SourceLocation::current())
      : handle_(stream.checked(where)) {}

  // Any class that converts to cudaStream_t, such as another library's stream.
  template <detail::ConvertsToStream T>
  StreamRef(const T& stream, SourceLocation where = SourceLocation::current())
      : StreamRef(static_cast<cudaStream_t>(stream), where) {}

  // clang-format off
  StreamRef(std::nullptr_t) = delete;  // say which default stream: StreamRef::legacy() or StreamRef::per_thread()
  StreamRef(int) = delete;             // say which default stream: StreamRef::legacy() or StreamRef::per_thread()
  StreamRef(const Stream&&) = delete;  // the Stream ends with the expression: give it a name
  // clang-format on

  // The legacy default stream of the current device: its operations and those of blocking
  // streams wait for each other.
  [[nodiscard]] static StreamRef legacy() noexcept { return StreamRef(Known{}, cudaStreamLegacy); }
  // The calling thread's default stream on the current device: a blocking stream.
  [[nodiscard]] static StreamRef per_thread() noexcept {
    return StreamRef(Known{}, cudaStreamPerThread);
  }

  // The raw handle; never null.
  [[nodiscard]] cudaStream_t get() const noexcept { return handle_; }

  // Whether both are the same handle. CUDA uses the handle of a destroyed stream again: to
  // know a stream over time compare id().
  friend bool operator==(StreamRef a, StreamRef b) noexcept { return a.handle_ == b.handle_; }

 private:
  friend detail::StreamVerbs<StreamRef>;
  struct Known {};
  StreamRef(Known, cudaStream_t handle) noexcept : handle_(handle) {}

  cudaStream_t checked(SourceLocation) const noexcept { return handle_; }

  [[nodiscard]] static cudaStream_t default_handle() noexcept {
#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM)
    return cudaStreamPerThread;
#else
    return cudaStreamLegacy;
#endif
  }

  cudaStream_t handle_;
};

template <class Derived>
void detail::StreamVerbs<Derived>::wait(StreamRef other, SourceLocation where) const {
  join(checked(where), other.get(), where);
}

}  // namespace culvert::inline CULVERT_ABI
