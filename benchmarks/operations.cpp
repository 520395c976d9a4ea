// SPDX-License-Identifier: BSL-1.0
#include "operations.hpp"

#include "empty_kernel.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

using namespace culvert;

// The raw code checks what each call answers, as a program must.
[[noreturn, gnu::cold, gnu::noinline]] void fail(int status) {
  std::fprintf(stderr, "raw CUDA failed: error %d\n", status);
  std::exit(1);
}
void check(cudaError_t status) {
  if (status != cudaSuccess) [[unlikely]] {
    fail(status);
  }
}

// Uses a value, so that the compiler must make it.
template <class T>
void use(T value) {
  asm volatile("" : : "r"(value));
}

// Everything is read from memory again for each call, and no call moves out of the loop.
template <class Work>
[[gnu::noinline]] void repeat(Fixture& fixture, int calls) {
  for (int i = 0; i < calls; ++i) {
    Work{}(fixture);
    asm volatile("" : : : "memory");
  }
}

template <class Raw, class Culvert>
constexpr Operation operation(const char* name, double limit, Raw, Culvert) {
  return {name, limit, repeat<Raw>, repeat<Culvert>};
}

void add(void* data) { (*static_cast<const Fixture::Addition*>(data))(); }

struct Question {
  int number;
  int answer;
};
void answer(void* data) {
  auto& question = *static_cast<Question*>(data);
  question.answer = question.number + 1;
}

constexpr auto raw_launch_host = [](Fixture& f) {
  check(cudaLaunchHostFunc(f.raw.a, add, &f.addition));
};

const Operation all[] = {
    operation(
        "stream.record(event)", 1.03,
        [](Fixture& f) { check(cudaEventRecord(f.raw.event, f.raw.a)); },
        [](Fixture& f) { f.a.record(f.event); }),
    operation(
        "stream.wait(event)", 1.03,
        [](Fixture& f) { check(cudaStreamWaitEvent(f.raw.a, f.raw.event, 0)); },
        [](Fixture& f) { f.a.wait(f.event); }),
    operation(
        "stream.wait(stream)", 1.05,
        [](Fixture& f) {
          check(cudaEventRecord(f.raw.event, f.raw.b));
          check(cudaStreamWaitEvent(f.raw.a, f.raw.event, 0));
        },
        [](Fixture& f) { f.a.wait(f.b); }),
    operation(
        "stream.is_done()", 1.03,
        [](Fixture& f) {
          const cudaError_t status = cudaStreamQuery(f.raw.a);
          if (status != cudaErrorNotReady) check(status);
          use(status == cudaSuccess);
        },
        [](Fixture& f) { use(f.a.is_done()); }),
    operation(
        "stream.synchronize()", 1.03, [](Fixture& f) { check(cudaStreamSynchronize(f.raw.a)); },
        [](Fixture& f) { f.a.synchronize(); }),
    operation(
        "copy, host to device", 1.03,
        [](Fixture& f) {
          check(cudaMemcpyAsync(f.raw.bytes, f.raw.host, f.raw.size, cudaMemcpyHostToDevice,
                                f.raw.a));
        },
        [](Fixture& f) { copy(f.bytes, f.host, f.a); }),
    operation(
        "copy, device to host", 1.03,
        [](Fixture& f) {
          check(cudaMemcpyAsync(f.raw.host, f.raw.bytes, f.raw.size, cudaMemcpyDeviceToHost,
                                f.raw.a));
        },
        [](Fixture& f) { copy(f.host, f.bytes, f.a); }),
    operation(
        "copy, device to device", 1.03,
        [](Fixture& f) {
          check(cudaMemcpyAsync(f.raw.more_bytes, f.raw.bytes, f.raw.size, cudaMemcpyDeviceToDevice,
                                f.raw.a));
        },
        [](Fixture& f) { copy(f.more_bytes, f.bytes, f.a); }),
    operation(
        "fill, 1-byte value", 1.03,
        [](Fixture& f) {
          check(cudaMemsetAsync(f.raw.bytes, static_cast<int>(f.byte), f.raw.size, f.raw.a));
        },
        [](Fixture& f) { fill(f.bytes, f.byte, f.a); }),
    operation(
        "fill, 4-byte value", 1.03,
        [](Fixture& f) {
          unsigned bits;
          std::memcpy(&bits, &f.value, 4);
          const CUresult result = f.raw.set_32(reinterpret_cast<CUdeviceptr>(f.raw.floats), bits,
                                               f.raw.size / 4, f.raw.a);
          if (result != CUDA_SUCCESS) [[unlikely]] {
            fail(result);
          }
        },
        [](Fixture& f) { fill(f.floats, f.value, f.a); }),
    operation(
        "launch", 1.03,
        [](Fixture& f) {
          int count = static_cast<int>(f.raw.size / 4);
          cudaLaunchConfig_t config{};
          config.gridDim = dim3(1);
          config.blockDim = dim3(32);
          config.stream = f.raw.a;
          void* arguments[] = {&f.raw.floats, &f.value, &count};
          check(
              cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(empty_kernel), arguments));
        },
        [](Fixture& f) {
          launch(f.a, {.grid = 1, .block = 32}, empty_kernel, f.floats, f.value,
                 static_cast<int>(f.floats.size()));
        }),
    operation(
        "launch_host, a lambda", 1.10, raw_launch_host,
        [](Fixture& f) { launch_host(f.a, [total = &f.sum, add = f.number] { *total += add; }); }),
    operation("launch_host, a HostFunc", 1.10, raw_launch_host,
              [](Fixture& f) { launch_host(f.a, f.host_func); }),
    operation(
        "async_host(...).get()", 1.03,
        [](Fixture& f) {
          Question question{f.number, 0};
          check(cudaLaunchHostFunc(f.raw.a, answer, &question));
          check(cudaEventRecord(f.raw.event, f.raw.a));
          check(cudaEventSynchronize(f.raw.event));
          use(question.answer);
        },
        [](Fixture& f) { use(async_host(f.a, [number = f.number] { return number + 1; }).get()); }),
    operation(
        "DeviceBuffer(n, stream)", 1.03,
        [](Fixture& f) {
          void* data = nullptr;
          check(cudaMallocAsync(&data, f.raw.size, f.raw.a));
          check(cudaFreeAsync(data, f.raw.a));
        },
        [](Fixture& f) { DeviceBuffer<float> buffer(f.floats.size(), f.a); }),
    operation(
        "Event", 1.03,
        [](Fixture&) {
          cudaEvent_t event = nullptr;
          check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
          check(cudaEventDestroy(event));
        },
        [](Fixture&) { Event event; }),
    operation(
        "Stream", 1.03,
        [](Fixture&) {
          cudaStream_t stream = nullptr;
          check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
          check(cudaStreamDestroy(stream));
        },
        [](Fixture&) { Stream stream; }),
};

}  // namespace

Fixture::Fixture()
    : raw{.a = a.get(),
          .b = b.get(),
          .event = event.get(),
          .host = host.data(),
          .bytes = bytes.data(),
          .more_bytes = more_bytes.data(),
          .floats = floats.data(),
          .set_32 = culvert::detail::driver_sets(SourceLocation::current()).set_32} {
  fill_bytes(bytes, 0, a);
  fill_bytes(more_bytes, 0, a);
  fill_bytes(floats, 0, a);
  a.record(event);
  drain();
}

void Fixture::drain() const {
  a.synchronize();
  b.synchronize();
}

std::span<const Operation> operations() { return all; }
