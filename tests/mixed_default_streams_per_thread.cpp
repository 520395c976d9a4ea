// SPDX-License-Identifier: BSL-1.0
//
// The second file of mixed_default_streams_test.cpp; this one has the per-thread stream.
#define CUDA_API_PER_THREAD_DEFAULT_STREAM
#include "default_stream_checks.hpp"

using namespace culvert;

namespace {

using MixedPerThreadTest = support::RuntimeTest;

TEST_F(MixedPerThreadTest, NullIsPerThreadThere) {
  EXPECT_EQ(null_stream(), StreamRef::per_thread());
  EXPECT_TRUE(bytes_arrive());
  EXPECT_FALSE(blocking_stream_waits_for_null());
}

}  // namespace
