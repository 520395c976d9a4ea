// SPDX-License-Identifier: BSL-1.0
#include "sim/faults.hpp"

#include <string_view>

namespace culvert::sim::detail {

int Faults::count_call(const char* function) {
  const std::string_view name = function;
  ++total_;
  auto counter = by_function_.find(name);
  if (counter == by_function_.end()) counter = by_function_.emplace(name, 0).first;
  ++counter->second;

  // Every fault that means this call counts it; the first that is due decides.
  int error = 0;
  for (Fault& fault : faults_) {
    if (!fault.any && fault.function != name) continue;
    if (--fault.remaining == 0 && error == 0) error = fault.error;
  }
  std::erase_if(faults_, [](const Fault& fault) { return fault.remaining == 0; });
  return error;
}

void Faults::add(const char* function, int error, std::uint64_t nth) {
  if (nth == 0) return;
  faults_.push_back({function == nullptr, function == nullptr ? "" : function, error, nth});
}

std::uint64_t Faults::calls(const char* function) const {
  if (function == nullptr) return total_;
  const auto counter = by_function_.find(std::string_view(function));
  return counter == by_function_.end() ? 0 : counter->second;
}

}  // namespace culvert::sim::detail
