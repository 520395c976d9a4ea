// SPDX-License-Identifier: BSL-1.0
#include <culvert/async.hpp>
#include <culvert/capture.hpp>
#include <culvert/copy.hpp>
#include <culvert/device_buffer.hpp>
#include <culvert/elapsed.hpp>
#include <culvert/fill.hpp>
#include <culvert/graph_add.hpp>
#include <culvert/graph_exec.hpp>
#include <culvert/graph_set.hpp>
#include <culvert/pending.hpp>
#include <culvert/pinned_buffer.hpp>

#include <atomic>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "kernels.hpp"
#include "support/counted.hpp"
#include "support/expect_error.hpp"
#include "support/test_support.hpp"

using namespace culvert;
using support::Count;
using support::Counted;

static_assert(!std::is_copy_constructible_v<Graph> && !std::is_copy_assignable_v<Graph>);
static_assert(std::is_nothrow_move_constructible_v<Graph>);
static_assert(std::is_nothrow_move_assignable_v<Graph>);
static_assert(sizeof(Graph) == sizeof(cudaGraph_t));
static_assert(!std::is_copy_constructible_v<GraphExec> && !std::is_copy_assignable_v<GraphExec>);
static_assert(std::is_nothrow_move_constructible_v<GraphExec>);
static_assert(sizeof(GraphExec) == sizeof(cudaGraphExec_t));
static_assert(!std::is_constructible_v<GraphRef, std::nullptr_t>);

namespace {

class GraphTest : public support::RuntimeTest {
 protected:
  ~GraphTest() override { collect_and_wait(); }
  Count count, other_count;  // outlive what is retired
};

// CUDA ends user objects on a thread of its own.
void wait_until_ended(const Count& count, long ended) {
  for (int i = 0; i < 2000 && count.ended < ended; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(count.ended, ended);
}

template <class T>
std::vector<T> bytes_of(const DeviceBuffer<T>& x, StreamRef stream) {
  return read_back(x, stream).get();
}

class CapturedTest : public GraphTest {
 protected:
  Stream stream;
};

TEST_F(CapturedTest, RunsAtEachLaunchOnly) {
  DeviceBuffer<int> x(100, stream);
  PinnedBuffer<int> host(100), back(100);
  const Graph graph = capture(stream, [&](StreamRef s) {
    EXPECT_EQ(s, StreamRef(stream));
    copy(x, host, s);
    copy(back, x, s);
  });
  EXPECT_EQ(graph.node_count(), 2u);
  stream.synchronize();
  const GraphExec exec = graph.instantiate();
  exec.upload(stream);
  for (int launch = 0; launch < 3; ++launch) {
    std::fill(host.begin(), host.end(), launch);  // read again at each launch
    exec.launch(stream);
    stream.synchronize();
    EXPECT_EQ(back[99], launch);
  }
}

TEST_F(CapturedTest, ABodyWithoutArguments) {
  DeviceBuffer<int> x(100, stream);
  const Graph graph = capture(
      stream, [&] { fill(x, 5, stream); }, CaptureMode::relaxed);
  graph.instantiate().launch(stream);
  EXPECT_EQ(bytes_of(x, stream), std::vector<int>(100, 5));
}

// A fork and its join; the kept event serves outside the capture too.
TEST_F(CapturedTest, SeveralStreams) {
  const Stream b, outside_a, outside_b;
  DeviceBuffer<int> x(1000, stream), y(1000, stream), z(1000, outside_a);
  outside_a.wait(stream);
  stream.synchronize();
  const Graph graph = capture(stream, [&](StreamRef s) {
    fill(x, 1, s);
    b.wait(s);
    outside_b.wait(outside_a);  // not captured
    fill(z, 9, outside_a);
    outside_b.wait(outside_a);
    copy(y, x, b);
    s.wait(b);
    fill(x, 2, s);
  });
  outside_b.synchronize();
  EXPECT_EQ(read_back(z, outside_b).get(), std::vector<int>(1000, 9));
  b.wait(stream);  // the same event, in no capture
  const GraphExec exec = graph.instantiate();
  exec.launch(stream);
  exec.launch(stream);
  EXPECT_EQ(bytes_of(y, stream), std::vector<int>(1000, 1));
  EXPECT_EQ(bytes_of(x, stream), std::vector<int>(1000, 2));
}

TEST_F(CapturedTest, Nested) {
  const Stream inner;
  DeviceBuffer<int> x(10, stream), y(10, stream);
  stream.synchronize();
  Graph inner_graph;
  const Graph graph = capture(stream, [&](StreamRef s) {
    fill(x, 1, s);
    inner_graph = capture(inner, [&](StreamRef t) { fill(y, 2, t); });
    fill(x, 3, s);
  });
  EXPECT_EQ(graph.node_count(), 2u);
  EXPECT_EQ(inner_graph.node_count(), 1u);
  graph.instantiate().launch(stream);
  inner_graph.instantiate().launch(stream);
  EXPECT_EQ(bytes_of(x, stream), std::vector<int>(10, 3));
  EXPECT_EQ(bytes_of(y, stream), std::vector<int>(10, 2));
}

TEST_F(CapturedTest, AnExceptionEndsIt) {
  const Stream forked;
  DeviceBuffer<int> x(10, stream);
  EXPECT_THROW((void)capture(stream,
                             [&](StreamRef s) {
                               fill(x, 1, s);
                               forked.wait(s);  // and never joined
                               fill(x, 2, forked);
                               throw std::runtime_error("no");
                             }),
               std::runtime_error);
  EXPECT_EQ(peek_last_error(), cudaSuccess);
  EXPECT_FALSE(process::is_capturing());
  fill(x, 7, stream);  // both streams are as before
  forked.wait(stream);
  EXPECT_EQ(bytes_of(x, forked), std::vector<int>(10, 7));
}

TEST_F(CapturedTest, Errors) {
  const Stream forked;
  DeviceBuffer<int> x(10, stream);
  support::expect_error(
      [&] {
        (void)capture(stream, [&](StreamRef s) {
          fill(x, 1, s);
          forked.wait(s);
          fill(x, 2, forked);
        });
      },
      {cudaErrorStreamCaptureUnjoined, "cudaStreamEndCapture", {"captured.wait(other)"}});
  support::expect_error([&] { (void)capture(StreamRef::legacy(), [] {}); },
                        {cudaErrorStreamCaptureUnsupported, "cudaStreamBeginCapture"});
  support::expect_error(
      [&] {
        (void)capture(stream, [&](StreamRef s) {
          try {
            s.synchronize();
          } catch (const Error&) {
          }
        });
      },
      {cudaErrorStreamCaptureInvalidated, "cudaStreamEndCapture", {"forbid"}});
  EXPECT_FALSE(process::is_capturing());
  fill(x, 7, stream);
  EXPECT_EQ(bytes_of(x, stream), std::vector<int>(10, 7));
}

// What culvert does by itself does not end a capture, of this or another thread.
TEST_F(CapturedTest, HousekeepingDoesNotDisturbIt) {
  for (const CaptureMode mode :
       {CaptureMode::per_thread, CaptureMode::global, CaptureMode::relaxed}) {
    const Stream other;
    DeviceBuffer<int> x(10, stream);
    auto ended_here = std::make_unique<DeviceBuffer<int>>(100, other);
    auto pinned = std::make_unique<PinnedBuffer<int>>(100);
    auto plain = std::make_unique<DeviceBuffer<int>>(100);
    launch_host(other, [event = Event()] {});
    other.synchronize();
    retire(other, Counted(count));
    const Graph graph = capture(
        stream,
        [&](StreamRef s) {
          fill(x, 4, s);
          ended_here.reset();
          pinned.reset();
          plain.reset();
          const DeviceBuffer<int> made_here(10, other);
          retire(other, Counted(count));
          collect();
          std::thread([&] {
            const DeviceBuffer<int> there(10, other);
            const Event event = other.record();
            collect();
          }).join();
        },
        mode);
    graph.instantiate().launch(stream);
    EXPECT_EQ(bytes_of(x, stream), std::vector<int>(10, 4));
    collect_and_wait();
    EXPECT_EQ(count.alive(), 0);
  }
  EXPECT_EQ(count.made, 6);
  kept_events = 4;
}

// Memory from before that ends in the capture belongs to the graph, as what is retired does.
TEST_F(CapturedTest, KeepsWhatEndsInIt) {
  DeviceBuffer<int> result(1000, stream);
  {
    DeviceBuffer<int> x(1000, stream);
    fill(x, 6, stream);
    Graph graph = capture(stream, [&](StreamRef s) {
      copy(result, x, s);
      x.reset();
      retire(s, Counted(count));
    });
    const GraphExec exec = graph.instantiate();
    graph.reset();
    for (int i = 0; i < 3; ++i) {
      fill(result, 0, stream);
      exec.launch(stream);
      EXPECT_EQ(bytes_of(result, stream), std::vector<int>(1000, 6));
    }
    EXPECT_EQ(count.ended, 0);
  }
  wait_until_ended(count, 1);
  collect();
}

// Memory that begins and ends in the capture is the graph's own.
TEST_F(CapturedTest, MemoryOfTheGraph) {
  DeviceBuffer<int> result(1000, stream);
  const Graph graph = capture(stream, [&](StreamRef s) {
    DeviceBuffer<int> temporary(1000, s);
    fill(temporary, 8, s);
    copy(result, temporary, s);
  });
  EXPECT_EQ(graph.node_count(), 4u);
  const GraphExec exec = graph.instantiate();
  for (int i = 0; i < 3; ++i) {
    fill(result, 0, stream);
    exec.launch(stream);
    EXPECT_EQ(bytes_of(result, stream), std::vector<int>(1000, 8));
  }
}

TEST_F(CapturedTest, HostFunctionsRunAtEachLaunch) {
  std::atomic<int> calls{0}, reusable_calls{0};
  {
    Graph graph;
    {
      const HostFunc reusable([&, counted = Counted(count)] { ++reusable_calls; });
      graph = capture(stream, [&](StreamRef s) {
        launch_host(s, [&, counted = Counted(count)] { ++calls; });
        launch_host(s, reusable);
        launch_host(s, reusable);
      });
      launch_host(stream, reusable);  // outside it is as before
    }
    stream.synchronize();
    EXPECT_EQ(calls, 0);
    EXPECT_EQ(reusable_calls, 1);
    GraphExec exec = graph.instantiate();
    graph.reset();
    for (int i = 0; i < 5; ++i) exec.launch(stream);
    exec.reset();  // they still run
    stream.synchronize();
    EXPECT_EQ(calls, 5);
    EXPECT_EQ(reusable_calls, 11);
  }
  wait_until_ended(count, 2);
}

TEST_F(CapturedTest, NoFuturesAndNoDataInIt) {
  DeviceBuffer<int> x(10, stream);
  stream.synchronize();
  const Graph graph = capture(stream, [&](StreamRef s) {
    support::expect_error([&] { (void)async_host(s, [] { return 1; }); },
                          {cudaErrorStreamCaptureUnsupported, "culvert::async_host"});
    support::expect_error([&] { (void)read_back(x, s); },
                          {cudaErrorStreamCaptureUnsupported, "culvert::read_back"});
    struct Once {
      void operator()() && {}
    };
    support::expect_error([&] { launch_host(s, Once()); },
                          {cudaErrorInvalidValue, "culvert::launch_host", {"only once"}});
  });
  EXPECT_EQ(graph.node_count(), 0u);
}

class NodesTest : public CapturedTest {};

TEST_F(NodesTest, OneOfEachKind) {
  std::atomic<int> calls{0};
  DeviceBuffer<float> x(1000, stream), y(1000, stream);
  PinnedBuffer<float> result(1000);
  stream.synchronize();
  const Event recorded, awaited;
  Graph graph;
  const GraphNode set = add_fill(graph, {}, x, 2.0f);
  const GraphNode scale =
      add_kernel(graph, set, {.grid = 4, .block = 256}, kernels::scale, x, 3.0f, std::size_t{1000});
  const GraphNode copied = add_copy(graph, scale, y, x);
  const GraphNode host = add_host(graph, scale, [&, counted = Counted(count)] { ++calls; });
  const GraphNode joined = graph.add_empty({copied, host});
  const GraphNode out = add_copy(graph, joined, result, y);
  const GraphNode record = graph.add_record(out, recorded);
  const GraphNode wait = graph.add_wait(record, awaited);

  EXPECT_EQ(set.type(), cudaGraphNodeTypeMemset);
  EXPECT_EQ(scale.type(), cudaGraphNodeTypeKernel);
  EXPECT_EQ(copied.type(), cudaGraphNodeTypeMemcpy);
  EXPECT_EQ(host.type(), cudaGraphNodeTypeHost);
  EXPECT_EQ(joined.type(), cudaGraphNodeTypeEmpty);
  EXPECT_EQ(record.type(), cudaGraphNodeTypeEventRecord);
  EXPECT_EQ(wait.type(), cudaGraphNodeTypeWaitEvent);
  EXPECT_EQ(graph.node_count(), 8u);
  cudaGraphNode_t nodes[10];
  EXPECT_EQ(graph.nodes(nodes), 8u);
  EXPECT_EQ(graph.nodes(std::span(nodes, 3)), 3u);

  const GraphExec exec = graph.instantiate();
  for (int i = 1; i <= 3; ++i) {
    std::fill(result.begin(), result.end(), 0.0f);
    exec.launch(stream);
    recorded.synchronize();
    EXPECT_EQ(result[0], 6.0f);
    EXPECT_EQ(result[999], 6.0f);
    EXPECT_EQ(calls, i);
  }
  stream.synchronize();
}

// A node that waits for nothing may run at any time: the dependency is what orders it.
TEST_F(NodesTest, Dependencies) {
  DeviceBuffer<int> x(1000, stream);
  stream.synchronize();
  Graph graph;
  const GraphNode second = add_fill(graph, {}, x, 2);
  const GraphNode first = add_fill(graph, {}, x, 1);
  graph.add_dependency(first, second);
  const GraphExec exec = graph.instantiate();
  exec.launch(stream);
  EXPECT_EQ(bytes_of(x, stream), std::vector<int>(1000, 2));
  graph.add_dependency(second, first);
  support::expect_error([&] { (void)graph.instantiate(); },
                        {cudaErrorInvalidValue, "cudaGraphInstantiateWithParams"});
}

TEST_F(NodesTest, FillsOfEverySize) {
  struct Large {
    int values[5];
    bool operator==(const Large&) const = default;
  };
  const auto check = [&](auto value, std::size_t size) {
    using T = decltype(value);
    DeviceBuffer<T> x(size, stream);
    stream.synchronize();
    Graph graph;
    const GraphNode node = add_fill(graph, {}, x, value);
    graph.add_empty(node);
    graph.instantiate().launch(stream);
    EXPECT_TRUE(bytes_of(x, stream) == std::vector<T>(size, value));
  };
  check(std::byte{7}, 1000);
  check(std::uint16_t{0x1234}, 1000);
  check(0x12345678, 1000);
  check(1.25, 1000);
  check(1.25, 100000);
  check(Large{{1, 2, 3, 3, 1}}, 1000);
  Graph graph;
  DeviceBuffer<int> none;
  EXPECT_EQ(add_fill(graph, {}, none, 1).type(), cudaGraphNodeTypeEmpty);
  std::vector<int> nothing;
  EXPECT_EQ(add_copy(graph, {}, none, nothing).type(), cudaGraphNodeTypeEmpty);
}

TEST_F(NodesTest, ChildGraphs) {
  DeviceBuffer<int> x(100, stream);
  stream.synchronize();
  {
    Graph parent;
    const GraphNode first = add_fill(parent, {}, x, 1);
    {
      Graph child;
      add_fill(child, {}, x, 2);
      child.retain(Counted(count));
      EXPECT_EQ(parent.add_child(first, child).type(), cudaGraphNodeTypeGraph);
    }
    EXPECT_EQ(count.ended, 0);
    parent.instantiate().launch(stream);
    EXPECT_EQ(bytes_of(x, stream), std::vector<int>(100, 2));
    parent.add_child({}, capture(stream, [&](StreamRef s) { fill(x, 3, s); }));
  }
  wait_until_ended(count, 1);
}

TEST_F(NodesTest, ReadTheirSourcesAtEachLaunch) {
  PinnedBuffer<int> from(10), to(10);
  {
    Graph graph;
    auto& x = graph.retain(std::pair(DeviceBuffer<int>(10), Counted(count))).first;
    add_copy(graph, add_copy(graph, {}, x, from), to, x);
    const GraphExec exec = graph.instantiate();
    for (int i = 0; i < 3; ++i) {
      std::fill(from.begin(), from.end(), i);
      exec.launch(stream);
      stream.synchronize();
      EXPECT_EQ(to[9], i);
    }
  }
  wait_until_ended(count, 1);
}

// What a graph retains outlives its last launch, whatever ends first.
TEST_F(NodesTest, RetainedObjectsOutliveTheLastLaunch) {
  DeviceBuffer<int> result(1000, stream);
  stream.synchronize();
  {
    Graph graph;
    auto& x = graph.retain(std::pair(DeviceBuffer<int>(1000), Counted(count)));
    const GraphNode set = add_fill(graph, {}, x.first, 5);
    const GraphNode slow =
        add_host(graph, set, [] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); });
    add_copy(graph, slow, result, x.first);
    GraphExec exec = graph.instantiate();
    graph.reset();
    exec.launch(stream);
    EXPECT_EQ(count.ended, 0);
  }
  EXPECT_EQ(bytes_of(result, stream), std::vector<int>(1000, 5));
  wait_until_ended(count, 1);
  collect();
  EXPECT_EQ(detail::count_to_collect(), 0u);
}

TEST_F(NodesTest, Clone) {
  DeviceBuffer<int> x(10, stream);
  stream.synchronize();
  Graph graph;
  add_fill(graph, {}, x, 1);
  graph.retain(Counted(count));
  Graph copy = graph.clone();
  graph.reset();
  copy.instantiate().launch(stream);
  EXPECT_EQ(bytes_of(x, stream), std::vector<int>(10, 1));
  EXPECT_EQ(count.ended, 0);
  copy.reset();
  wait_until_ended(count, 1);
}

class ExecTest : public CapturedTest {};

TEST_F(ExecTest, Update) {
  Count& first = count;
  Count& second = other_count;
  DeviceBuffer<int> x(100, stream);
  stream.synchronize();
  Graph graph = capture(stream, [&](StreamRef s) { fill(x, 1, s); });
  graph.retain(Counted(first));
  const GraphExec exec = graph.instantiate();
  graph.reset();
  {
    const Graph other = capture(stream, [&](StreamRef s) { fill(x, 2, s); });
    other.retain(Counted(second));
    const GraphUpdate done = exec.update(other);
    EXPECT_TRUE(done);
    EXPECT_STREQ(done.reason(), "");
    EXPECT_EQ(done.result(), cudaGraphExecUpdateSuccess);
  }
  wait_until_ended(first, 1);
  exec.launch(stream);
  EXPECT_EQ(bytes_of(x, stream), std::vector<int>(100, 2));
  EXPECT_EQ(second.ended, 0);

  const GraphUpdate refused = exec.update(capture(stream, [&](StreamRef s) {
    fill(x, 3, s);
    fill(x, 4, s);
  }));
  EXPECT_FALSE(refused);
  EXPECT_EQ(refused.result(), cudaGraphExecUpdateErrorTopologyChanged);
  EXPECT_STRNE(refused.reason(), "");
  EXPECT_EQ(peek_last_error(), cudaSuccess);
  exec.launch(stream);
  EXPECT_EQ(bytes_of(x, stream), std::vector<int>(100, 2));
}

TEST_F(ExecTest, NewParameters) {
  DeviceBuffer<int> x(100, stream), y(100, stream);
  PinnedBuffer<int> a(100), b(100);
  std::fill(a.begin(), a.end(), 10);
  std::fill(b.begin(), b.end(), 20);
  stream.synchronize();
  std::atomic<int> first_calls{0}, second_calls{0};
  const HostFunc second([&] { ++second_calls; });
  const Event one, other;
  Graph graph;
  const GraphNode in = add_copy(graph, {}, x, a);
  const GraphNode run =
      add_kernel(graph, in, {.grid = 1, .block = 128}, kernels::increment, x, std::size_t{100});
  const GraphNode set = add_fill(graph, {}, y, 1);
  const GraphNode host = add_host(graph, run, [&] { ++first_calls; });
  const GraphNode record = graph.add_record({host, set}, one);
  const GraphExec exec = graph.instantiate();
  exec.launch(stream);
  EXPECT_EQ(bytes_of(x, stream), std::vector<int>(100, 11));
  EXPECT_EQ(bytes_of(y, stream), std::vector<int>(100, 1));

  set_copy(exec, in, x, b);
  set_kernel(exec, run, {.grid = 1, .block = 64}, kernels::increment, x, std::size_t{50});
  set_fill(exec, set, y, 2);
  set_host(exec, host, second);
  exec.set_record(record, other);
  exec.launch(stream);
  other.synchronize();
  stream.synchronize();
  EXPECT_EQ(bytes_of(x, stream)[49], 21);
  EXPECT_EQ(bytes_of(x, stream)[50], 20);
  EXPECT_EQ(bytes_of(y, stream), std::vector<int>(100, 2));
  EXPECT_EQ(first_calls, 1);
  EXPECT_EQ(second_calls, 1);

  EXPECT_TRUE(exec.is_enabled(run));
  exec.set_enabled(run, false);
  EXPECT_FALSE(exec.is_enabled(run));
  exec.launch(stream);
  EXPECT_EQ(bytes_of(x, stream), std::vector<int>(100, 20));

  support::expect_refused([&] { set_copy(exec, in, x.first(1), b); },
                          {cudaErrorInvalidValue, "culvert::set_copy"});
  support::expect_refused([&] { set_copy(exec, in, x.first(0), std::span<int>()); },
                          {cudaErrorInvalidValue, "culvert::set_copy", {"set_enabled"}});
  DeviceBuffer<double> d(10, stream);
  support::expect_refused([&] { set_fill(exec, set, d, 1.1); },
                          {cudaErrorInvalidValue, "culvert::set_fill", {"more than one set"}});
}

TEST_F(ExecTest, ChildParameters) {
  DeviceBuffer<int> x(100, stream);
  stream.synchronize();
  Graph parent;
  const GraphNode child =
      parent.add_child({}, capture(stream, [&](StreamRef s) { fill(x, 1, s); }));
  const GraphExec exec = parent.instantiate();
  exec.set_child(child, capture(stream, [&](StreamRef s) { fill(x, 2, s); }));
  exec.launch(stream);
  EXPECT_EQ(bytes_of(x, stream), std::vector<int>(100, 2));
}

TEST_F(ExecTest, LaunchesOfOneFollowEachOther) {
  const Stream other;
  DeviceBuffer<int> x(1, stream);
  fill(x, 0, stream);
  other.wait(stream);
  Graph graph;
  add_kernel(graph, {}, {}, kernels::increment, x, std::size_t{1});
  const GraphExec exec = graph.instantiate();
  for (int i = 0; i < 20; ++i) exec.launch(i % 2 ? stream : other);
  stream.synchronize();
  other.synchronize();
  EXPECT_EQ(bytes_of(x, stream), std::vector<int>{20});
}

TEST_F(ExecTest, Options) {
  DeviceBuffer<int> x(10, stream);
  stream.synchronize();
  Graph graph = capture(stream, [&](StreamRef s) { fill(x, 1, s); });
  const GraphExec exec = graph.instantiate({.free_on_launch = true, .node_priority = true});
  exec.launch(stream);
  EXPECT_EQ(bytes_of(x, stream), std::vector<int>(10, 1));
}

TEST_F(ExecTest, Handles) {
  Graph graph;
  graph.add_empty();
  Graph taken = Graph::from_handle(graph.release());
  EXPECT_EQ(graph.get(), nullptr);
  GraphExec exec = taken.instantiate();
  GraphExec adopted = GraphExec::from_handle(exec.release());
  adopted.launch(stream);
  stream.synchronize();
  support::expect_refused([&] { (void)graph.node_count(); },
                          {cudaErrorInvalidResourceHandle, "culvert::Graph"});
  support::expect_refused([&] { exec.launch(stream); },
                          {cudaErrorInvalidResourceHandle, "culvert::GraphExec"});
  support::expect_refused([&] { (void)Graph::from_handle(nullptr); },
                          {cudaErrorInvalidValue, "culvert::Graph::from_handle"});
  support::expect_refused([&] { (void)GraphExec::from_handle(nullptr); },
                          {cudaErrorInvalidValue, "culvert::GraphExec::from_handle"});
  cudaGraph_t null = nullptr;
  support::expect_refused([&] { (void)GraphRef(null); },
                          {cudaErrorInvalidResourceHandle, "culvert::GraphRef"});
  Graph moved = std::move(taken);
  support::expect_refused([&] { taken.add_empty(); },
                          {cudaErrorInvalidResourceHandle, "culvert::Graph"});
  EXPECT_EQ(GraphRef(moved), GraphRef(moved.get()));
}

TEST_F(ExecTest, Dot) {
  DeviceBuffer<int> x(10, stream);
  stream.synchronize();
  Graph graph;
  add_fill(graph, add_fill(graph, {}, x, 1), x, 2);
  const std::string path = testing::TempDir() + "culvert_graph_test.dot";
  const auto text = [&] {
    std::ostringstream all;
    all << std::ifstream(path).rdbuf();
    return all.str();
  };
  graph.write_dot(path.c_str());
  const std::string brief = text();
  EXPECT_NE(brief.find("digraph"), std::string::npos);
  EXPECT_NE(brief.find("->"), std::string::npos);
  graph.write_dot(path.c_str(), DotDetail::full);
  EXPECT_GT(text().size(), brief.size());
  std::remove(path.c_str());
  support::expect_refused([&] { graph.write_dot(nullptr); },
                          {cudaErrorInvalidValue, "culvert::Graph::write_dot"});
}

TEST_F(ExecTest, WrongKernelsAndSizes) {
  DeviceBuffer<int> x(10, stream), y(11, stream);
  stream.synchronize();
  Graph graph;
  support::expect_refused([&] { add_copy(graph, {}, x, y); },
                          {cudaErrorInvalidValue, "culvert::add_copy", {"10", "11"}});
  support::expect_refused(
      [&] { add_kernel(graph, {}, {.grid = 0}, kernels::increment, x, std::size_t{1}); },
      {cudaErrorInvalidConfiguration, "culvert::launch"});
  void (*null)() = nullptr;
  support::expect_refused([&] { add_host(graph, {}, null); },
                          {cudaErrorInvalidValue, "culvert::add_host"});
  EXPECT_EQ(graph.node_count(), 0u);
}

}  // namespace
