// SPDX-License-Identifier: BSL-1.0
//
// Results of a stream's work that cannot be looked at before they are there.
#pragma once

#include <culvert/copy.hpp>
#include <culvert/pinned_buffer.hpp>
#include <culvert/retire.hpp>

#include <vector>

namespace culvert::inline CULVERT_ABI {

template <class T>
class Pending;

namespace detail {
struct ReadBack;
}

// Data that is on its way to the host. Move-only. get() waits and gives it; nothing else does, so
// it cannot be read too early. It may be dropped at any time: the memory that the copy writes to is
// kept until the copy is complete.
//
//   Pending<std::vector<float>> result = read_back(x, stream);
//   ...
//   use(result.get());
template <class T>
class Pending<std::vector<T>> {
 public:
  Pending(const Pending&) = delete;             // std::move it
  Pending& operator=(const Pending&) = delete;  // std::move it
  Pending(Pending&&) noexcept = default;
  Pending& operator=(Pending&& other) noexcept {
    drop();
    arriving_ = std::exchange(other.arriving_, nullptr);
    return *this;
  }
  ~Pending() { drop(); }

  // Whether get() would not wait. Does not block.
  // @throws Error where get() was called already; and for failures of the stream's work.
  [[nodiscard]] bool is_done(SourceLocation where = SourceLocation::current()) const {
    return checked(where).recorded.is_done(where);
  }

  // Waits for the data and gives it, once. Blocks the host.
  // @throws Error where it was called already, in a host function, and for failures of the
  // stream's work; std::bad_alloc, after which it may be called again.
  [[nodiscard]] std::vector<T> get(SourceLocation where = SourceLocation::current()) {
    Arriving& arriving = checked(where);
    arriving.recorded.synchronize(where);
    const PinnedBuffer<T>& data = *arriving.object->object;
    std::vector<T> result(data.begin(), data.end());
    arriving_.reset();
    return result;
  }

 private:
  friend struct detail::ReadBack;
  using Arriving = detail::RetiredEntry<PinnedBuffer<T>>;
  explicit Pending(std::unique_ptr<Arriving> arriving) noexcept : arriving_(std::move(arriving)) {}

  Arriving& checked(SourceLocation where) const {
    if (arriving_ == nullptr) [[unlikely]] {
      detail::refuse_empty_owner(where, "culvert::Pending");
    }
    return *arriving_;
  }
  // Makes no CUDA call: a callable that holds one may end in a host function.
  void drop() noexcept {
    if (arriving_ != nullptr) detail::queue_retired(arriving_.release());
  }

  std::unique_ptr<Arriving> arriving_;
};

namespace detail {

struct ReadBack {
  template <class Source>
  [[nodiscard]] auto operator()(Source&& source, StreamRef stream,
                                SourceLocation where = SourceLocation::current()) const {
    static_assert(DeviceRange<Source>,
                  "read_back: the source is not device memory (DeviceBuffer, DeviceSpan)");
    if constexpr (DeviceRange<Source>) {
      const auto from = view_of(source, where, "culvert::read_back");
      using T = std::remove_const_t<typename decltype(from)::element_type>;
      collect_if_any();
      if (capturing_graph(stream.get(), where) != nullptr) [[unlikely]] {
        refuse(where, "culvert::read_back",
               "the stream is being captured: nothing arrives before the graph is launched",
               cudaErrorStreamCaptureUnsupported);
      }
      using Holder = RetiredObject<PinnedBuffer<T>>;
      const typename Holder::Ptr holder(new Holder);
      PinnedBuffer<T>& data = holder->object.emplace(from.size, where);
      // The event exists before the copy, since what fails after that must wait for it.
      auto arriving = std::make_unique<RetiredEntry<PinnedBuffer<T>>>(stream, holder.get(), where);
      copy(data, source, stream, where);
      const cudaError_t status = try_call(cudaEventRecord, arriving->event, stream.get());
      if (status != cudaSuccess) [[unlikely]] {
        (void)try_call(cudaStreamSynchronize, stream.get());
        raise(status, "cudaEventRecord", where, {});
      }
      return Pending<std::vector<T>>(std::move(arriving));
    }
  }
};

}  // namespace detail

// read_back(source, stream): copies device memory to the host, in the order of the stream, and
// gives a Pending<std::vector<T>>. Does not wait for the stream, but allocates pinned memory, which
// may block the host for milliseconds where the data is large.
// @throws OutOfMemory; Error where the source was moved from or the stream is being captured, and
// what CUDA answers.
inline constexpr detail::ReadBack read_back{};

}  // namespace culvert::inline CULVERT_ABI
