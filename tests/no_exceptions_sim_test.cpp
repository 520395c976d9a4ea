// SPDX-License-Identifier: BSL-1.0
//
// Without exceptions a failure goes to the handler and then aborts; allocation has a form that
// returns the status.
#include <culvert/culvert.hpp>
#include <culvert/sim/sim.hpp>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

using namespace culvert;

#if CULVERT_HAS_EXCEPTIONS
#error "This test is compiled without exceptions."
#endif

namespace {

#define CHECK(condition)                                                           \
  do {                                                                             \
    if (!(condition)) {                                                            \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      std::_Exit(1);                                                               \
    }                                                                              \
  } while (false)

// What the handler of a child is told, sent to its parent.
struct Told {
  cudaError_t status;
  char function[64];
  char detail[128];
  bool here;  // the place is in this file
};
int pipe_ends[2];

void send_to_parent(const Failure& failure) noexcept {
  Told told{};
  told.status = failure.status;
  std::strncpy(told.function, failure.function, sizeof told.function - 1);
  std::strncpy(told.detail, failure.detail, sizeof told.detail - 1);
  told.here = std::strcmp(failure.where.file, __FILE__) == 0 && failure.where.line > 0;
  CHECK(write(pipe_ends[1], &told, sizeof told) == sizeof told);
}

// Expects that `use` aborts, in a child process, after it told the handler this.
template <class Use>
void expect_abort(Use use, cudaError_t status, const char* function, const char* detail) {
  CHECK(pipe(pipe_ends) == 0);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    set_failure_handler(&send_to_parent);
    use();
    std::_Exit(0);
  }
  close(pipe_ends[1]);
  int ended = 0;
  CHECK(waitpid(child, &ended, 0) == child);
  CHECK(WIFSIGNALED(ended) && WTERMSIG(ended) == SIGABRT);
  Told told{};
  CHECK(read(pipe_ends[0], &told, sizeof told) == sizeof told);
  CHECK(told.status == status);
  CHECK(std::strcmp(told.function, function) == 0);
  CHECK(std::strstr(told.detail, detail) != nullptr);
  CHECK(told.here);
  char more = 0;
  CHECK(read(pipe_ends[0], &more, 1) == 0);  // told once
  close(pipe_ends[0]);
}

void failures_abort() {
  // The children start before this process has used CUDA.
  expect_abort([] { (void)Device(-1); }, cudaErrorInvalidDevice, "culvert::Device", "negative");
  expect_abort(
      [] {
        Stream stream;
        const Stream taken = std::move(stream);
        stream.synchronize();
      },
      cudaErrorInvalidResourceHandle, "culvert::Stream", "moved from");
  expect_abort(
      [] {
        sim::fail("cudaStreamCreateWithFlags", cudaErrorUnknown);
        const Stream stream;
      },
      cudaErrorUnknown, "cudaStreamCreateWithFlags", "");
  expect_abort(
      [] {
        const Stream stream;
        const DeviceBuffer<std::byte> buffer(std::size_t{1} << 50, stream);
      },
      cudaErrorMemoryAllocation, "cudaMallocAsync", "bytes");
}

void success_is_as_ever() {
  const Stream a, b;
  DeviceBuffer<int> x;
  CHECK(DeviceBuffer<int>::try_allocate(x, std::size_t{1} << 50, a) == cudaErrorMemoryAllocation);
  CHECK(x.empty());
  CHECK(peek_last_error() == cudaSuccess);
  CHECK(DeviceBuffer<int>::try_allocate(x, SIZE_MAX, a) == cudaErrorMemoryAllocation);
  CHECK(DeviceBuffer<int>::try_allocate(x, 1000, a) == cudaSuccess);
  fill(x, 5, a);
  b.wait(a);
  std::vector<int> result(1000);
  copy_and_wait(result, x, b);
  CHECK(result == std::vector<int>(1000, 5));
  const Event done = b.record();
  done.synchronize();
  CHECK(done.is_done());
}

}  // namespace

int main() {
  failures_abort();
  success_is_as_ever();
  return 0;
}
