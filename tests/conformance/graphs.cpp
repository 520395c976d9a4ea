// SPDX-License-Identifier: BSL-1.0
//
// Graphs: nodes and edges, clones, child graphs.
#include <algorithm>
#include <vector>

#include "graph_support.hpp"
#include "groups.hpp"

namespace facts {
namespace {

constexpr std::size_t size = 64;

void ignore(void*) {}

cudaGraphNode_t empty(cudaGraph_t graph, const std::vector<cudaGraphNode_t>& after = {}) {
  cudaGraphNode_t node = nullptr;
  need(cudaGraphAddEmptyNode(&node, graph, after.data(), after.size()));
  return node;
}

cudaMemsetParams set_of(void* memory, unsigned value = 1) {
  cudaMemsetParams result{};
  result.dst = memory;
  result.elementSize = 1;
  result.value = value;
  result.width = 4;
  result.height = 1;
  return result;
}

cudaHostNodeParams host_of(cudaHostFn_t function, void* data = nullptr) {
  cudaHostNodeParams result{};
  result.fn = function;
  result.userData = data;
  return result;
}

// Edges as CUDA 13 takes them, all plain.
cudaError_t add_edge(cudaGraph_t graph, cudaGraphNode_t from, cudaGraphNode_t to) {
  return cudaGraphAddDependencies(graph, &from, &to, nullptr, 1);
}

void making() {
  cudaGraph_t made = nullptr;
  error("cudaGraphCreate flags 1", cudaGraphCreate(&made, 1));
  if (made != nullptr) need(cudaGraphDestroy(made));
  made = nullptr;
  error("cudaGraphCreate", cudaGraphCreate(&made, 0));
  text("empty graph, shape", shape(made));
  cudaGraphExec_t exec = nullptr;
  error("empty graph, instantiate", cudaGraphInstantiate(&exec, made, 0));
  const Stream stream;
  error("empty graph, launch", cudaGraphLaunch(exec, stream));
  error("empty graph, synchronize", cudaStreamSynchronize(stream));
  error("cudaGraphExecDestroy", cudaGraphExecDestroy(exec));
  error("cudaGraphDestroy", cudaGraphDestroy(made));
}

void types() {
  const Stream stream;
  const Stream other;
  const Event event;
  const Event back;
  const DeviceMemory device(size);
  const PinnedMemory pinned(size);
  begin(stream);
  need(cudaMemsetAsync(device, 1, size, stream));
  need(cudaMemcpyAsync(pinned, device, size, cudaMemcpyDeviceToHost, stream));
  need(cudaEventRecord(event, stream));
  need(cudaStreamWaitEvent(other, event, 0));
  need(cudaLaunchHostFunc(other, ignore, nullptr));
  need(cudaEventRecord(back, other));
  need(cudaLaunchHostFunc(stream, ignore, nullptr));
  need(cudaStreamWaitEvent(stream, back, 0));
  need(cudaMemsetAsync(device, 1, size, stream));
  const Graph graph(end(stream));
  text("captured, shape", shape(graph));
  std::vector<cudaGraphNode_t> nodes(node_count(graph));
  std::size_t count = nodes.size();
  need(cudaGraphGetNodes(graph, nodes.data(), &count));
  std::vector<int> found;
  for (const cudaGraphNode_t node : nodes) {
    cudaGraphNodeType type{};
    need(cudaGraphNodeGetType(node, &type));
    found.push_back(static_cast<int>(type));
  }
  std::string in_order;
  for (const int type : found) in_order += std::to_string(type) + " ";
  text("captured, types", in_order + "(copy 1, set 2, host 3)");
  // More and fewer places than there are nodes.
  count = 2;
  error("cudaGraphGetNodes, two places", cudaGraphGetNodes(graph, nodes.data(), &count));
  number("cudaGraphGetNodes, two places, count", static_cast<long long>(count));
  std::vector<cudaGraphNode_t> many(nodes.size() + 3, nodes[0]);
  count = many.size();
  error("cudaGraphGetNodes, more places", cudaGraphGetNodes(graph, many.data(), &count));
  number("cudaGraphGetNodes, more places, count", static_cast<long long>(count));
  yes_no("cudaGraphGetNodes, the places beyond are null", many.back() == nullptr);
  error("cudaGraphGetNodes, null count", cudaGraphGetNodes(graph, nullptr, nullptr));
}

void dependencies() {
  const Graph graph;
  const Graph other;
  const cudaGraphNode_t a = empty(graph);
  const cudaGraphNode_t b = empty(graph, {a});
  const cudaGraphNode_t foreign = empty(other);
  const cudaGraphNode_t twice[] = {a, a};
  const cudaGraphNode_t with_null[] = {a, nullptr};
  const auto add = [&](const char* name, const cudaGraphNode_t* after, std::size_t count) {
    cudaGraphNode_t node = nullptr;
    const cudaError_t answer = cudaGraphAddEmptyNode(&node, graph, after, count);
    error(name, answer);
    if (answer == cudaSuccess && node != nullptr) need(cudaGraphDestroyNode(node));
  };
  add("node after the same node twice", twice, 2);
  add("node after a node of another graph", &foreign, 1);
  add("node after null", with_null, 2);
  error("edge", add_edge(graph, a, b));
  text("edge twice, shape", shape(graph));
  error("edge to itself", add_edge(graph, a, a));
  text("edge to itself, shape", shape(graph));
  error("edge to another graph", add_edge(graph, a, foreign));
  error("edge to null", add_edge(graph, a, nullptr));
  const cudaGraphNode_t c = empty(graph);
  error("edge b to c", add_edge(graph, b, c));
  text("chain, shape", shape(graph));
  error("remove the edge", cudaGraphRemoveDependencies(graph, &b, &c, nullptr, 1));
  error("remove an edge that is not there", cudaGraphRemoveDependencies(graph, &b, &c, nullptr, 1));
  text("after that, shape", shape(graph));
  error("no edges", cudaGraphAddDependencies(graph, nullptr, nullptr, nullptr, 0));
  std::size_t count = 99;
  error("dependencies of b", cudaGraphNodeGetDependencies(b, nullptr, nullptr, &count));
  number("dependencies of b, count", static_cast<long long>(count));
  error("dependents of a", cudaGraphNodeGetDependentNodes(a, nullptr, nullptr, &count));
  number("dependents of a, count", static_cast<long long>(count));
  error("destroy the node in the middle", cudaGraphDestroyNode(a));
  text("after its end, shape", shape(graph));
}

void cycles() {
  const Graph graph;
  const cudaGraphNode_t a = empty(graph);
  const cudaGraphNode_t b = empty(graph, {a});
  const cudaGraphNode_t c = empty(graph, {b});
  error("edge that closes a cycle", add_edge(graph, c, a));
  text("cycle, shape", shape(graph));
  cudaGraphExec_t exec = nullptr;
  const cudaError_t answer = cudaGraphInstantiate(&exec, graph, 0);
  error("cycle, instantiate", answer);
  if (answer == cudaSuccess) need(cudaGraphExecDestroy(exec));
}

void bad_nodes() {
  const Graph graph;
  const DeviceMemory device(size);
  const PageableMemory pageable(size);
  cudaGraphNode_t node = nullptr;
  const auto told = [&](const char* name, cudaError_t answer) {
    error(name, answer);
    if (answer == cudaSuccess && node != nullptr) need(cudaGraphDestroyNode(node));
    node = nullptr;
  };
  cudaHostNodeParams host = host_of(nullptr);
  told("host node without a function", cudaGraphAddHostNode(&node, graph, nullptr, 0, &host));
  cudaMemsetParams set = set_of(nullptr);
  told("set node, null", cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &set));
  set = set_of(device);
  set.elementSize = 3;
  told("set node, elements of 3 bytes", cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &set));
  set = set_of(device);
  set.width = 0;
  told("set node, width 0", cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &set));
  set = set_of(pageable);
  told("set node, pageable", cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &set));
  set = set_of(device);
  set.width = 2 * size;
  told("set node, past the end", cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &set));
  told("copy node", cudaGraphAddMemcpyNode1D(&node, graph, nullptr, 0, device, pageable, size,
                                             cudaMemcpyHostToDevice));
  told("copy node, zero bytes", cudaGraphAddMemcpyNode1D(&node, graph, nullptr, 0, device, pageable,
                                                         0, cudaMemcpyHostToDevice));
  told("copy node, kind 5", cudaGraphAddMemcpyNode1D(&node, graph, nullptr, 0, device, pageable,
                                                     size, number_as<cudaMemcpyKind>(5)));
  told("copy node, kind of the other direction",
       cudaGraphAddMemcpyNode1D(&node, graph, nullptr, 0, device, pageable, size,
                                cudaMemcpyDeviceToHost));
  told("copy node, null source", cudaGraphAddMemcpyNode1D(&node, graph, nullptr, 0, device, nullptr,
                                                          size, cudaMemcpyHostToDevice));
  text("shape after these", shape(graph));
}

void clones() {
  const Graph graph;
  const cudaGraphNode_t a = empty(graph);
  const cudaGraphNode_t b = empty(graph, {a});
  cudaGraph_t made = nullptr;
  error("clone", cudaGraphClone(&made, graph));
  const Graph clone(made);
  text("clone, shape", shape(clone));
  cudaGraphNode_t found = nullptr;
  error("find in the clone", cudaGraphNodeFindInClone(&found, b, clone));
  yes_no("it is another node", found != b);
  error("find in the original", cudaGraphNodeFindInClone(&found, b, graph));
  const cudaGraphNode_t late = empty(graph);
  error("find a node made later", cudaGraphNodeFindInClone(&found, late, clone));
  text("clone, shape after a change of the original", shape(clone));
}

void children() {
  const Stream stream;
  const PinnedMemory target(size);
  const DeviceMemory device(size);
  cudaGraphNode_t node = nullptr;
  cudaGraph_t inner = nullptr;
  const Graph parent;
  {
    Graph child;
    cudaGraphNode_t made = nullptr;
    const cudaMemsetParams set = set_of(device, 7);
    need(cudaGraphAddMemsetNode(&made, child, nullptr, 0, &set));
    error("child graph", cudaGraphAddChildGraphNode(&node, parent, nullptr, 0, child));
    error("its graph", cudaGraphChildGraphNodeGetGraph(node, &inner));
    yes_no("its graph is a clone", inner != child);
    empty(child);
    text("its shape after a change of the original", shape(inner));
  }
  text("parent, shape", shape(parent));
  cudaGraphNode_t copy = nullptr;
  need(cudaGraphAddMemcpyNode1D(&copy, parent, &node, 1, target, device, size,
                                cudaMemcpyDeviceToHost));
  const Exec exec(parent);
  need(cudaGraphLaunch(exec, stream));
  stream.synchronize();
  number("the byte after the launch", target.bytes()[3]);
  // A graph as its own child crashes on a GPU.
}

void nulls() {
  const Stream stream;
  const Graph graph;
  cudaGraphNode_t node = nullptr;
  cudaGraphExec_t exec = nullptr;
  cudaGraph_t made = nullptr;
  std::size_t count = 0;
  error("cudaGraphDestroy null", cudaGraphDestroy(nullptr));
  error("cudaGraphExecDestroy null", cudaGraphExecDestroy(nullptr));
  error("cudaGraphLaunch null", cudaGraphLaunch(nullptr, stream));
  error("cudaGraphInstantiate null graph", cudaGraphInstantiate(&exec, nullptr, 0));
  error("cudaGraphInstantiate null result", cudaGraphInstantiate(nullptr, graph, 0));
  error("cudaGraphInstantiate flags 0x100", cudaGraphInstantiate(&exec, graph, 0x100));
  error("cudaGraphClone null", cudaGraphClone(&made, nullptr));
  error("cudaGraphGetNodes null", cudaGraphGetNodes(nullptr, nullptr, &count));
  error("cudaGraphAddEmptyNode null graph", cudaGraphAddEmptyNode(&node, nullptr, nullptr, 0));
  error("cudaGraphAddEmptyNode null result", cudaGraphAddEmptyNode(nullptr, graph, nullptr, 0));
  error("cudaGraphAddHostNode null parameters",
        cudaGraphAddHostNode(&node, graph, nullptr, 0, nullptr));
  error("cudaGraphAddMemsetNode null parameters",
        cudaGraphAddMemsetNode(&node, graph, nullptr, 0, nullptr));
  error("cudaGraphDestroyNode null", cudaGraphDestroyNode(nullptr));
  error("cudaGraphCreate null", cudaGraphCreate(nullptr, 0));
}

}  // namespace

void graphs() {
  section("making", making);
  section("types", types);
  section("clones", clones);
  section("children", children);
}

void graph_nodes() {
  section("cycles", cycles);
  section("bad nodes", bad_nodes);
  section("dependencies", dependencies);
  section("nulls", nulls);
}

}  // namespace facts
