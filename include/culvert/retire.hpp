// SPDX-License-Identifier: BSL-1.0
//
// Objects that live until streams have passed a point.
#pragma once

#include <culvert/collect.hpp>
#include <culvert/graph_hold.hpp>
#include <culvert/stream.hpp>

#include <initializer_list>
#include <memory>
#include <optional>
#include <span>

namespace culvert::inline CULVERT_ABI {

namespace detail {

// A retired object, and who has to let go of it: its maker, each stream, and a graph.
template <class T>
struct RetiredObject {
  std::optional<T> object;
  process::Atomic<unsigned> holders{1};

  struct LetGo {
    void operator()(RetiredObject* holder) const noexcept { holder->let_go(); }
  };
  using Ptr = std::unique_ptr<RetiredObject, LetGo>;

  void let_go() noexcept {
    if (holders.add(~0u) == 1) delete this;
  }
  static void CUDART_CB graph_ended(void* self) noexcept {
    const HostFunctionMark mark;
    static_cast<RetiredObject*>(self)->let_go();
  }
};

// A stream's part of it.
template <class T>
struct RetiredEntry : process::Retired {
  Event recorded;
  RetiredObject<T>* object;

  RetiredEntry(StreamRef in, RetiredObject<T>* holder, SourceLocation where)
      : recorded(record_new_event<Event>(in.get(), where)), object(holder) {
    object->holders.add(1);
    generation = process::kept_events_generation.load();
    stream = in.get();
    event = recorded.get();
    passed = &end;
  }
  RetiredEntry(const RetiredEntry&) = delete;
  RetiredEntry& operator=(const RetiredEntry&) = delete;
  ~RetiredEntry() {
    // The event of a device that was reset is gone.
    if (generation != process::kept_events_generation.load()) (void)recorded.release();
    object->let_go();
  }
  static void end(process::Retired* self) noexcept { delete static_cast<RetiredEntry*>(self); }
};

// From now on whoever collects looks after it. Makes no CUDA call.
inline void queue_retired(process::Retired* entry) noexcept {
  process::attention.add(process::one_to_collect);
  process::retired.push_back(entry);
}

// Where too many are retired: waits until there are fewer.
[[gnu::cold, gnu::noinline]] inline void make_room_for_retired() noexcept {
  const Collecting collecting;
  if (!collecting.allowed()) return;
  const RelaxedCapture relaxed;
  make_deferred_calls();
  collect_retired();
  while (count_to_collect() >= process::retire_limit.load() && wait_for_retired()) {
  }
}

struct Retire {
  template <class T>
  void operator()(StreamRef stream, T&& object,
                  SourceLocation where = SourceLocation::current()) const {
    const StreamRef streams[] = {stream};
    retire(streams, static_cast<T&&>(object), where);
  }
  template <class T>
  void operator()(std::initializer_list<StreamRef> streams, T&& object,
                  SourceLocation where = SourceLocation::current()) const {
    retire({streams.begin(), streams.size()}, static_cast<T&&>(object), where);
  }
  template <class T>
  void operator()(std::span<const StreamRef> streams, T&& object,
                  SourceLocation where = SourceLocation::current()) const {
    retire(streams, static_cast<T&&>(object), where);
  }

 private:
  template <class T>
  static void retire(std::span<const StreamRef> streams, T&& object, SourceLocation where) {
    static_assert(!std::is_lvalue_reference_v<T> && !std::is_const_v<T>,
                  "retire: the object is moved away: std::move it");
    if constexpr (!std::is_lvalue_reference_v<T> && !std::is_const_v<T>) {
      static_assert(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_destructible_v<T>,
                    "retire: the object's move or its end may throw: retire a std::unique_ptr to "
                    "it");
      refuse_in_host_function(where, "culvert::retire");
      if (streams.empty()) [[unlikely]] {
        refuse(where, "culvert::retire", "no stream is given");
      }
      if (count_to_collect() != 0) [[unlikely]] {
        collect_some();
        if (count_to_collect() >= process::retire_limit.load()) make_room_for_retired();
      }
      hand_over(streams, static_cast<T&&>(object), where);
    }
  }

  // All that may fail comes first; then the object is moved.
  template <class T>
  static void hand_over(std::span<const StreamRef> streams, T&& object, SourceLocation where) {
    using Entry = RetiredEntry<T>;
    struct Entries {
      process::RetiredList list;
      ~Entries() {
        while (process::Retired* const entry = list.pop_front()) Entry::end(entry);
      }
    } entries;
    const typename RetiredObject<T>::Ptr holder(new RetiredObject<T>);
    cudaGraph_t graph = nullptr;
    for (const StreamRef stream : streams) {
      const cudaGraph_t captured = capturing_graph(stream.get(), where);
      if (captured == nullptr) {
        entries.list.push_back(new Entry(stream, holder.get(), where));
      } else if (captured != graph) {
        graph = captured;
        holder->holders.add(1);
        hold_in_graph(graph, holder.get(), &RetiredObject<T>::graph_ended, where);
      }
    }
    holder->object.emplace(static_cast<T&&>(object));
    while (process::Retired* const entry = entries.list.pop_front()) queue_retired(entry);
  }
};

}  // namespace detail

// retire(stream, std::move(object)): keeps an object until all work now in the stream is
// complete, and then destroys it on a host thread that may call CUDA: in a later call of culvert
// that waits or retires, in collect(), or in collect_and_wait(). Does not block the host, but for
// the limit below. Any type that moves and ends without exceptions is taken: buffers, streams,
// host memory that a copy reads, a tuple of them.
//
//   retire(stream, std::move(staging));             // a PinnedBuffer that copies still read
//   retire({a, b}, std::move(weights));             // read by two streams: waits for both
//
// In a stream that is being captured the object goes to the graph: it lives until the graph, its
// copies, what was instantiated from it and their last launches have ended.
//
// At most 4096 objects wait so, and each stream of an object counts (set_retire_limit): where there
// are more, retire blocks the host until the oldest has ended. An object whose stream never goes on
// then blocks it forever.
//
// After an error that stops CUDA's work for good the objects end at the next call that collects.
// At exit those whose streams are still at work are left to the end of the process; see
// collect_and_wait().
//
// @throws Error in a host function, without a stream, and what CUDA answers; std::bad_alloc. The
// object then stays with the caller.
inline constexpr detail::Retire retire{};

// How many objects may be retired and not yet ended, in the whole process; 4096 at first. 0 makes
// every retire wait for all earlier ones.
inline void set_retire_limit(std::size_t count) noexcept { process::retire_limit.store(count); }

}  // namespace culvert::inline CULVERT_ABI
