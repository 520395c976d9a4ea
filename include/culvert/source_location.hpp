// SPDX-License-Identifier: BSL-1.0
//
// The place of a call, for error texts.
#pragma once

#include <culvert/version.hpp>

namespace culvert::inline CULVERT_ABI {

// File and line of a call. It stands in for std::source_location, which clang 14 lacks.
// As a default argument, current() gives the caller's place.
struct SourceLocation {
  const char* file = "";
  unsigned line = 0;

  [[nodiscard]] static constexpr SourceLocation current(
      const char* file = __builtin_FILE(),
      unsigned line = static_cast<unsigned>(__builtin_LINE())) noexcept {
    return SourceLocation{file, line};
  }
};

}  // namespace culvert::inline CULVERT_ABI
