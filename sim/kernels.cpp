// SPDX-License-Identifier: BSL-1.0
#include "sim/kernels.hpp"

#include <utility>

#include "sim/config.hpp"
#include "sim/report.hpp"

namespace culvert::sim::detail {

Kernels& Kernels::instance() {
  static Kernels* const kernels = new Kernels;
  return *kernels;
}

void Kernels::define(const void* kernel, KernelDefinition definition) {
  const std::lock_guard lock(mutex_);
  entries_[kernel].definition = std::make_shared<const Kernel>(Kernel{std::move(definition), {}});
  ++version_;
}

void Kernels::define(std::string name, std::string parameters, KernelDefinition definition) {
  const std::lock_guard lock(mutex_);
  auto made = std::make_shared<const Kernel>(Kernel{std::move(definition), {}});
  const auto [begin, end] = named_.equal_range(name);
  for (auto named = begin; named != end; ++named) {
    if (named->second.parameters != parameters) continue;
    named->second.definition = std::move(made);
    ++version_;
    return;
  }
  named_.emplace(std::move(name), Named{std::move(parameters), std::move(made)});
  ++version_;
}

void Kernels::set_time(const void* kernel, KernelTime time) {
  const std::lock_guard lock(mutex_);
  entries_[kernel].time = std::move(time);
  ++version_;
}

void Kernels::set_time(std::string name, KernelTime time) {
  const std::lock_guard lock(mutex_);
  named_times_[std::move(name)] = std::move(time);
  ++version_;
}

void Kernels::add(const void* owner, const void* kernel, const char* mangled_name) {
  const std::lock_guard lock(mutex_);
  Entry& entry = entries_[kernel];
  entry.owner = owner;
  entry.mangled_name = &mangled_names_.emplace_back(mangled_name);
  entry.name = device_name(mangled_name);
  ++version_;
}

void Kernels::remove_all(const void* owner) {
  const std::lock_guard lock(mutex_);
  std::erase_if(entries_, [&](const auto& entry) { return entry.second.owner == owner; });
  ++version_;
}

std::uint64_t Kernel::time_ns(const KernelLaunch& launch) const {
  const std::uint64_t wanted = time ? time(launch) : 0;
  if (wanted > most_time_ns) {
    refuse("set_kernel_time: a kernel takes %llu ns: %llu at most are possible",
           static_cast<unsigned long long>(wanted), static_cast<unsigned long long>(most_time_ns));
  }
  return wanted;
}

KernelPtr Kernels::definition_of(const Entry& entry) const {
  if (entry.definition || entry.mangled_name == nullptr) return entry.definition;
  if (entry.name.is_template()) {
    for (const auto& [kernel, other] : entries_) {
      if (other.definition && other.mangled_name != nullptr &&
          *other.mangled_name == *entry.mangled_name) {
        return other.definition;
      }
    }
  }
  for (const auto& [name, named] : named_) {
    // Those of C do not tell their parameters.
    const bool fits = entry.name.parameters.empty() || entry.name.parameters == named.parameters;
    if (fits && entry.name.is_meant_by(name)) return named.definition;
  }
  return nullptr;
}

KernelTime Kernels::time_of(const Entry& entry) const {
  if (entry.time || entry.mangled_name == nullptr) return entry.time;
  for (const auto& [name, time] : named_times_) {
    if (entry.name.is_meant_by(name)) return time;
  }
  return {};
}

KernelPtr Kernels::find(const void* kernel) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(kernel);
  if (found == entries_.end()) return nullptr;
  Entry& entry = found->second;
  if (!entry.found || entry.found_version != version_) {
    const KernelPtr definition = definition_of(entry);
    entry.found =
        definition ? std::make_shared<const Kernel>(Kernel{*definition, time_of(entry)}) : nullptr;
    entry.found_version = version_;
  }
  return entry.found;
}

bool Kernels::contains(const void* kernel) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(kernel);
  return found != entries_.end() && (found->second.definition || found->second.mangled_name);
}

const char* Kernels::mangled_name(const void* kernel) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(kernel);
  if (found == entries_.end() || found->second.mangled_name == nullptr) return nullptr;
  return found->second.mangled_name->c_str();
}

cudaError_t no_definition(const void* kernel) {
  if (const char* const mangled = Kernels::instance().mangled_name(kernel)) {
    const DeviceName name = device_name(mangled);
    report("the kernel %s%s has no definition: %s gives it one", name.name.c_str(),
           name.parameters.c_str(), definition_hint(name).c_str());
  } else {
    report("the kernel has no definition: culvert::sim::define_kernel gives it one");
  }
  return cudaErrorInvalidDeviceFunction;
}

void define_kernel(const void* kernel, KernelDefinition definition) {
  if (kernel == nullptr) refuse("define_kernel: the kernel is null");
  Kernels::instance().define(kernel, std::move(definition));
}

void define_kernel(const char* name, const char* type, KernelDefinition definition) {
  if (name == nullptr) refuse("define_kernel: the name is null");
  Kernels::instance().define(name, parameters_of_type(type), std::move(definition));
}

void set_kernel_time(const void* kernel, KernelTime time) {
  if (kernel == nullptr) refuse("set_kernel_time: the kernel is null");
  Kernels::instance().set_time(kernel, std::move(time));
}

void set_kernel_time(const char* name, KernelTime time) {
  if (name == nullptr) refuse("set_kernel_time: the name is null");
  Kernels::instance().set_time(name, std::move(time));
}

}  // namespace culvert::sim::detail
