// SPDX-License-Identifier: BSL-1.0
// The names and texts of CUDA's error codes.
#pragma once

namespace culvert::sim::detail {

struct ErrorText {
  int code;
  const char* name;
  const char* text;
};

// Null for a code that CUDA does not have.
const ErrorText* find_error(int code);
// By its name, say "cudaErrorInvalidValue". Null for what is none.
const ErrorText* find_error_named(const char* name);

}  // namespace culvert::sim::detail
