// SPDX-License-Identifier: BSL-1.0
#include "sim/random_order.hpp"

#include <array>

namespace culvert::sim::detail {

void RandomOrder::restart(std::uint64_t seed) {
  engine_.seed(seed);
  constexpr std::array<std::size_t, 4> choices{0, 8, 32, 62};
  eagerness_ = choices.at(below(choices.size()));
  by_stream_ = below(2) != 0;
  salt_ = engine_();
}

std::uint64_t RandomOrder::rank(unsigned long long stream) const {
  // The finishing steps of SplitMix64: neighbouring numbers come far apart.
  std::uint64_t mixed = salt_ + 0x9E3779B97F4A7C15ULL * (stream + 1);
  mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9ULL;
  mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBULL;
  return mixed ^ (mixed >> 31);
}

}  // namespace culvert::sim::detail
