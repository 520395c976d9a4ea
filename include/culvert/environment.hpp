// SPDX-License-Identifier: BSL-1.0
//
// What CUDA this process has, and if it cannot be used, why not.
#pragma once

#include <culvert/runtime.hpp>

namespace culvert::inline CULVERT_ABI {

// A CUDA version number as CUDA encodes it: 1000 * major + 10 * minor.
struct Version {
  int value = 0;

  [[nodiscard]] constexpr int major_number() const noexcept { return value / 1000; }
  [[nodiscard]] constexpr int minor_number() const noexcept { return value % 1000 / 10; }
  friend constexpr bool operator==(Version, Version) = default;
  friend constexpr auto operator<=>(Version, Version) = default;
};

// "13.0"
[[nodiscard]] inline std::string to_string(Version version) {
  return std::to_string(version.major_number()) + "." + std::to_string(version.minor_number());
}

// The CUDA environment of the process. A machine without a driver or a device is an answer,
// not an error.
class Environment {
 public:
  // Asks the runtime. Creates no context, does not block, and leaves the runtime's last
  // error clear.
  [[nodiscard]] static Environment probe() noexcept {
    Environment result;
    result.status_ = detail::try_call(cudaRuntimeGetVersion, &result.runtime_.value);
    if (result.status_ == cudaSuccess) {
      result.status_ = detail::try_call(cudaDriverGetVersion, &result.driver_.value);
    }
    if (result.status_ == cudaSuccess) {
      result.status_ = detail::try_call(cudaGetDeviceCount, &result.device_count_);
    }
    if (result.status_ == cudaSuccess && result.device_count_ == 0) {
      result.status_ = cudaErrorNoDevice;
    }
    if (result.status_ != cudaSuccess) result.device_count_ = 0;
    return result;
  }

  // The toolkit whose headers this translation unit was compiled with.
  [[nodiscard]] Version toolkit() const noexcept { return Version{CUDART_VERSION}; }
  // The CUDA runtime library in the process.
  [[nodiscard]] Version runtime() const noexcept { return runtime_; }
  // The newest CUDA that the driver supports; 0.0 where no driver is installed.
  [[nodiscard]] Version driver() const noexcept { return driver_; }
  // Devices that this process sees; 0 where CUDA cannot be used.
  [[nodiscard]] int device_count() const noexcept { return device_count_; }
  // Whether at least one device can be used.
  [[nodiscard]] bool usable() const noexcept { return status_ == cudaSuccess; }
  // cudaSuccess, or what CUDA answered.
  [[nodiscard]] cudaError_t status() const noexcept { return status_; }

  // Why CUDA cannot be used, and what to do about it; "" where it can. A string with static
  // lifetime.
  [[nodiscard]] const char* reason() const noexcept {
    switch (status_) {
      case cudaSuccess:
        return "";
      case cudaErrorInsufficientDriver:
        if (driver_.value == 0) {
          return "No NVIDIA driver is installed or loaded (error 35). Install the NVIDIA driver; "
                 "in a container, start it with access to the GPU.";
        }
        return "The NVIDIA driver is older than the CUDA runtime (error 35). Update the driver, "
               "or build with the toolkit that the driver supports.";
      case cudaErrorNoDevice:
        return "No CUDA device is visible (error 100). Check that the machine has an NVIDIA GPU, "
               "what CUDA_VISIBLE_DEVICES names, and a container's access to the GPU.";
      case cudaErrorSystemDriverMismatch:
        return "The driver's kernel module and its library differ in version (error 803). Reboot, "
               "or reload the module after a driver update.";
      case cudaErrorCompatNotSupportedOnDevice:
        return "The forward compatibility package does not support this GPU (error 804). Remove "
               "it from the library path, or update the driver.";
      case cudaErrorSystemNotReady:
        return "The system is not ready for CUDA (error 802). On machines with NVSwitch, start "
               "the fabric manager.";
      case cudaErrorDevicesUnavailable:
        return "All devices are busy or unavailable (error 46). Check the compute mode, and "
               "whether other processes hold the GPU.";
      case cudaErrorInitializationError:
        return "The CUDA driver could not be initialized (error 3). A child made by fork() after "
               "CUDA was used cannot use it; start a new process. Otherwise see the system's "
               "log for driver errors.";
      default:
        return cudaGetErrorString(status_);
    }
  }

 private:
  Environment() noexcept = default;

  Version runtime_;
  Version driver_;
  int device_count_ = 0;
  cudaError_t status_ = cudaSuccess;
};

}  // namespace culvert::inline CULVERT_ABI
