// SPDX-License-Identifier: BSL-1.0
//
// A million host functions from four threads: each runs once, each capture ends once, and after
// the beginning the heap does not grow.
#include <culvert/host_func.hpp>

#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdlib>
#include <new>
#include <thread>
#include <vector>

#include "support/counted.hpp"
#include "support/test_support.hpp"

using namespace culvert;
using support::Count;
using support::Counted;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

namespace {

std::atomic<long> allocations{0};
std::atomic<long> deallocations{0};

#ifdef SANITIZED
constexpr bool sanitized = true;  // sanitizers have an operator new of their own
}  // namespace
#else
constexpr bool sanitized = false;

void* allocate(std::size_t size, std::size_t alignment) {
  ++allocations;
  void* memory = nullptr;
  if (posix_memalign(&memory, alignment < sizeof(void*) ? sizeof(void*) : alignment, size) != 0) {
    throw std::bad_alloc();
  }
  return memory;
}
void deallocate(void* memory) noexcept {
  if (memory != nullptr) ++deallocations;
  std::free(memory);
}

}  // namespace

// Every allocation of the program is counted.
void* operator new(std::size_t size) { return allocate(size, alignof(std::max_align_t)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { deallocate(memory); }
void operator delete(void* memory, std::size_t) noexcept { deallocate(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { deallocate(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { deallocate(memory); }
#endif

namespace {

constexpr int rounds = sanitized ? 25 : 250;  // sanitizers find what they find in a tenth of it
constexpr int threads = 4;
constexpr int launches = 1000;  // of each thread in each round, and then it synchronizes
constexpr int warm_up = 5;      // rounds

long slot_chunks() { return static_cast<long>(process::host_slot_chunk_count.acquire()); }

class HostFuncStressTest : public support::RuntimeTest {};

TEST_F(HostFuncStressTest, AMillionLaunches) {
  struct {
    long allocations, alive, chunks;
  } before{}, after{};
  const auto look = [](auto& numbers) {
    numbers = {allocations, allocations - deallocations, slot_chunks()};
  };
  Count count, warming;
  std::atomic<long> ran = 0;
  std::atomic<long> lost = 0;
  std::barrier meet(threads);
  std::vector<std::thread> workers;
  for (int t = 0; t < threads; ++t) {
    workers.emplace_back([&, t] {
      const Stream stream;
      // As many in flight as ever, since the first waits for the last; or, where the stream takes
      // no more before, for a while.
      std::atomic<bool> all = false;
      launch_host(stream, [&all] {
        for (int i = 0; i < 2000 && !all; ++i)
          std::this_thread::sleep_for(std::chrono::microseconds(100));
      });
      for (int i = 0; i < launches; ++i) {
        launch_host(stream, [counted = Counted(warming)] {});
      }
      all = true;
      stream.synchronize();
      for (int round = 0; round < rounds; ++round) {
        if (round == warm_up) {
          meet.arrive_and_wait();
          if (t == 0) look(before);
          meet.arrive_and_wait();
        }
        for (int i = 0; i < launches; ++i) {
          launch_host(stream, [&ran, &lost, counted = Counted(count)] {
            ++ran;
            if (!counted.holds()) ++lost;
          });
        }
        stream.synchronize();
      }
      meet.arrive_and_wait();
      if (t == 0) look(after);
      meet.arrive_and_wait();
    });
  }
  for (std::thread& worker : workers) worker.join();

  constexpr long total = long{threads} * rounds * launches;
  EXPECT_EQ(ran, total);
  EXPECT_EQ(lost, 0);
  EXPECT_EQ(count.made, total);
  EXPECT_EQ(count.ended, total);
  EXPECT_EQ(after.chunks, before.chunks);
  // The simulated runtime allocates for itself, and frees it again.
  if (support::is_simulated()) {
    EXPECT_LE(after.alive, before.alive + 100);
  } else {
    EXPECT_EQ(after.allocations, before.allocations);
  }
}

}  // namespace
