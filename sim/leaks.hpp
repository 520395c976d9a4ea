// SPDX-License-Identifier: BSL-1.0
// Tells what a program has not given back, with the lines that made it.
#pragma once

#include <cstddef>

#include "sim/process.hpp"

namespace culvert::sim::detail {

// What happens at exit.
enum class LeakCheck { off, report, fail };

// From CULVERT_SIM_LEAKS. Ends the process on a bad value.
LeakCheck leak_check_from_environment();

// Prints what is alive, by kind and line, and answers how many there are. What culvert itself keeps
// until the program ends is no leak. Called with the lock held.
std::size_t print_leaks(const Process& process);

}  // namespace culvert::sim::detail
