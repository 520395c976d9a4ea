// SPDX-License-Identifier: BSL-1.0
// Graphs that calls build, executable graphs, user objects and callbacks.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include "sim_fixture.hpp"

namespace {

using Log = std::vector<int>;
using Nodes = std::vector<cudaGraphNode_t>;

struct Note {
  Log* log;
  int number;
};

void write_note(void* data) {
  const Note* const note = static_cast<const Note*>(data);
  note->log->push_back(note->number);
}

void set_to(unsigned char* x, int value) { *sim::memory(x) = static_cast<unsigned char>(value); }
void add_to(unsigned char* x, int value) {
  unsigned char* const to = sim::memory(x);
  *to = static_cast<unsigned char>(*to + value);
}

class Graph : public SimTest {
 protected:
  Graph() {
    sim::define_kernel(set_to);
    sim::define_kernel(add_to);
  }

  static cudaGraph_t make_graph() {
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaGraphCreate(&graph, 0), cudaSuccess);
    return graph;
  }

  static cudaGraphNode_t host(cudaGraph_t graph, Note& note, const Nodes& after = {}) {
    const cudaHostNodeParams params{write_note, &note};
    cudaGraphNode_t node = nullptr;
    EXPECT_EQ(cudaGraphAddHostNode(&node, graph, after.data(), after.size(), &params), cudaSuccess);
    return node;
  }

  static cudaMemsetParams fill_params(void* to, unsigned value, std::size_t size) {
    return {to, 0, value, 1, size, 1};
  }

  static cudaGraphNode_t fill(cudaGraph_t graph, void* to, unsigned value, std::size_t size,
                              const Nodes& after = {}) {
    const cudaMemsetParams params = fill_params(to, value, size);
    cudaGraphNode_t node = nullptr;
    EXPECT_EQ(cudaGraphAddMemsetNode(&node, graph, after.data(), after.size(), &params),
              cudaSuccess);
    return node;
  }

  static cudaGraphNode_t copy(cudaGraph_t graph, void* to, const void* from, std::size_t size,
                              const Nodes& after = {}) {
    cudaGraphNode_t node = nullptr;
    EXPECT_EQ(cudaGraphAddMemcpyNode1D(&node, graph, after.data(), after.size(), to, from, size,
                                       cudaMemcpyDefault),
              cudaSuccess);
    return node;
  }

  // Of one of the kernels above.
  struct KernelArguments {
    unsigned char* x;
    int value;
    void* addresses[2] = {&x, &value};
    cudaKernelNodeParams params(void (*kernel)(unsigned char*, int)) {
      return {reinterpret_cast<void*>(kernel), 1, 1, 0, addresses, nullptr};
    }
  };

  static cudaGraphNode_t kernel(cudaGraph_t graph, void (*function)(unsigned char*, int),
                                unsigned char* x, int value, const Nodes& after = {}) {
    KernelArguments arguments{x, value};
    const cudaKernelNodeParams params = arguments.params(function);
    cudaGraphNode_t node = nullptr;
    EXPECT_EQ(cudaGraphAddKernelNode(&node, graph, after.data(), after.size(), &params),
              cudaSuccess);
    return node;
  }

  static cudaGraphExec_t instantiate(cudaGraph_t graph, unsigned long long flags = 0) {
    cudaGraphExec_t exec = nullptr;
    EXPECT_EQ(cudaGraphInstantiate(&exec, graph, flags), cudaSuccess);
    return exec;
  }

  static void run(cudaGraphExec_t exec) {
    EXPECT_EQ(cudaGraphLaunch(exec, nullptr), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
  }

  static Nodes nodes_of(cudaGraph_t graph) {
    std::size_t count = 0;
    EXPECT_EQ(cudaGraphGetNodes(graph, nullptr, &count), cudaSuccess);
    Nodes nodes(count);
    EXPECT_EQ(cudaGraphGetNodes(graph, nodes.data(), &count), cudaSuccess);
    return nodes;
  }

  static cudaUserObject_t make_object(std::atomic<int>& ended, unsigned references = 1) {
    cudaUserObject_t object = nullptr;
    EXPECT_EQ(cudaUserObjectCreate(
                  &object, &ended, [](void* data) { ++*static_cast<std::atomic<int>*>(data); },
                  references, cudaUserObjectNoDestructorSync),
              cudaSuccess);
    return object;
  }
};

TEST_F(Graph, EdgesOrderAndNothingElseDoes) {
  Log log;
  Note notes[] = {{&log, 0}, {&log, 1}, {&log, 2}, {&log, 3}};
  cudaGraph_t graph = make_graph();
  cudaGraphNode_t a = host(graph, notes[0]);
  cudaGraphNode_t b = host(graph, notes[1], {a});
  cudaGraphNode_t c = host(graph, notes[2], {a});
  host(graph, notes[3], {b, c});
  cudaGraphExec_t exec = instantiate(graph);
  bool seen[2] = {};
  sim::set_schedule(sim::Schedule::random);
  for (int round = 0; round < 40; ++round) {
    log.clear();
    run(exec);
    ASSERT_EQ(log.size(), 4U);
    EXPECT_EQ(log[0], 0);
    EXPECT_EQ(log[3], 3);
    seen[log[1] == 2] = true;
  }
  EXPECT_TRUE(seen[0] && seen[1]);
}

// The late schedule runs what is asked for: without an edge the reader is not behind the writer.
TEST_F(Graph, AMissingEdgeShowsStaleBytes) {
  unsigned char* const device = make_device(1);
  unsigned char* const pinned = make_pinned(1);
  CUDA_OK(cudaMemset(device, 1, 1));
  CUDA_OK(cudaDeviceSynchronize());
  for (const bool edge : {false, true}) {
    CUDA_OK(cudaMemset(device, 1, 1));
    cudaGraph_t graph = make_graph();
    cudaEvent_t event = make_event();
    cudaGraphNode_t record = nullptr;
    cudaGraphNode_t read = copy(graph, pinned, device, 1);
    CUDA_OK(cudaGraphAddEventRecordNode(&record, graph, &read, 1, event));
    cudaGraphNode_t write = fill(graph, device, 2, 1);
    if (edge) {
      CUDA_OK(cudaGraphAddDependencies(graph, &write, &read, nullptr, 1));
    }
    cudaStream_t stream = make_stream(cudaStreamDefault);
    CUDA_OK(cudaGraphLaunch(instantiate(graph), stream));
    CUDA_OK(cudaEventSynchronize(event));
    EXPECT_EQ(pinned[0], edge ? 2 : 1);
    CUDA_OK(cudaStreamSynchronize(stream));
  }
}

// Nor is it where all of the graph is waited for: without an edge the last node runs first.
TEST_F(Graph, AMissingEdgeShowsWhicheverNodeIsMadeFirst) {
  unsigned char* const device = make_device(1);
  unsigned char* const pinned = make_pinned(1);
  for (const bool writes_first : {false, true}) {
    for (const bool edge : {false, true}) {
      CUDA_OK(cudaMemset(device, 1, 1));
      cudaGraph_t graph = make_graph();
      cudaGraphNode_t first =
          writes_first ? fill(graph, device, 2, 1) : copy(graph, pinned, device, 1);
      const Nodes needed(edge ? 1 : 0, first);
      if (writes_first) {
        copy(graph, pinned, device, 1, needed);
      } else {
        fill(graph, device, 2, 1, needed);
      }
      run(instantiate(graph));
      EXPECT_EQ(pinned[0] == 2, writes_first == edge);
    }
  }
}

TEST_F(Graph, ALaunchFollowsItsStreamAndTheLaunchBefore) {
  Log log;
  Note notes[] = {{&log, 0}, {&log, 1}, {&log, 2}};
  cudaStream_t a = make_stream();
  cudaStream_t b = make_stream();
  cudaGraph_t graph = make_graph();
  host(graph, notes[1]);
  cudaGraphExec_t exec = instantiate(graph);
  CUDA_OK(cudaLaunchHostFunc(a, write_note, &notes[0]));
  CUDA_OK(cudaGraphLaunch(exec, a));
  CUDA_OK(cudaGraphLaunch(exec, b));
  CUDA_OK(cudaLaunchHostFunc(b, write_note, &notes[2]));
  EXPECT_TRUE(log.empty());
  CUDA_OK(cudaStreamSynchronize(b));  // a's work too, through the launch
  EXPECT_EQ(log, (Log{0, 1, 1, 2}));
}

// Each launch as a whole, not node by node.
TEST_F(Graph, ALaunchFollowsAllOfTheOneBefore) {
  Log log;
  Note notes[] = {{&log, 1}, {&log, 2}};
  cudaEvent_t event = make_event();
  cudaGraph_t graph = make_graph();
  cudaGraphNode_t node = host(graph, notes[0]);
  CUDA_OK(cudaGraphAddEventRecordNode(&node, graph, &node, 1, event));
  host(graph, notes[1]);
  cudaGraphExec_t exec = instantiate(graph);
  CUDA_OK(cudaGraphLaunch(exec, make_stream()));
  CUDA_OK(cudaGraphLaunch(exec, make_stream()));
  CUDA_OK(cudaEventSynchronize(event));
  EXPECT_EQ(log, (Log{2, 1, 1}));
}

TEST_F(Graph, LaunchesUnderEachSchedule) {
  unsigned char* const device = make_device(1);
  unsigned char* const pinned = make_pinned(1);
  cudaGraph_t graph = make_graph();
  cudaGraphNode_t node = fill(graph, device, 3, 1);
  node = kernel(graph, add_to, device, 4, {node});
  copy(graph, pinned, device, 1, {node});
  cudaGraphExec_t exec = instantiate(graph);
  for (const auto schedule : {sim::Schedule::eager, sim::Schedule::random, sim::Schedule::late}) {
    sim::set_schedule(schedule);
    pinned[0] = 0;
    CUDA_OK(cudaGraphLaunch(exec, cudaStreamPerThread));
    if (schedule == sim::Schedule::eager) {
      EXPECT_EQ(pinned[0], 7);
    }
    CUDA_OK(cudaStreamSynchronize(cudaStreamPerThread));
    EXPECT_EQ(pinned[0], 7);
  }
}

TEST_F(Graph, ElapsedTimeCountsTheLongestPath) {
  constexpr std::size_t size = std::size_t{16} << 20;
  cudaStream_t stream = make_stream();
  unsigned char* const device = make_device(2 * size);
  cudaEvent_t start = make_event(cudaEventDefault);
  cudaEvent_t end = make_event(cudaEventDefault);
  const auto time_of = [&](bool in_order) {
    cudaGraph_t graph = make_graph();
    cudaGraphNode_t first = fill(graph, device, 1, size);
    fill(graph, device + size, 1, size, in_order ? Nodes{first} : Nodes{});
    cudaGraphExec_t exec = instantiate(graph);
    float time = 0;
    EXPECT_EQ(cudaEventRecord(start, stream), cudaSuccess);
    EXPECT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
    EXPECT_EQ(cudaEventRecord(end, stream), cudaSuccess);
    EXPECT_EQ(cudaEventSynchronize(end), cudaSuccess);
    EXPECT_EQ(cudaEventElapsedTime(&time, start, end), cudaSuccess);
    return time;
  };
  const auto one = static_cast<float>((1600.0 + size / 3900) / 1e6);
  EXPECT_FLOAT_EQ(time_of(false), one + 0.001F);
  EXPECT_FLOAT_EQ(time_of(true), 2 * one + 0.001F);
}

TEST_F(Graph, APendingLaunchOutlivesItsGraph) {
  Log log;
  Note note{&log, 1};
  cudaGraph_t graph = make_graph();
  host(graph, note);
  cudaGraphExec_t exec = instantiate(graph);
  CUDA_OK(cudaGraphDestroy(graph));
  CUDA_OK(cudaGraphLaunch(exec, nullptr));
  CUDA_OK(cudaGraphExecDestroy(exec));
  EXPECT_EQ(sim::live().graph_execs, 0U);
  EXPECT_EQ(cudaGraphLaunch(exec, nullptr), cudaErrorInvalidValue);
  CUDA_OK(cudaStreamSynchronize(nullptr));
  EXPECT_EQ(log, (Log{1}));
}

TEST_F(Graph, HandlesThatAreNoneAreErrors) {
  cudaGraph_t graph = make_graph();
  cudaGraph_t other = make_graph();
  Log log;
  Note note{&log, 1};
  cudaGraphNode_t node = host(graph, note);
  cudaGraphNode_t stranger = host(other, note);
  cudaGraphExec_t exec = instantiate(graph);
  EXPECT_EQ(sim::live().graphs, 2U);
  EXPECT_EQ(sim::live().graph_execs, 1U);
  cudaGraphNode_t result = nullptr;
  EXPECT_EQ(cudaGraphAddEmptyNode(&result, graph, &stranger, 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphAddEmptyNode(&result, graph, nullptr, 1), cudaErrorInvalidValue);
  const cudaGraphNode_t twice[] = {node, node};
  EXPECT_EQ(cudaGraphAddEmptyNode(&result, graph, twice, 2), cudaErrorInvalidValue);
  CUDA_OK(cudaGraphDestroy(graph));
  CUDA_OK(cudaGraphExecDestroy(exec));
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  std::size_t count = 0;
  cudaHostNodeParams params{write_note, &note};
  for (const std::uintptr_t value : {reinterpret_cast<std::uintptr_t>(graph), std::uintptr_t{0},
                                     std::uintptr_t{1}, std::uintptr_t{0x7FFF'FFFF'0000}}) {
    const auto no_graph = reinterpret_cast<cudaGraph_t>(value);
    const auto no_node = value == reinterpret_cast<std::uintptr_t>(graph)
                             ? node
                             : reinterpret_cast<cudaGraphNode_t>(value);
    const auto no_exec = value == reinterpret_cast<std::uintptr_t>(graph)
                             ? exec
                             : reinterpret_cast<cudaGraphExec_t>(value);
    EXPECT_EQ(cudaGraphDestroy(no_graph), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGraphGetNodes(no_graph, nullptr, &count), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGraphInstantiate(&exec, no_graph, 0), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGraphNodeGetType(no_node, &type), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGraphDestroyNode(no_node), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGraphHostNodeSetParams(no_node, &params), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGraphLaunch(no_exec, nullptr), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGraphExecDestroy(no_exec), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGraphExecUpdate(no_exec, other, nullptr), cudaErrorInvalidValue);
    EXPECT_EQ(cudaUserObjectRelease(reinterpret_cast<cudaUserObject_t>(value), 1),
              cudaErrorInvalidValue);
  }
  EXPECT_EQ(cudaGraphCreate(nullptr, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphCreate(&graph, 1), cudaErrorInvalidValue);
}

TEST_F(Graph, ResetsDropThem) {
  cudaGraph_t graph = make_graph();
  cudaGraphExec_t exec = instantiate(graph);
  CUDA_OK(cudaDeviceReset());
  EXPECT_EQ(sim::live().graphs, 0U);
  EXPECT_EQ(sim::live().graph_execs, 0U);
  EXPECT_EQ(cudaGraphLaunch(exec, nullptr), cudaErrorInvalidValue);
  graph = make_graph();
  instantiate(graph);
  sim::reset(strict());
  EXPECT_EQ(sim::live().graphs, 0U);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaErrorInvalidValue);
}

TEST_F(Graph, EdgesAreTold) {
  cudaGraph_t graph = make_graph();
  unsigned char* const device = make_device(2);
  cudaGraphNode_t a = kernel(graph, set_to, device, 1);
  cudaGraphNode_t b = kernel(graph, set_to, device + 1, 1);
  cudaGraphNode_t c = nullptr;
  CUDA_OK(cudaGraphAddEmptyNode(&c, graph, &a, 1));
  CUDA_OK(cudaGraphAddDependencies(graph, &b, &c, nullptr, 1));
  EXPECT_EQ(cudaGraphAddDependencies(graph, &b, &c, nullptr, 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphAddDependencies(graph, &b, &b, nullptr, 1), cudaErrorInvalidValue);
  Nodes list(3);
  std::size_t count = 3;
  CUDA_OK(cudaGraphNodeGetDependencies(c, list.data(), nullptr, &count));
  EXPECT_EQ(count, 2U);
  EXPECT_EQ(list, (Nodes{a, b, nullptr}));
  count = 1;
  CUDA_OK(cudaGraphNodeGetDependencies(c, list.data(), nullptr, &count));
  EXPECT_EQ(count, 1U);
  count = 3;
  CUDA_OK(cudaGraphNodeGetDependentNodes(b, list.data(), nullptr, &count));
  EXPECT_EQ(list, (Nodes{c, nullptr, nullptr}));
  CUDA_OK(cudaGraphGetRootNodes(graph, list.data(), &(count = 3)));
  EXPECT_EQ(list, (Nodes{a, b, nullptr}));
  CUDA_OK(cudaGraphRemoveDependencies(graph, &b, &c, nullptr, 1));
  EXPECT_EQ(cudaGraphRemoveDependencies(graph, &b, &c, nullptr, 1), cudaErrorInvalidValue);
  CUDA_OK(cudaGraphDestroyNode(a));
  EXPECT_EQ(nodes_of(graph), (Nodes{b, c}));
  CUDA_OK(cudaGraphNodeGetDependencies(c, nullptr, nullptr, &count));
  EXPECT_EQ(count, 0U);
  // An edge with data is not told without it.
  cudaGraphEdgeData data{};
  data.from_port = cudaGraphKernelNodePortProgrammatic;
  data.type = cudaGraphDependencyTypeProgrammatic;
  EXPECT_EQ(cudaGraphAddDependencies(graph, &c, &b, &data, 1), cudaErrorInvalidValue);
  CUDA_OK(cudaGraphAddDependencies(graph, &b, &c, &data, 1));
  EXPECT_EQ(cudaGraphNodeGetDependencies(c, list.data(), nullptr, &(count = 3)),
            cudaErrorLossyQuery);
  cudaGraphEdgeData told[3];
  CUDA_OK(cudaGraphNodeGetDependencies(c, list.data(), told, &(count = 3)));
  EXPECT_EQ(told[0].from_port, data.from_port);
}

TEST_F(Graph, ACycleIsFoundWhenItIsInstantiated) {
  cudaGraph_t graph = make_graph();
  cudaGraphNode_t a = nullptr;
  cudaGraphNode_t b = nullptr;
  CUDA_OK(cudaGraphAddEmptyNode(&a, graph, nullptr, 0));
  CUDA_OK(cudaGraphAddEmptyNode(&b, graph, &a, 1));
  CUDA_OK(cudaGraphAddDependencies(graph, &b, &a, nullptr, 1));
  cudaGraphExec_t exec = nullptr;
  EXPECT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaErrorInvalidValue);
  cudaGraphInstantiateParams params{};
  EXPECT_EQ(cudaGraphInstantiateWithParams(&exec, graph, &params), cudaErrorInvalidValue);
  EXPECT_EQ(params.result_out, cudaGraphInstantiateInvalidStructure);
  EXPECT_TRUE(params.errNode_out == a || params.errNode_out == b);
}

TEST_F(Graph, InstantiationFlags) {
  cudaGraph_t graph = make_graph();
  cudaGraphExec_t exec = nullptr;
  EXPECT_EQ(cudaGraphInstantiate(&exec, graph, 64), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphInstantiate(&exec, graph, cudaGraphInstantiateFlagUpload),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphInstantiate(&exec, graph, cudaGraphInstantiateFlagDeviceLaunch),
            cudaErrorInvalidValue);
  cudaGraph_t other = make_graph();
  cudaGraphNode_t node = nullptr;
  CUDA_OK(cudaGraphAddEmptyNode(&node, other, nullptr, 0));
  testing::internal::CaptureStderr();
  EXPECT_EQ(cudaGraphInstantiate(&exec, other, cudaGraphInstantiateFlagDeviceLaunch),
            cudaErrorNotSupported);
  EXPECT_NE(testing::internal::GetCapturedStderr(), "");
  cudaGraphInstantiateParams params{};
  params.flags = cudaGraphInstantiateFlagUpload | cudaGraphInstantiateFlagUseNodePriority;
  params.uploadStream = make_stream();
  CUDA_OK(cudaGraphInstantiateWithParams(&exec, graph, &params));
  EXPECT_EQ(params.result_out, cudaGraphInstantiateSuccess);
  EXPECT_EQ(sim::pending(), 1U);
  unsigned long long flags = 0;
  CUDA_OK(cudaGraphExecGetFlags(exec, &flags));
  EXPECT_EQ(flags, 0U);  // nothing in it has a priority
  CUDA_OK(cudaGraphUpload(exec, params.uploadStream));
  run(exec);  // of a graph without nodes
}

TEST_F(Graph, Clones) {
  unsigned char* const device = make_device(2);
  cudaGraph_t graph = make_graph();
  cudaGraphNode_t node = fill(graph, device, 1, 1);
  cudaGraph_t clone = nullptr;
  CUDA_OK(cudaGraphClone(&clone, graph));
  cudaGraphNode_t same = nullptr;
  CUDA_OK(cudaGraphNodeFindInClone(&same, node, clone));
  EXPECT_NE(same, node);
  EXPECT_EQ(cudaGraphNodeFindInClone(&same, node, graph), cudaErrorInvalidValue);
  CUDA_OK(cudaGraphNodeFindInClone(&same, node, clone));
  const cudaMemsetParams params = fill_params(device + 1, 2, 1);
  CUDA_OK(cudaGraphMemsetNodeSetParams(same, &params));
  CUDA_OK(cudaGraphLaunch(instantiate(graph), nullptr));
  CUDA_OK(cudaGraphDestroy(graph));
  CUDA_OK(cudaGraphLaunch(instantiate(clone), nullptr));
  EXPECT_EQ(read(device, 2), (std::vector<unsigned char>{1, 2}));
}

TEST_F(Graph, ChildGraphs) {
  Log log;
  Note notes[] = {{&log, 0}, {&log, 1}, {&log, 2}};
  cudaGraph_t child = make_graph();
  cudaGraphNode_t in_child = host(child, notes[1]);
  cudaGraph_t graph = make_graph();
  cudaGraphNode_t before = host(graph, notes[0]);
  cudaGraphNode_t node = nullptr;
  CUDA_OK(cudaGraphAddChildGraphNode(&node, graph, &before, 1, child));
  host(graph, notes[2], {node});
  EXPECT_EQ(cudaGraphAddChildGraphNode(&node, graph, nullptr, 0, graph), cudaErrorInvalidValue);
  host(child, notes[1]);  // the node has a copy
  CUDA_OK(cudaGraphDestroy(child));
  cudaGraph_t inside = nullptr;
  CUDA_OK(cudaGraphChildGraphNodeGetGraph(node, &inside));
  EXPECT_EQ(cudaGraphDestroy(inside), cudaErrorInvalidValue);
  ASSERT_EQ(nodes_of(inside).size(), 1U);
  EXPECT_NE(nodes_of(inside)[0], in_child);
  EXPECT_EQ(sim::live().graphs, 1U);
  cudaGraphExec_t exec = instantiate(graph);
  run(exec);
  EXPECT_EQ(log, (Log{0, 1, 2}));
  // Its nodes can be changed in the executable graph.
  Note other{&log, 9};
  const cudaHostNodeParams params{write_note, &other};
  CUDA_OK(cudaGraphExecHostNodeSetParams(exec, nodes_of(inside)[0], &params));
  run(exec);
  EXPECT_EQ(log, (Log{0, 1, 2, 0, 9, 2}));
  cudaGraph_t later = make_graph();
  host(later, notes[1]);
  CUDA_OK(cudaGraphExecChildGraphNodeSetParams(exec, node, later));
  log.clear();
  run(exec);
  EXPECT_EQ(log, (Log{0, 1, 2}));
  host(later, notes[1]);
  EXPECT_EQ(cudaGraphExecChildGraphNodeSetParams(exec, node, later), cudaErrorInvalidValue);
}

TEST_F(Graph, AChildGraphThatIsMoved) {
  Log log;
  Note note{&log, 1};
  cudaGraph_t child = make_graph();
  host(child, note);
  cudaGraph_t graph = make_graph();
  cudaGraphNodeParams params{};
  params.type = cudaGraphNodeTypeGraph;
  params.graph.graph = child;
  params.graph.ownership = cudaGraphChildGraphOwnershipMove;
  cudaGraphNode_t node = nullptr;
  CUDA_OK(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
  cudaGraphExec_t exec = nullptr;
  EXPECT_EQ(cudaGraphDestroy(child), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphInstantiate(&exec, child, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphAddChildGraphNode(&node, make_graph(), nullptr, 0, child),
            cudaErrorInvalidValue);
  run(instantiate(graph));
  EXPECT_EQ(log, (Log{1}));
  CUDA_OK(cudaGraphDestroy(graph));
  EXPECT_EQ(nodes_of(make_graph()).size(), 0U);
  std::size_t count = 0;
  EXPECT_EQ(cudaGraphGetNodes(child, nullptr, &count), cudaErrorInvalidValue);
}

TEST_F(Graph, ParametersAreToldAndSet) {
  unsigned char* const device = make_device(8);
  unsigned char* const pinned = make_pinned(8);
  cudaGraph_t graph = make_graph();
  cudaGraphNode_t node = kernel(graph, set_to, device, 5);
  cudaKernelNodeParams kernel_params{};
  CUDA_OK(cudaGraphKernelNodeGetParams(node, &kernel_params));
  EXPECT_EQ(kernel_params.func, reinterpret_cast<void*>(set_to));
  EXPECT_EQ(*static_cast<unsigned char**>(kernel_params.kernelParams[0]), device);
  EXPECT_EQ(*static_cast<int*>(kernel_params.kernelParams[1]), 5);
  kernel_params.blockDim.x = 2000;
  EXPECT_EQ(cudaGraphKernelNodeSetParams(node, &kernel_params), cudaErrorInvalidValue);
  kernel_params.blockDim.x = 32;
  kernel_params.func = reinterpret_cast<void*>(add_to);  // with the node's own arguments
  CUDA_OK(cudaGraphKernelNodeSetParams(node, &kernel_params));
  CUDA_OK(cudaGraphKernelNodeGetParams(node, &kernel_params));
  EXPECT_EQ(kernel_params.blockDim.x, 32U);
  cudaLaunchAttributeValue value{};
  value.priority = -1;
  CUDA_OK(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributePriority, &value));
  value.priority = 0;
  CUDA_OK(cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributePriority, &value));
  EXPECT_EQ(value.priority, -1);
  cudaGraphNode_t second = kernel(graph, add_to, device, 1, {node});
  CUDA_OK(cudaGraphKernelNodeCopyAttributes(second, node));
  value.priority = 0;
  CUDA_OK(cudaGraphKernelNodeGetAttribute(second, cudaLaunchAttributePriority, &value));
  EXPECT_EQ(value.priority, -1);

  cudaGraphNode_t filling = fill(graph, device, 7, 1);
  cudaMemsetParams fill_told{};
  CUDA_OK(cudaGraphMemsetNodeGetParams(filling, &fill_told));
  EXPECT_EQ(fill_told.dst, device);
  EXPECT_EQ(fill_told.value, 7U);
  EXPECT_EQ(cudaGraphHostNodeGetParams(filling, nullptr), cudaErrorInvalidValue);
  CUDA_OK(cudaGraphAddDependencies(graph, &filling, &node, nullptr, 1));

  cudaGraphNode_t copying = copy(graph, pinned, device, 4, {second});
  cudaMemcpy3DParms copy_told{};
  CUDA_OK(cudaGraphMemcpyNodeGetParams(copying, &copy_told));
  EXPECT_EQ(copy_told.dstPtr.ptr, pinned);
  EXPECT_EQ(copy_told.extent.width, 4U);
  CUDA_OK(cudaGraphMemcpyNodeSetParams1D(copying, pinned, device, 1, cudaMemcpyDeviceToHost));
  run(instantiate(graph));
  EXPECT_EQ(pinned[0], 7 + 5 + 1);
  EXPECT_EQ(pinned[1], 0);
}

TEST_F(Graph, CopiesInThreeDimensions) {
  unsigned char* const device = make_device(64);
  unsigned char* const pinned = make_pinned(64);
  for (int i = 0; i < 64; ++i) pinned[i] = static_cast<unsigned char>(i);
  CUDA_OK(cudaMemset(device, 0, 64));
  cudaMemcpy3DParms params{};
  params.srcPtr = {pinned, 4, 4, 4};  // 4 x 4 x 4
  params.dstPtr = {device, 8, 2, 2};  // rows of 8, 2 to a plane
  params.srcPos = {1, 1, 1};
  params.extent = {2, 2, 2};
  params.kind = cudaMemcpyHostToDevice;
  cudaGraph_t graph = make_graph();
  cudaGraphNode_t node = nullptr;
  CUDA_OK(cudaGraphAddMemcpyNode(&node, graph, nullptr, 0, &params));
  run(instantiate(graph));
  const std::vector<unsigned char> bytes = read(device, 32);
  EXPECT_EQ(bytes[0], 21);
  EXPECT_EQ(bytes[1], 22);
  EXPECT_EQ(bytes[2], 0);
  EXPECT_EQ(bytes[8], 25);
  EXPECT_EQ(bytes[16], 37);
  EXPECT_EQ(bytes[25], 42);
  params.srcPtr.pitch = 1;
  EXPECT_EQ(cudaGraphMemcpyNodeSetParams(node, &params), cudaErrorInvalidPitchValue);
}

TEST_F(Graph, NodesOfAnyType) {
  Log log;
  Note note{&log, 1};
  unsigned char* const device = make_device(1);
  cudaGraph_t graph = make_graph();
  cudaGraphNode_t node = nullptr;
  cudaGraphNodeParams params{};
  params.type = cudaGraphNodeTypeHost;
  params.host = {write_note, &note};
  CUDA_OK(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
  cudaGraphNodeParams filling{};
  filling.type = cudaGraphNodeTypeMemset;
  filling.memset = {device, 0, 4, 1, 1, 1};
  cudaGraphNode_t fill_node = nullptr;
  CUDA_OK(cudaGraphAddNode(&fill_node, graph, &node, nullptr, 1, &filling));
  EXPECT_EQ(cudaGraphNodeSetParams(node, &filling), cudaErrorInvalidValue);
  filling.memset.value = 5;
  CUDA_OK(cudaGraphNodeSetParams(fill_node, &filling));
  cudaGraphExec_t exec = instantiate(graph);
  run(exec);
  EXPECT_TRUE(all_are(read(device, 1), 5));
  filling.memset.value = 6;
  CUDA_OK(cudaGraphExecNodeSetParams(exec, fill_node, &filling));
  run(exec);
  EXPECT_TRUE(all_are(read(device, 1), 6));
  EXPECT_EQ(log, (Log{1, 1}));
  testing::internal::CaptureStderr();
  cudaGraphNodeParams conditional{};
  conditional.type = cudaGraphNodeTypeConditional;
  EXPECT_EQ(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &conditional),
            cudaErrorNotSupported);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("conditional"), std::string::npos);
}

TEST_F(Graph, EventNodes) {
  Log log;
  Note notes[] = {{&log, 0}, {&log, 1}};
  cudaEvent_t first = make_event();
  cudaEvent_t second = make_event();
  cudaGraph_t graph = make_graph();
  cudaGraphNode_t wait = nullptr;
  CUDA_OK(cudaGraphAddEventWaitNode(&wait, graph, nullptr, 0, first));
  cudaGraphNode_t noted = host(graph, notes[1], {wait});
  cudaGraphNode_t record = nullptr;
  CUDA_OK(cudaGraphAddEventRecordNode(&record, graph, &noted, 1, first));
  cudaEvent_t told = nullptr;
  CUDA_OK(cudaGraphEventWaitNodeGetEvent(wait, &told));
  EXPECT_EQ(told, first);
  CUDA_OK(cudaGraphEventRecordNodeSetEvent(record, second));
  cudaGraphExec_t exec = instantiate(graph);
  cudaStream_t stream = make_stream();
  CUDA_OK(cudaLaunchHostFunc(stream, write_note, &notes[0]));
  CUDA_OK(cudaEventRecord(first, stream));
  CUDA_OK(cudaGraphLaunch(exec, make_stream()));
  CUDA_OK(cudaEventSynchronize(second));
  EXPECT_EQ(log, (Log{0, 1}));
  CUDA_OK(cudaGraphExecEventRecordNodeSetEvent(exec, record, first));
  CUDA_OK(cudaEventDestroy(first));  // nodes keep it
  run(exec);
  EXPECT_EQ(log, (Log{0, 1, 1}));
  EXPECT_EQ(cudaGraphExecEventRecordNodeSetEvent(exec, wait, second), cudaErrorInvalidValue);
}

TEST_F(Graph, SingleNodesOfAnExecutableGraphAreChanged) {
  unsigned char* const device = make_device(4);
  unsigned char* const pinned = make_pinned(4);
  unsigned char* const other = make_device(4);
  cudaGraph_t graph = make_graph();
  cudaGraphNode_t filling = fill(graph, device, 1, 4);
  cudaGraphNode_t adding = kernel(graph, add_to, device, 1, {filling});
  cudaGraphNode_t copying = copy(graph, pinned, device, 4, {adding});
  cudaGraphExec_t exec = instantiate(graph);
  CUDA_OK(cudaGraphLaunch(exec, nullptr));  // not changed by what follows
  const cudaMemsetParams new_fill = fill_params(device, 3, 4);
  CUDA_OK(cudaGraphExecMemsetNodeSetParams(exec, filling, &new_fill));
  KernelArguments arguments{device, 5};
  const cudaKernelNodeParams new_kernel = arguments.params(add_to);
  CUDA_OK(cudaGraphExecKernelNodeSetParams(exec, adding, &new_kernel));
  CUDA_OK(cudaStreamSynchronize(nullptr));
  EXPECT_EQ(pinned[0], 2);
  EXPECT_EQ(pinned[1], 1);
  run(exec);
  EXPECT_EQ(pinned[0], 8);
  EXPECT_EQ(pinned[1], 3);
  CUDA_OK(cudaGraphExecMemcpyNodeSetParams1D(exec, copying, pinned, device, 1, cudaMemcpyDefault));
  // Another kind of memory.
  EXPECT_EQ(cudaGraphExecMemcpyNodeSetParams1D(exec, copying, other, device, 4, cudaMemcpyDefault),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphExecMemsetNodeSetParams(exec, copying, &new_fill), cudaErrorInvalidValue);
  CUDA_OK(cudaGraphDestroyNode(copying));
  EXPECT_EQ(cudaGraphExecMemcpyNodeSetParams1D(exec, copying, pinned, device, 4, cudaMemcpyDefault),
            cudaErrorInvalidValue);
  // The graph itself was not changed.
  cudaMemsetParams told{};
  CUDA_OK(cudaGraphMemsetNodeGetParams(filling, &told));
  EXPECT_EQ(told.value, 1U);
}

TEST_F(Graph, NodesAreDisabled) {
  Log log;
  Note note{&log, 1};
  unsigned char* const device = make_device(1);
  CUDA_OK(cudaMemset(device, 1, 1));
  cudaGraph_t graph = make_graph();
  cudaGraphNode_t filling = fill(graph, device, 2, 1);
  cudaGraphNode_t noting = host(graph, note, {filling});
  cudaGraphExec_t exec = instantiate(graph);
  unsigned enabled = 0;
  CUDA_OK(cudaGraphNodeGetEnabled(exec, filling, &enabled));
  EXPECT_EQ(enabled, 1U);
  CUDA_OK(cudaGraphNodeSetEnabled(exec, filling, 0));
  EXPECT_EQ(cudaGraphNodeSetEnabled(exec, noting, 0), cudaErrorInvalidValue);
  run(exec);
  EXPECT_EQ(log, (Log{1}));
  EXPECT_TRUE(all_are(read(device, 1), 1));
  CUDA_OK(cudaGraphNodeSetEnabled(exec, filling, 1));
  run(exec);
  EXPECT_TRUE(all_are(read(device, 1), 2));
}

TEST_F(Graph, Updates) {
  unsigned char* const device = make_device(4);
  Log log;
  Note note{&log, 1};
  const auto make = [&](int value, bool edge, bool kernel_last) {
    cudaGraph_t graph = make_graph();
    cudaGraphNode_t a = fill(graph, device, static_cast<unsigned>(value), 4);
    const Nodes after = edge ? Nodes{a} : Nodes{};
    kernel_last ? kernel(graph, add_to, device, value, after) : host(graph, note, after);
    return graph;
  };
  cudaGraph_t graph = make(1, true, true);
  cudaGraphExec_t exec = instantiate(graph);
  cudaGraphExecUpdateResultInfo info{};
  CUDA_OK(cudaGraphExecUpdate(exec, make(3, true, true), &info));
  EXPECT_EQ(info.result, cudaGraphExecUpdateSuccess);
  run(exec);
  EXPECT_EQ(read(device, 2), (std::vector<unsigned char>{6, 3}));

  cudaGraph_t other = make(5, false, true);
  EXPECT_EQ(cudaGraphExecUpdate(exec, other, &info), cudaErrorGraphExecUpdateFailure);
  EXPECT_EQ(info.result, cudaGraphExecUpdateErrorTopologyChanged);
  other = make(5, true, false);
  EXPECT_EQ(cudaGraphExecUpdate(exec, other, &info), cudaErrorGraphExecUpdateFailure);
  EXPECT_EQ(info.result, cudaGraphExecUpdateErrorNodeTypeChanged);
  EXPECT_EQ(info.errorNode, nodes_of(other)[1]);
  other = make(5, true, true);
  fill(other, device, 1, 1);
  EXPECT_EQ(cudaGraphExecUpdate(exec, other, &info), cudaErrorGraphExecUpdateFailure);
  EXPECT_EQ(info.result, cudaGraphExecUpdateErrorTopologyChanged);
  EXPECT_EQ(info.errorNode, nullptr);
  EXPECT_EQ(cudaGraphExecUpdate(exec, nullptr, &info), cudaErrorInvalidValue);
  EXPECT_EQ(info.result, cudaGraphExecUpdateError);
  run(exec);  // nothing changed
  EXPECT_EQ(read(device, 2), (std::vector<unsigned char>{6, 3}));
}

TEST_F(Graph, AnUpdateKeepsTheKindOfMemory) {
  unsigned char* const device = make_device(4);
  unsigned char* const pinned = make_pinned(4);
  cudaGraph_t graph = make_graph();
  copy(graph, pinned, device, 4);
  cudaGraphExec_t exec = instantiate(graph);
  cudaGraph_t other = make_graph();
  copy(other, device, pinned, 4);
  cudaGraphExecUpdateResultInfo info{};
  EXPECT_EQ(cudaGraphExecUpdate(exec, other, &info), cudaErrorGraphExecUpdateFailure);
  EXPECT_EQ(info.result, cudaGraphExecUpdateErrorParametersChanged);
  EXPECT_EQ(info.errorNode, nodes_of(other)[0]);
}

TEST_F(Graph, MemoryThatIsFreedBeforeALaunchIsAnIllegalAddress) {
  unsigned char* const device = make_device(4);
  cudaGraph_t graph = make_graph();
  fill(graph, device, 1, 4);
  cudaGraphExec_t exec = instantiate(graph);
  CUDA_OK(cudaFree(device));
  testing::internal::CaptureStderr();
  CUDA_OK(cudaGraphLaunch(exec, nullptr));
  EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaErrorIllegalAddress);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("a memset node"), std::string::npos);
}

cudaMemAllocNodeParams allocation(std::size_t size) {
  cudaMemAllocNodeParams params{};
  params.poolProps.allocType = cudaMemAllocationTypePinned;
  params.poolProps.location = {cudaMemLocationTypeDevice, 0};
  params.bytesize = size;
  return params;
}

TEST_F(Graph, MemoryOfAGraph) {
  unsigned char* const pinned = make_pinned(16);
  cudaGraph_t graph = make_graph();
  cudaGraphNode_t allocating = nullptr;
  cudaMemAllocNodeParams params = allocation(16);
  CUDA_OK(cudaGraphAddMemAllocNode(&allocating, graph, nullptr, 0, &params));
  ASSERT_NE(params.dptr, nullptr);
  cudaGraphNode_t filling = fill(graph, params.dptr, 3, 16, {allocating});
  cudaGraphNode_t copying = copy(graph, pinned, params.dptr, 16, {filling});
  cudaGraphNode_t freeing = nullptr;
  CUDA_OK(cudaGraphAddMemFreeNode(&freeing, graph, &copying, 1, params.dptr));
  EXPECT_EQ(cudaGraphAddMemFreeNode(&freeing, graph, &copying, 1, params.dptr),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphAddMemFreeNode(&freeing, graph, nullptr, 0, make_device(1)),
            cudaErrorInvalidValue);
  cudaMemAllocNodeParams told{};
  CUDA_OK(cudaGraphMemAllocNodeGetParams(allocating, &told));
  EXPECT_EQ(told.dptr, params.dptr);
  void* freed = nullptr;
  CUDA_OK(cudaGraphMemFreeNodeGetParams(freeing, &freed));
  EXPECT_EQ(freed, params.dptr);
  cudaGraph_t clone = nullptr;
  EXPECT_EQ(cudaGraphClone(&clone, graph), cudaErrorNotSupported);
  EXPECT_EQ(cudaGraphDestroyNode(copying), cudaErrorNotSupported);
  cudaGraphExec_t exec = instantiate(graph);
  EXPECT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaErrorNotSupported);
  for (int round = 0; round < 2; ++round) {
    pinned[0] = 0;
    run(exec);
    EXPECT_EQ(pinned[0], 3);
  }
  CUDA_OK(cudaGraphLaunch(exec, nullptr));
  CUDA_OK(cudaGraphExecDestroy(exec));
  CUDA_OK(cudaGraphDestroy(graph));
  EXPECT_EQ(sim::live().device_allocations, 2U);  // the launch is pending
  CUDA_OK(cudaStreamSynchronize(nullptr));
  EXPECT_EQ(sim::live().device_allocations, 1U);
}

// Each told as what it is.
TEST_F(Graph, MemoryOfAGraphIsUsedTooEarlyOrTooLate) {
  for (const bool late : {false, true}) {
    sim::reset(strict());
    cudaGraph_t graph = make_graph();
    cudaGraphNode_t allocating = nullptr;
    cudaMemAllocNodeParams params = allocation(16);
    CUDA_OK(cudaGraphAddMemAllocNode(&allocating, graph, nullptr, 0, &params));
    cudaGraphNode_t freeing = nullptr;
    CUDA_OK(cudaGraphAddMemFreeNode(&freeing, graph, &allocating, 1, params.dptr));
    fill(graph, params.dptr, 3, 16, Nodes(late ? 1 : 0, freeing));
    CUDA_OK(cudaGraphLaunch(instantiate(graph), nullptr));
    testing::internal::CaptureStderr();
    EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaErrorIllegalAddress);
    const std::string told = testing::internal::GetCapturedStderr();
    const char* const why = late ? "after it was freed" : "before its allocation in stream order";
    EXPECT_NE(told.find(why), std::string::npos) << told;
  }
}

TEST_F(Graph, MemoryThatOutlivesALaunch) {
  cudaGraph_t graph = make_graph();
  cudaGraphNode_t node = nullptr;
  cudaMemAllocNodeParams params = allocation(16);
  CUDA_OK(cudaGraphAddMemAllocNode(&node, graph, nullptr, 0, &params));
  fill(graph, params.dptr, 3, 16, {node});
  cudaGraphExec_t exec = instantiate(graph);
  EXPECT_EQ(cudaFreeAsync(params.dptr, nullptr), cudaErrorInvalidValue);
  run(exec);
  EXPECT_TRUE(all_are(read(params.dptr, 16), 3));
  EXPECT_EQ(cudaGraphLaunch(exec, nullptr), cudaErrorInvalidValue);
  CUDA_OK(cudaFreeAsync(params.dptr, nullptr));
  run(exec);
  CUDA_OK(cudaFree(params.dptr));
  testing::internal::CaptureStderr();
  EXPECT_EQ(cudaFree(params.dptr), cudaErrorInvalidValue);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("(a memory allocation node)"),
            std::string::npos);
  CUDA_OK(cudaGraphExecDestroy(exec));
  exec = instantiate(graph, cudaGraphInstantiateFlagAutoFreeOnLaunch);
  run(exec);
  run(exec);
  EXPECT_TRUE(all_are(read(params.dptr, 16), 3));
  CUDA_OK(cudaGraphExecDestroy(exec));
  CUDA_OK(cudaGraphDestroy(graph));
  EXPECT_TRUE(all_are(read(params.dptr, 16), 3));  // still there
  CUDA_OK(cudaFree(params.dptr));
  EXPECT_EQ(sim::live().device_allocations, 0U);
}

TEST_F(Graph, DotIsWritten) {
  Log log;
  Note note{&log, 1};
  cudaGraph_t child = make_graph();
  host(child, note);
  cudaGraph_t graph = make_graph();
  cudaGraphNode_t node = host(graph, note);
  CUDA_OK(cudaGraphAddChildGraphNode(&node, graph, &node, 1, child));
  const std::string path = testing::TempDir() + "sim_graph_test.dot";
  CUDA_OK(cudaGraphDebugDotPrint(graph, path.c_str(), cudaGraphDebugDotFlagsVerbose));
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  std::remove(path.c_str());
  EXPECT_EQ(text.str().rfind("digraph ", 0), 0U);
  EXPECT_NE(text.str().find("\"node_0\" -> \"node_1\""), std::string::npos);
  EXPECT_NE(text.str().find("HOST"), std::string::npos);
  EXPECT_EQ(cudaGraphDebugDotPrint(graph, "/nowhere/at/all", 0), cudaErrorOperatingSystem);
}

TEST_F(Graph, UserObjectsEndWithTheirLastOwner) {
  std::atomic<int> ended{0};
  cudaGraph_t graph = make_graph();
  cudaUserObject_t object = make_object(ended);
  CUDA_OK(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
  EXPECT_EQ(cudaUserObjectRelease(object, 1), cudaErrorInvalidValue);
  cudaGraphExec_t exec = instantiate(graph);
  CUDA_OK(cudaGraphDestroy(graph));
  CUDA_OK(cudaGraphLaunch(exec, nullptr));
  CUDA_OK(cudaGraphExecDestroy(exec));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(ended, 0);  // the launch is pending
  CUDA_OK(cudaStreamSynchronize(nullptr));
  sim::run_pending();
  EXPECT_EQ(ended, 1);
  EXPECT_EQ(cudaUserObjectRetain(object, 1), cudaErrorInvalidValue);
}

TEST_F(Graph, ReferencesToUserObjectsAreCounted) {
  std::atomic<int> ended{0};
  cudaUserObject_t object = make_object(ended, 2);
  CUDA_OK(cudaUserObjectRetain(object, 1));
  EXPECT_EQ(cudaUserObjectRelease(object, 4), cudaErrorInvalidValue);
  CUDA_OK(cudaUserObjectRelease(object, 2));
  cudaGraph_t graph = make_graph();
  CUDA_OK(cudaGraphRetainUserObject(graph, object, 2, 0));
  CUDA_OK(cudaUserObjectRelease(object, 1));
  EXPECT_EQ(cudaGraphReleaseUserObject(graph, object, 3), cudaErrorInvalidValue);
  CUDA_OK(cudaGraphReleaseUserObject(graph, object, 1));
  sim::run_pending();
  EXPECT_EQ(ended, 0);
  CUDA_OK(cudaGraphReleaseUserObject(graph, object, 1));
  sim::run_pending();
  EXPECT_EQ(ended, 1);
  EXPECT_EQ(cudaUserObjectCreate(&object, nullptr, nullptr, 1, cudaUserObjectNoDestructorSync),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaUserObjectCreate(
                &object, nullptr, [](void*) {}, 1, 0),
            cudaErrorInvalidValue);
}

TEST_F(Graph, AResetCallsNoDestructors) {
  std::atomic<int> ended{0};
  cudaUserObject_t object = make_object(ended);
  cudaGraph_t graph = make_graph();
  CUDA_OK(cudaGraphRetainUserObject(graph, make_object(ended), 1, cudaGraphUserObjectMove));
  cudaGraphExec_t exec = instantiate(graph);
  CUDA_OK(cudaGraphLaunch(exec, nullptr));
  CUDA_OK(cudaGraphExecDestroy(exec));
  CUDA_OK(cudaGraphDestroy(graph));
  sim::reset(strict());  // also drops the launch, the last owner
  sim::run_pending();
  EXPECT_EQ(ended, 0);
  EXPECT_EQ(cudaUserObjectRelease(object, 1), cudaErrorInvalidValue);
}

TEST_F(Graph, DestructorsOfUserObjectsMayNotCallCuda) {
  std::atomic<int> answer{0};
  cudaUserObject_t object = nullptr;
  const auto destroy = [](void* data) {
    *static_cast<std::atomic<int>*>(data) = cudaDeviceSynchronize();
  };
  CUDA_OK(cudaUserObjectCreate(&object, &answer, destroy, 1, cudaUserObjectNoDestructorSync));
  CUDA_OK(cudaUserObjectRelease(object, 1));
  sim::run_pending();
  EXPECT_EQ(answer, cudaErrorNotPermitted);
}

struct Called {
  std::atomic<int> times{0};
  cudaStream_t stream = nullptr;
  cudaError_t status = cudaErrorUnknown;
  cudaError_t answer = cudaSuccess;
};

void CUDART_CB note_call(cudaStream_t stream, cudaError_t status, void* data) {
  Called* const called = static_cast<Called*>(data);
  called->stream = stream;
  called->status = status;
  called->answer = cudaDeviceSynchronize();
  ++called->times;
}

TEST_F(Graph, Callbacks) {
  Called called;
  unsigned char* const pinned = make_pinned(1);
  cudaStream_t stream = make_stream();
  EXPECT_EQ(cudaStreamAddCallback(stream, note_call, &called, 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaStreamAddCallback(stream, nullptr, &called, 0), cudaErrorInvalidValue);
  CUDA_OK(cudaMemsetAsync(pinned, 1, 1, stream));
  CUDA_OK(cudaStreamAddCallback(stream, note_call, &called, 0));
  EXPECT_EQ(called.times, 0);
  CUDA_OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(called.times, 1);
  EXPECT_EQ(called.stream, stream);
  EXPECT_EQ(called.status, cudaSuccess);
  EXPECT_EQ(called.answer, cudaErrorNotPermitted);
  EXPECT_EQ(pinned[0], 1);
}

TEST_F(Graph, ACallbackIsCalledAfterAnErrorToo) {
  Called called;
  Log log;
  Note note{&log, 1};
  cudaStream_t stream = make_stream();
  CUDA_OK(cudaStreamAddCallback(stream, note_call, &called, 0));
  CUDA_OK(cudaLaunchHostFunc(stream, write_note, &note));
  sim::raise_sticky(0, cudaErrorIllegalAddress);
  sim::run_pending();
  EXPECT_EQ(called.times, 1);
  EXPECT_EQ(called.status, cudaErrorIllegalAddress);
  EXPECT_TRUE(log.empty());
  EXPECT_EQ(cudaStreamAddCallback(stream, note_call, &called, 0), cudaErrorIllegalAddress);
  sim::reset(strict());
  CUDA_OK(cudaStreamAddCallback(make_stream(), note_call, &called, 0));
  sim::reset(strict());  // which drops it
  EXPECT_EQ(called.times, 1);
}

}  // namespace
