// SPDX-License-Identifier: BSL-1.0
//
// Captures by the plain runtime, which the simulated one does not have.
#include <culvert/async.hpp>

#include "support/counted.hpp"
#include "support/expect_error.hpp"
#include "support/test_support.hpp"

using namespace culvert;
using support::Count;
using support::Counted;

namespace {

class CaptureTest : public support::RuntimeTest {};

TEST_F(CaptureTest, TakesOnlyWhatCanRunAgain) {
  const Stream stream;
  Count count;
  int calls = 0;
  const HostFunc reusable([&] { ++calls; });
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal), cudaSuccess);
  support::expect_error([&] { launch_host(stream, [counted = Counted(count)] {}); },
                        {cudaErrorStreamCaptureUnsupported, "culvert::launch_host", {"HostFunc"}});
  support::expect_error([&] { (void)async_host(stream, [counted = Counted(count)] {}); },
                        {cudaErrorStreamCaptureUnsupported, "culvert::async_host", {"HostFunc"}});
  launch_host(stream, reusable);
  ASSERT_EQ(cudaStreamEndCapture(stream.get(), &graph), cudaSuccess);
  EXPECT_EQ(count.ended, 2);
  cudaGraphExec_t exec = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(cudaGraphLaunch(exec, stream.get()), cudaSuccess);
  stream.synchronize();
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
}

// Giving back what ended in a host function does not disturb a capture.
TEST_F(CaptureTest, CollectDoesNotDisturbIt) {
  const Stream stream, other;
  launch_host(other, [event = Event()] {});
  while (!other.is_done()) {
  }
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_NE(process::deferred_calls.load(), nullptr);
  collect();
  EXPECT_EQ(process::deferred_calls.load(), nullptr);
  EXPECT_EQ(cudaStreamEndCapture(stream.get(), &graph), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
}

}  // namespace
