// SPDX-License-Identifier: BSL-1.0
//
// A move-only object that tells how often it was destroyed while it held something.
#pragma once

#include <atomic>
#include <utility>

namespace support {

// How many of its Counted objects live, and how many have ended.
struct Count {
  std::atomic<long> made{0};
  std::atomic<long> ended{0};
  [[nodiscard]] long alive() const { return made - ended; }
};

// Moving passes the identity on: each one made ends once.
class Counted {
 public:
  explicit Counted(Count& count) : count_(&count) { ++count.made; }
  Counted(Counted&& other) noexcept : count_(std::exchange(other.count_, nullptr)) {}
  Counted& operator=(Counted&&) = delete;
  ~Counted() {
    if (count_ != nullptr) ++count_->ended;
  }
  [[nodiscard]] bool holds() const { return count_ != nullptr; }

 private:
  Count* count_;
};

}  // namespace support
