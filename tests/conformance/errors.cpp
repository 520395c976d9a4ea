// SPDX-License-Identifier: BSL-1.0
//
// The last error, and calls in host functions.
#include <thread>

#include "facts.hpp"
#include "groups.hpp"

namespace facts {
namespace {

// A fact that keeps the last error.
void tell(std::string_view name, cudaError_t answer, cudaError_t last) {
  text(name, name_of(answer) + ", last error " + name_of(last));
}

void keeping() {
  void* pointer = nullptr;
  need(cudaGetLastError());
  const cudaError_t answer = cudaMalloc(nullptr, 16);
  const cudaError_t peek = cudaPeekAtLastError();
  const cudaError_t peek_again = cudaPeekAtLastError();
  const cudaError_t works = cudaMalloc(&pointer, 16);
  const cudaError_t after_success = cudaPeekAtLastError();
  const cudaError_t synchronize = cudaDeviceSynchronize();
  const cudaError_t after_synchronize = cudaPeekAtLastError();
  const cudaError_t free_answer = cudaFree(pointer);
  const cudaError_t second = cudaMalloc(&pointer, std::size_t{1} << 60);
  const cudaError_t after_second = cudaPeekAtLastError();
  const cudaError_t get = cudaGetLastError();
  const cudaError_t get_again = cudaGetLastError();
  error("a failure", answer);
  error("peek after it", peek);
  error("peek again", peek_again);
  error("a success after it", works);
  error("peek after the success", after_success);
  error("synchronize after it", synchronize);
  error("peek after synchronize", after_synchronize);
  error("free after it", free_answer);
  error("a second failure", second);
  error("peek after the second", after_second);
  error("get", get);
  error("get again", get_again);
}

void threads() {
  cudaError_t there = cudaSuccess;
  cudaError_t there_after = cudaSuccess;
  need(cudaGetLastError());
  (void)cudaMalloc(nullptr, 16);
  std::thread([&] {
    there = cudaPeekAtLastError();
    (void)cudaSetDevice(-1);
    there_after = cudaPeekAtLastError();
  }).join();
  const cudaError_t here = cudaGetLastError();
  error("in another thread after a failure here", there);
  error("in another thread after a failure there", there_after);
  error("here after that", here);
}

void not_ready() {
  const Stream stream;
  const Event event;
  cudaError_t query = cudaSuccess;
  cudaError_t after_query = cudaSuccess;
  cudaError_t kept = cudaSuccess;
  cudaError_t elapsed = cudaSuccess;
  cudaError_t after_elapsed = cudaSuccess;
  {
    float ms = 0;
    const Gate gate(stream);
    need(cudaEventRecord(event, stream));
    query = cudaStreamQuery(stream);
    after_query = cudaGetLastError();
    (void)cudaMalloc(nullptr, 16);
    (void)cudaStreamQuery(stream);
    kept = cudaGetLastError();
    elapsed = cudaEventElapsedTime(&ms, event, event);
    after_elapsed = cudaGetLastError();
  }
  tell("query not ready", query, after_query);
  error("last error of before, after a query not ready", kept);
  tell("elapsed not ready", elapsed, after_elapsed);
}

template <class Call>
void failing(std::string_view name, Call call) {
  need(cudaGetLastError());
  const cudaError_t answer = call();
  tell(name, answer, cudaPeekAtLastError());
}

void failures() {
  const Stream stream;
  const Event event;
  int host = 0;
  void* pointer = nullptr;
  failing("cudaSetDevice -1", [] { return cudaSetDevice(-1); });
  failing("cudaGetDevice null", [] { return cudaGetDevice(nullptr); });
  failing("cudaDriverGetVersion null", [] { return cudaDriverGetVersion(nullptr); });
  failing("cudaRuntimeGetVersion null", [] { return cudaRuntimeGetVersion(nullptr); });
  failing("cudaGetDeviceCount null", [] { return cudaGetDeviceCount(nullptr); });
  failing("cudaStreamCreateWithFlags 4", [] {
    cudaStream_t made;
    return cudaStreamCreateWithFlags(&made, 4);
  });
  failing("cudaStreamGetId null", [&] { return cudaStreamGetId(stream, nullptr); });
  failing("cudaEventQuery null", [] { return cudaEventQuery(nullptr); });
  failing("cudaEventElapsedTime never recorded", [&] {
    float ms = 0;
    return cudaEventElapsedTime(&ms, event, event);
  });
  failing("cudaEventRecordWithFlags 4", [&] { return cudaEventRecordWithFlags(event, stream, 4); });
  failing("cudaLaunchHostFunc null", [&] { return cudaLaunchHostFunc(stream, nullptr, nullptr); });
  failing("cudaMemcpy kind 99",
          [&] { return cudaMemcpy(&host, &host, 4, number_as<cudaMemcpyKind>(99)); });
  failing("cudaMemset null", [] { return cudaMemset(nullptr, 0, 4); });
  failing("cudaMallocHost null", [] { return cudaMallocHost(nullptr, 4); });
  failing("cudaMallocAsync of 1 << 60 bytes",
          [&] { return cudaMallocAsync(&pointer, std::size_t{1} << 60, stream); });
  failing("cudaFree of pageable memory", [&] { return cudaFree(&host); });
  failing("cudaFreeAsync of pageable memory", [&] { return cudaFreeAsync(&host, stream); });
  failing("cudaHostUnregister of pageable memory", [&] { return cudaHostUnregister(&host); });
  failing("cudaHostGetFlags of pageable memory", [&] {
    unsigned flags = 0;
    return cudaHostGetFlags(&flags, &host);
  });
  failing("cudaHostGetDevicePointer of pageable memory",
          [&] { return cudaHostGetDevicePointer(&pointer, &host, 0); });
  failing("cudaPointerGetAttributes null",
          [&] { return cudaPointerGetAttributes(nullptr, &host); });
  failing("cudaDeviceGetAttribute 9999", [] {
    int value = 0;
    return cudaDeviceGetAttribute(&value, number_as<cudaDeviceAttr>(9999), 0);
  });
  failing("cudaGetDeviceProperties of device 99", [] {
    cudaDeviceProp properties;
    return cudaGetDeviceProperties(&properties, 99);
  });
  failing("cudaDeviceGetDefaultMemPool of device 99", [] {
    cudaMemPool_t pool;
    return cudaDeviceGetDefaultMemPool(&pool, 99);
  });
  failing("cudaDeviceEnablePeerAccess of device 99",
          [] { return cudaDeviceEnablePeerAccess(99, 0); });
}

void names() {
  for (const int number : {0,   1,   2,   46,  100, 201, 400, 600, 700,   719,
                           800, 801, 900, 901, 906, 910, 911, 999, 12345, -1}) {
    const auto value = static_cast<cudaError_t>(number);
    text("name of " + std::to_string(number), cudaGetErrorName(value));
    text("text of " + std::to_string(number), cudaGetErrorString(value));
  }
}

}  // namespace

void last_error() {
  section("keeping", keeping);
  section("threads", threads);
  section("not ready", not_ready);
  section("failures", failures);
  section("names", names);
}

namespace {

// What a call in a host function answered.
struct Inside {
  cudaError_t (*call)();
  cudaError_t answer = cudaSuccess;
  cudaError_t last = cudaSuccess;
};

void run_inside(void* data) {
  auto* const inside = static_cast<Inside*>(data);
  (void)cudaGetLastError();
  inside->answer = inside->call();
  inside->last = cudaPeekAtLastError();
}

// What the calls there may use.
cudaStream_t idle;
cudaStream_t own;
cudaEvent_t done;
void* device_memory;
void* pinned_memory;
void* result;
cudaStream_t made_stream;
cudaEvent_t made_event;

void ignore(void*) {}

void inside(const char* name, cudaError_t (*call)()) {
  Inside one{call};
  need(cudaLaunchHostFunc(own, run_inside, &one));
  need(cudaStreamSynchronize(own));
  need(cudaDeviceSynchronize());
  tell(std::string("inside, ") + name, one.answer, one.last);
}

void calls_inside() {
  const Stream idle_stream;
  const Stream own_stream;
  const Event event;
  const DeviceMemory device(64);
  const PinnedMemory pinned(64);
  need(cudaEventRecord(event, idle_stream));
  idle_stream.synchronize();
  idle = idle_stream;
  own = own_stream;
  done = event;
  device_memory = device;
  pinned_memory = pinned;

  inside("cudaGetLastError", [] { return cudaGetLastError(); });
  inside("cudaPeekAtLastError", [] { return cudaPeekAtLastError(); });
  inside("cudaDriverGetVersion", [] {
    int n = 0;
    return cudaDriverGetVersion(&n);
  });
  inside("cudaRuntimeGetVersion", [] {
    int n = 0;
    return cudaRuntimeGetVersion(&n);
  });
  inside("cudaGetDeviceCount", [] {
    int n = 0;
    return cudaGetDeviceCount(&n);
  });
  inside("cudaGetDevice", [] {
    int n = 0;
    return cudaGetDevice(&n);
  });
  inside("cudaSetDevice", [] { return cudaSetDevice(0); });
  inside("cudaDeviceGetAttribute", [] {
    int n = 0;
    return cudaDeviceGetAttribute(&n, cudaDevAttrWarpSize, 0);
  });
  inside("cudaGetDeviceProperties", [] {
    cudaDeviceProp properties;
    return cudaGetDeviceProperties(&properties, 0);
  });
  inside("cudaDeviceGetStreamPriorityRange", [] {
    int n = 0;
    return cudaDeviceGetStreamPriorityRange(&n, &n);
  });
  inside("cudaMemGetInfo", [] {
    std::size_t n = 0;
    return cudaMemGetInfo(&n, &n);
  });
  inside("cudaPointerGetAttributes", [] {
    cudaPointerAttributes attributes;
    return cudaPointerGetAttributes(&attributes, device_memory);
  });
  inside("cudaHostGetDevicePointer",
         [] { return cudaHostGetDevicePointer(&result, pinned_memory, 0); });
  inside("cudaStreamQuery of an idle stream", [] { return cudaStreamQuery(idle); });
  inside("cudaStreamGetId", [] {
    unsigned long long id = 0;
    return cudaStreamGetId(idle, &id);
  });
  inside("cudaStreamGetFlags", [] {
    unsigned n = 0;
    return cudaStreamGetFlags(idle, &n);
  });
  inside("cudaStreamIsCapturing", [] {
    cudaStreamCaptureStatus status{};
    return cudaStreamIsCapturing(idle, &status);
  });
  inside("cudaThreadExchangeStreamCaptureMode", [] {
    cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
    return cudaThreadExchangeStreamCaptureMode(&mode);
  });
  inside("cudaEventQuery of a done event", [] { return cudaEventQuery(done); });
  inside("cudaEventElapsedTime", [] {
    float ms = 0;
    return cudaEventElapsedTime(&ms, done, done);
  });
  inside("cudaLaunchHostFunc", [] { return cudaLaunchHostFunc(idle, ignore, nullptr); });
  inside("cudaMemsetAsync", [] { return cudaMemsetAsync(device_memory, 1, 64, idle); });
  inside("cudaMemcpyAsync", [] {
    return cudaMemcpyAsync(pinned_memory, device_memory, 64, cudaMemcpyDeviceToHost, idle);
  });
  inside("cudaEventRecord", [] { return cudaEventRecord(done, idle); });
  inside("cudaStreamWaitEvent", [] { return cudaStreamWaitEvent(idle, done, 0); });
}

// These make or end something, or wait.
void more_calls_inside() {
  inside("cudaEventCreate", [] { return cudaEventCreate(&made_event); });
  inside("cudaEventCreateWithFlags",
         [] { return cudaEventCreateWithFlags(&made_event, cudaEventDisableTiming); });
  inside("cudaStreamCreate", [] { return cudaStreamCreate(&made_stream); });
  inside("cudaFree null", [] { return cudaFree(nullptr); });
  inside("cudaMalloc", [] { return cudaMalloc(&result, 64); });
  inside("cudaMallocHost", [] { return cudaMallocHost(&result, 64); });
  inside("cudaMallocAsync", [] { return cudaMallocAsync(&result, 64, idle); });
  inside("cudaFreeAsync null", [] { return cudaFreeAsync(nullptr, idle); });
  inside("cudaMemcpy",
         [] { return cudaMemcpy(pinned_memory, device_memory, 64, cudaMemcpyDeviceToHost); });
  inside("cudaStreamSynchronize of an idle stream", [] { return cudaStreamSynchronize(idle); });
  inside("cudaEventSynchronize of a done event", [] { return cudaEventSynchronize(done); });
}

void all_calls_inside() {
  const Stream idle_stream;
  const Stream own_stream;
  const Event event;
  const DeviceMemory device(64);
  const PinnedMemory pinned(64);
  need(cudaEventRecord(event, idle_stream));
  idle_stream.synchronize();
  idle = idle_stream;
  own = own_stream;
  done = event;
  device_memory = device;
  pinned_memory = pinned;
  more_calls_inside();
}

void launches() {
  const Stream stream;
  const Stream other;
  idle = other;
  error("null function", cudaLaunchHostFunc(stream, nullptr, nullptr));
  error("in null", cudaLaunchHostFunc(nullptr, ignore, nullptr));
  error("in legacy", cudaLaunchHostFunc(cudaStreamLegacy, ignore, nullptr));
  error("in per-thread", cudaLaunchHostFunc(cudaStreamPerThread, ignore, nullptr));
  need(cudaDeviceSynchronize());
  // A failure in it is the error of that thread only.
  need(cudaLaunchHostFunc(
      stream, [](void*) { (void)cudaStreamQuery(idle); }, nullptr));
  error("synchronize after a failing call in one", cudaStreamSynchronize(stream));
  error("last error after a failing call in one", cudaPeekAtLastError());
}

}  // namespace

void host_functions() {
  section("launches", launches);
  section("calls", calls_inside);
  section("more calls", all_calls_inside);
}

namespace {

struct Called {
  bool ran = false;
  bool right_stream = false;
  cudaError_t status = cudaErrorUnknown;
  cudaError_t inside = cudaSuccess;
};

void CUDART_CB called(cudaStream_t stream, cudaError_t status, void* data) {
  auto* const one = static_cast<Called*>(data);
  one->ran = true;
  one->right_stream = stream == own;
  one->status = status;
  void* pointer = nullptr;
  one->inside = cudaMalloc(&pointer, 64);
}

void CUDART_CB return_at_once(cudaStream_t, cudaError_t, void*) {}

void stream_callbacks() {
  const Stream stream;
  own = stream;
  error("null callback", cudaStreamAddCallback(stream, nullptr, nullptr, 0));
  error("flags 1", cudaStreamAddCallback(stream, return_at_once, nullptr, 1));
  error("in null", cudaStreamAddCallback(nullptr, return_at_once, nullptr, 0));
  error("in per-thread", cudaStreamAddCallback(cudaStreamPerThread, return_at_once, nullptr, 0));
  need(cudaDeviceSynchronize());
  Called one;
  error("callback", cudaStreamAddCallback(stream, called, &one, 0));
  error("synchronize after it", cudaStreamSynchronize(stream));
  yes_no("it ran", one.ran);
  yes_no("it got the stream", one.right_stream);
  error("it got the status", one.status);
  error("cudaMalloc in it", one.inside);
}

}  // namespace

void callbacks() { section("callbacks", stream_callbacks); }

}  // namespace facts
