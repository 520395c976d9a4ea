// SPDX-License-Identifier: BSL-1.0
#include "sim/faults.hpp"

#include <string_view>

namespace culvert::sim::detail {

std::uint64_t& Faults::counter_of(const char* function) {
  const auto address = reinterpret_cast<std::uintptr_t>(function);
  Known& known = known_[address / 16 % known_.size()];
  if (known.function != function) {
    const std::string_view name = function;
    auto found = by_function_.find(name);
    if (found == by_function_.end()) found = by_function_.emplace(name, 0).first;
    known = {function, &found->second};
  }
  return *known.counter;
}

int Faults::count_call(const char* function) {
  ++total_;
  ++counter_of(function);
  if (keeps_names_) names_.push_back(function);
  if (faults_.empty()) return 0;

  // Every fault that means this call counts it; the first that is due decides.
  const std::string_view name = function;
  int error = 0;
  for (Fault& fault : faults_) {
    if (!fault.any && fault.function != name) continue;
    if (fault.remaining != 0) --fault.remaining;
    if (fault.remaining == 0 && error == 0) error = fault.error;
  }
  std::erase_if(faults_, [](const Fault& fault) { return fault.remaining == 0 && !fault.on; });
  return error;
}

void Faults::add(const char* function, int error, std::uint64_t nth, bool on) {
  faults_.push_back({function == nullptr, function == nullptr ? "" : function, error, nth, on});
}

std::vector<std::string> Faults::not_happened() const {
  std::vector<std::string> functions;
  for (const Fault& fault : faults_) {
    if (fault.remaining != 0) functions.push_back(fault.any ? "*" : fault.function);
  }
  return functions;
}

std::uint64_t Faults::calls(const char* function) const {
  if (function == nullptr) return total_;
  const auto counter = by_function_.find(std::string_view(function));
  return counter == by_function_.end() ? 0 : counter->second;
}

}  // namespace culvert::sim::detail
