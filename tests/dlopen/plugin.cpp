// SPDX-License-Identifier: BSL-1.0
//
// A plugin with hidden visibility: it has its own copy of culvert's process-wide state, and
// takes the CUDA runtime from the program.
#include "dlopen/work.hpp"

namespace {
int failures = 0;
}

extern "C" {

[[gnu::visibility("default")]] int plugin_work() { return joined_streams(); }

// Fails in a destructor, and returns how often the plugin's own handler was called.
[[gnu::visibility("default")]] int plugin_failures() {
  culvert::set_failure_handler([](const culvert::Failure&) noexcept { ++failures; });
  int not_allocated = 0;
  { auto wrong = culvert::DeviceBuffer<int>::from_handle(&not_allocated, 1); }
  return failures;
}
}
