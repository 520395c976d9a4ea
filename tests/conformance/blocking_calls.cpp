// SPDX-License-Identifier: BSL-1.0
//
// Which calls for memory, streams, events and others return before the work of a busy stream.
#include <cstdlib>

#include "blocking.hpp"
#include "groups.hpp"

namespace facts {
namespace {

constexpr std::size_t size = 64 * 1024;

// What a section's calls make and give back.
void* made = nullptr;
void* made_of_pages = nullptr;

void free_device() { need(cudaFree(made)); }
void free_host() { need(cudaFreeHost(made)); }
void malloc_device() { need(cudaMalloc(&made, size)); }
void malloc_host() { need(cudaMallocHost(&made, size)); }

void host_memory() {
  const PageableMemory pages(3 * size);
  made_of_pages = pages.bytes() + (4096 - reinterpret_cast<std::size_t>(pages.bytes()) % 4096);
  returns_early_of_both(
      "cudaMallocHost", nothing, [] { return cudaMallocHost(&made, size); }, free_host);
  returns_early_of_both(
      "cudaHostAlloc", nothing, [] { return cudaHostAlloc(&made, size, 0); }, free_host);
  returns_early_of_both(
      "cudaFreeHost", malloc_host, [] { return cudaFreeHost(made); }, nothing);
  returns_early_of_both("cudaFreeHost null", [] { return cudaFreeHost(nullptr); });
  returns_early_of_both(
      "cudaHostRegister", nothing, [] { return cudaHostRegister(made_of_pages, size, 0); },
      [] { need(cudaHostUnregister(made_of_pages)); });
  returns_early_of_both(
      "cudaHostUnregister", [] { need(cudaHostRegister(made_of_pages, size, 0)); },
      [] { return cudaHostUnregister(made_of_pages); }, nothing);
}

void device_memory() {
  returns_early_of_both(
      "cudaMalloc", nothing, [] { return cudaMalloc(&made, size); }, free_device);
  returns_early_of_both(
      "cudaMalloc of 8 MiB", nothing, [] { return cudaMalloc(&made, 8 << 20); }, free_device);
  returns_early_of_both(
      "cudaFree", malloc_device, [] { return cudaFree(made); }, nothing);
  returns_early_of_both("cudaFree null", [] { return cudaFree(nullptr); });
}

// In the stream that is held itself, and in another one.
void pool_memory_in(unsigned flags, const std::string& name) {
  static cudaStream_t in;
  static cudaMemPool_t pool;
  const Stream held(flags);
  const Stream other;
  const struct {
    const char* name;
    cudaStream_t stream;
  } streams[] = {{"in it", held}, {"in another stream", other}};
  for (const auto& one : streams) {
    in = one.stream;
    const std::string end = std::string(", ") + one.name + ", " + name + " busy";
    returns_early(
        "cudaMallocAsync" + end, held, nothing, [] { return cudaMallocAsync(&made, size, in); },
        [] { need(cudaFreeAsync(made, in)); });
    returns_early(
        "cudaFreeAsync" + end, held, [] { need(cudaMallocAsync(&made, size, in)); },
        [] { return cudaFreeAsync(made, in); }, nothing);
    returns_early(
        "cudaFree of cudaMallocAsync memory" + end, held,
        [] { need(cudaMallocAsync(&made, size, in)); }, [] { return cudaFree(made); }, nothing);
  }
  in = held;
  need(cudaDeviceGetDefaultMemPool(&pool, 0));
  returns_early("cudaMemPoolTrimTo, " + name + " busy", held,
                [] { return cudaMemPoolTrimTo(pool, 0); });
  const auto create = [] {
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    need(cudaMemPoolCreate(&pool, &properties));
  };
  returns_early(
      "cudaMemPoolDestroy, " + name + " busy", held, create,
      [] { return cudaMemPoolDestroy(pool); }, nothing);
  returns_early(
      "cudaMemPoolDestroy of one in use, " + name + " busy", held,
      [&create] {
        create();
        need(cudaMallocFromPoolAsync(&made, size, pool, in));
      },
      [] { return cudaMemPoolDestroy(pool); }, [] { need(cudaFreeAsync(made, in)); });
}

// Memory that pending work uses. Nothing promises that these wait.
void memory_in_use() {
  const Stream blocking(cudaStreamDefault);
  const Stream non_blocking(cudaStreamNonBlocking);
  const auto ask = [&](const std::string& name, void (*make)(), cudaError_t (*release)(void*)) {
    const auto ask_one = [&](const char* end, cudaStream_t held) {
      returns_early(
          name + end, held, make,
          [=] {
            need(cudaMemsetAsync(made, 1, size, held));
            return release(made);
          },
          nothing);
    };
    ask_one(", blocking stream busy", blocking);
    ask_one(", non-blocking stream busy", non_blocking);
  };
  ask("cudaFree of memory in use", malloc_device, cudaFree);
  ask("cudaFreeHost of memory in use", malloc_host, cudaFreeHost);
}

}  // namespace

void blocking_memory() {
  section("device memory", device_memory);
  section("host memory", host_memory);
  section("pools, non-blocking",
          [] { pool_memory_in(cudaStreamNonBlocking, "non-blocking stream"); });
  section("pools, blocking", [] { pool_memory_in(cudaStreamDefault, "blocking stream"); });
  section("in use", memory_in_use);
}

namespace {

cudaStream_t stream;
cudaEvent_t event;

void streams() {
  returns_early_of_both(
      "cudaStreamCreate", nothing, [] { return cudaStreamCreate(&stream); },
      [] { need(cudaStreamDestroy(stream)); });
  returns_early_of_both(
      "cudaStreamCreateWithFlags non-blocking", nothing,
      [] { return cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking); },
      [] { need(cudaStreamDestroy(stream)); });
  returns_early_of_both(
      "cudaStreamDestroy of another stream", [] { need(cudaStreamCreate(&stream)); },
      [] { return cudaStreamDestroy(stream); }, nothing);
  returns_early_of_both(
      "cudaEventCreate", nothing, [] { return cudaEventCreate(&event); },
      [] { need(cudaEventDestroy(event)); });
  returns_early_of_both(
      "cudaEventDestroy", [] { need(cudaEventCreate(&event)); },
      [] { return cudaEventDestroy(event); }, nothing);
}

void ignore(void*) {}

void in_the_busy_stream() {
  static cudaStream_t in;
  for (const unsigned flags : {unsigned{cudaStreamDefault}, unsigned{cudaStreamNonBlocking}}) {
    const Stream held(flags);
    const Stream other;
    const Event done;
    need(cudaEventRecord(done, other));
    other.synchronize();
    in = held;
    const std::string end =
        flags == cudaStreamDefault ? ", blocking stream busy" : ", non-blocking stream busy";
    need(cudaEventCreate(&event));
    returns_early("cudaEventRecord" + end, held, [] { return cudaEventRecord(event, in); });
    returns_early(
        "cudaEventDestroy of a pending event" + end, held,
        [] {
          need(cudaEventDestroy(event));
          need(cudaEventCreate(&event));
        },
        [] {
          need(cudaEventRecord(event, in));
          const cudaError_t answer = cudaEventDestroy(event);
          event = nullptr;
          return answer;
        },
        [] { need(cudaEventCreate(&event)); });
    returns_early("cudaStreamWaitEvent of a pending event" + end, held, [&] {
      need(cudaEventRecord(event, in));
      return cudaStreamWaitEvent(other, event, 0);
    });
    returns_early("cudaEventRecord of a pending event" + end, held, [&] {
      need(cudaEventRecord(event, in));
      return cudaEventRecord(event, other);
    });
    need(cudaEventDestroy(event));
    event = nullptr;
    returns_early("cudaLaunchHostFunc" + end, held,
                  [] { return cudaLaunchHostFunc(in, ignore, nullptr); });
    returns_early("cudaStreamSynchronize of it" + end, held,
                  [] { return cudaStreamSynchronize(in); });
    returns_early("cudaStreamSynchronize of another stream" + end, held,
                  [&] { return cudaStreamSynchronize(other); });
    returns_early("cudaEventSynchronize of a done event" + end, held,
                  [&] { return cudaEventSynchronize(done); });
    returns_early("cudaStreamSynchronize of the legacy stream" + end, held,
                  [] { return cudaStreamSynchronize(cudaStreamLegacy); });
    returns_early("cudaStreamSynchronize of the per-thread stream" + end, held,
                  [] { return cudaStreamSynchronize(cudaStreamPerThread); });
    returns_early("cudaDeviceSynchronize" + end, held, [] { return cudaDeviceSynchronize(); });
    returns_early(
        "cudaStreamDestroy of a busy stream" + end, held, [] {},
        [&] {
          // Its work waits for the held one, by an event.
          cudaEvent_t link = nullptr;
          need(cudaEventCreate(&link));
          need(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
          need(cudaEventRecord(link, in));
          need(cudaStreamWaitEvent(stream, link, 0));
          need(cudaEventDestroy(link));
          return cudaStreamDestroy(stream);
        },
        nothing);
  }
}

void questions() {
  returns_early_of_both("cudaDeviceGetAttribute", [] {
    int value = 0;
    return cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 0);
  });
  returns_early_of_both("cudaGetDeviceProperties", [] {
    cudaDeviceProp properties;
    return cudaGetDeviceProperties(&properties, 0);
  });
  returns_early_of_both("cudaMemGetInfo", [] {
    std::size_t free = 0;
    std::size_t total = 0;
    return cudaMemGetInfo(&free, &total);
  });
  returns_early_of_both(
      "cudaPointerGetAttributes", malloc_device,
      [] {
        cudaPointerAttributes attributes;
        return cudaPointerGetAttributes(&attributes, made);
      },
      free_device);
  returns_early_of_both("cudaSetDevice", [] { return cudaSetDevice(0); });
}

}  // namespace

void blocking_objects() {
  section("streams", streams);
  section("in the busy stream", in_the_busy_stream);
  section("questions", questions);
}

namespace {

cudaGraph_t graph;
cudaGraphExec_t exec;

void make_graph() {
  cudaGraphNode_t node = nullptr;
  cudaHostNodeParams parameters{};
  parameters.fn = ignore;
  need(cudaGraphCreate(&graph, 0));
  need(cudaGraphAddHostNode(&node, graph, nullptr, 0, &parameters));
}

void make_exec() {
  make_graph();
  need(cudaGraphInstantiate(&exec, graph, 0));
}

void end_graph() { need(cudaGraphDestroy(graph)); }

void end_exec() {
  need(cudaGraphExecDestroy(exec));
  end_graph();
}

void of_graphs() {
  static cudaStream_t in;
  for (const unsigned flags : {unsigned{cudaStreamDefault}, unsigned{cudaStreamNonBlocking}}) {
    const Stream held(flags);
    in = held;
    const std::string end =
        flags == cudaStreamDefault ? ", blocking stream busy" : ", non-blocking stream busy";
    returns_early(
        "cudaGraphInstantiate" + end, held, make_graph,
        [] { return cudaGraphInstantiate(&exec, graph, 0); }, end_exec);
    returns_early(
        "cudaGraphUpload" + end, held, make_exec, [] { return cudaGraphUpload(exec, in); },
        end_exec);
    returns_early(
        "cudaGraphLaunch" + end, held, make_exec, [] { return cudaGraphLaunch(exec, in); },
        end_exec);
    returns_early(
        "cudaGraphLaunch, the second" + end, held,
        [] {
          make_exec();
          need(cudaGraphLaunch(exec, in));
          need(cudaStreamSynchronize(in));
        },
        [] {
          need(cudaGraphLaunch(exec, in));
          return cudaGraphLaunch(exec, in);
        },
        end_exec);
    returns_early(
        "cudaGraphDestroy" + end, held, make_graph, [] { return cudaGraphDestroy(graph); },
        nothing);
    returns_early(
        "cudaGraphExecDestroy of an idle one" + end, held, make_exec,
        [] { return cudaGraphExecDestroy(exec); }, end_graph);
    returns_early(
        "cudaGraphExecDestroy of a pending one" + end, held, make_exec,
        [] {
          need(cudaGraphLaunch(exec, in));
          return cudaGraphExecDestroy(exec);
        },
        end_graph);
    returns_early(
        "cudaGraphExecUpdate of a pending one" + end, held, make_exec,
        [] {
          cudaGraphExecUpdateResultInfo info{};
          need(cudaGraphLaunch(exec, in));
          return cudaGraphExecUpdate(exec, graph, &info);
        },
        end_exec);
  }
}

void of_managed() {
  returns_early_of_both(
      "cudaMallocManaged", nothing,
      [] { return cudaMallocManaged(&made, size, cudaMemAttachGlobal); }, free_device);
  returns_early_of_both(
      "cudaFree of managed memory",
      [] { need(cudaMallocManaged(&made, size, cudaMemAttachGlobal)); },
      [] { return cudaFree(made); }, nothing);
}

}  // namespace

void blocking_graphs() { section("graphs", of_graphs); }
void blocking_managed() { section("managed", of_managed); }

}  // namespace facts
