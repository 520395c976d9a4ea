// SPDX-License-Identifier: BSL-1.0
//
// Slots: where the callables of host functions live between the call that enqueues them and
// their end. A slot is never freed, so that CUDA may come back to one at any time; it is used
// again, so that launching a host function allocates nothing in steady state.
#pragma once

#include <culvert/atomic.hpp>

#include <cstddef>
#include <cstdint>
#include <new>

namespace culvert::process {

class HostSlotPool;

// What a slot holds, its body, as three operations on it.
struct HostSlotBody {
  void (*run)(void* body) noexcept;   // calls the function
  void (*drop)(void* body) noexcept;  // CUDA will not call the function (any more)
  void (*end)(void* body) noexcept;   // nobody holds the slot any more
};

// A slot is held by each launch that has not begun (pending), each that is running, and its
// owner: a future or a HostFunc. Who gives up the last hold ends the body and gives the slot
// back. After an error that stopped CUDA's work the pending holds are taken away, once; such a
// slot is not used again, in case CUDA should come to it after all.
struct HostSlot {
  static constexpr std::uint64_t pending = 1;
  static constexpr std::uint64_t all_pending = 0xffff'ffff;
  static constexpr std::uint64_t running = std::uint64_t{1} << 32;
  static constexpr std::uint64_t owner = std::uint64_t{1} << 62;
  static constexpr std::uint64_t dropped = std::uint64_t{1} << 63;

  // Bytes of a whole slot, by class.
  static constexpr std::size_t classes = 3;
  static constexpr std::size_t sizes[classes] = {128, 512, 2048};

  Atomic<std::uint64_t> holds{0};
  const HostSlotBody* operations = nullptr;
  HostSlotPool* pool;
  HostSlot* next = nullptr;
  cudaEvent_t event = nullptr;  // kept with the slot, for those that need one
  unsigned event_generation = 0;

  explicit HostSlot(HostSlotPool* owning_pool) noexcept : pool(owning_pool) {}

  [[nodiscard]] void* body() noexcept { return reinterpret_cast<unsigned char*>(this) + 48; }
  [[nodiscard]] static constexpr std::size_t room(std::size_t size_class) noexcept {
    return sizes[size_class] - 48;
  }

  // Adds a pending hold. False where launches were dropped.
  [[nodiscard]] bool add_pending() noexcept {
    std::uint64_t before = holds.load();
    do {
      if ((before & dropped) != 0) return false;
    } while (!holds.compare_exchange(before, before + pending));
    return true;
  }

  // Turns a pending hold into a running one. False where the launch was dropped, or there is
  // none: CUDA refused a launch, for an earlier error, and ran it all the same.
  [[nodiscard]] bool begin() noexcept {
    std::uint64_t before = holds.load();
    do {
      if ((before & dropped) != 0 || (before & all_pending) == 0) return false;
    } while (!holds.compare_exchange(before, before - pending + running));
    return true;
  }

  // Gives a hold up. The caller may not touch the slot afterwards.
  inline void give_up(std::uint64_t hold) noexcept;

  // A launch that CUDA refused.
  void cancel() noexcept {
    if (!begin()) return;
    operations->drop(body());
    give_up(running);
  }

  // Takes the pending holds away, if there are any.
  void drop() noexcept {
    std::uint64_t before = holds.acquire();
    do {
      if ((before & all_pending) == 0) return;
    } while (!holds.compare_exchange(before, ((before & ~all_pending) | dropped) + running));
    operations->drop(body());
    give_up(running);
  }
};
static_assert(sizeof(HostSlot) <= 48);

// Memory for a number of slots of one class, in the list of all.
struct HostSlotChunk {
  HostSlotChunk* next;
  std::size_t slot_size;
  std::size_t count;

  [[nodiscard]] HostSlot* slot(std::size_t i) noexcept {
    return reinterpret_cast<HostSlot*>(reinterpret_cast<unsigned char*>(this) + 128 +
                                       i * slot_size);
  }
};
inline constinit Atomic<HostSlotChunk*> host_slot_chunks{nullptr};

// The idle slots of one class that one thread acquired. They come back from any thread, and
// only the owning thread takes: so no slot is taken while another thread looks at it.
class HostSlotPool {
 public:
  // @throws std::bad_alloc
  [[nodiscard]] HostSlot* acquire(std::size_t size_class) {
    if (idle_ == nullptr) [[unlikely]] {
      idle_ = returned_.exchange(nullptr);
      if (idle_ == nullptr) grow(HostSlot::sizes[size_class]);
    }
    HostSlot* const slot = idle_;
    idle_ = slot->next;
    return slot;
  }

  // From any thread.
  void give_back(HostSlot* slot) noexcept {
    HostSlot* first = returned_.load();
    do {
      slot->next = first;
    } while (!returned_.compare_exchange(first, slot));
  }

 private:
  [[gnu::cold, gnu::noinline]] void grow(std::size_t slot_size) {
    constexpr std::size_t bytes = 8192;
    void* const memory = ::operator new (128 + bytes, std::align_val_t{128});
    auto* const chunk = ::new (memory) HostSlotChunk{nullptr, slot_size, bytes / slot_size};
    for (std::size_t i = 0; i < chunk->count; ++i) {
      HostSlot* const slot = ::new (static_cast<void*>(chunk->slot(i))) HostSlot(this);
      slot->next = idle_;
      idle_ = slot;
    }
    HostSlotChunk* first = host_slot_chunks.load();
    do {
      chunk->next = first;
    } while (!host_slot_chunks.compare_exchange(first, chunk));
  }

  HostSlot* idle_ = nullptr;
  Atomic<HostSlot*> returned_{nullptr};
};

inline void HostSlot::give_up(std::uint64_t hold) noexcept {
  const std::uint64_t left = holds.add(~hold + 1) - hold;
  if ((left & ~dropped) != 0) return;
  operations->end(body());
  if (left == 0) pool->give_back(this);
}

// Ends what is held by host functions that CUDA will not call any more, after an error that
// stopped its work for good.
[[gnu::cold, gnu::noinline]] inline void drop_host_functions() noexcept {
  // What ends here may be an owner, whose own call then fails and leads here again.
  static constinit thread_local bool dropping = false;
  if (dropping) return;
  dropping = true;
  for (HostSlotChunk* chunk = host_slot_chunks.acquire(); chunk != nullptr; chunk = chunk->next) {
    for (std::size_t i = 0; i < chunk->count; ++i) chunk->slot(i)->drop();
  }
  dropping = false;
}

}  // namespace culvert::process
