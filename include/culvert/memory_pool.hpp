// SPDX-License-Identifier: BSL-1.0
//
// Memory pools: where stream-ordered allocations come from.
#pragma once

#include <culvert/device.hpp>
#include <culvert/fwd.hpp>
#include <culvert/unique_handle.hpp>

#include <cstddef>
#include <cstdint>

namespace culvert::inline CULVERT_ABI {

// What a pool holds, in bytes. "High" is the largest value since the pool was created or
// reset_high_water() was called.
struct PoolStatistics {
  std::size_t reserved;       // taken from the device
  std::size_t reserved_high;  //
  std::size_t used;           // allocated from the pool
  std::size_t used_high;      //
};

// How a pool is created.
struct PoolOptions {
  // The device whose memory it holds, the current one by default.
  DeviceChoice device = {};
  // Bytes that the pool keeps when it could give memory back at a synchronize. 0, CUDA's
  // default, gives all unused memory back each time, so that the next allocation is slow.
  std::size_t release_threshold = 0;
};

namespace detail {

struct PoolTraits {
  using handle_type = cudaMemPool_t;
  static handle_type invalid() noexcept { return nullptr; }
  static bool is_invalid(handle_type handle) noexcept { return handle == nullptr; }
  static void destroy(handle_type handle) noexcept {
    call_in_destructor("cudaMemPoolDestroy", cudaMemPoolDestroy, handle);
  }
};

// The operations of a pool. Derived gives checked(where), the handle. None blocks on work in
// streams.
template <class Derived>
class PoolVerbs {
 public:
  // Bytes that the pool keeps at a synchronize; SIZE_MAX keeps all. See
  // cudaMemPoolAttrReleaseThreshold.
  void set_release_threshold(std::size_t bytes,
                             SourceLocation where = SourceLocation::current()) const {
    set(cudaMemPoolAttrReleaseThreshold, bytes, where);
  }
  [[nodiscard]] std::size_t release_threshold(
      SourceLocation where = SourceLocation::current()) const {
    return get_attribute(cudaMemPoolAttrReleaseThreshold, where);
  }

  // Gives unused memory back to the device until at most `bytes_to_keep` are reserved, or
  // nothing more is unused (cudaMemPoolTrimTo). Memory freed in a stream counts as unused
  // once that free is known to be complete: synchronize first.
  void trim(std::size_t bytes_to_keep = 0, SourceLocation where = SourceLocation::current()) const {
    call(where, "cudaMemPoolTrimTo", cudaMemPoolTrimTo, checked(where), bytes_to_keep);
  }

  [[nodiscard]] PoolStatistics statistics(SourceLocation where = SourceLocation::current()) const {
    return {get_attribute(cudaMemPoolAttrReservedMemCurrent, where),
            get_attribute(cudaMemPoolAttrReservedMemHigh, where),
            get_attribute(cudaMemPoolAttrUsedMemCurrent, where),
            get_attribute(cudaMemPoolAttrUsedMemHigh, where)};
  }

  // Starts the "high" statistics again from the current values.
  void reset_high_water(SourceLocation where = SourceLocation::current()) const {
    set(cudaMemPoolAttrReservedMemHigh, 0, where);
    set(cudaMemPoolAttrUsedMemHigh, 0, where);
  }

 private:
  cudaMemPool_t checked(SourceLocation where) const {
    return static_cast<const Derived&>(*this).checked(where);
  }
  void set(cudaMemPoolAttr attribute, std::uint64_t value, SourceLocation where) const {
    call(where, "cudaMemPoolSetAttribute", cudaMemPoolSetAttribute, checked(where), attribute,
         &value);
  }
  std::size_t get_attribute(cudaMemPoolAttr attribute, SourceLocation where) const {
    std::uint64_t value = 0;
    call(where, "cudaMemPoolGetAttribute", cudaMemPoolGetAttribute, checked(where), attribute,
         &value);
    return static_cast<std::size_t>(value);
  }
};

}  // namespace detail

// An owned pool of device memory. Move-only. Allocations from it may outlive it: CUDA keeps
// the pool's memory until the last one is freed (cudaMemPoolDestroy).
//
//   MemoryPool pool{{.release_threshold = SIZE_MAX}};   // keep memory
//   DeviceBuffer<float> x(n, stream, pool);
class MemoryPool : public detail::PoolVerbs<MemoryPool> {
 public:
  // @throws Error (cudaErrorNotSupported) on a device without pools.
  MemoryPool(SourceLocation where = SourceLocation::current()) : MemoryPool(PoolOptions{}, where) {}
  explicit MemoryPool(const PoolOptions& options,
                      SourceLocation where = SourceLocation::current()) {
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    options.device.with(where, [&] {
      properties.location.id = Device::current(where).ordinal();
      detail::call(where, "cudaMemPoolCreate", cudaMemPoolCreate, handle_.address(), &properties);
    });
    if (options.release_threshold != 0) set_release_threshold(options.release_threshold, where);
  }

  MemoryPool(const MemoryPool&) = delete;             // std::move it, or pass a MemoryPoolRef
  MemoryPool& operator=(const MemoryPool&) = delete;  // std::move it, or pass a MemoryPoolRef
  MemoryPool(MemoryPool&&) noexcept = default;
  MemoryPool& operator=(MemoryPool&&) noexcept = default;

  // Takes ownership of a pool that other code created. @throws Error where it is null.
  [[nodiscard]] static MemoryPool from_handle(cudaMemPool_t handle,
                                              SourceLocation where = SourceLocation::current()) {
    if (handle == nullptr) {
      detail::refuse(where, "culvert::MemoryPool::from_handle", "the handle is null");
    }
    return MemoryPool(Adopt{}, handle);
  }

  // The raw handle; null after a move.
  [[nodiscard]] cudaMemPool_t get() const noexcept { return handle_.get(); }
  [[nodiscard]] cudaMemPool_t release() noexcept { return handle_.release(); }
  void reset() noexcept { handle_.reset(); }

 private:
  friend detail::PoolVerbs<MemoryPool>;
  friend MemoryPoolRef;
  struct Adopt {};
  MemoryPool(Adopt, cudaMemPool_t handle) noexcept : handle_(handle) {}

  cudaMemPool_t checked(SourceLocation where) const {
    if (!handle_.owns()) [[unlikely]] {
      detail::refuse_empty_owner(where, "culvert::MemoryPool");
    }
    return handle_.get();
  }

  detail::UniqueHandle<detail::PoolTraits> handle_;
};

// A view of a pool that something else owns, or of a device's default pool.
class MemoryPoolRef : public detail::PoolVerbs<MemoryPoolRef> {
 public:
  // @throws Error where the handle is null, or the owner was moved from.
  MemoryPoolRef(cudaMemPool_t handle, SourceLocation where = SourceLocation::current())
      : handle_(handle) {
    if (handle == nullptr) [[unlikely]] {
      detail::refuse(where, "culvert::MemoryPoolRef", "the handle is null",
                     cudaErrorInvalidResourceHandle);
    }
  }
  MemoryPoolRef(const MemoryPool& pool, SourceLocation where = SourceLocation::current())
      : handle_(pool.checked(where)) {}
  MemoryPoolRef(std::nullptr_t) = delete;      // null is no pool
  MemoryPoolRef(const MemoryPool&&) = delete;  // the pool ends with the expression: give it a name

  // The pool that the device was born with (cudaDeviceGetDefaultMemPool).
  [[nodiscard]] static MemoryPoolRef default_of(Device device,
                                                SourceLocation where = SourceLocation::current()) {
    cudaMemPool_t pool = nullptr;
    detail::call(where, "cudaDeviceGetDefaultMemPool", cudaDeviceGetDefaultMemPool, &pool,
                 device.ordinal());
    return {pool, where};
  }
  // The pool that the device's streams allocate from now: the default one unless it was
  // changed (cudaDeviceGetMemPool).
  [[nodiscard]] static MemoryPoolRef current_of(Device device,
                                                SourceLocation where = SourceLocation::current()) {
    cudaMemPool_t pool = nullptr;
    detail::call(where, "cudaDeviceGetMemPool", cudaDeviceGetMemPool, &pool, device.ordinal());
    return {pool, where};
  }
  // Makes this the pool that the device's streams allocate from (cudaDeviceSetMemPool).
  void make_current_of(Device device, SourceLocation where = SourceLocation::current()) const {
    detail::call(where, "cudaDeviceSetMemPool", cudaDeviceSetMemPool, device.ordinal(), handle_);
  }

  [[nodiscard]] cudaMemPool_t get() const noexcept { return handle_; }

  friend bool operator==(MemoryPoolRef a, MemoryPoolRef b) noexcept {
    return a.handle_ == b.handle_;
  }

 private:
  friend detail::PoolVerbs<MemoryPoolRef>;
  cudaMemPool_t checked(SourceLocation) const noexcept { return handle_; }

  cudaMemPool_t handle_;
};

}  // namespace culvert::inline CULVERT_ABI
