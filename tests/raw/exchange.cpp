// SPDX-License-Identifier: BSL-1.0
// A program of CUDA runtime calls alone, as it might stand anywhere. One host thread makes frames
// in a stream with stream-ordered memory and hands them over with an event each; another one has a
// graph of explicit nodes work on them, and reads the results back. The bytes of every frame are
// checked, and the time between two events is asked for.
#include <cuda_runtime_api.h>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <queue>
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

constexpr std::size_t width = 128;  // bytes of a row
constexpr std::size_t height = 64;
constexpr std::size_t frame_bytes = width * height;
constexpr int frames = 24;
constexpr unsigned char border = 0xEE;

struct Frame {
  int number;
  unsigned char* pixels;  // of the device
  cudaEvent_t made;
};

class Queue {
 public:
  void push(const Frame& frame) {
    const std::lock_guard<std::mutex> lock(mutex_);
    frames_.push(frame);
    filled_.notify_one();
  }

  Frame pop() {
    std::unique_lock<std::mutex> lock(mutex_);
    filled_.wait(lock, [this] { return !frames_.empty(); });
    const Frame frame = frames_.front();
    frames_.pop();
    return frame;
  }

 private:
  std::mutex mutex_;
  std::condition_variable filled_;
  std::queue<Frame> frames_;
};

unsigned char value_of(int frame) { return static_cast<unsigned char>(3 * frame + 1); }

void make_frames(Queue& queue, cudaStream_t stream) {
  for (int number = 0; number < frames; ++number) {
    Frame frame{number, nullptr, nullptr};
    CHECK(cudaMallocAsync(reinterpret_cast<void**>(&frame.pixels), frame_bytes, stream));
    CHECK(cudaMemsetAsync(frame.pixels, value_of(number), frame_bytes, stream));
    CHECK(cudaEventCreateWithFlags(&frame.made, cudaEventDisableTiming));
    CHECK(cudaEventRecord(frame.made, stream));
    queue.push(frame);
  }
}

void count_frame(void* data) { ++*static_cast<std::atomic<int>*>(data); }

// Copies a frame, draws a border above and below it, reads it back and counts it.
class Worker {
 public:
  Worker() {
    CHECK(cudaMalloc(reinterpret_cast<void**>(&input_), frame_bytes));
    CHECK(cudaMalloc(reinterpret_cast<void**>(&work_), frame_bytes));
    CHECK(cudaMallocHost(reinterpret_cast<void**>(&result_), frame_bytes));
    CHECK(cudaGraphCreate(&graph_, 0));
    cudaGraphNode_t copied = nullptr;
    CHECK(cudaGraphAddMemcpyNode1D(&copied, graph_, nullptr, 0, work_, input_, frame_bytes,
                                   cudaMemcpyDeviceToDevice));
    cudaGraphNode_t drawn[2] = {add_border(copied, 0), add_border(copied, height - 1)};
    cudaGraphNode_t read = nullptr;
    CHECK(cudaGraphAddMemcpyNode1D(&read, graph_, drawn, 2, result_, work_, frame_bytes,
                                   cudaMemcpyDeviceToHost));
    cudaHostNodeParams host{};
    host.fn = count_frame;
    host.userData = &counted_;
    cudaGraphNode_t counted = nullptr;
    CHECK(cudaGraphAddHostNode(&counted, graph_, &read, 1, &host));
    CHECK(cudaGraphInstantiate(&exec_, graph_, 0));
  }

  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  ~Worker() {
    CHECK(cudaGraphExecDestroy(exec_));
    CHECK(cudaGraphDestroy(graph_));
    CHECK(cudaFreeHost(result_));
    CHECK(cudaFree(work_));
    CHECK(cudaFree(input_));
  }

  // Takes the frame's memory over, and gives it back in the order of the stream.
  bool work_on(const Frame& frame, cudaStream_t stream) {
    CHECK(cudaStreamWaitEvent(stream, frame.made, 0));
    CHECK(cudaEventDestroy(frame.made));
    CHECK(cudaMemcpyAsync(input_, frame.pixels, frame_bytes, cudaMemcpyDeviceToDevice, stream));
    CHECK(cudaFreeAsync(frame.pixels, stream));
    CHECK(cudaGraphLaunch(exec_, stream));
    cudaError_t state = cudaErrorNotReady;
    while ((state = cudaStreamQuery(stream)) == cudaErrorNotReady) std::this_thread::yield();
    CHECK(state);
    for (std::size_t i = 0; i < frame_bytes; ++i) {
      const std::size_t row = i / width;
      const bool is_border = row == 0 || row == height - 1;
      if (result_[i] != (is_border ? border : value_of(frame.number))) return false;
    }
    return true;
  }

  [[nodiscard]] int counted() const { return counted_; }

 private:
  cudaGraphNode_t add_border(cudaGraphNode_t after, std::size_t row) {
    cudaMemsetParams line{};
    line.dst = work_ + row * width;
    line.value = border;
    line.elementSize = 1;
    line.width = width;
    line.height = 1;
    cudaGraphNode_t node = nullptr;
    CHECK(cudaGraphAddMemsetNode(&node, graph_, &after, 1, &line));
    return node;
  }

  unsigned char* input_ = nullptr;
  unsigned char* work_ = nullptr;
  unsigned char* result_ = nullptr;  // pinned
  std::atomic<int> counted_{0};
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t exec_ = nullptr;
};

}  // namespace

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::puts("Exchange=Skipped");
    return 77;
  }
  cudaStream_t makes = nullptr;
  cudaStream_t works = nullptr;
  cudaEvent_t start = nullptr;
  cudaEvent_t end = nullptr;
  CHECK(cudaStreamCreateWithPriority(&makes, cudaStreamNonBlocking, 0));
  CHECK(cudaStreamCreateWithFlags(&works, cudaStreamDefault));
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&end));

  Queue queue;
  int right = 0;
  int counted = 0;
  std::thread maker([&] { make_frames(queue, makes); });
  std::thread worker([&] {
    Worker work;
    CHECK(cudaEventRecord(start, works));
    for (int i = 0; i < frames; ++i) right += work.work_on(queue.pop(), works) ? 1 : 0;
    CHECK(cudaEventRecord(end, works));
    CHECK(cudaEventSynchronize(end));
    counted = work.counted();
  });
  maker.join();
  worker.join();

  float milliseconds = -1;
  CHECK(cudaEventElapsedTime(&milliseconds, start, end));
  CHECK(cudaEventDestroy(start));
  CHECK(cudaEventDestroy(end));
  CHECK(cudaStreamDestroy(makes));
  CHECK(cudaStreamDestroy(works));
  // Redundant: tidies up; the results are known.
  CHECK(cudaDeviceSynchronize());
  const bool passed = right == frames && counted == frames && milliseconds > 0;
  std::printf("Exchange Frames=%d Right=%d Counted=%d Timed=%s\n", frames, right, counted,
              milliseconds > 0 ? "True" : "False");
  return passed ? 0 : 1;
}
