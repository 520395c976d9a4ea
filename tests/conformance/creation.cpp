// SPDX-License-Identifier: BSL-1.0
//
// Streams and events: how they are made, what they tell of themselves, how they end.
#include "facts.hpp"
#include "groups.hpp"

namespace facts {
namespace {

// A function that creates a stream: what it answers, and what became of the handle.
void stream_made(const char* name, cudaError_t answer, cudaStream_t stream) {
  error(name, answer);
  if (answer == cudaSuccess && stream != nullptr) need(cudaStreamDestroy(stream));
}

void streams() {
  cudaStream_t stream = nullptr;
  error("cudaStreamCreate null", cudaStreamCreate(nullptr));
  error("cudaStreamCreateWithFlags null", cudaStreamCreateWithFlags(nullptr, 0));
  error("cudaStreamCreateWithPriority null", cudaStreamCreateWithPriority(nullptr, 0, 0));
  for (const unsigned flags : {0U, 1U, 2U, 3U, 4U, 0xffffffffU}) {
    stream = nullptr;
    const cudaError_t answer = cudaStreamCreateWithFlags(&stream, flags);
    stream_made(("cudaStreamCreateWithFlags " + std::to_string(flags)).c_str(), answer, stream);
  }
  stream = nullptr;
  const cudaError_t answer = cudaStreamCreateWithPriority(&stream, 2, 0);
  stream_made("cudaStreamCreateWithPriority flags 2", answer, stream);
  error("cudaStreamDestroy null", cudaStreamDestroy(nullptr));
  error("cudaStreamDestroy legacy", cudaStreamDestroy(cudaStreamLegacy));
  error("cudaStreamDestroy per-thread", cudaStreamDestroy(cudaStreamPerThread));
}

void priorities() {
  int least = 0;
  int greatest = 0;
  error("cudaDeviceGetStreamPriorityRange", cudaDeviceGetStreamPriorityRange(&least, &greatest));
  error("cudaDeviceGetStreamPriorityRange null",
        cudaDeviceGetStreamPriorityRange(nullptr, nullptr));
  number("least priority", least);
  number("greatest priority", greatest);
  const struct {
    const char* name;
    int asked;
  } cases[] = {{"priority 0", 0},
               {"least priority asked for", least},
               {"greatest priority asked for", greatest},
               {"priority 100", 100},
               {"priority -100", -100}};
  for (const auto& one : cases) {
    cudaStream_t stream = nullptr;
    int priority = 12345;
    need(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, one.asked));
    need(cudaStreamGetPriority(stream, &priority));
    number(std::string(one.name) + " read back", priority);
    need(cudaStreamDestroy(stream));
  }
}

void stream_events() {
  for (const unsigned flags : {0U, 1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 0x10U, 0xffffffffU}) {
    cudaEvent_t event = nullptr;
    const cudaError_t answer = cudaEventCreateWithFlags(&event, flags);
    error("cudaEventCreateWithFlags " + std::to_string(flags), answer);
    if (answer == cudaSuccess) need(cudaEventDestroy(event));
  }
  error("cudaEventCreate null", cudaEventCreate(nullptr));
  error("cudaEventCreateWithFlags null", cudaEventCreateWithFlags(nullptr, 0));
}

void null_events() {
  const Stream stream;
  float ms = 0;
  error("cudaEventDestroy null", cudaEventDestroy(nullptr));
  error("cudaEventQuery null", cudaEventQuery(nullptr));
  error("cudaEventSynchronize null", cudaEventSynchronize(nullptr));
  error("cudaEventRecord null", cudaEventRecord(nullptr, stream));
  error("cudaStreamWaitEvent null", cudaStreamWaitEvent(stream, nullptr, 0));
  error("cudaEventElapsedTime null events", cudaEventElapsedTime(&ms, nullptr, nullptr));
}

void getters() {
  const Stream stream;
  error("cudaStreamGetFlags null", cudaStreamGetFlags(stream, nullptr));
  error("cudaStreamGetPriority null", cudaStreamGetPriority(stream, nullptr));
  error("cudaStreamGetId null", cudaStreamGetId(stream, nullptr));
  // cudaStreamGetDevice with a null pointer crashes on a GPU.
  error("cudaStreamIsCapturing null", cudaStreamIsCapturing(stream, nullptr));
}

void ends() {
  // What is pending in a stream that is destroyed.
  const PinnedMemory host(4);
  const DeviceMemory device(4);
  const Event event;
  cudaStream_t stream = nullptr;
  need(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  {
    const Gate gate(stream);
    need(cudaMemsetAsync(device, 7, 4, stream));
    need(cudaMemcpyAsync(host, device, 4, cudaMemcpyDeviceToHost, stream));
    need(cudaEventRecord(event, stream));
    error("cudaStreamDestroy of a busy stream", cudaStreamDestroy(stream));
    error("its event, query", cudaEventQuery(event));
  }
  error("its event, synchronize", cudaEventSynchronize(event));
  yes_no("its work was done", host.bytes()[0] == 7);
  error("its event, query later", cudaEventQuery(event));
}

}  // namespace

void creation() {
  section("streams", streams);
  section("priorities", priorities);
  section("events", stream_events);
  section("getters", getters);
  section("ends", ends);
  section("null events", null_events);
}

namespace {

unsigned long long id_of(cudaStream_t stream) {
  unsigned long long id = 0;
  need(cudaStreamGetId(stream, &id));
  return id;
}

void ids() {
  const Stream first;
  const Stream second;
  number("id of legacy", static_cast<long long>(id_of(cudaStreamLegacy)));
  number("id of per-thread", static_cast<long long>(id_of(cudaStreamPerThread)));
  yes_no("id of null is that of legacy", id_of(nullptr) == id_of(cudaStreamLegacy));
  yes_no("id of the first created is greater than both",
         id_of(first) > id_of(cudaStreamPerThread) && id_of(first) > id_of(cudaStreamLegacy));
  yes_no("id of the second is greater", id_of(second) > id_of(first));
  unsigned long long here = id_of(cudaStreamPerThread);
  unsigned long long there = 0;
  in_thread([&] { there = id_of(cudaStreamPerThread); });
  yes_no("id of per-thread is the same in another thread", here == there);
  cudaStream_t third = nullptr;
  need(cudaStreamCreate(&third));
  const unsigned long long old = id_of(third);
  need(cudaStreamDestroy(third));
  const Stream fourth(cudaStreamDefault);
  yes_no("id of a destroyed stream comes back", id_of(fourth) == old);
}

void properties() {
  const Stream blocking(cudaStreamDefault);
  const Stream non_blocking(cudaStreamNonBlocking);
  const struct {
    const char* name;
    cudaStream_t stream;
  } cases[] = {{"null", nullptr},
               {"legacy", cudaStreamLegacy},
               {"per-thread", cudaStreamPerThread},
               {"blocking", blocking},
               {"non-blocking", non_blocking}};
  for (const auto& one : cases) {
    const std::string name = one.name;
    unsigned flags = 12345;
    int priority = 12345;
    int device = 12345;
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusInvalidated;
    error(name + ", cudaStreamGetFlags", cudaStreamGetFlags(one.stream, &flags));
    number(name + ", flags", flags);
    error(name + ", cudaStreamGetPriority", cudaStreamGetPriority(one.stream, &priority));
    number(name + ", priority", priority);
    error(name + ", cudaStreamGetDevice", cudaStreamGetDevice(one.stream, &device));
    number(name + ", device", device);
    error(name + ", cudaStreamIsCapturing", cudaStreamIsCapturing(one.stream, &status));
    number(name + ", capture status", status);
    error(name + ", query when idle", cudaStreamQuery(one.stream));
    error(name + ", synchronize when idle", cudaStreamSynchronize(one.stream));
  }
}

}  // namespace

void default_streams() {
  section("properties", properties);
  section("ids", ids);
}

}  // namespace facts
