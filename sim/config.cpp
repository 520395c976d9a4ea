// SPDX-License-Identifier: BSL-1.0
#include "sim/config.hpp"

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <initializer_list>
#include <string_view>
#include <system_error>

#include "sim/report.hpp"

namespace culvert::sim {
namespace {

constexpr std::size_t least_memory = std::size_t{1} << 20;
constexpr std::size_t most_memory = std::size_t{1} << 40;
constexpr int most_kernels = 1024;
constexpr double least_speed = 0.001;  // a byte in a microsecond
constexpr std::size_t memory_unit = std::size_t{64} << 10;

// Changes nothing if the variable is not set or empty.
template <class T>
void read_number(const char* variable, unsigned long long least, unsigned long long most,
                 T& value) {
  const char* const text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return;
  char* end = nullptr;
  errno = 0;
  const unsigned long long number = std::strtoull(text, &end, 10);
  const bool is_number = *text >= '0' && *text <= '9' && *end == '\0' && errno == 0;
  if (!is_number || number < least || number > most) {
    detail::refuse("%s is \"%s\": a whole number from %llu to %llu is needed", variable, text,
                   least, most);
  }
  value = static_cast<T>(number);
}

// Of the form random:SEED.
bool is_random_seed(std::string_view text, std::uint64_t& seed) {
  constexpr std::string_view prefix = "random:";
  if (text.substr(0, prefix.size()) != prefix) return false;
  text.remove_prefix(prefix.size());
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

Config config_from_environment() {
  Config config;
  read_number("CULVERT_SIM_DEVICES", 0, max_devices, config.devices);
  read_number("CULVERT_SIM_DEVICE_MEMORY", least_memory, most_memory, config.device_memory);
  read_number("CULVERT_SIM_DRIVER_VERSION", 0, 1'000'000, config.driver_version);
  read_number("CULVERT_SIM_LATE_PAGEABLE_COPIES", 0, 1, config.late_pageable_copies);
  const char* const blocking = std::getenv("CUDA_LAUNCH_BLOCKING");
  if (blocking != nullptr && std::string_view(blocking) == "1") config.schedule = Schedule::eager;
  const char* const schedule = std::getenv("CULVERT_SIM_SCHEDULE");
  if (schedule != nullptr && *schedule != '\0') {
    const std::string_view name = schedule;
    if (name == "late") {
      config.schedule = Schedule::late;
    } else if (name == "eager") {
      config.schedule = Schedule::eager;
    } else if (name == "random" || is_random_seed(name, config.seed)) {
      config.schedule = Schedule::random;
    } else {
      detail::refuse(
          "CULVERT_SIM_SCHEDULE is \"%s\": \"late\", \"eager\", \"random\" or \"random:SEED\" is "
          "needed",
          schedule);
    }
  }
  return config;
}

namespace detail {

Config checked(Config config) {
  if (config.devices < 0 || config.devices > max_devices) {
    refuse("Config::devices is %d: 0 to %d is needed", config.devices, max_devices);
  }
  if (config.device_memory < least_memory || config.device_memory > most_memory) {
    refuse("Config::device_memory is %zu: %zu to %zu bytes are needed", config.device_memory,
           least_memory, most_memory);
  }
  if (config.schedule != Schedule::late && config.schedule != Schedule::random &&
      config.schedule != Schedule::eager) {
    refuse("Config::schedule is %d, which is none", static_cast<int>(config.schedule));
  }
  const CostModel& cost = config.cost;
  for (const double speed :
       {cost.host_to_device_gb_per_s, cost.device_to_host_gb_per_s, cost.both_directions_gb_per_s,
        cost.device_gb_per_s, cost.host_to_host_gb_per_s}) {
    // In a slower one the time of a large copy would be past counting.
    if (!(speed >= least_speed)) {
      refuse("CostModel: a speed is %g GB/s: %g or more is needed", speed, least_speed);
    }
  }
  for (const std::uint64_t latency :
       {cost.copy_latency_ns, cost.kernel_launch_ns, cost.event_record_ns, cost.host_function_ns}) {
    if (latency > most_time_ns) {
      refuse("CostModel: a latency is %llu ns: %llu at most are possible",
             static_cast<unsigned long long>(latency),
             static_cast<unsigned long long>(most_time_ns));
    }
  }
  if (cost.concurrent_kernels < 1 || cost.concurrent_kernels > most_kernels) {
    refuse("CostModel::concurrent_kernels is %d: 1 to %d is needed", cost.concurrent_kernels,
           most_kernels);
  }
  config.device_memory = (config.device_memory + memory_unit - 1) / memory_unit * memory_unit;
  return config;
}

}  // namespace detail
}  // namespace culvert::sim
