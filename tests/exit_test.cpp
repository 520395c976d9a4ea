// SPDX-License-Identifier: BSL-1.0
//
// Owners of static and thread storage duration end with the process, in silence: nothing is
// printed, and the exit status is 0.
#include <culvert/culvert.hpp>

#include <cstdio>
#include <cstdlib>
#include <future>
#include <optional>

using namespace culvert;

namespace {

struct Owners {
  Owners() {
    fill(in_stream, 1, stream);
    // Redundant: no bytes are looked at; how owners end is the test.
    other.wait(stream);
    copy(plain, in_stream, other);
    // Redundant: no bytes are looked at; how owners end is the test.
    stream.wait(other);
    stream.record(event);
    other.record(timed);
  }

  Stream stream;
  Stream other;
  Event event;
  TimedEvent timed;
  MemoryPool pool;
  DeviceBuffer<int> in_stream{100, stream};
  DeviceBuffer<int> from_pool{100, stream, pool};
  DeviceBuffer<int> plain{100};
  PinnedBuffer<int> pinned{100};
};

std::optional<Owners> of_the_program;
thread_local std::optional<Owners> of_the_thread;

}  // namespace

int main() {
  if (!Environment::probe().usable()) {
    return std::getenv("CULVERT_REQUIRE_GPU") != nullptr ? 1 : 77;
  }
  try {
    of_the_program.emplace();
    of_the_thread.emplace();
    static const Owners of_the_function;
    std::async(std::launch::async, [] { of_the_thread.emplace(); }).get();
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
