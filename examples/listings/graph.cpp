// SPDX-License-Identifier: BSL-1.0
//
// Graphs: captured from code that enqueues into two streams, and built node by node. Both are
// launched several times with other input, and one is updated.
#include <culvert/culvert.hpp>

#include <algorithm>
#include <atomic>
#include <cstdio>

using namespace culvert;

namespace {

constexpr std::size_t size = 1000;

bool passed = true;

void check(bool ok, const char* what) {
  if (ok) return;
  passed = false;
  std::fprintf(stderr, "Not so: %s\n", what);
}

bool all(const PinnedBuffer<int>& x, int value) {
  return std::all_of(x.begin(), x.end(), [&](int each) { return each == value; });
}

void captured(Stream& stream) {
  Stream side;
  PinnedBuffer<int> in(size), out(size);
  DeviceBuffer<int> a(size), b(size);
  std::atomic<int> calls{0};
  const auto body = [&](int value) {
    return [&, value](StreamRef s) {
      copy(a, in, s);
      side.wait(s);  // the fork: from here on `side` is captured too
      fill(b, value, side);
      launch_host(s, [&calls] { ++calls; });  // the graph keeps the function
      s.wait(side);                           // the join
      copy(out.subspan(0, size / 2), a.first(size / 2), s);
      copy(out.subspan(size / 2, size / 2), b.first(size / 2), s);
    };
  };
  const Graph graph = capture(stream, body(7));  // nothing runs yet
  const GraphExec exec = graph.instantiate();
  for (int input = 1; input <= 3; ++input) {
    std::fill(in.begin(), in.end(), input);  // read at each launch
    exec.launch(stream);
    stream.synchronize();
    check(out[0] == input && out[size - 1] == 7, "a launch reads its input");
  }

  // The same work with another value: far cheaper than to instantiate again.
  const GraphUpdate update = exec.update(capture(stream, body(8)));
  std::printf("Updated=%s%s\n", update ? "True" : "False", update.reason());
  exec.launch(stream);
  stream.synchronize();
  check(out[size - 1] == 8, "the update changed the value");
  std::printf("Calls=%d\n", calls.load());
  check(calls == 4, "the host function ran at each launch");
}

void built(Stream& stream) {
  PinnedBuffer<int> out(size);
  GraphExec exec = [&] {
    Graph graph;
    // The graph keeps what it uses: so nothing here has to outlive its last launch.
    DeviceBuffer<int>& x = graph.retain(DeviceBuffer<int>(size));
    const GraphNode first = add_fill(graph, {}, x.first(size / 2), 5);
    const GraphNode second = add_fill(graph, {}, x.last(size / 2), 5);
    add_copy(graph, {first, second}, out, x);  // after both
    return graph.instantiate();
  }();
  std::fill(out.begin(), out.end(), 0);
  exec.launch(stream);
  stream.synchronize();
  check(all(out, 5), "the copy ran after both sets");
}

void run() {
  Stream stream;
  captured(stream);
  built(stream);
}

}  // namespace

int main() try {
  const Environment env = Environment::probe();
  if (!env.usable()) {
    std::printf("GraphListing=Skipped %s\n", env.reason());
    return 77;
  }
  run();
  std::printf("GraphListing Passed=%s\n", passed ? "True" : "False");
  return passed ? 0 : 1;
} catch (const Error& error) {
  std::fprintf(stderr, "graph: %s\n", error.what());
  return 1;
}
