// SPDX-License-Identifier: BSL-1.0
// Where the program called. Taking a place is cheap; only naming it is not.
#pragma once

#include <array>
#include <cstddef>
#include <string>

namespace culvert::sim::detail {

// The innermost return addresses of this thread.
struct CallSite {
  static constexpr std::size_t most_frames = 16;

  static CallSite here();
  // In a signal handler: the code that the signal interrupted.
  static CallSite interrupted();

  std::array<void*, most_frames> frames{};
  std::size_t count = 0;
};

// "file:line (function)" of the first frame that is not of the simulated runtime, of culvert's
// headers or of the standard library; inlined calls count as frames. It asks addr2line, of
// binutils. Where that, or the debug information, is missing it is the program's file and the
// offsets in it. Empty for no frames.
std::string describe(const CallSite& site);

}  // namespace culvert::sim::detail
