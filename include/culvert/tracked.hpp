// SPDX-License-Identifier: BSL-1.0
//
// Objects that know which streams use them, so that every use waits for those that it must.
#pragma once

#include <culvert/retire.hpp>

#include <vector>

namespace culvert::inline CULVERT_ABI {

// Owns an object, a DeviceBuffer for one, that several streams read and write. A read waits, on the
// device, for the last write; a write for the last write and for every read since, in whichever
// streams those were. When this ends, the object lives until all of them are complete. Move-only.
//
//   Tracked<DeviceBuffer<float>> weights(DeviceBuffer<float>(n));
//   weights.write(a, [&](DeviceBuffer<float>& w) { copy(w, host, a); });
//   weights.read(b, [&](const DeviceBuffer<float>& w) { launch(b, config, infer, w, x); });
//   weights.read(c, [&](const DeviceBuffer<float>& w) { launch(c, config, infer, w, y); });
//   weights.write(a, ...);    // a waits for b and c
//
// Calls on one object are the caller's to serialize. Not for streams that are being captured: CUDA
// refuses the waits.
template <class T>
class Tracked {
  static_assert(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_destructible_v<T>);

 public:
  // Takes the object, which no stream uses. @throws std::bad_alloc
  explicit Tracked(T object) : holder_(new Holder) {
    holder_->object.emplace(static_cast<T&&>(object));
  }

  Tracked(const Tracked&) = delete;             // std::move it
  Tracked& operator=(const Tracked&) = delete;  // std::move it
  Tracked(Tracked&& other) noexcept = default;
  Tracked& operator=(Tracked&& other) noexcept {
    reset();
    holder_ = std::move(other.holder_);
    uses_ = std::move(other.uses_);
    return *this;
  }
  ~Tracked() { reset(); }

  // Makes `stream` wait for the last write, and calls use(const T&), which enqueues work there that
  // reads. Does not block the host. What `use` throws is passed on; what it enqueued counts.
  // @throws Error where this was moved from or reset, and what CUDA answers.
  template <class Work>
  void read(StreamRef stream, Work&& work, SourceLocation where = SourceLocation::current()) {
    const T& object = checked(where);
    for (const Use& use : uses_) {
      if (use.writes) stream.wait(use.entry->recorded, where);
    }
    Use& own = own_use(stream, false, where);
    enqueue(
        stream, own, [&] { static_cast<Work&&>(work)(object); }, where);
  }

  // Makes `stream` wait for the last write and all reads since, and calls use(T&), which enqueues
  // work there that writes. Otherwise as read.
  template <class Work>
  void write(StreamRef stream, Work&& work, SourceLocation where = SourceLocation::current()) {
    T& object = checked(where);
    for (const Use& use : uses_) stream.wait(use.entry->recorded, where);
    // Whoever waits for this write waits for all before it.
    Use& own = own_use(stream, true, where);
    std::swap(own, uses_.front());
    enqueue(
        stream, uses_.front(), [&] { static_cast<Work&&>(work)(object); }, where);
    uses_.resize(1);
  }

  // Blocks the host until no stream uses the object, and gives it back. This is then empty.
  // @throws Error also for failures of the streams' work.
  [[nodiscard]] T take(SourceLocation where = SourceLocation::current()) {
    T& object = checked(where);
    for (const Use& use : uses_) use.entry->recorded.synchronize(where);
    T result = static_cast<T&&>(object);
    reset();
    return result;
  }

  // Ends this owner now. The object ends when the streams have passed their uses.
  void reset() noexcept {
    for (Use& use : uses_) detail::queue_retired(use.entry.release());
    uses_.clear();
    holder_.reset();
  }

 private:
  using Holder = detail::RetiredObject<T>;
  using Entry = detail::RetiredEntry<T>;
  // The last read or write of one stream. Streams are told apart by their ids, since CUDA uses
  // handles again.
  struct Use {
    unsigned long long stream_id = 0;
    bool writes = false;
    std::unique_ptr<Entry> entry;
  };

  Use& own_use(StreamRef stream, bool writes, SourceLocation where) {
    const unsigned long long id = stream.id(where);
    for (Use& use : uses_) {
      if (use.stream_id == id && use.writes == writes) return use;
    }
    // Streams come and go: so that this does not grow with them, those that are done are dropped.
    if (uses_.size() >= 16) {
      const detail::RelaxedCapture relaxed;
      std::erase_if(uses_, [](const Use& use) { return detail::is_passed(*use.entry); });
    }
    uses_.push_back({id, writes, std::make_unique<Entry>(stream, holder_.get(), where)});
    return uses_.back();
  }

  // The event follows the work, also where that throws.
  template <class Work>
  static void enqueue(StreamRef stream, Use& use, const Work& work, SourceLocation where) {
    struct Record {
      StreamRef stream;
      const Event* event;
      ~Record() {
        if (event == nullptr) return;
        const cudaError_t status = detail::try_call(cudaEventRecord, event->get(), stream.get());
        if (status != cudaSuccess) detail::report(status, "cudaEventRecord");
      }
    } record{stream, &use.entry->recorded};
    work();
    record.event = nullptr;
    stream.record(use.entry->recorded, where);
  }

  T& checked(SourceLocation where) const {
    if (holder_ == nullptr) [[unlikely]] {
      detail::refuse_empty_owner(where, "culvert::Tracked");
    }
    return *holder_->object;
  }

  typename Holder::Ptr holder_;
  std::vector<Use> uses_;
};

}  // namespace culvert::inline CULVERT_ABI
