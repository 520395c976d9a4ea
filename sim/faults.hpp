// SPDX-License-Identifier: BSL-1.0
// Counts calls and makes chosen ones fail.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace culvert::sim::detail {

class Faults {
 public:
  // Counts a call and answers the error it has to fail with, or 0.
  int count_call(const char* function);

  void add(const char* function, int error, std::uint64_t nth);
  void clear_faults() { faults_.clear(); }

  std::uint64_t calls() const { return total_; }
  std::uint64_t calls(const char* function) const;

 private:
  struct Fault {
    bool any = false;
    std::string function;
    int error = 0;
    std::uint64_t remaining = 0;
  };

  std::uint64_t total_ = 0;
  std::map<std::string, std::uint64_t, std::less<>> by_function_;
  std::vector<Fault> faults_;
};

}  // namespace culvert::sim::detail
