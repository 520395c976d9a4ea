// SPDX-License-Identifier: BSL-1.0
// What memory is, in words, for the lines that tell a misuse.
#pragma once

#include <cstddef>
#include <string>

#include "sim/process.hpp"

namespace culvert::sim::detail {

// "device 0 allocation of 64 bytes at 0x7f00 (cudaMalloc)"
std::string name_of(const Block& block);

// Where a range lies: in which allocation, past its end, in one that was freed, or in none.
std::string describe_range(const Process& process, const void* pointer, std::size_t size);

// Tells that `function` cannot free what the pointer leads to, and why. `frees` says what it does
// free, say "memory of cudaMalloc".
void report_wrong_free(const Process& process, const char* function, const void* pointer,
                       const char* frees);

}  // namespace culvert::sim::detail
