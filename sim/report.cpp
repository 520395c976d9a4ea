// SPDX-License-Identifier: BSL-1.0
#include "sim/report.hpp"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace culvert::sim::detail {
namespace {

// In one write, so that lines of several threads do not mix.
void print_line(const char* format, std::va_list arguments) {
  char line[1024];
  const int prefix = std::snprintf(line, sizeof line, "culvert::sim: ");
  std::vsnprintf(line + prefix, sizeof line - static_cast<std::size_t>(prefix), format, arguments);
  std::fprintf(stderr, "%s\n", line);
}

}  // namespace

void report(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  print_line(format, arguments);
  va_end(arguments);
}

void refuse(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  print_line(format, arguments);
  va_end(arguments);
  std::_Exit(2);
}

}  // namespace culvert::sim::detail
