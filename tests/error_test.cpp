// SPDX-License-Identifier: BSL-1.0
#include <culvert/device.hpp>
#include <culvert/error.hpp>

#include <type_traits>

#include "support/test_support.hpp"

using namespace culvert;

static_assert(std::is_base_of_v<std::system_error, Error>);
static_assert(std::is_base_of_v<Error, OutOfMemory>);
static_assert(!std::is_base_of_v<std::bad_alloc, OutOfMemory>);
static_assert(std::is_nothrow_copy_constructible_v<Error>);
// Two libraries that specialise a std trait for CUDA's own enum cannot be included together.
static_assert(!std::is_error_code_enum_v<cudaError_t>);
static_assert(!std::is_error_condition_enum_v<cudaError_t>);

static_assert(is_sticky(cudaErrorIllegalAddress));
static_assert(is_sticky(cudaErrorLaunchFailure));
static_assert(is_sticky(cudaErrorAssert));
static_assert(!is_sticky(cudaSuccess));
static_assert(!is_sticky(cudaErrorMemoryAllocation));
static_assert(!is_sticky(cudaErrorInvalidValue));
static_assert(!is_sticky(cudaErrorNotReady));

namespace {

using ErrorTest = support::RuntimeTest;

constexpr SourceLocation place = SourceLocation::current("some_file.cpp", 42);

TEST_F(ErrorTest, TellsPlaceCallAndReason) {
  const Error error(cudaErrorInvalidValue, "cudaMemcpyAsync", place, "more about it");
  EXPECT_STREQ(error.what(),
               "some_file.cpp:42: cudaMemcpyAsync: more about it: "
               "cudaErrorInvalidValue (1): invalid argument");
  EXPECT_EQ(error.status(), cudaErrorInvalidValue);
  EXPECT_STREQ(error.function(), "cudaMemcpyAsync");
  EXPECT_STREQ(error.where().file, "some_file.cpp");
  EXPECT_EQ(error.where().line, 42u);
  EXPECT_FALSE(error.sticky());
}

TEST_F(ErrorTest, WithoutDetailIsShorter) {
  const Error error(cudaErrorInvalidValue, "cudaStreamQuery", place);
  EXPECT_STREQ(error.what(),
               "some_file.cpp:42: cudaStreamQuery: cudaErrorInvalidValue (1): invalid argument");
}

TEST_F(ErrorTest, StickyTellsHowToFindTheCause) {
  const Error sticky(cudaErrorIllegalAddress, "cudaStreamSynchronize", place);
  EXPECT_TRUE(sticky.sticky());
  EXPECT_NE(std::string(sticky.what()).find("CUDA_LAUNCH_BLOCKING=1"), std::string::npos);
  EXPECT_NE(std::string(sticky.what()).find("earlier asynchronous work"), std::string::npos);
  const Error other(cudaErrorInvalidValue, "cudaStreamSynchronize", place);
  EXPECT_EQ(std::string(other.what()).find("CUDA_LAUNCH_BLOCKING"), std::string::npos);
}

TEST_F(ErrorTest, CategoryIsCuda) {
  const std::error_code code = make_error_code(cudaErrorNotReady);
  EXPECT_STREQ(code.category().name(), "cuda");
  EXPECT_EQ(&code.category(), &cuda_category());
  EXPECT_EQ(code.value(), 600);
  EXPECT_EQ(code.message(), "cudaErrorNotReady (600): device not ready");
  EXPECT_FALSE(make_error_code(cudaSuccess));
  EXPECT_NE(code, std::error_code(600, std::generic_category()));
}

TEST_F(ErrorTest, PortableMeanings) {
  EXPECT_EQ(make_error_code(cudaErrorInvalidValue), std::errc::invalid_argument);
  EXPECT_EQ(make_error_code(cudaErrorMemoryAllocation), std::errc::not_enough_memory);
  EXPECT_EQ(make_error_code(cudaErrorNotReady), std::errc::resource_unavailable_try_again);
  EXPECT_EQ(make_error_code(cudaErrorNotSupported), std::errc::not_supported);
  EXPECT_EQ(make_error_code(cudaErrorNotPermitted), std::errc::operation_not_permitted);
  EXPECT_EQ(make_error_code(cudaErrorInvalidDevice), std::errc::no_such_device);
  EXPECT_EQ(make_error_code(cudaErrorNoDevice), std::errc::no_such_device);
  EXPECT_NE(make_error_code(cudaErrorLaunchFailure), std::errc::invalid_argument);
}

TEST_F(ErrorTest, IsThrownAndClearedAtTheCallersLine) {
  unsigned line = 0;
  try {
    line = __LINE__ + 1;
    (void)Device(1 << 20);
    FAIL() << "nothing was thrown";
  } catch (const std::system_error& caught) {
    const Error& error = dynamic_cast<const Error&>(caught);
    EXPECT_EQ(error.status(), cudaErrorInvalidDevice);
    EXPECT_STREQ(error.where().file, __FILE__);
    EXPECT_EQ(error.where().line, line);
    EXPECT_EQ(dynamic_cast<const OutOfMemory*>(&caught), nullptr);
  }
  EXPECT_EQ(peek_last_error(), cudaSuccess);
}

TEST_F(ErrorTest, OutOfMemoryHasItsType) {
  EXPECT_THROW(detail::raise(cudaErrorMemoryAllocation, "cudaMalloc", place, "for 5 bytes"),
               OutOfMemory);
  try {
    detail::raise(cudaErrorInvalidValue, "cudaMalloc", place, {});
  } catch (const OutOfMemory&) {
    FAIL() << "another error is no OutOfMemory";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), cudaErrorInvalidValue);
  }
}

TEST_F(ErrorTest, CopyKeepsEverything) {
  const Error error(cudaErrorNotReady, "cudaStreamQuery", place, "detail");
  const Error copied = error;
  EXPECT_STREQ(copied.what(), error.what());
  EXPECT_EQ(copied.status(), error.status());
  EXPECT_STREQ(copied.function(), error.function());
  EXPECT_EQ(copied.where().line, error.where().line);
}

TEST_F(ErrorTest, LastErrorIsPeekedAndTaken) {
  ASSERT_EQ(cudaSetDevice(-1), cudaErrorInvalidDevice);
  EXPECT_EQ(peek_last_error(), cudaErrorInvalidDevice);
  EXPECT_EQ(peek_last_error(), cudaErrorInvalidDevice);
  EXPECT_EQ(last_error(), cudaErrorInvalidDevice);
  EXPECT_EQ(last_error(), cudaSuccess);
}

}  // namespace
