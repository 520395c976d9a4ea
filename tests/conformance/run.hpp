// SPDX-License-Identifier: BSL-1.0
//
// Runs groups of facts.
#pragma once

#include <string>

#include "facts.hpp"

namespace facts {

// In this process.
void run_group(const Group& group);

// What a child process did.
struct Ending {
  std::string output;
  bool hung = false;  // it was killed after limit_seconds
  int signal = 0;     // that ended it
  int status = 0;     // with which it ended
};

// Runs this program again, with that argument.
Ending run_child(const char* argument, int limit_seconds);

}  // namespace facts
