// SPDX-License-Identifier: BSL-1.0
// A program of CUDA runtime calls alone, as it might stand anywhere. Two host threads each push
// chunks through a device: into pinned memory, to the device, within it, back, each stage in a
// stream of its own, two chunks under way at a time. A host function adds up what comes out. Then
// the same stages run as a captured graph. Every byte is checked.
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <thread>

#define CHECK(call)                                                      \
  do {                                                                   \
    const cudaError_t status = (call);                                   \
    if (status != cudaSuccess) {                                         \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, \
                   cudaGetErrorString(status));                          \
      std::exit(1);                                                      \
    }                                                                    \
  } while (false)

namespace {

constexpr std::size_t chunk_bytes = std::size_t{64} << 10;
constexpr int chunks = 16;
constexpr int slots = 2;
constexpr int graph_launches = 5;

// What is under way in one of the slots.
struct Slot {
  unsigned char* in = nullptr;   // pinned
  unsigned char* out = nullptr;  // pinned
  unsigned char* device_in = nullptr;
  unsigned char* device_out = nullptr;
  cudaEvent_t uploaded = nullptr;
  cudaEvent_t computed = nullptr;
  cudaEvent_t finished = nullptr;
};

struct Sum {
  const unsigned char* bytes;
  std::uint64_t total;
};

void add_up(void* data) {
  auto* const sum = static_cast<Sum*>(data);
  for (std::size_t i = 0; i < chunk_bytes; ++i) sum->total += sum->bytes[i];
}

class Pipeline {
 public:
  explicit Pipeline(int number) : number_(number) {
    CHECK(cudaStreamCreateWithFlags(&upload_, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&compute_, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&download_, cudaStreamNonBlocking));
    for (Slot& slot : slots_) {
      CHECK(cudaHostAlloc(reinterpret_cast<void**>(&slot.in), chunk_bytes, cudaHostAllocDefault));
      CHECK(cudaHostAlloc(reinterpret_cast<void**>(&slot.out), chunk_bytes, cudaHostAllocDefault));
      CHECK(cudaMalloc(reinterpret_cast<void**>(&slot.device_in), chunk_bytes));
      CHECK(cudaMalloc(reinterpret_cast<void**>(&slot.device_out), chunk_bytes));
      for (cudaEvent_t* const event : {&slot.uploaded, &slot.computed, &slot.finished}) {
        CHECK(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
      }
    }
  }

  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  ~Pipeline() {
    for (Slot& slot : slots_) {
      for (const cudaEvent_t event : {slot.uploaded, slot.computed, slot.finished}) {
        CHECK(cudaEventDestroy(event));
      }
      CHECK(cudaFree(slot.device_in));
      CHECK(cudaFree(slot.device_out));
      CHECK(cudaFreeHost(slot.in));
      CHECK(cudaFreeHost(slot.out));
    }
    for (const cudaStream_t stream : {upload_, compute_, download_}) {
      CHECK(cudaStreamDestroy(stream));
    }
  }

  bool run_streams() {
    bool right = true;
    Sum sums[slots] = {{slots_[0].out, 0}, {slots_[1].out, 0}};
    std::uint64_t expected = 0;
    for (int chunk = 0; chunk < chunks; ++chunk) {
      Slot& slot = slots_[chunk % slots];
      // The slot's last chunk has left it: its bytes may be looked at and replaced.
      // Redundant: the first chunks have nothing before them; others may have run already.
      CHECK(cudaEventSynchronize(slot.finished));
      if (chunk >= slots) right = holds(slot.out, chunk - slots) && right;
      std::memset(slot.in, value(chunk), chunk_bytes);
      expected += value(chunk) * std::uint64_t{chunk_bytes};

      CHECK(cudaMemcpyAsync(slot.device_in, slot.in, chunk_bytes, cudaMemcpyHostToDevice, upload_));
      CHECK(cudaEventRecord(slot.uploaded, upload_));
      // Redundant: the work may have run already, for a host function or the other thread.
      CHECK(cudaStreamWaitEvent(compute_, slot.uploaded, 0));
      CHECK(cudaMemcpyAsync(slot.device_out, slot.device_in, chunk_bytes, cudaMemcpyDeviceToDevice,
                            compute_));
      CHECK(cudaEventRecord(slot.computed, compute_));
      // Redundant: the work may have run already, for a host function or the other thread.
      CHECK(cudaStreamWaitEvent(download_, slot.computed, 0));
      CHECK(cudaMemcpyAsync(slot.out, slot.device_out, chunk_bytes, cudaMemcpyDeviceToHost,
                            download_));
      CHECK(cudaLaunchHostFunc(download_, add_up, &sums[chunk % slots]));
      CHECK(cudaEventRecord(slot.finished, download_));
    }
    // Redundant: the work may have run already, for a host function or the other thread.
    CHECK(cudaStreamSynchronize(download_));
    for (int chunk = chunks - slots; chunk < chunks; ++chunk) {
      right = holds(slots_[chunk % slots].out, chunk) && right;
    }
    return right && sums[0].total + sums[1].total == expected;
  }

  bool run_graph() {
    Slot& slot = slots_[0];
    Sum sum{slot.out, 0};
    CHECK(cudaStreamBeginCapture(compute_, cudaStreamCaptureModeThreadLocal));
    CHECK(cudaMemcpyAsync(slot.device_in, slot.in, chunk_bytes, cudaMemcpyHostToDevice, compute_));
    // Half of it takes another way.
    CHECK(cudaEventRecord(slot.uploaded, compute_));
    CHECK(cudaStreamWaitEvent(upload_, slot.uploaded, 0));
    constexpr std::size_t half = chunk_bytes / 2;
    CHECK(
        cudaMemcpyAsync(slot.device_out, slot.device_in, half, cudaMemcpyDeviceToDevice, compute_));
    CHECK(cudaMemcpyAsync(slot.device_out + half, slot.device_in + half, half,
                          cudaMemcpyDeviceToDevice, upload_));
    CHECK(cudaEventRecord(slot.computed, upload_));
    CHECK(cudaStreamWaitEvent(compute_, slot.computed, 0));
    CHECK(
        cudaMemcpyAsync(slot.out, slot.device_out, chunk_bytes, cudaMemcpyDeviceToHost, compute_));
    CHECK(cudaLaunchHostFunc(compute_, add_up, &sum));
    cudaGraph_t graph = nullptr;
    CHECK(cudaStreamEndCapture(compute_, &graph));
    std::size_t nodes = 0;
    CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
    cudaGraphExec_t exec = nullptr;
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphDestroy(graph));

    bool right = nodes == 5;
    std::uint64_t expected = 0;
    for (int launch = 0; launch < graph_launches; ++launch) {
      std::memset(slot.in, value(launch), chunk_bytes);  // read again at each launch
      expected += value(launch) * std::uint64_t{chunk_bytes};
      CHECK(cudaGraphLaunch(exec, download_));
      CHECK(cudaStreamSynchronize(download_));
      right = holds(slot.out, launch) && right;
    }
    CHECK(cudaGraphExecDestroy(exec));
    return right && sum.total == expected;
  }

 private:
  [[nodiscard]] unsigned char value(int chunk) const {
    return static_cast<unsigned char>(number_ * 100 + chunk + 1);
  }

  [[nodiscard]] bool holds(const unsigned char* bytes, int chunk) const {
    for (std::size_t i = 0; i < chunk_bytes; ++i) {
      if (bytes[i] != value(chunk)) return false;
    }
    return true;
  }

  int number_;
  cudaStream_t upload_ = nullptr;
  cudaStream_t compute_ = nullptr;
  cudaStream_t download_ = nullptr;
  Slot slots_[slots];
};

}  // namespace

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::puts("Pipeline=Skipped");
    return 77;
  }
  bool right[2] = {};
  std::thread threads[2];
  for (int i = 0; i < 2; ++i) {
    threads[i] = std::thread([i, &right] {
      Pipeline pipeline(i);
      right[i] = pipeline.run_streams();
      right[i] = pipeline.run_graph() && right[i];
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::printf("Pipeline A=%s B=%s\n", right[0] ? "True" : "False", right[1] ? "True" : "False");
  return right[0] && right[1] ? 0 : 1;
}
