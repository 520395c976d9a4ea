// SPDX-License-Identifier: BSL-1.0
//
// The place of a call, for error texts.
#pragma once

#include <culvert/version.hpp>

namespace culvert {

// File and line of a call. It stands in for std::source_location, which clang 14 lacks.
// As a default argument, current() gives the caller's place.
class SourceLocation {
 public:
  const char* file;  // "" where there is none
  unsigned line;

  // No place: a failure in a destructor has none.
  [[nodiscard]] static constexpr SourceLocation none() noexcept { return {"", 0}; }

  [[nodiscard]] static constexpr SourceLocation current(
      const char* file = __builtin_FILE(),
      unsigned line = static_cast<unsigned>(__builtin_LINE())) noexcept {
    return {file, line};
  }

 private:
  // Not an aggregate, so that {} is never taken for a place.
  constexpr SourceLocation(const char* f, unsigned l) noexcept : file(f), line(l) {}
};

}  // namespace culvert
