// SPDX-License-Identifier: BSL-1.0
//
// Runs each operation, raw and as culvert, on a runtime that does nothing, for instructions.py,
// which counts the instructions with callgrind. Prints how often each allocated.
#include "operations.hpp"

#include <valgrind/callgrind.h>

#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>

namespace {
long allocations = 0;
}

void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* const result = std::malloc(bytes)) return result;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  ++allocations;
  const auto unit = static_cast<std::size_t>(alignment);
  if (void* const result = std::aligned_alloc(unit, (bytes + unit - 1) / unit * unit)) {
    return result;
  }
  throw std::bad_alloc();
}
void operator delete(void* data) noexcept { std::free(data); }
void operator delete(void* data, std::size_t) noexcept { std::free(data); }
void operator delete(void* data, std::align_val_t) noexcept { std::free(data); }
void operator delete(void* data, std::size_t, std::align_val_t) noexcept { std::free(data); }

namespace {

constexpr int calls = 1000;

void measure(Fixture& fixture, const Operation& operation, const char* side,
             void (*work)(Fixture&, int)) {
  const std::string name = std::string(operation.name) + '|' + side;
  const std::string run = "host function of " + name;
  for (int i = 0; i < 3; ++i) {  // to warm up
    work(fixture, calls);
    fixture.drain();
  }

  const long before = allocations;
  CALLGRIND_ZERO_STATS;
  work(fixture, calls);
  CALLGRIND_DUMP_STATS_AT(name.c_str());
  fixture.drain();
  CALLGRIND_DUMP_STATS_AT(run.c_str());
  std::printf("%s|%ld\n", name.c_str(), allocations - before);
}

}  // namespace

int main() {
  Fixture fixture;
  for (const Operation& operation : operations()) {
    measure(fixture, operation, "raw", operation.raw);
    measure(fixture, operation, "culvert", operation.culvert);
  }
  return 0;
}
