// SPDX-License-Identifier: BSL-1.0
// Counts calls and makes chosen ones fail.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace culvert::sim::detail {

class Faults {
 public:
  Faults() = default;
  // Moved only: the counters stay where they are.
  Faults(Faults&&) = default;
  Faults& operator=(Faults&&) = default;
  Faults(const Faults&) = delete;
  Faults& operator=(const Faults&) = delete;

  // Counts a call and answers the error it has to fail with, or 0. The name is a literal: it is
  // known again by its address.
  int count_call(const char* function);

  // The nth call from now on of a function, or of all with null; with `on`, those after it too.
  void add(const char* function, int error, std::uint64_t nth, bool on);
  // Whether counting is of any use.
  bool is_wanted() const { return keeps_names_ || !faults_.empty(); }
  void clear_faults() { faults_.clear(); }
  // The functions of those that have not happened; "*" is any.
  std::vector<std::string> not_happened() const;

  std::uint64_t calls() const { return total_; }
  std::uint64_t calls(const char* function) const;

  // From now on the name of each counted call is kept.
  void keep_names() { keeps_names_ = true; }
  const std::vector<const char*>& names() const { return names_; }

 private:
  struct Fault {
    bool any = false;
    std::string function;
    int error = 0;
    std::uint64_t remaining = 0;
    bool on = false;
  };

  struct Known {
    const char* function = nullptr;
    std::uint64_t* counter = nullptr;
  };

  std::uint64_t& counter_of(const char* function);

  std::uint64_t total_ = 0;
  std::map<std::string, std::uint64_t, std::less<>> by_function_;
  std::array<Known, 256> known_{};  // the last function of each remainder of an address
  std::vector<Fault> faults_;
  bool keeps_names_ = false;
  std::vector<const char*> names_;
};

}  // namespace culvert::sim::detail
