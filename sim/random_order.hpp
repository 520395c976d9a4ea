// SPDX-License-Identifier: BSL-1.0
// Decides what the random schedule runs next. Plain C++ that knows no CUDA.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>

namespace culvert::sim::detail {

// The seed alone decides. It also chooses how: some seeds run much at once and some leave nearly
// all for the waits; some pick evenly among what can run, others hold whole streams back for a
// while, since picking evenly seldom delays one operation behind many.
class RandomOrder {
 public:
  explicit RandomOrder(std::uint64_t seed = 0) { restart(seed); }

  void restart(std::uint64_t seed);

  // Whether to run one more operation at a call that does not ask for it.
  bool runs_more() { return below(eagerness_of_one) < eagerness_; }

  // The place of the next among `count` operations; `stream_of(place)` is the stream of each.
  template <class StreamOf>
  std::size_t pick(std::size_t count, StreamOf stream_of) {
    if (!by_stream_) return below(count);
    if (below(picks_between_changes) == 0) ++salt_;
    std::size_t best = 0;
    for (std::size_t place = 1; place < count; ++place) {
      if (rank(stream_of(place)) > rank(stream_of(best))) best = place;
    }
    return best;
  }

 private:
  static constexpr std::size_t eagerness_of_one = 64;
  static constexpr std::size_t picks_between_changes = 8;

  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(engine_() % limit); }
  std::uint64_t rank(unsigned long long stream) const;

  std::mt19937_64 engine_;
  std::size_t eagerness_ = 0;  // of 64
  bool by_stream_ = false;
  std::uint64_t salt_ = 0;
};

}  // namespace culvert::sim::detail
