// SPDX-License-Identifier: BSL-1.0
// The __device__, __constant__ and __managed__ variables that nvcc's objects register.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/device_name.hpp"
#include "sim/process.hpp"

namespace culvert::sim::detail {

struct Variable {
  const void* owner = nullptr;  // the object that has it
  std::uintptr_t symbol = 0;    // what host code has in its place; a managed one itself
  std::size_t size = 0;
  DeviceName name;
  std::optional<std::vector<std::byte>> initial;  // nothing if it is not known
  BlockPtr managed;                               // of a managed one, for all devices
};

using VariablePtr = std::shared_ptr<const Variable>;

// It has its own lock, since variables are registered before main, too.
class Variables {
 public:
  static Variables& instance();

  void add(Variable variable);
  void remove_all(const void* owner);

  // The variable whose symbol that is, or null.
  VariablePtr find(const void* symbol);
  // The one in whose symbol the address lies, or null.
  VariablePtr containing(std::uintptr_t address);
  std::vector<VariablePtr> named(std::string_view name);

 private:
  std::mutex mutex_;
  std::map<std::uintptr_t, VariablePtr> variables_;
};

// The variable's memory on a device, with its initial value at first. Null if there is no room.
BlockPtr memory_of(Process& process, const VariablePtr& variable, int device);

}  // namespace culvert::sim::detail
