// SPDX-License-Identifier: BSL-1.0
// The waits and synchronizations of a program, one of which may be left out. Knows no CUDA.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/call_site.hpp"

namespace culvert::sim::detail {

// A query that answers "done" orders like a wait, so it is one. Of the queries about the same work
// only that one counts, so the numbers do not depend on how often a program had to ask. One about
// work that was done before counts too, since that depends on the schedule, but it is no wait.
class Waits {
 public:
  struct Wait {
    const char* function;
    CallSite where;
    bool waits;  // false: a query about work that was done
  };

  // Counts a wait. Tells whether it is the one to leave out.
  bool skip(const char* function, bool waits = true) {
    ++count_;
    if (keeps_) made_.push_back({function, CallSite::here(), waits});
    const bool leaves = count_ == left_out_ && left_out_function_ == function;
    has_left_out_ = has_left_out_ || leaves;
    return leaves;
  }

  // The same for a query, before it is known what it will answer: if it is the one to leave out it
  // counts, and otherwise it counts by skip() once it answers "done".
  bool skip_query(const char* function) {
    if (count_ + 1 != left_out_ || left_out_function_ != function) return false;
    return skip(function);
  }

  void leave_out(std::uint64_t number, std::string function) {
    left_out_ = number;
    left_out_function_ = std::move(function);
  }
  // Whether one was to be left out, and has not been.
  bool is_missed() const { return left_out_ != 0 && !has_left_out_; }

  // From now on what skip() counts is kept, too.
  void keep() { keeps_ = true; }
  const std::vector<Wait>& made() const { return made_; }
  std::uint64_t count() const { return count_; }

 private:
  std::uint64_t count_ = 0;
  std::uint64_t left_out_ = 0;  // 0: none
  std::string left_out_function_;
  bool has_left_out_ = false;
  bool keeps_ = false;
  std::vector<Wait> made_;
};

}  // namespace culvert::sim::detail
