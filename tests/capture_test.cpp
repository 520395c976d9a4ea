// SPDX-License-Identifier: BSL-1.0
//
// Captures by the plain runtime.
#include <culvert/async.hpp>

#include <atomic>
#include <memory>

#include "support/counted.hpp"
#include "support/test_support.hpp"

using namespace culvert;
using support::Count;
using support::Counted;

namespace {

class CaptureTest : public support::RuntimeTest {
 protected:
  ~CaptureTest() override {
    { const support::Completion completion; }
    collect();
  }
};

struct DestroyGraph {
  void operator()(cudaGraph_t graph) const { EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess); }
  void operator()(cudaGraphExec_t exec) const {
    EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  }
};
using OwnedGraph = std::unique_ptr<std::remove_pointer_t<cudaGraph_t>, DestroyGraph>;
using OwnedGraphExec = std::unique_ptr<std::remove_pointer_t<cudaGraphExec_t>, DestroyGraph>;

std::atomic<int> reported;

TEST_F(CaptureTest, HostFunctionsOfAGraph) {
  reported = 0;
  set_failure_handler([](const Failure&) noexcept { ++reported; });
  const Stream stream;
  Count count;
  int calls = 0;
  int once = 0;
  const HostFunc reusable([&] { ++calls; });
  const support::Completion completion;
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal), cudaSuccess);
  launch_host(stream, [&once, counted = Counted(count)] { ++once; });
  launch_host(stream, reusable);
  ASSERT_EQ(cudaStreamEndCapture(stream.get(), &graph), cudaSuccess);
  const OwnedGraph owned(graph);
  cudaGraphExec_t exec = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  const OwnedGraphExec owned_exec(exec);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(cudaGraphLaunch(exec, stream.get()), cudaSuccess);
  stream.synchronize();
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(once, 1);
  EXPECT_EQ(reported, 2);
  EXPECT_EQ(count.ended, 1);
  set_failure_handler(nullptr);
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
  const OwnedGraph owned(graph);
}

}  // namespace
