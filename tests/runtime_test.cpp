// SPDX-License-Identifier: BSL-1.0
//
// The one way to the runtime. cudaSetDevice(-1) fails in every runtime and leaves its error.
#include <culvert/runtime.hpp>

#include "support/expect_error.hpp"

using namespace culvert;
using support::expect_error;

namespace {

cudaError_t answer(cudaError_t status) { return status; }

std::vector<Failure> failures;

class RuntimeCallTest : public support::RuntimeTest {
 protected:
  void SetUp() override {
    failures.clear();
    set_failure_handler([](const Failure& failure) noexcept { failures.push_back(failure); });
  }
  void TearDown() override { set_failure_handler(nullptr); }
};

TEST_F(RuntimeCallTest, CallThrowsAndClears) {
  expect_error([] { detail::call(SourceLocation::current(), "cudaSetDevice", cudaSetDevice, -1); },
               {cudaErrorInvalidDevice, "cudaSetDevice"});
  int device = -1;
  detail::call(SourceLocation::current(), "cudaGetDevice", cudaGetDevice, &device);
  EXPECT_EQ(device, 0);
}

TEST_F(RuntimeCallTest, TryCallAnswersAndClears) {
  static_assert(noexcept(detail::try_call(cudaSetDevice, -1)));
  EXPECT_EQ(detail::try_call(cudaSetDevice, -1), cudaErrorInvalidDevice);
  EXPECT_EQ(peek_last_error(), cudaSuccess);
  EXPECT_EQ(detail::try_call(cudaSetDevice, 0), cudaSuccess);
}

TEST_F(RuntimeCallTest, QueryHasTwoAnswersAndThrowsTheRest) {
  const SourceLocation here = SourceLocation::current();
  EXPECT_TRUE(detail::query(here, "answer", answer, cudaSuccess));
  EXPECT_FALSE(detail::query(here, "answer", answer, cudaErrorNotReady));
  expect_error(
      [] {
        (void)detail::query(SourceLocation::current(), "answer", answer, cudaErrorLaunchFailure);
      },
      {cudaErrorLaunchFailure, "answer", {"sticky", "CUDA_LAUNCH_BLOCKING=1"}});
}

TEST_F(RuntimeCallTest, DestructorFailureGoesToTheHandler) {
  static_assert(noexcept(detail::call_in_destructor("cudaSetDevice", cudaSetDevice, -1)));
  detail::call_in_destructor("cudaSetDevice", cudaSetDevice, -1);
  ASSERT_EQ(failures.size(), 1u);
  EXPECT_EQ(failures[0].status, cudaErrorInvalidDevice);
  EXPECT_STREQ(failures[0].function, "cudaSetDevice");
  EXPECT_STREQ(failures[0].detail, "");
  EXPECT_STREQ(failures[0].where.file, "");
  EXPECT_EQ(peek_last_error(), cudaSuccess);

  detail::call_in_destructor("cudaSetDevice", cudaSetDevice, 0);
  EXPECT_EQ(failures.size(), 1u);
}

TEST_F(RuntimeCallTest, UnloadingAtExitIsNoFailure) {
  detail::call_in_destructor("answer", answer, cudaErrorCudartUnloading);
  EXPECT_TRUE(failures.empty());
}

TEST_F(RuntimeCallTest, OutOfMemoryHasItsType) {
  expect_error(
      [] { detail::call(SourceLocation::current(), "answer", answer, cudaErrorMemoryAllocation); },
      {cudaErrorMemoryAllocation, "answer"});
}

}  // namespace
