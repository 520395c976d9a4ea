// SPDX-License-Identifier: BSL-1.0
//
// Machines on which CUDA cannot be used.
#include <culvert/device.hpp>
#include <culvert/environment.hpp>
#include <culvert/sim/sim.hpp>

#include <string>

#include "support/expect_error.hpp"

using namespace culvert;
using support::expect_error;

namespace {

class EnvironmentSimTest : public support::RuntimeTest {
 protected:
  static void start(int devices, int driver_version) {
    sim::Config config;
    config.devices = devices;
    config.driver_version = driver_version;
    sim::reset(config);
  }

  static void expect_unusable(cudaError_t status, const std::string& text) {
    const Environment environment = Environment::probe();
    EXPECT_FALSE(environment.usable());
    EXPECT_EQ(environment.status(), status);
    EXPECT_EQ(environment.device_count(), 0);
    EXPECT_NE(std::string(environment.reason()).find(text), std::string::npos)
        << environment.reason();
    EXPECT_EQ(peek_last_error(), cudaSuccess);
  }
};

TEST_F(EnvironmentSimTest, NoDriver) {
  start(1, 0);
  expect_unusable(cudaErrorInsufficientDriver, "No NVIDIA driver is installed");
  EXPECT_EQ(Environment::probe().driver(), Version{});
  EXPECT_EQ(Environment::probe().runtime().value, CUDART_VERSION);
  expect_error([] { (void)Device::count(); }, {cudaErrorInsufficientDriver, "cudaGetDeviceCount"});
}

TEST_F(EnvironmentSimTest, OldDriver) {
  start(1, 11080);
  expect_unusable(cudaErrorInsufficientDriver, "older than the CUDA runtime");
  EXPECT_EQ(to_string(Environment::probe().driver()), "11.8");
}

TEST_F(EnvironmentSimTest, NoDevice) {
  start(0, CUDART_VERSION);
  expect_unusable(cudaErrorNoDevice, "No CUDA device is visible");
  EXPECT_EQ(Environment::probe().driver().value, CUDART_VERSION);
  expect_error([] { (void)Device(0); }, {cudaErrorNoDevice, "cudaGetDeviceCount"});
}

TEST_F(EnvironmentSimTest, SeveralDevices) {
  start(3, CUDART_VERSION);
  EXPECT_EQ(Environment::probe().device_count(), 3);
}

struct Answer {
  cudaError_t status;
  const char* text;
};

constexpr Answer answers[] = {
    {cudaErrorSystemDriverMismatch, "differ in version"},
    {cudaErrorCompatNotSupportedOnDevice, "forward compatibility"},
    {cudaErrorSystemNotReady, "fabric manager"},
    {cudaErrorDevicesUnavailable, "busy or unavailable"},
    {cudaErrorInitializationError, "fork()"},
    {cudaErrorUnknown, "unknown error"},
};

TEST_F(EnvironmentSimTest, ReasonOfEachAnswer) {
  for (const Answer& answer : answers) {
    SCOPED_TRACE(cudaGetErrorName(answer.status));
    sim::fail("cudaGetDeviceCount", answer.status);
    expect_unusable(answer.status, answer.text);
    EXPECT_TRUE(Environment::probe().usable());
  }
}

TEST_F(EnvironmentSimTest, EachCallMayFail) {
  for (const char* function :
       {"cudaRuntimeGetVersion", "cudaDriverGetVersion", "cudaGetDeviceCount"}) {
    SCOPED_TRACE(function);
    sim::fail(function, cudaErrorInitializationError);
    expect_unusable(cudaErrorInitializationError, "could not be initialized");
  }
}

}  // namespace
