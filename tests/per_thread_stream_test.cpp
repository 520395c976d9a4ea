// SPDX-License-Identifier: BSL-1.0
//
// A null handle where CUDA_API_PER_THREAD_DEFAULT_STREAM is defined. The tests of streams, copies
// and ordering are compiled with it too; see list.cmake.

#include "default_stream_checks.hpp"

#if !defined(CUDA_API_PER_THREAD_DEFAULT_STREAM)
#error "This test is compiled with CUDA_API_PER_THREAD_DEFAULT_STREAM."
#endif

using namespace culvert;

namespace {

using PerThreadStreamTest = support::RuntimeTest;

TEST_F(PerThreadStreamTest, NullIsThePerThreadStream) {
  EXPECT_EQ(null_stream(), StreamRef::per_thread());
  EXPECT_TRUE(bytes_arrive());
  EXPECT_FALSE(blocking_stream_waits_for_null());
}

TEST_F(PerThreadStreamTest, EachThreadHasItsOwn) {
  support::delay(null_stream().get());
  const unsigned long long id = null_stream().id();
  support::in_threads(1, [&](int) {
    EXPECT_NE(null_stream().id(), id);
    null_stream().synchronize();
  });
  EXPECT_FALSE(null_stream().is_done());
  null_stream().synchronize();
}

}  // namespace
