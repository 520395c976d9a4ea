// SPDX-License-Identifier: BSL-1.0
//
// Programmatic dependent launch: the second kernel of a stream starts before the first has ended,
// does what does not depend on the first, and then waits for it on the device. This needs compute
// capability 9.0 or later. On an older device the kernels run one after the other, as always.
#include <culvert/culvert.hpp>

#include <cstdio>

using namespace culvert;

namespace {

constexpr unsigned long long millisecond = 1'000'000;  // in nanoseconds
constexpr unsigned threads = 256;

// The device's clock, in nanoseconds, the same in all kernels.
__device__ unsigned long long now() {
  unsigned long long time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  return time;
}

__global__ void primary(int* data, unsigned long long* end, unsigned long long nanoseconds) {
  // From here on the secondary kernel may start, once every block has come so far. This makes
  // nothing visible to it; what is written below it sees all the same after its wait.
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
  const unsigned long long begin = now();
  while (now() - begin < nanoseconds) {
  }
  data[threadIdx.x] = static_cast<int>(threadIdx.x) + 1;
  if (threadIdx.x == 0) *end = now();
}

__global__ void secondary(const int* data, int* result, unsigned long long* begin) {
  // Work that does not depend on the primary kernel: it may run beside that.
  if (threadIdx.x == 0) *begin = now();
  const int factor = static_cast<int>(threadIdx.x) % 7;

  // Waits until the primary kernel has ended and its writes are visible. Without this there is
  // no order between the two, and `data` must not be touched.
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
  result[threadIdx.x] = data[threadIdx.x] * factor;
}

bool passed = true;

void check(bool ok, const char* what) {
  if (ok) return;
  passed = false;
  std::fprintf(stderr, "Not so: %s\n", what);
}

// Whether the kernel's code that this device runs was compiled for 9.0 or later. Not only the
// device counts: in code for an older one the wait above is left out.
bool compiled_with_wait() {
  cudaFuncAttributes attributes{};
  const cudaError_t status = cudaFuncGetAttributes(&attributes, secondary);
  return status == cudaSuccess && attributes.ptxVersion >= 90;
}

void run() {
  const bool can_overlap = compiled_with_wait();
  std::printf("CanOverlap=%s\n", can_overlap ? "True" : "False");

  Stream stream;
  DeviceBuffer<int> data(threads, stream), result(threads, stream);
  DeviceBuffer<unsigned long long> times(2, stream);  // the primary's end, the secondary's begin
  PinnedBuffer<int> host(threads);
  PinnedBuffer<unsigned long long> host_times(2);

  const LaunchConfig plain{.block = threads};
  LaunchConfig overlapping = plain;
  overlapping.programmatic_serialization = can_overlap;

  // The first launch of a kernel also loads it, which may wait for the device.
  launch(stream, plain, primary, data, times.subspan(0, 1), 0ull);
  launch(stream, plain, secondary, data, result, times.subspan(1, 1));
  fill_bytes(data, 0, stream);
  fill_bytes(result, 0, stream);
  stream.synchronize();

  // Nothing may come between the two: the option is about the kernel just before in the stream.
  launch(stream, plain, primary, data, times.subspan(0, 1), 50 * millisecond);
  launch(stream, overlapping, secondary, data, result, times.subspan(1, 1));
  copy(host, result, stream);
  copy(host_times, times, stream);
  stream.synchronize();

  // Whether they did overlap is the device's choice, so it is printed and not checked.
  std::printf("Overlapped=%s\n", host_times[1] < host_times[0] ? "True" : "False");
  for (unsigned i = 0; i < threads; ++i) {
    const int expected = (static_cast<int>(i) + 1) * (static_cast<int>(i) % 7);
    if (host[i] != expected) {
      check(false, "the secondary kernel sees all that the primary wrote");
      break;
    }
  }
}

}  // namespace

int main() try {
  const Environment env = Environment::probe();
  if (!env.usable()) {
    std::printf("ProgrammaticLaunch=Skipped %s\n", env.reason());
    return 77;
  }
  run();
  std::printf("ProgrammaticLaunch Passed=%s\n", passed ? "True" : "False");
  return passed ? 0 : 1;
} catch (const Error& error) {
  std::fprintf(stderr, "programmatic_launch: %s\n", error.what());
  return 1;
}
