// SPDX-License-Identifier: BSL-1.0
//
// One program of two files with different default streams; this one has the legacy stream.
#include "default_stream_checks.hpp"

using namespace culvert;

namespace {

using MixedLegacyTest = support::RuntimeTest;

TEST_F(MixedLegacyTest, NullIsLegacyHere) {
  EXPECT_EQ(null_stream(), StreamRef::legacy());
  EXPECT_TRUE(bytes_arrive());
  EXPECT_TRUE(blocking_stream_waits_for_null());
}

}  // namespace
