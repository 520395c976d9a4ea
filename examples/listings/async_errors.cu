// SPDX-License-Identifier: BSL-1.0
//
// Errors of launches and errors of work that runs later.
//
//   async_errors           a launch that is refused: told at once, and cleared when it is read
//   async_errors --sticky  a kernel with an illegal address: told by a later call, and by every
//                          call after that, until the process ends
#include <culvert/culvert.hpp>

#include <cstdio>
#include <string_view>

using namespace culvert;

namespace {

__global__ void nothing() {}

__global__ void store(int* address) { *address = 1; }

bool passed = true;

void check(bool ok, const char* what) {
  if (ok) return;
  passed = false;
  std::fprintf(stderr, "Not so: %s\n", what);
}

void launch_error() {
  // A raw launch gives no status. It leaves one for the calling thread. Look after each launch,
  // else the error is found far away, or lost.
  nothing<<<1, 2048>>>();  // a block has 1024 threads at most, so nothing is launched
  const cudaError_t left = peek_last_error();
  std::printf("RawLaunch=%s\n", cudaGetErrorName(left));
  // Before CUDA 13, cudaErrorInvalidConfiguration.
  check(left == cudaErrorInvalidValue || left == cudaErrorInvalidConfiguration,
        "the launch is refused");
  check(peek_last_error() == left, "peek_last_error() leaves the error");
  check(last_error() == left, "last_error() reads the error");
  check(last_error() == cudaSuccess, "last_error() has cleared the error");

  // culvert's launch throws at once and leaves nothing behind.
  Stream stream;
  bool thrown = false;
  try {
    launch(stream, {.block = 2048}, nothing);
  } catch (const Error& error) {
    thrown = true;
    std::printf("Launch=%s Sticky=%s\n", cudaGetErrorName(error.status()),
                error.sticky() ? "True" : "False");
    check(!error.sticky(), "a refused launch is not sticky");
  }
  check(thrown, "culvert's launch throws where CUDA refuses it");
  check(peek_last_error() == cudaSuccess, "what was thrown is cleared");

  launch(stream, {}, nothing);
  stream.synchronize();
  std::printf("WorksAfterwards=True\n");
}

// Whether a call fails with this status.
template <class Call>
bool fails(cudaError_t status, Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.status() == status && error.sticky();
  }
  return false;
}

void sticky_error() {
  // Destructors cannot throw, and after a sticky error they fail too. Each of them would print a
  // line on standard error.
  set_failure_handler([](const Failure&) noexcept {});

  Stream stream;
  launch(stream, {}, nothing);
  stream.synchronize();

  cudaError_t status = cudaSuccess;
  bool launched = false;
  try {
    launch(stream, {}, store, static_cast<int*>(nullptr));
    launched = true;       // the kernel is only enqueued, so there is no error yet
    stream.synchronize();  // this call did nothing wrong, and tells the error of the kernel
  } catch (const Error& error) {
    status = error.status();
    std::printf("ReportedBy=%s Error=%s Sticky=%s\n", error.function(), cudaGetErrorName(status),
                error.sticky() ? "True" : "False");
    check(error.sticky(), "an illegal address is sticky");
  }
  check(launched, "the launch itself succeeds (unless CUDA_LAUNCH_BLOCKING=1 is set)");
  check(status == cudaErrorIllegalAddress, "a later call tells of the illegal address");

  // Reading the thread's last error does not help: the context is lost. Every later call answers
  // the same, also one that has nothing to do with the stream.
  (void)last_error();
  check(fails(status, [&] { stream.synchronize(); }), "synchronize() fails again");
  (void)last_error();
  check(fails(status, [] { DeviceBuffer<int> x(1); }), "an allocation fails");
  check(fails(status, [&] { launch(stream, {}, nothing); }), "a launch fails");
  check(fails(status, [] { Device::current().synchronize(); }), "the device's wait fails");
  std::printf("FailsAfterwards=%s\n", passed ? "True" : "False");
  // A program that gets here saves what it has on the host, and ends.
}

}  // namespace

int main(int argc, char** argv) try {
  const Environment env = Environment::probe();
  if (!env.usable()) {
    std::printf("AsyncErrors=Skipped %s\n", env.reason());
    return 77;
  }
  if (argc > 1 && std::string_view(argv[1]) == "--sticky") {
    sticky_error();
  } else {
    launch_error();
  }
  std::printf("AsyncErrors Passed=%s\n", passed ? "True" : "False");
  return passed ? 0 : 1;
} catch (const Error& error) {
  std::fprintf(stderr, "async_errors: %s\n", error.what());
  return 1;
}
