// SPDX-License-Identifier: BSL-1.0
//
// The life of a stream: create it, use it, ask it, wait for it, end it. What was enqueued still
// completes after the stream's end.
#include <culvert/culvert.hpp>

#include <algorithm>
#include <cstdio>

using namespace culvert;

namespace {

bool passed = true;

void check(bool ok, const char* what) {
  if (ok) return;
  passed = false;
  std::fprintf(stderr, "Not so: %s\n", what);
}

bool holds_only(const PinnedBuffer<int>& host, int value) {
  return std::all_of(host.begin(), host.end(), [=](int x) { return x == value; });
}

void run() {
  // Without a home stream, so that the buffer may outlive every stream below.
  DeviceBuffer<int> x(1 << 20);
  PinnedBuffer<int> host(x.size());
  std::fill(host.begin(), host.end(), 0);

  {
    Stream stream;           // create: cudaStreamCreateWithFlags
    fill(x, 7, stream);      // use: work in one stream runs in order,
    copy(host, x, stream);   // so the copy reads what the fill wrote
    (void)stream.is_done();  // ask: never blocks. Both answers are right here
    stream.synchronize();    // wait: blocks the host until the work is complete
    check(stream.is_done(), "a stream is done after synchronize()");
    check(holds_only(host, 7), "the copy is complete after synchronize()");
  }  // destroy: cudaStreamDestroy

  Event done;
  {
    Stream stream;
    fill(x, 8, stream);
    copy(host, x, stream);
    stream.record(done);
  }  // the stream ends here. This neither waits for its work nor drops it
  std::printf("DoneAtStreamEnd=%s\n", done.is_done() ? "True" : "False");  // either is right

  // The handle is gone, so wait for the event. A wait is needed before `host` is read.
  done.synchronize();
  check(holds_only(host, 8), "the work completes after the stream's end");
}

}  // namespace

int main() try {
  const Environment env = Environment::probe();
  if (!env.usable()) {
    std::printf("StreamLife=Skipped %s\n", env.reason());
    return 77;
  }
  run();
  std::printf("StreamLife Passed=%s\n", passed ? "True" : "False");
  return passed ? 0 : 1;
} catch (const Error& error) {
  std::fprintf(stderr, "stream_life: %s\n", error.what());
  return 1;
}
