// SPDX-License-Identifier: BSL-1.0
//
// A device by its ordinal, and a scope in which it is current.
#pragma once

#include <culvert/collect.hpp>

namespace culvert::inline CULVERT_ABI {

// Bytes of a device's memory.
struct MemoryInfo {
  std::size_t free;   // bytes
  std::size_t total;  // bytes
};

// A device's stream priorities. A smaller number is a higher priority.
struct PriorityRange {
  int lowest;   // the largest number, 0 on known devices
  int highest;  // the smallest number, -5 on an H200
};

// A CUDA device. A value of one ordinal; it owns nothing and creates no context.
class Device {
 public:
  // The device with this ordinal.
  // @throws Error (cudaErrorInvalidDevice) where `ordinal` is negative, before any CUDA
  // call, or not less than count(). Does not block.
  explicit Device(int ordinal, SourceLocation where = SourceLocation::current())
      : ordinal_(ordinal) {
    if (ordinal < 0) {
      detail::refuse(where, "culvert::Device",
                     "ordinal " + std::to_string(ordinal) + " is negative", cudaErrorInvalidDevice);
    }
    const int devices = count(where);
    if (ordinal >= devices) {
      detail::refuse(where, "culvert::Device",
                     "ordinal " + std::to_string(ordinal) + " is too large: this process sees " +
                         std::to_string(devices) + " device" + (devices == 1 ? "" : "s"),
                     cudaErrorInvalidDevice);
    }
  }

  // The calling thread's current device (cudaGetDevice).
  [[nodiscard]] static Device current(SourceLocation where = SourceLocation::current()) {
    int ordinal = 0;
    detail::call(where, "cudaGetDevice", cudaGetDevice, &ordinal);
    return Device(Checked{}, ordinal);
  }

  // How many devices this process sees (cudaGetDeviceCount). Environment::probe() answers
  // without an exception where there is no driver.
  [[nodiscard]] static int count(SourceLocation where = SourceLocation::current()) {
    int devices = 0;
    detail::call(where, "cudaGetDeviceCount", cudaGetDeviceCount, &devices);
    return devices;
  }

  [[nodiscard]] int ordinal() const noexcept { return ordinal_; }

  // Every property (cudaGetDeviceProperties).
  [[nodiscard]] cudaDeviceProp properties(SourceLocation where = SourceLocation::current()) const {
    cudaDeviceProp result{};
    detail::call(where, "cudaGetDeviceProperties", get_properties, &result, ordinal_);
    return result;
  }

  // The name, such as "NVIDIA H200".
  [[nodiscard]] std::string name(SourceLocation where = SourceLocation::current()) const {
    return properties(where).name;
  }

  // One attribute (cudaDeviceGetAttribute); cheap.
  [[nodiscard]] int attribute(cudaDeviceAttr which,
                              SourceLocation where = SourceLocation::current()) const {
    int value = 0;
    detail::call(where, "cudaDeviceGetAttribute", cudaDeviceGetAttribute, &value, which, ordinal_);
    return value;
  }

  // Free and total memory in bytes (cudaMemGetInfo).
  [[nodiscard]] MemoryInfo memory_info(SourceLocation where = SourceLocation::current()) const;

  // The range of stream priorities (cudaDeviceGetStreamPriorityRange).
  [[nodiscard]] PriorityRange priority_range(
      SourceLocation where = SourceLocation::current()) const;

  // Makes this the calling thread's current device and leaves it so (cudaSetDevice).
  // DeviceGuard does so for a scope.
  void make_current(SourceLocation where = SourceLocation::current()) const {
    detail::call(where, "cudaSetDevice", cudaSetDevice, ordinal_);
  }

  // Blocks the host until all work submitted to the device is complete
  // (cudaDeviceSynchronize). @throws Error also for failures of earlier asynchronous work.
  void synchronize(SourceLocation where = SourceLocation::current()) const;

  friend bool operator==(Device, Device) = default;

 private:
  friend class DeviceChoice;
  struct Checked {};
  Device(Checked, int ordinal) noexcept : ordinal_(ordinal) {}

  // cudaGetDeviceProperties is a macro in CUDA 12.
  static cudaError_t get_properties(cudaDeviceProp* result, int ordinal) {
    return cudaGetDeviceProperties(result, ordinal);
  }

  int ordinal_;
};

// Makes a device the calling thread's current one until the end of the scope, then restores
// the one before. Makes no call where the device is current already. Where it is not,
// restoring may create a context on the device before, as cudaSetDevice does since CUDA 12.
class DeviceGuard {
 public:
  explicit DeviceGuard(Device device, SourceLocation where = SourceLocation::current())
      : before_(Device::current(where)), changed_(device != before_) {
    if (!changed_) return;
    const cudaError_t status = detail::try_call(cudaSetDevice, device.ordinal());
    if (status != cudaSuccess) {
      // The runtime may have made a device current that then failed.
      (void)detail::try_call(cudaSetDevice, before_.ordinal());
      detail::raise(status, "cudaSetDevice", where, {});
    }
  }
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;
  ~DeviceGuard() {
    if (changed_) {
      detail::call_in_destructor("cudaSetDevice", cudaSetDevice, before_.ordinal());
    }
  }

 private:
  Device before_;
  bool changed_;
};

// A device for a creation: the current one unless one is named.
class DeviceChoice {
 public:
  DeviceChoice() noexcept = default;
  DeviceChoice(Device device) noexcept : ordinal_(device.ordinal()) {}

  // Calls `create` with the chosen device current, and leaves the current device as it was.
  template <class Create>
  void with(SourceLocation where, Create&& create) const {
    if (ordinal_ < 0) {
      create();
    } else {
      const DeviceGuard guard(Device(Device::Checked{}, ordinal_), where);
      create();
    }
  }

 private:
  int ordinal_ = -1;  // -1: the current device
};

inline MemoryInfo Device::memory_info(SourceLocation where) const {
  const DeviceGuard guard(*this, where);
  MemoryInfo info{};
  detail::call(where, "cudaMemGetInfo", cudaMemGetInfo, &info.free, &info.total);
  return info;
}

inline PriorityRange Device::priority_range(SourceLocation where) const {
  const DeviceGuard guard(*this, where);
  PriorityRange range{};
  detail::call(where, "cudaDeviceGetStreamPriorityRange", cudaDeviceGetStreamPriorityRange,
               &range.lowest, &range.highest);
  return range;
}

inline void Device::synchronize(SourceLocation where) const {
  const DeviceGuard guard(*this, where);
  detail::call(where, "cudaDeviceSynchronize", cudaDeviceSynchronize);
  detail::collect_if_any();
}

}  // namespace culvert::inline CULVERT_ABI
