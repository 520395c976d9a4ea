// SPDX-License-Identifier: BSL-1.0
#include "sim/variables.hpp"

#include <algorithm>
#include <utility>

#include "sim/report.hpp"

namespace culvert::sim::detail {

Variables& Variables::instance() {
  static Variables* const variables = new Variables;
  return *variables;
}

void Variables::add(Variable variable) {
  const std::lock_guard lock(mutex_);
  const std::uintptr_t symbol = variable.symbol;
  variables_[symbol] = std::make_shared<const Variable>(std::move(variable));
}

void Variables::remove_all(const void* owner) {
  const std::lock_guard lock(mutex_);
  std::erase_if(variables_, [&](const auto& entry) { return entry.second->owner == owner; });
}

VariablePtr Variables::find(const void* symbol) {
  const std::lock_guard lock(mutex_);
  const auto found = variables_.find(reinterpret_cast<std::uintptr_t>(symbol));
  return found == variables_.end() ? nullptr : found->second;
}

VariablePtr Variables::containing(std::uintptr_t address) {
  const std::lock_guard lock(mutex_);
  const auto next = variables_.upper_bound(address);
  if (next == variables_.begin()) return nullptr;
  const VariablePtr& variable = std::prev(next)->second;
  return address - variable->symbol < variable->size ? variable : nullptr;
}

std::vector<VariablePtr> Variables::named(std::string_view name) {
  const std::lock_guard lock(mutex_);
  std::vector<VariablePtr> found;
  for (const auto& [symbol, variable] : variables_) {
    if (variable->name.is_meant_by(name)) found.push_back(variable);
  }
  return found;
}

BlockPtr memory_of(Process& process, const VariablePtr& variable, int device) {
  if (variable->managed) return variable->managed;
  BlockPtr& block = process.device(device).variables[variable];
  if (block) return block;
  block = process.memory.allocate(device, variable->size);
  if (!block) return nullptr;
  block->is_variable = true;
  std::fill_n(block->bytes, variable->size, std::byte{0});
  if (variable->initial) {
    std::copy(variable->initial->begin(), variable->initial->end(), block->bytes);
  } else {
    report("the initial value of the variable %s is not known: it begins as zeros",
           variable->name.name.c_str());
  }
  return block;
}

}  // namespace culvert::sim::detail
