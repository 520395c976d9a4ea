// SPDX-License-Identifier: BSL-1.0
//
// What the consumers' library does.
#pragma once

#include <culvert/culvert.hpp>

#include <vector>

// Fills device memory with a value and reads it back.
std::vector<int> filled(std::size_t count, int value, culvert::StreamRef stream);
