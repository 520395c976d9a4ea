// SPDX-License-Identifier: BSL-1.0
//
// Graphs: launches, changes of what was instantiated, objects that a graph holds.
#include <atomic>

#include "graph_support.hpp"
#include "groups.hpp"

namespace facts {
namespace {

constexpr std::size_t size = 64;

void ignore(void*) {}
void count_up(void* data) { ++*static_cast<std::atomic<int>*>(data); }

cudaMemsetParams set_of(void* memory, unsigned value) {
  cudaMemsetParams result{};
  result.dst = memory;
  result.elementSize = 1;
  result.value = value;
  result.width = 4;
  result.height = 1;
  return result;
}

// Sets four bytes and copies them to the host, by two nodes.
struct SetAndCopy {
  Graph graph;
  cudaGraphNode_t set = nullptr;
  cudaGraphNode_t copy = nullptr;

  SetAndCopy(void* device, void* host, unsigned value, std::size_t bytes = size) {
    const cudaMemsetParams parameters = set_of(device, value);
    need(cudaGraphAddMemsetNode(&set, graph, nullptr, 0, &parameters));
    need(cudaGraphAddMemcpyNode1D(&copy, graph, &set, 1, host, device, bytes,
                                  cudaMemcpyDeviceToHost));
  }
};

cudaGraphNode_t add_host(cudaGraph_t graph, cudaHostFn_t function, void* data,
                         const cudaGraphNode_t* after = nullptr) {
  cudaGraphNode_t node = nullptr;
  cudaHostNodeParams parameters{};
  parameters.fn = function;
  parameters.userData = data;
  need(cudaGraphAddHostNode(&node, graph, after, after == nullptr ? 0 : 1, &parameters));
  return node;
}

void launches() {
  const Stream stream;
  const Stream other;
  std::atomic<int> runs{0};
  const Graph graph;
  add_host(graph, count_up, &runs);
  const Exec exec(graph);
  error("upload", cudaGraphUpload(exec, stream));
  stream.synchronize();
  number("runs after an upload", runs);
  error("launch", cudaGraphLaunch(exec, stream));
  stream.synchronize();
  number("runs after a launch", runs);
  error("launch in null", cudaGraphLaunch(exec, nullptr));
  error("launch in legacy", cudaGraphLaunch(exec, cudaStreamLegacy));
  error("launch in per-thread", cudaGraphLaunch(exec, cudaStreamPerThread));
  need(cudaDeviceSynchronize());
  number("runs after four launches", runs);
  {
    // A second launch of the same, in a stream that nothing holds.
    const Gate gate(stream);
    need(cudaGraphLaunch(exec, stream));
    error("a second launch in another stream", cudaGraphLaunch(exec, other));
    yes_no("the second launch waits for the first", !finishes(other));
  }
  need(cudaDeviceSynchronize());
  number("runs after six launches", runs);
  {
    const Gate gate(stream);
    const Exec second(graph);
    need(cudaGraphLaunch(exec, stream));
    need(cudaGraphLaunch(second, other));
    yes_no("the launch of another one of the same graph waits", !finishes(other));
  }
  need(cudaDeviceSynchronize());
  {
    const Gate gate(stream);
    need(cudaGraphLaunch(exec, stream));
    error("query of a stream with a launch", cudaStreamQuery(stream));
  }
  error("synchronize it", cudaStreamSynchronize(stream));
}

void ends() {
  const Stream stream;
  std::atomic<int> runs{0};
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  need(cudaGraphCreate(&graph, 0));
  add_host(graph, count_up, &runs);
  need(cudaGraphInstantiate(&exec, graph, 0));
  error("destroy of the graph before the launch", cudaGraphDestroy(graph));
  error("launch after that", cudaGraphLaunch(exec, stream));
  stream.synchronize();
  number("runs after that", runs);
  {
    const Gate gate(stream);
    need(cudaGraphLaunch(exec, stream));
    error("destroy while it is pending", cudaGraphExecDestroy(exec));
  }
  error("synchronize after that", cudaStreamSynchronize(stream));
  number("runs in the end", runs);
}

void captured_launch() {
  const Stream stream;
  std::atomic<int> runs{0};
  const Graph graph;
  add_host(graph, count_up, &runs);
  const Exec exec(graph);
  begin(stream);
  error("launch in a capture", cudaGraphLaunch(exec, stream));
  cudaGraph_t made = nullptr;
  error("end of that capture", cudaStreamEndCapture(stream, &made));
  if (made == nullptr) return;
  const Graph outer(made);
  text("shape of that capture", shape(outer));
  std::size_t count = 1;
  cudaGraphNode_t node = nullptr;
  cudaGraphNodeType type{};
  need(cudaGraphGetNodes(outer, &node, &count));
  need(cudaGraphNodeGetType(node, &type));
  number("type of its node (child graph 4)", type);
}

void flags() {
  const Graph graph;
  for (const unsigned long long one : {1ULL, 2ULL, 4ULL, 8ULL, 16ULL}) {
    cudaGraphExec_t exec = nullptr;
    const cudaError_t answer = cudaGraphInstantiate(&exec, graph, one);
    error("empty graph, instantiate with flags " + std::to_string(one), answer);
    if (answer != cudaSuccess) continue;
    unsigned long long read = 99;
    need(cudaGraphExecGetFlags(exec, &read));
    number("its flags of " + std::to_string(one), static_cast<long long>(read));
    need(cudaGraphExecDestroy(exec));
  }
}

void memory_nodes() {
  const Stream stream;
  const Graph graph;
  cudaGraphNode_t node = nullptr;
  cudaMemAllocNodeParams parameters{};
  parameters.poolProps.allocType = cudaMemAllocationTypePinned;
  parameters.poolProps.location.type = cudaMemLocationTypeDevice;
  parameters.bytesize = size;
  error("allocation node", cudaGraphAddMemAllocNode(&node, graph, nullptr, 0, &parameters));
  yes_no("its address is known", parameters.dptr != nullptr);
  cudaGraph_t clone = nullptr;
  error("clone of a graph that allocates", cudaGraphClone(&clone, graph));
  if (clone != nullptr) need(cudaGraphDestroy(clone));
  const Exec exec(graph);
  cudaGraphExec_t second = nullptr;
  error("instantiate it twice", cudaGraphInstantiate(&second, graph, 0));
  if (second != nullptr) need(cudaGraphExecDestroy(second));
  error("launch of a graph that allocates", cudaGraphLaunch(exec, stream));
  error("launch again without a free", cudaGraphLaunch(exec, stream));
  stream.synchronize();
  error("set of the memory", cudaMemsetAsync(parameters.dptr, 1, size, stream));
  error("cudaFreeAsync of the memory", cudaFreeAsync(parameters.dptr, stream));
  stream.synchronize();
  error("launch after the free", cudaGraphLaunch(exec, stream));
  stream.synchronize();
  error("cudaFree of the memory", cudaFree(parameters.dptr));
  error("cudaFree of it twice", cudaFree(parameters.dptr));
}

}  // namespace

void graph_launches() {
  section("launches", launches);
  section("ends", ends);
  section("captured launch", captured_launch);
  section("flags", flags);
  section("memory nodes", memory_nodes);
}

namespace {

void parameters() {
  const Stream stream;
  const DeviceMemory device(size);
  const PinnedMemory host(size);
  const SetAndCopy one(device, host, 1);
  const Exec exec(one.graph);
  const auto launch = [&](const char* name) {
    need(cudaGraphLaunch(exec, stream));
    stream.synchronize();
    number(name, host.bytes()[0]);
  };
  launch("value");
  cudaMemsetParams changed = set_of(device, 2);
  error("set parameters of the graph's node", cudaGraphMemsetNodeSetParams(one.set, &changed));
  launch("value after a change of the graph");
  changed = set_of(device, 3);
  error("set parameters of the instantiated node",
        cudaGraphExecMemsetNodeSetParams(exec, one.set, &changed));
  launch("value after that, instantiated");
  {
    const Gate gate(stream);
    need(cudaGraphLaunch(exec, stream));
    changed = set_of(device, 4);
    error("set parameters while pending",
          cudaGraphExecMemsetNodeSetParams(exec, one.set, &changed));
  }
  stream.synchronize();
  number("value of the pending launch", host.bytes()[0]);
  launch("value of the next launch");
  changed = set_of(nullptr, 1);
  error("set parameters with a null address",
        cudaGraphExecMemsetNodeSetParams(exec, one.set, &changed));
  changed = set_of(device, 5);
  changed.elementSize = 2;
  changed.width = 2;
  error("set parameters with another element size",
        cudaGraphExecMemsetNodeSetParams(exec, one.set, &changed));
  changed = set_of(device, 6);
  error("set parameters of a copy's node as of a set",
        cudaGraphExecMemsetNodeSetParams(exec, one.copy, &changed));
  const SetAndCopy foreign(device, host, 1);
  error("set parameters of another graph's node",
        cudaGraphExecMemsetNodeSetParams(exec, foreign.set, &changed));
  cudaHostNodeParams function{};
  function.fn = ignore;
  error("host parameters of a set's node",
        cudaGraphExecHostNodeSetParams(exec, one.set, &function));
  error("still it launches", cudaGraphLaunch(exec, stream));
  error("still it ends", cudaStreamSynchronize(stream));
}

void enabled() {
  const Stream stream;
  const DeviceMemory device(size);
  const PinnedMemory host(size);
  const SetAndCopy one(device, host, 9);
  std::atomic<int> runs{0};
  const cudaGraphNode_t function = add_host(one.graph, count_up, &runs);
  const Exec exec(one.graph);
  unsigned value = 99;
  error("enabled", cudaGraphNodeGetEnabled(exec, one.set, &value));
  number("enabled at first", value);
  error("disable a set", cudaGraphNodeSetEnabled(exec, one.set, 0));
  need(cudaGraphNodeGetEnabled(exec, one.set, &value));
  number("enabled after that", value);
  need(cudaMemset(device, 0, size));
  need(cudaDeviceSynchronize());
  need(cudaGraphLaunch(exec, stream));
  stream.synchronize();
  number("value without the set", host.bytes()[0]);
  error("enable it", cudaGraphNodeSetEnabled(exec, one.set, 1));
  need(cudaGraphLaunch(exec, stream));
  stream.synchronize();
  number("value with the set", host.bytes()[0]);
  error("disable a host function", cudaGraphNodeSetEnabled(exec, function, 0));
  error("enabled of a host function", cudaGraphNodeGetEnabled(exec, function, &value));
}

void told(const std::string& name, cudaGraphExec_t exec, cudaGraph_t graph) {
  cudaGraphExecUpdateResultInfo info{};
  info.result = number_as<cudaGraphExecUpdateResult>(99);
  const cudaError_t answer = cudaGraphExecUpdate(exec, graph, &info);
  text(name, name_of(answer) + ", result " + std::to_string(info.result) + ", error node " +
                 (info.errorNode == nullptr ? "null" : "not null") + ", error from node " +
                 (info.errorFromNode == nullptr ? "null" : "not null"));
}

void updates() {
  const Stream stream;
  const DeviceMemory device(size);
  const DeviceMemory other(size);  // what is instantiated uses it in the end
  const PinnedMemory host(size);
  const SetAndCopy first(device, host, 1);
  const Exec exec(first.graph);
  const auto launch = [&](const char* name) {
    need(cudaGraphLaunch(exec, stream));
    stream.synchronize();
    number(name, host.bytes()[0]);
  };
  const SetAndCopy second(device, host, 2);
  told("update to the same graph", exec, first.graph);
  told("update to other values", exec, second.graph);
  launch("value after the update");
  const SetAndCopy shorter(device, host, 3, 2);
  told("update to another size of the copy", exec, shorter.graph);
  const SetAndCopy longer(device, host, 4);
  add_host(longer.graph, ignore, nullptr, &longer.copy);
  told("update to one node more", exec, longer.graph);
  launch("value after a refused update");
  const Graph fewer;
  told("update to an empty graph", exec, fewer);
  {
    // The same shape, other types.
    const Graph types;
    const cudaGraphNode_t a = add_host(types, ignore, nullptr);
    add_host(types, ignore, nullptr, &a);
    told("update to other types", exec, types);
  }
  {
    // The same nodes, without the edge.
    const SetAndCopy loose(device, host, 5);
    need(cudaGraphRemoveDependencies(loose.graph, &loose.set, &loose.copy, nullptr, 1));
    told("update to the same without the edge", exec, loose.graph);
  }
  {
    const SetAndCopy elsewhere(other, host, 6);
    told("update to other memory", exec, elsewhere.graph);
    launch("value in the other memory");
  }
  {
    const Graph functions;
    const Graph others;
    std::atomic<int> runs{0};
    add_host(functions, ignore, nullptr);
    add_host(others, count_up, &runs);
    const Exec one(functions);
    told("update to another host function", one, others);
    need(cudaGraphLaunch(one, stream));
    stream.synchronize();
    number("runs of the other host function", runs);
  }
  error("after the updates it launches", cudaGraphLaunch(exec, stream));
  stream.synchronize();
}

}  // namespace

void graph_updates() {
  section("updates", updates);
  section("enabled", enabled);
  section("parameters", parameters);
}

namespace {

// A user object whose end is counted.
struct Object {
  std::atomic<int> ended{0};
  cudaUserObject_t handle = nullptr;

  explicit Object(unsigned references = 1) {
    need(cudaUserObjectCreate(&handle, this, end, references, cudaUserObjectNoDestructorSync));
  }
  static void CUDART_CB end(void* data) { ++static_cast<Object*>(data)->ended; }
  // It may be ended by another thread.
  void tell(const std::string& name) {
    for (int i = 0; i < 20 && ended == 0; ++i) {
      // About 100 ms in all.
      const timespec pause{.tv_sec = 0, .tv_nsec = 5000000};
      nanosleep(&pause, nullptr);
    }
    number(name + ", ended", ended);
  }
};

void objects() {
  static Object unused;
  cudaUserObject_t handle = nullptr;
  error("create with 0 references",
        cudaUserObjectCreate(&handle, &unused, Object::end, 0, cudaUserObjectNoDestructorSync));
  error("create without the flag", cudaUserObjectCreate(&handle, &unused, Object::end, 1, 0));
  error("create without a destructor",
        cudaUserObjectCreate(&handle, &unused, nullptr, 1, cudaUserObjectNoDestructorSync));
  static Object one(2);
  error("release one of two", cudaUserObjectRelease(one.handle, 1));
  one.tell("after one release of two");
  error("retain another", cudaUserObjectRetain(one.handle, 1));
  error("release two", cudaUserObjectRelease(one.handle, 2));
  one.tell("after the last release");
}

void objects_of_graphs() {
  const Stream stream;
  static Object moved;
  cudaGraph_t graph = nullptr;
  need(cudaGraphCreate(&graph, 0));
  error("move to a graph",
        cudaGraphRetainUserObject(graph, moved.handle, 1, cudaGraphUserObjectMove));
  error("destroy the graph", cudaGraphDestroy(graph));
  moved.tell("moved to a graph that was destroyed");

  static Object shared;
  need(cudaGraphCreate(&graph, 0));
  error("retain by a graph", cudaGraphRetainUserObject(graph, shared.handle, 1, 0));
  error("release the first reference", cudaUserObjectRelease(shared.handle, 1));
  shared.tell("held by a graph");
  error("release by the graph", cudaGraphReleaseUserObject(graph, shared.handle, 1));
  shared.tell("released by the graph");
  need(cudaGraphDestroy(graph));

  static Object pending;
  cudaGraphExec_t exec = nullptr;
  need(cudaGraphCreate(&graph, 0));
  add_host(graph, ignore, nullptr);
  need(cudaGraphRetainUserObject(graph, pending.handle, 1, cudaGraphUserObjectMove));
  need(cudaGraphInstantiate(&exec, graph, 0));
  need(cudaGraphDestroy(graph));
  pending.tell("the graph is destroyed, what was instantiated is not");
  {
    const Gate gate(stream);
    need(cudaGraphLaunch(exec, stream));
    need(cudaGraphExecDestroy(exec));
    pending.tell("destroyed while a launch is pending");
  }
  stream.synchronize();
  need(cudaDeviceSynchronize());
  pending.tell("after the launch is complete");

  static Object cloned;
  cudaGraph_t clone = nullptr;
  need(cudaGraphCreate(&graph, 0));
  need(cudaGraphRetainUserObject(graph, cloned.handle, 1, cudaGraphUserObjectMove));
  need(cudaGraphClone(&clone, graph));
  need(cudaGraphDestroy(graph));
  cloned.tell("the graph is destroyed, its clone is not");
  need(cudaGraphDestroy(clone));
  cloned.tell("the clone is destroyed");
}

}  // namespace

void user_objects() {
  section("objects", objects);
  section("of graphs", objects_of_graphs);
}

}  // namespace facts
