// SPDX-License-Identifier: BSL-1.0
//
// Many copies in one call.
#pragma once

#include <culvert/copy.hpp>

#include <vector>

namespace culvert::inline CULVERT_ABI {

// How the copies of a batch run. Every member has a default.
struct CopyBatchOptions {
  // A hint that the copies should rather run beside kernels than as fast as they can
  // (cudaMemcpyFlagPreferOverlapWithCompute). Without effect before CUDA 12.8.
  bool prefer_overlap_with_compute = false;
};

namespace detail {

// Host memory that is pinned by its type: nobody need ask CUDA.
template <class X>
inline constexpr bool is_pinned_type = false;
template <class T>
inline constexpr bool is_pinned_type<PinnedBuffer<T>> = true;
template <class T>
inline constexpr bool is_pinned_type<RegisteredBuffer<T>> = true;

// Whether CUDA knows the host memory at `data`: pinned, registered or managed.
[[nodiscard]] inline bool is_known_to_cuda(SourceLocation where, const void* data) {
  cudaPointerAttributes attributes{};
  call(where, "cudaPointerGetAttributes", cudaPointerGetAttributes, &attributes, data);
  return attributes.type != cudaMemoryTypeUnregistered;
}

#if CUDART_VERSION >= 12080

// Before CUDA 13 the call has one parameter more, which tells the copy that failed, and less
// const. Neither form changes what the arrays hold.
template <class To, class From, class Sizes>
[[nodiscard]] inline cudaError_t call_copy_batch(
    cudaError_t (*function)(To, From, Sizes, std::size_t, cudaMemcpyAttributes*, std::size_t*,
                            std::size_t, cudaStream_t),
    void** to, void** from, std::size_t* sizes, std::size_t count, cudaMemcpyAttributes* attributes,
    std::size_t* firsts, std::size_t groups, cudaStream_t stream) noexcept {
  return try_call(function, const_cast<To>(to), const_cast<From>(from), sizes, count, attributes,
                  firsts, groups, stream);
}
template <class To, class From, class Sizes>
[[nodiscard]] inline cudaError_t call_copy_batch(
    cudaError_t (*function)(To, From, Sizes, std::size_t, cudaMemcpyAttributes*, std::size_t*,
                            std::size_t, std::size_t*, cudaStream_t),
    void** to, void** from, std::size_t* sizes, std::size_t count, cudaMemcpyAttributes* attributes,
    std::size_t* firsts, std::size_t groups, cudaStream_t stream) noexcept {
  std::size_t failed = 0;
  return try_call(function, const_cast<To>(to), const_cast<From>(from), sizes, count, attributes,
                  firsts, groups, &failed, stream);
}

#endif

}  // namespace detail

// A list of copies that one call enqueues, as often as you like. It holds addresses: each side
// must live, where it is, until the stream has passed the last enqueue. A value; nothing is
// allocated at an enqueue.
//
// The batch as a whole runs in the order of the stream. Its copies have no order among each
// other, so none may write what another reads or writes.
//
// When a source is read:
//   device, pinned, registered, managed   in the order of the stream
//   any other host memory (pageable)      during enqueue(), out of the stream's order: it may end
//                                         or change as soon as enqueue() has returned
//
//   CopyBatch batch;
//   batch.add(x, host_x);
//   batch.add(y, host_y);
//   batch.enqueue(stream);
class CopyBatch {
 public:
  // An empty batch.
  CopyBatch() noexcept = default;
  explicit CopyBatch(const CopyBatchOptions& options) noexcept : options_(options) {}

  // Adds a copy of all elements of `source` to `destination`, which are what copy takes. Zero
  // elements add nothing. Where the source is host memory and no PinnedBuffer or
  // RegisteredBuffer, CUDA is asked what it is (cudaPointerGetAttributes). Does not block.
  // @throws Error where the sizes differ, memory is null, or a buffer was moved from, before any
  // CUDA call; std::bad_alloc. The batch is then as before.
  template <class Destination, class Source>
  void add(Destination&& destination, Source&& source,
           SourceLocation where = SourceLocation::current()) {
    if constexpr (detail::is_copy_side<Destination>() && detail::is_copy_side<Source>()) {
      const auto to = detail::view_of(destination, where, "culvert::CopyBatch::add");
      const auto from = detail::view_of(source, where, "culvert::CopyBatch::add");
      using To = typename decltype(to)::element_type;
      using From = typename decltype(from)::element_type;
      if constexpr (detail::is_copyable<To, From>()) {
        if (to.size != from.size) [[unlikely]] {
          detail::refuse(where, "culvert::CopyBatch::add", [a = to.size, b = from.size] {
            return "the destination has " + std::to_string(a) + " elements, the source " +
                   std::to_string(b);
          });
        }
        if (to.size == 0) return;
        constexpr cudaMemcpyKind kind = detail::kind_of_copy<Destination, Source>;
        bool pageable = false;
        if constexpr (!detail::DeviceRange<Source> &&
                      !detail::is_pinned_type<std::remove_cvref_t<Source>>) {
          pageable = !detail::is_known_to_cuda(where, from.data);
        }
        append({to.data, const_cast<std::remove_const_t<From>*>(from.data), to.size * sizeof(To),
                kind, pageable});
      }
    }
  }

  // Makes room for `copies` copies in all, so that adding them allocates nothing.
  void reserve(std::size_t copies) {
    to_.reserve(copies);
    from_.reserve(copies);
    sizes_.reserve(copies);
    kinds_.reserve(copies);
#if CUDART_VERSION >= 12080
    attributes_.reserve(copies);
    firsts_.reserve(copies);
#endif
  }

  // Removes all copies, and keeps the room.
  void clear() noexcept {
    to_.clear();
    from_.clear();
    sizes_.clear();
    kinds_.clear();
#if CUDART_VERSION >= 12080
    attributes_.clear();
    firsts_.clear();
#endif
  }

  // The number of copies.
  [[nodiscard]] std::size_t size() const noexcept { return sizes_.size(); }
  [[nodiscard]] bool empty() const noexcept { return sizes_.empty(); }

  // Enqueues all copies (cudaMemcpyBatchAsync). The memory that they use is that of add(); its
  // content is read as said above. Does not block the host where no host memory is pageable. An
  // empty batch makes no call.
  //
  // Before CUDA 12.8, and in the legacy default stream, which CUDA's call refuses, it is one
  // cudaMemcpyAsync for each copy. With pageable sources it then blocks until the stream has
  // passed them, since that call does not promise to have read them.
  // @throws Error also for failures of earlier asynchronous work. Some of the copies may then be
  // enqueued.
  void enqueue(StreamRef stream, SourceLocation where = SourceLocation::current()) const {
    if (sizes_.empty()) return;
#if CUDART_VERSION >= 12080
    if (stream.get() != cudaStreamLegacy) [[likely]] {
      const cudaError_t status = try_enqueue(stream.get());
      if (status != cudaSuccess) [[unlikely]] {
        detail::retry_on_stream_device(
            where, "cudaMemcpyBatchAsync", status, stream,
            [=, this] { return try_enqueue(stream.get()); },
            "copies in the batch: " + std::to_string(size()));
      }
      return;
    }
#endif
    enqueue_each(stream, where);
  }

 private:
  struct Item {
    void* to;
    void* from;
    std::size_t bytes;
    cudaMemcpyKind kind;
    bool pageable;  // the source
  };

  static constexpr unsigned char pageable_bit = 0x80;

  void append(const Item& item) {
    const std::size_t count = size();
    // All the room first: the batch stays as it was where there is none.
    if (is_full()) reserve(count < 8 ? 16 : 2 * count);
    to_.push_back(item.to);
    from_.push_back(item.from);
    sizes_.push_back(item.bytes);
    kinds_.push_back(static_cast<unsigned char>(static_cast<unsigned>(item.kind) |
                                                (item.pageable ? pageable_bit : 0u)));
#if CUDART_VERSION >= 12080
    const auto order =
        item.pageable ? cudaMemcpySrcAccessOrderDuringApiCall : cudaMemcpySrcAccessOrderStream;
    if (attributes_.empty() || attributes_.back().srcAccessOrder != order) {
      cudaMemcpyAttributes attributes{};
      attributes.srcAccessOrder = order;
      if (options_.prefer_overlap_with_compute) {
        attributes.flags = cudaMemcpyFlagPreferOverlapWithCompute;
      }
      attributes_.push_back(attributes);
      firsts_.push_back(count);
    }
#endif
  }

  [[nodiscard]] bool is_full() const noexcept {
    const auto full = [](const auto& list) { return list.size() == list.capacity(); };
#if CUDART_VERSION >= 12080
    if (full(attributes_) || full(firsts_)) return true;
#endif
    return full(to_) || full(from_) || full(sizes_) || full(kinds_);
  }

#if CUDART_VERSION >= 12080
  [[nodiscard]] cudaError_t try_enqueue(cudaStream_t stream) const noexcept {
    return detail::call_copy_batch(
        cudaMemcpyBatchAsync, const_cast<void**>(to_.data()), const_cast<void**>(from_.data()),
        const_cast<std::size_t*>(sizes_.data()), sizes_.size(),
        const_cast<cudaMemcpyAttributes*>(attributes_.data()),
        const_cast<std::size_t*>(firsts_.data()), attributes_.size(), stream);
  }
#endif

  [[gnu::noinline]] void enqueue_each(StreamRef stream, SourceLocation where) const {
    bool pageable = false;
    for (std::size_t i = 0; i < size(); ++i) {
      const auto kind = static_cast<cudaMemcpyKind>(kinds_[i] & ~pageable_bit);
      pageable = pageable || (kinds_[i] & pageable_bit) != 0;
      const cudaError_t status =
          detail::try_call(cudaMemcpyAsync, to_[i], from_[i], sizes_[i], kind, stream.get());
      if (status != cudaSuccess) [[unlikely]] {
        detail::copy_on_stream_device(where, status, to_[i], from_[i], sizes_[i], kind, stream);
      }
    }
    if (!pageable) return;
    // A capture cannot wait, and has no reading during the call.
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    detail::call(where, "cudaStreamIsCapturing", cudaStreamIsCapturing, stream.get(), &capture);
    if (capture == cudaStreamCaptureStatusNone) stream.synchronize(where);
  }

  CopyBatchOptions options_;
  std::vector<void*> to_, from_;
  std::vector<std::size_t> sizes_;
  std::vector<unsigned char> kinds_;  // a cudaMemcpyKind, and pageable_bit
#if CUDART_VERSION >= 12080
  // Which attributes the copies have: attributes_[i] from copy firsts_[i] on.
  std::vector<cudaMemcpyAttributes> attributes_;
  std::vector<std::size_t> firsts_;
#endif
};

}  // namespace culvert::inline CULVERT_ABI
