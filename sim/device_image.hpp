// SPDX-License-Identifier: BSL-1.0
// The device code that nvcc puts into a program, as far as it tells what variables begin with.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace culvert::sim::detail {

// What a variable's memory begins with, by the name that nvcc gives it. Nothing where the image
// does not tell: nvcc compresses it when asked to, and in builds with -G. `image` is what
// __cudaRegisterFatBinary gets, and may be null.
std::optional<std::vector<std::byte>> initial_value(const void* image, const char* name,
                                                    std::size_t size);

}  // namespace culvert::sim::detail
