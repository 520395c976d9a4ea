// SPDX-License-Identifier: BSL-1.0
//
// Slots: where the callables of host functions live between the call that enqueues them and
// their end. A slot is never freed, so that CUDA may come back to one at any time; it is used
// again, so that launching a host function allocates nothing in steady state.
#pragma once

#include <culvert/atomic.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
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
// back, with its next generation. CUDA knows a launch by its ticket, the slot's number and
// generation: so a launch that a graph repeats finds the body that it was made for, or none.
//
// After an error that stopped CUDA's work the pending holds are taken away, once; such a slot is
// not used again.
struct HostSlot {
  // The parts of `holds`.
  static constexpr std::uint64_t pending = 1;
  static constexpr std::uint64_t all_pending = (std::uint64_t{1} << 22) - 1;
  static constexpr std::uint64_t running = std::uint64_t{1} << 22;   // 7 bits
  static constexpr std::uint64_t future = std::uint64_t{1} << 29;    // the owner is a future
  static constexpr std::uint64_t reusable = std::uint64_t{1} << 30;  // or a HostFunc
  static constexpr std::uint64_t dropped = std::uint64_t{1} << 31;
  static constexpr std::uint64_t all_holds = dropped - 1;
  static constexpr int generation_shift = 32;

  // Bytes of a whole slot, by class.
  static constexpr std::size_t classes = 3;
  static constexpr std::size_t sizes[classes] = {128, 512, 2048};

  Atomic<std::uint64_t> holds{std::uint64_t{1} << generation_shift};
  const HostSlotBody* operations = nullptr;
  HostSlot* next = nullptr;
  cudaEvent_t event = nullptr;  // kept with the slot, for those that need one
  unsigned event_generation = 0;
  unsigned number;

  explicit HostSlot(unsigned own_number) noexcept : number(own_number) {}

  [[nodiscard]] void* body() noexcept { return reinterpret_cast<unsigned char*>(this) + 48; }
  [[nodiscard]] static constexpr std::size_t room(std::size_t size_class) noexcept {
    return sizes[size_class] - 48;
  }

  // The first holds of a new body.
  void start(std::uint64_t first) noexcept { holds.release(holds.load() + first); }

  // What CUDA is given for a launch that is pending.
  [[nodiscard]] void* ticket() const noexcept {
    const std::uint64_t generation = holds.load() >> generation_shift;
    return reinterpret_cast<void*>(generation << generation_shift | number);
  }

  // Adds a pending hold. False where launches were dropped, or too many are pending.
  [[nodiscard]] bool add_pending() noexcept {
    std::uint64_t before = holds.load();
    do {
      if ((before & dropped) != 0 || (before & all_pending) == all_pending) return false;
    } while (!holds.compare_exchange(before, before + pending));
    return true;
  }

  // Turns a pending hold into a running one. False where there is none: it was dropped; or CUDA
  // refused a launch, for an earlier error, and ran it all the same.
  [[nodiscard]] bool take_pending() noexcept {
    std::uint64_t before = holds.load();
    do {
      if ((before & dropped) != 0 || (before & all_pending) == 0) return false;
    } while (!holds.compare_exchange(before, before - pending + running));
    return true;
  }

  enum class Begin { yes, dropped, stale };

  // A launch of this generation begins. Without a pending hold for it, a graph repeats it, which
  // a HostFunc allows while it lives.
  [[nodiscard]] Begin begin(std::uint64_t generation) noexcept {
    std::uint64_t before = holds.load();
    std::uint64_t after = 0;
    do {
      if (before >> generation_shift != generation) return Begin::stale;
      if ((before & dropped) != 0) return Begin::dropped;
      if ((before & all_pending) != 0) {
        after = before - pending + running;
      } else if ((before & reusable) != 0) {
        after = before + running;
      } else {
        return Begin::stale;
      }
    } while (!holds.compare_exchange(before, after));
    return Begin::yes;
  }

  // Gives a hold up. The caller may not touch the slot afterwards.
  inline void give_up(std::uint64_t hold) noexcept;

  // A slot whose body could not be made.
  inline void give_back() noexcept;

  // A launch that CUDA refused.
  void cancel() noexcept {
    if (take_pending()) drop_running();
  }

  // Takes the pending holds away, if there are any.
  void drop() noexcept {
    std::uint64_t before = holds.acquire();
    do {
      if ((before & all_pending) == 0) return;
    } while (!holds.compare_exchange(before, ((before & ~all_pending) | dropped) + running));
    drop_running();
  }

 private:
  // Ends a running hold without calling the function.
  void drop_running() noexcept {
    operations->drop(body());
    give_up(running);
  }
};
static_assert(sizeof(HostSlot) <= 48);

// Memory for up to 64 slots of one class.
struct HostSlotChunk {
  static constexpr std::size_t bytes = 8192;
  static constexpr std::size_t most = 64;
  static constexpr std::size_t offset = 128;  // of the first slot, and the alignment of all

  HostSlotPool* pool;
  std::size_t slot_size;
  std::size_t count;

  [[nodiscard]] HostSlot* slot(std::size_t i) noexcept {
    return reinterpret_cast<HostSlot*>(reinterpret_cast<unsigned char*>(this) + offset +
                                       i * slot_size);
  }
};

// All chunks. The number of a slot is that of its chunk here times 64, and its own in the chunk.
inline constexpr std::size_t max_host_slot_chunks = 16384;
inline constinit Atomic<HostSlotChunk*> host_slot_chunks[max_host_slot_chunks] = {};
inline constinit Atomic<unsigned> host_slot_chunk_count{0};

// Calls `use` for every slot.
template <class Use>
void for_each_host_slot(Use&& use) {
  const std::size_t count = host_slot_chunk_count.acquire();
  for (std::size_t c = 0; c < count && c < max_host_slot_chunks; ++c) {
    HostSlotChunk* const chunk = host_slot_chunks[c].acquire();
    if (chunk == nullptr) continue;  // it is being made
    for (std::size_t i = 0; i < chunk->count; ++i) use(*chunk->slot(i));
  }
}

[[nodiscard]] inline HostSlotChunk& host_slot_chunk(unsigned number) noexcept {
  return *host_slot_chunks[number / HostSlotChunk::most].acquire();
}

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
  void give_back(HostSlot* slot) noexcept { push_front(returned_, slot); }

 private:
  [[gnu::cold, gnu::noinline]] void grow(std::size_t slot_size) {
    constexpr std::size_t offset = HostSlotChunk::offset;
    void* const memory = ::operator new (offset + HostSlotChunk::bytes, std::align_val_t{offset});
    const unsigned chunk_number = host_slot_chunk_count.add(1);
    if (chunk_number >= max_host_slot_chunks) {
      host_slot_chunk_count.add(~0u);
      ::operator delete (memory, std::align_val_t{offset});
      out_of_slots();
    }
    auto* const chunk =
        ::new (memory) HostSlotChunk{this, slot_size, HostSlotChunk::bytes / slot_size};
    for (std::size_t i = 0; i < chunk->count; ++i) {
      const auto number = static_cast<unsigned>(chunk_number * HostSlotChunk::most + i);
      HostSlot* const slot = ::new (static_cast<void*>(chunk->slot(i))) HostSlot(number);
      slot->next = idle_;
      idle_ = slot;
    }
    host_slot_chunks[chunk_number].release(chunk);
  }

  [[noreturn]] static void out_of_slots() {
#if CULVERT_HAS_EXCEPTIONS
    throw std::bad_alloc();
#else
    std::abort();
#endif
  }

  HostSlot* idle_ = nullptr;
  Atomic<HostSlot*> returned_{nullptr};
};

inline void HostSlot::give_back() noexcept { host_slot_chunk(number).pool->give_back(this); }

inline void HostSlot::give_up(std::uint64_t hold) noexcept {
  const std::uint64_t left = holds.add(~hold + 1) - hold;
  if ((left & all_holds) != 0) return;
  operations->end(body());
  if ((left & dropped) != 0) return;
  // Generation 0 is left out, so that no ticket is null.
  const std::uint64_t generation = (left >> generation_shift) + 1;
  holds.release((generation >> 32 != 0 ? 1 : generation) << generation_shift);
  give_back();
}

// Ends what is held by host functions that CUDA will not call any more, after an error that
// stopped its work for good.
[[gnu::cold, gnu::noinline]] inline void drop_host_functions() noexcept {
  // What ends here may be an owner, whose own call then fails and leads here again.
  static constinit thread_local bool dropping = false;
  if (dropping) return;
  dropping = true;
  for_each_host_slot([](HostSlot& slot) { slot.drop(); });
  dropping = false;
}

}  // namespace culvert::process
