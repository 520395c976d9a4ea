// SPDX-License-Identifier: BSL-1.0
#include <culvert/environment.hpp>

#include <type_traits>

#include "support/test_support.hpp"

using namespace culvert;

static_assert(noexcept(Environment::probe()));
static_assert(!std::is_default_constructible_v<Environment>);
static_assert(std::is_trivially_copyable_v<Environment>);
static_assert(Version{12080}.major_number() == 12 && Version{12080}.minor_number() == 8);
static_assert(Version{12000} < Version{12080} && Version{13000} == Version{13000});

namespace {

using EnvironmentTest = support::RuntimeTest;

TEST_F(EnvironmentTest, IsUsable) {
  const Environment environment = Environment::probe();
  EXPECT_TRUE(environment.usable());
  EXPECT_EQ(environment.status(), cudaSuccess);
  EXPECT_STREQ(environment.reason(), "");
  EXPECT_GE(environment.device_count(), 1);
}

TEST_F(EnvironmentTest, TellsTheVersions) {
  const Environment environment = Environment::probe();
  EXPECT_EQ(environment.toolkit().value, CUDART_VERSION);
  int version = 0;
  ASSERT_EQ(cudaRuntimeGetVersion(&version), cudaSuccess);
  EXPECT_EQ(environment.runtime().value, version);
  ASSERT_EQ(cudaDriverGetVersion(&version), cudaSuccess);
  EXPECT_EQ(environment.driver().value, version);
  int devices = 0;
  ASSERT_EQ(cudaGetDeviceCount(&devices), cudaSuccess);
  EXPECT_EQ(environment.device_count(), devices);
}

TEST_F(EnvironmentTest, VersionAsText) {
  EXPECT_EQ(to_string(Version{12080}), "12.8");
  EXPECT_EQ(to_string(Version{13000}), "13.0");
  EXPECT_EQ(to_string(Version{11110}), "11.11");
  EXPECT_EQ(to_string(Version{}), "0.0");
}

}  // namespace
