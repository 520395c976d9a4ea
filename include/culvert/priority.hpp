// SPDX-License-Identifier: BSL-1.0
//
// Priorities of streams and of kernel launches.
#pragma once

#include <culvert/device.hpp>

namespace culvert::inline CULVERT_ABI {

class Priority;

namespace detail {
[[nodiscard]] int priority_number(Priority priority, const char* operation, SourceLocation where);
}

// A stream's priority: a hint to the scheduler of thread blocks, where kernels compete for
// the device. It preempts nothing, orders nothing, and has little or no effect on copies and
// host functions (CUDA Programming Guide, "Stream Priorities").
class Priority {
 public:
  static const Priority normal;   // 0, which every device has
  static const Priority lowest;   // the device's lowest
  static const Priority highest;  // the device's highest

  // A number as the device counts: smaller is higher; see Device::priority_range(). One
  // outside the range is refused when the stream is created (CUDA would clamp it silently).
  constexpr Priority(int number) noexcept : kind_(Kind::number), number_(number) {}

 private:
  friend class Stream;
  friend int detail::priority_number(Priority, const char*, SourceLocation);
  enum class Kind { number, lowest, highest };
  constexpr explicit Priority(Kind kind) noexcept : kind_(kind), number_(0) {}
  // Whether it is known without the device's range.
  [[nodiscard]] constexpr bool is_normal() const noexcept {
    return kind_ == Kind::number && number_ == 0;
  }

  Kind kind_;
  int number_;
};
inline constexpr Priority Priority::normal{0};
inline constexpr Priority Priority::lowest{Priority::Kind::lowest};
inline constexpr Priority Priority::highest{Priority::Kind::highest};

namespace detail {

// The number of a priority on the current device, whose range is asked where need be.
// @throws Error where the number is outside the range, with the range in the text.
[[nodiscard, gnu::cold, gnu::noinline]] inline int priority_number(Priority priority,
                                                                   const char* operation,
                                                                   SourceLocation where) {
  if (priority.is_normal()) return 0;
  const PriorityRange range = Device::current(where).priority_range(where);
  if (priority.kind_ == Priority::Kind::lowest) return range.lowest;
  if (priority.kind_ == Priority::Kind::highest) return range.highest;
  if (priority.number_ > range.lowest || priority.number_ < range.highest) {
    refuse(where, operation,
           "priority " + std::to_string(priority.number_) + " is outside the device's range, " +
               std::to_string(range.highest) + " (highest) to " + std::to_string(range.lowest) +
               " (lowest)");
  }
  return priority.number_;
}

}  // namespace detail
}  // namespace culvert::inline CULVERT_ABI
