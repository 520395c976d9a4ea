// SPDX-License-Identifier: BSL-1.0
// The kernels of the program: those that nvcc's objects register, and what they do here.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "culvert/sim/sim.hpp"
#include "sim/device_name.hpp"

namespace culvert::sim::detail {

// A kernel as it is launched.
struct Kernel : KernelDefinition {
  KernelTime time;

  // Ends the process if it makes no sense.
  std::uint64_t time_ns(const KernelLaunch& launch) const;
};

using KernelPtr = std::shared_ptr<const Kernel>;

// A kernel's address is that of its function in host code: nvcc's launch code, or what a .cpp file
// declares. It has its own lock, since kernels are registered and defined before main, too.
class Kernels {
 public:
  static Kernels& instance();

  void define(const void* kernel, KernelDefinition definition);
  void define(std::string name, std::string parameters, KernelDefinition definition);
  void set_time(const void* kernel, KernelTime time);
  void set_time(std::string name, KernelTime time);

  // For nvcc's objects. `owner` says which one it is.
  void add(const void* owner, const void* kernel, const char* mangled_name);
  void remove_all(const void* owner);

  // What the kernel does, or null.
  KernelPtr find(const void* kernel);
  // Whether there is such a kernel, defined or not.
  bool contains(const void* kernel);
  // As nvcc names it, or null. It stays where it is.
  const char* mangled_name(const void* kernel);

 private:
  struct Entry {
    KernelPtr definition;  // its own
    KernelTime time;
    const void* owner = nullptr;
    const std::string* mangled_name = nullptr;
    DeviceName name;
    KernelPtr found;                  // what `find` answers, once it was asked
    std::uint64_t found_version = 0;  // ... after so many changes
  };
  struct Named {
    std::string parameters;
    KernelPtr definition;
  };

  KernelPtr definition_of(const Entry& entry) const;
  KernelTime time_of(const Entry& entry) const;
  std::mutex mutex_;
  std::uint64_t version_ = 0;  // how often anything changed
  std::map<const void*, Entry> entries_;
  std::multimap<std::string, Named> named_;
  std::map<std::string, KernelTime> named_times_;
  std::deque<std::string> mangled_names_;  // kept: programs hold pointers to them
};

// Says how to define a kernel that has no definition.
cudaError_t no_definition(const void* kernel);

}  // namespace culvert::sim::detail
