// SPDX-License-Identifier: BSL-1.0
// Kernels: what a program defines in their place, and what launches check.
#include <array>
#include <cstdint>
#include <numeric>
#include <thread>

#include "sim_fixture.hpp"

extern "C" cudaError_t cudaLaunchKernel_ptsz(const void*, dim3, dim3, void**, std::size_t,
                                             cudaStream_t);
extern "C" cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t*, const void*, void**);
extern "C" cudaError_t cudaLaunchCooperativeKernel_ptsz(const void*, dim3, dim3, void**,
                                                        std::size_t, cudaStream_t);

namespace {

void add_to(int* x, int value, int count) {
  int* const to = sim::memory(x, static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) to[i] += value;
}
void take_nothing() {}
void never_defined() {}
void call_cuda(cudaError_t* result) { *sim::memory(result) = cudaDeviceSynchronize(); }
void touch(char* memory, std::size_t count) { (void)sim::memory(memory, count); }
void see(int*, double) {}

template <class... Parameters>
const void* address(void (*kernel)(Parameters...)) {
  return reinterpret_cast<const void*>(kernel);
}

class Kernel : public SimTest {
 protected:
  Kernel() {
    sim::define_kernel(add_to);
    sim::define_kernel(take_nothing);
    sim::define_kernel(call_cuda);
    sim::define_kernel(touch);
  }

  static cudaLaunchConfig_t config(cudaStream_t stream, dim3 grid = 1, dim3 block = 1) {
    cudaLaunchConfig_t result{};
    result.gridDim = grid;
    result.blockDim = block;
    result.stream = stream;
    return result;
  }

  template <class... Parameters>
  static cudaError_t launch(const cudaLaunchConfig_t& how, void (*kernel)(Parameters...),
                            std::type_identity_t<Parameters>... arguments) {
    std::array<void*, sizeof...(Parameters) + 1> addresses{&arguments...};
    return cudaLaunchKernelExC(&how, address(kernel), addresses.data());
  }
  template <class... Parameters>
  static cudaError_t launch(cudaStream_t stream, void (*kernel)(Parameters...),
                            std::type_identity_t<Parameters>... arguments) {
    return launch(config(stream), kernel, arguments...);
  }

  // With one attribute.
  static cudaError_t launch_with(const cudaLaunchAttribute& attribute, cudaLaunchConfig_t how) {
    cudaLaunchAttribute copied = attribute;
    how.attrs = &copied;
    how.numAttrs = 1;
    return launch(how, take_nothing);
  }

  static int* make_ints(std::size_t count) {
    return reinterpret_cast<int*>(make_device(count * sizeof(int)));
  }

  static void expect_illegal_address(char* memory, std::size_t count, const char* text) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(launch(cudaStreamLegacy, touch, memory, count), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(cudaStreamLegacy), cudaErrorIllegalAddress);
    const std::string line = testing::internal::GetCapturedStderr();
    EXPECT_NE(line.find("a kernel (operation "), std::string::npos) << line;
    EXPECT_NE(line.find(text), std::string::npos) << line;
    EXPECT_NE(line.find("illegal address"), std::string::npos) << line;
    EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);  // and stays
    sim::reset(strict());
  }
};

TEST_F(Kernel, RunsLateAndInOrder) {
  cudaStream_t stream = make_stream();
  int* const device = make_ints(4);
  int* const pinned = reinterpret_cast<int*>(make_pinned(4 * sizeof(int)));
  CUDA_OK(cudaMemsetAsync(device, 0, 4 * sizeof(int), stream));
  CUDA_OK(launch(stream, add_to, device, 5, 4));
  CUDA_OK(cudaMemcpyAsync(pinned, device, 4 * sizeof(int), cudaMemcpyDefault, stream));
  CUDA_OK(launch(stream, add_to, device, 1, 4));
  CUDA_OK(launch(stream, add_to, pinned, 100, 1));  // pinned memory is reached as it is
  EXPECT_EQ(sim::pending(), 5U);
  EXPECT_EQ(pinned[3], 0);
  CUDA_OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(pinned[0], 105);
  EXPECT_EQ(pinned[3], 5);
  EXPECT_EQ(sim::call_count("cudaLaunchKernelExC"), 3U);
}

TEST_F(Kernel, EagerRunsAtTheCall) {
  sim::set_schedule(sim::Schedule::eager);
  cudaStream_t stream = make_stream();
  int* const pinned = reinterpret_cast<int*>(make_pinned(sizeof(int)));
  CUDA_OK(launch(stream, add_to, pinned, 7, 1));
  EXPECT_EQ(pinned[0], 7);
  EXPECT_EQ(sim::pending(), 0U);
}

TEST_F(Kernel, AMissingWaitShowsStaleBytes) {
  cudaStream_t a = make_stream();
  cudaStream_t b = make_stream();
  cudaEvent_t event = make_event();
  int* const device = make_ints(1);
  int* const pinned = reinterpret_cast<int*>(make_pinned(2 * sizeof(int)));
  CUDA_OK(cudaMemset(device, 0, sizeof(int)));
  CUDA_OK(cudaDeviceSynchronize());
  CUDA_OK(launch(a, add_to, device, 1, 1));
  CUDA_OK(cudaMemcpyAsync(&pinned[0], device, sizeof(int), cudaMemcpyDefault, b));
  CUDA_OK(cudaStreamSynchronize(b));
  EXPECT_EQ(pinned[0], 0);
  CUDA_OK(cudaEventRecord(event, a));
  CUDA_OK(cudaStreamWaitEvent(b, event, 0));
  CUDA_OK(cudaMemcpyAsync(&pinned[1], device, sizeof(int), cudaMemcpyDefault, b));
  CUDA_OK(cudaStreamSynchronize(b));
  EXPECT_EQ(pinned[1], 1);
}

TEST_F(Kernel, ABodySeesItsLaunch) {
  std::vector<sim::KernelLaunch> launches;
  double value = 0;
  sim::define_kernel(see, [&](const sim::KernelLaunch& launch, int* pointer, double number) {
    launches.push_back(launch);
    EXPECT_EQ(pointer, nullptr);
    value += number;
  });
  int least = 0;
  int greatest = 0;
  CUDA_OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  cudaStream_t stream = nullptr;
  CUDA_OK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest));
  CUDA_OK(launch(config(stream), see, nullptr, 1.5));

  std::array<cudaLaunchAttribute, 4> attributes{};
  attributes[0].id = cudaLaunchAttributeClusterDimension;
  attributes[0].val.clusterDim.x = 2;
  attributes[0].val.clusterDim.y = 1;
  attributes[0].val.clusterDim.z = 3;
  attributes[1].id = cudaLaunchAttributeCooperative;
  attributes[1].val.cooperative = 1;
  attributes[2].id = cudaLaunchAttributePriority;
  attributes[2].val.priority = least;
  attributes[3].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[3].val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t how = config(stream, dim3(4, 5, 6), dim3(7, 8, 9));
  how.dynamicSmemBytes = 1234;
  how.attrs = attributes.data();
  how.numAttrs = attributes.size();
  CUDA_OK(launch(how, see, nullptr, 2.0));
  sim::run_pending();

  EXPECT_EQ(value, 3.5);
  ASSERT_EQ(launches.size(), 2U);
  EXPECT_EQ(launches[0].grid.x, 1U);
  EXPECT_EQ(launches[0].cluster.z, 1U);
  EXPECT_FALSE(launches[0].cooperative);
  EXPECT_FALSE(launches[0].programmatic_serialization);
  EXPECT_EQ(launches[0].priority, greatest);
  const sim::KernelLaunch& all = launches[1];
  EXPECT_EQ((std::array{all.grid.x, all.grid.y, all.grid.z}), (std::array{4U, 5U, 6U}));
  EXPECT_EQ((std::array{all.block.x, all.block.y, all.block.z}), (std::array{7U, 8U, 9U}));
  EXPECT_EQ((std::array{all.cluster.x, all.cluster.y, all.cluster.z}), (std::array{2U, 1U, 3U}));
  EXPECT_EQ(all.shared_memory_bytes, 1234U);
  EXPECT_TRUE(all.cooperative);
  EXPECT_TRUE(all.programmatic_serialization);
  EXPECT_EQ(all.priority, least);
  EXPECT_EQ(all.device, 0);

  // A body may leave the launch out, and a later definition takes the place of an earlier one.
  sim::define_kernel(see, [&](int*, double number) { value = number; });
  CUDA_OK(launch(config(stream), see, nullptr, 9.0));
  sim::run_pending();
  EXPECT_EQ(value, 9.0);
  EXPECT_EQ(launches.size(), 2U);
  sim::define_kernel(see);
}

TEST_F(Kernel, DefinitionsOutliveAReset) {
  sim::reset(strict());
  CUDA_OK(launch(make_stream(), take_nothing));
  EXPECT_EQ(launch(make_stream(), never_defined), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(cudaLaunchKernelExC(nullptr, address(take_nothing), nullptr), cudaErrorInvalidValue);
}

TEST_F(Kernel, TheOlderFunctionLaunches) {
  int* const pinned = reinterpret_cast<int*>(make_pinned(sizeof(int)));
  int* pointer = pinned;
  int value = 3;
  int count = 1;
  std::array<void*, 3> arguments{&pointer, &value, &count};
  CUDA_OK(cudaLaunchKernel(address(add_to), 1, 1, arguments.data(), 0, nullptr));
  value = 100;  // it was copied
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT_EQ(pinned[0], 3);
  EXPECT_EQ(cudaLaunchKernel(address(add_to), 1, 1, nullptr, 0, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaLaunchKernel(address(add_to), 1, 0, arguments.data(), 0, nullptr),
            cudaErrorInvalidValue);
}

TEST_F(Kernel, PerThreadForms) {
  int* const pinned = reinterpret_cast<int*>(make_pinned(sizeof(int)));
  int* pointer = pinned;
  int value = 3;
  int count = 1;
  std::array<void*, 3> arguments{&pointer, &value, &count};
  CUDA_OK(cudaLaunchKernel_ptsz(address(add_to), 1, 1, arguments.data(), 0, nullptr));
  const cudaLaunchConfig_t how = config(nullptr);
  CUDA_OK(cudaLaunchKernelExC_ptsz(&how, address(add_to), arguments.data()));
  EXPECT_EQ(cudaStreamQuery(cudaStreamPerThread), cudaErrorNotReady);
  CUDA_OK(cudaStreamSynchronize(cudaStreamPerThread));
  EXPECT_EQ(pinned[0], 6);
}

TEST_F(Kernel, ACudaCallInABodyIsNotPermitted) {
  auto* const result = reinterpret_cast<cudaError_t*>(make_pinned(sizeof(cudaError_t)));
  CUDA_OK(launch(make_stream(), call_cuda, result));
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT_EQ(*result, cudaErrorNotPermitted);
  (void)cudaGetLastError();
}

TEST_F(Kernel, IllegalAddresses) {
  expect_illegal_address(nullptr, 1, "no device or pinned memory");
  char on_the_stack = 0;
  expect_illegal_address(&on_the_stack, 1, "no device or pinned memory");
  auto* const device = reinterpret_cast<char*>(make_device(100));
  expect_illegal_address(device + 90, 11, "beyond the end of the allocation");
  auto* freed = reinterpret_cast<char*>(make_device(100));
  CUDA_OK(cudaFree(freed));
  expect_illegal_address(freed, 1, "or was freed");
  auto* const whole = reinterpret_cast<char*>(make_device(100));
  expect_illegal_address(whole, SIZE_MAX, "beyond the end");
}

TEST_F(Kernel, MemoryBeforeItsAllocation) {
  cudaStream_t stream = make_stream();
  void* memory = nullptr;
  CUDA_OK(cudaMallocAsync(&memory, 100, stream));
  expect_illegal_address(static_cast<char*>(memory), 1, "before its allocation in stream order");
}

TEST_F(Kernel, NoElementsAreAnywhere) {
  CUDA_OK(launch(make_stream(), touch, nullptr, std::size_t{0}));
  CUDA_OK(cudaDeviceSynchronize());
}

TEST_F(Kernel, MemoryOfAnotherDevice) {
  sim::Config two = strict();
  two.devices = 2;
  sim::reset(two);
  CUDA_OK(cudaSetDevice(1));
  auto* const there = reinterpret_cast<char*>(make_device(100));
  cudaStream_t stream_there = make_stream();
  CUDA_OK(cudaSetDevice(0));
  // A launch is on the current device.
  EXPECT_EQ(launch(stream_there, take_nothing), cudaErrorInvalidResourceHandle);
  CUDA_OK(cudaDeviceEnablePeerAccess(1, 0));
  CUDA_OK(launch(make_stream(), touch, there, std::size_t{100}));
  CUDA_OK(cudaDeviceSynchronize());
  CUDA_OK(cudaDeviceDisablePeerAccess(1));
  expect_illegal_address(there, 100, "on a device that it has no access to");
}

TEST_F(Kernel, AFreeRunsPendingKernels) {
  int* const device = make_ints(1);
  int* const pinned = reinterpret_cast<int*>(make_pinned(sizeof(int)));
  CUDA_OK(launch(make_stream(), add_to, pinned, 1, 1));
  CUDA_OK(launch(make_stream(), add_to, device, 1, 1));
  CUDA_OK(cudaFree(device));
  EXPECT_EQ(sim::pending(), 0U);
  EXPECT_EQ(pinned[0], 1);
}

TEST_F(Kernel, DimensionsAreChecked) {
  cudaStream_t stream = make_stream();
  for (const auto& [grid, block] : std::vector<std::pair<dim3, dim3>>{
           {dim3(0), dim3(1)},
           {dim3(1, 65536), dim3(1)},
           {dim3(1, 1, 65536), dim3(1)},
           {dim3(2147483648U), dim3(1)},
           {dim3(1), dim3(0)},
           {dim3(1), dim3(1025)},
           {dim3(1), dim3(1, 1, 65)},
           {dim3(1), dim3(32, 33)},
       }) {
    EXPECT_EQ(launch(config(stream, grid, block), take_nothing), cudaErrorInvalidValue);
  }
  CUDA_OK(launch(config(stream, dim3(2147483647, 65535, 65535), dim3(8, 2, 64)), take_nothing));
}

TEST_F(Kernel, SharedMemoryIsAllowedForEachKernelAndDevice) {
  cudaLaunchConfig_t how = config(make_stream());
  how.dynamicSmemBytes = 49152;
  CUDA_OK(launch(how, take_nothing));
  how.dynamicSmemBytes = 49153;
  EXPECT_EQ(launch(how, take_nothing), cudaErrorInvalidValue);
  const cudaFuncAttribute attribute = cudaFuncAttributeMaxDynamicSharedMemorySize;
  EXPECT_EQ(cudaFuncSetAttribute(address(take_nothing), attribute, 232449), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFuncSetAttribute(address(take_nothing), attribute, -1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFuncSetAttribute(address(never_defined), attribute, 1),
            cudaErrorInvalidDeviceFunction);
  CUDA_OK(cudaFuncSetAttribute(address(take_nothing), attribute, 232448));
  how.dynamicSmemBytes = 232448;
  CUDA_OK(launch(how, take_nothing));
  cudaFuncAttributes attributes{};
  CUDA_OK(cudaFuncGetAttributes(&attributes, address(take_nothing)));
  EXPECT_EQ(attributes.maxDynamicSharedSizeBytes, 232448);
  EXPECT_EQ(attributes.maxThreadsPerBlock, 1024);
  EXPECT_EQ(attributes.binaryVersion, 90);
  CUDA_OK(cudaFuncGetAttributes(&attributes, address(touch)));
  EXPECT_EQ(attributes.maxDynamicSharedSizeBytes, 49152);
  EXPECT_EQ(cudaFuncGetAttributes(&attributes, address(never_defined)),
            cudaErrorInvalidDeviceFunction);
  sim::reset(strict());
  CUDA_OK(cudaFuncGetAttributes(&attributes, address(take_nothing)));
  EXPECT_EQ(attributes.maxDynamicSharedSizeBytes, 49152);
}

TEST_F(Kernel, ClustersAreChecked) {
  cudaStream_t stream = make_stream();
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  const auto launch_clusters = [&](unsigned grid, unsigned size) {
    cluster.val.clusterDim.x = size;
    cluster.val.clusterDim.y = 1;
    cluster.val.clusterDim.z = 1;
    return launch_with(cluster, config(stream, grid));
  };
  CUDA_OK(launch_clusters(16, 8));
  EXPECT_EQ(launch_clusters(15, 2), cudaErrorInvalidClusterSize);
  EXPECT_EQ(launch_clusters(1, 0), cudaErrorInvalidClusterSize);
  EXPECT_EQ(launch_clusters(16, 16), cudaErrorInvalidClusterSize);
  CUDA_OK(cudaFuncSetAttribute(address(take_nothing),
                               cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  CUDA_OK(launch_clusters(16, 16));
  EXPECT_EQ(launch_clusters(32, 32), cudaErrorInvalidClusterSize);
}

TEST_F(Kernel, CooperativeGridsFitTheDevice) {
  cudaLaunchAttribute cooperative{};
  cooperative.id = cudaLaunchAttributeCooperative;
  cooperative.val.cooperative = 1;
  cudaStream_t stream = make_stream();
  CUDA_OK(launch_with(cooperative, config(stream, 2 * 132, 1024)));
  EXPECT_EQ(launch_with(cooperative, config(stream, 2 * 132 + 1, 1024)),
            cudaErrorCooperativeLaunchTooLarge);
}

TEST_F(Kernel, OtherAttributes) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeIgnore;
  cudaStream_t stream = make_stream();
  CUDA_OK(launch_with(attribute, config(stream)));
  attribute.id = cudaLaunchAttributeProgrammaticEvent;
  EXPECT_EQ(launch_with(attribute, config(stream)), cudaErrorNotSupported);
  cudaLaunchConfig_t how = config(stream);
  how.numAttrs = 1;
  EXPECT_EQ(launch(how, take_nothing), cudaErrorInvalidValue);
}

TEST_F(Kernel, Occupancy) {
  const auto resident = [](int threads, std::size_t shared_memory) {
    int blocks = -1;
    EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, address(take_nothing), threads,
                                                            shared_memory),
              cudaSuccess);
    return blocks;
  };
  EXPECT_EQ(resident(1, 0), 32);
  EXPECT_EQ(resident(65, 0), 21);
  EXPECT_EQ(resident(1024, 0), 2);
  EXPECT_EQ(resident(1025, 0), 0);
  EXPECT_EQ(resident(32, 48 << 10), 4);
  EXPECT_EQ(resident(32, 49153), 0);
  int blocks = 0;
  EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, address(take_nothing), 0, 0),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, address(never_defined), 1, 0),
            cudaErrorInvalidDeviceFunction);
  CUDA_OK(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, address(take_nothing),
                                                                 256, 0, cudaOccupancyDefault));
  EXPECT_EQ(blocks, 8);
}

TEST_F(Kernel, AFaultFailsALaunch) {
  sim::fail("cudaLaunchKernelExC", cudaErrorLaunchOutOfResources);
  EXPECT_EQ(launch(make_stream(), take_nothing), cudaErrorLaunchOutOfResources);
  EXPECT_EQ(sim::pending(), 0U);
}

TEST_F(Kernel, ManyThreadsLaunch) {
  int* const device = make_ints(8);
  CUDA_OK(cudaMemset(device, 0, 8 * sizeof(int)));
  CUDA_OK(cudaDeviceSynchronize());
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([device, i] {
      cudaStream_t stream = make_stream();
      for (int n = 0; n < 50; ++n) {
        EXPECT_EQ(launch(stream, add_to, device + i, 1, 1), cudaSuccess);
        if (n % 10 == 9) {
          EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::array<int, 8> result{};
  CUDA_OK(cudaMemcpy(result.data(), device, sizeof result, cudaMemcpyDefault));
  EXPECT_EQ(std::accumulate(result.begin(), result.end(), 0), 400);
}

// Milliseconds from an event before the launches to one after them, in streams that meet there.
float elapsed(const std::vector<cudaStream_t>& streams, void (*kernel)()) {
  const auto event = [](unsigned flags) {
    cudaEvent_t made = nullptr;
    EXPECT_EQ(cudaEventCreateWithFlags(&made, flags), cudaSuccess);
    return made;
  };
  cudaEvent_t begin = event(cudaEventDefault);
  cudaEvent_t end = event(cudaEventDefault);
  EXPECT_EQ(cudaEventRecord(begin, streams.front()), cudaSuccess);
  for (cudaStream_t stream : streams) {
    EXPECT_EQ(cudaStreamWaitEvent(stream, begin, 0), cudaSuccess);
    EXPECT_EQ(cudaLaunchKernel(address(kernel), 2, 1, nullptr, 0, stream), cudaSuccess);
    cudaEvent_t done = event(cudaEventDisableTiming);
    EXPECT_EQ(cudaEventRecord(done, stream), cudaSuccess);
    EXPECT_EQ(cudaStreamWaitEvent(streams.front(), done, 0), cudaSuccess);
  }
  EXPECT_EQ(cudaEventRecord(end, streams.front()), cudaSuccess);
  EXPECT_EQ(cudaEventSynchronize(end), cudaSuccess);
  float milliseconds = 0;
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, begin, end), cudaSuccess);
  return milliseconds;
}

TEST_F(Kernel, KernelsTakeTheirTime) {
  sim::set_kernel_time(take_nothing, 1'000'000);
  cudaStream_t a = make_stream();
  cudaStream_t b = make_stream();
  constexpr float latencies = 0.02F;
  EXPECT_NEAR(elapsed({a}, take_nothing), 1, latencies);
  EXPECT_NEAR(elapsed({a, b}, take_nothing), 1, latencies);
  EXPECT_NEAR(elapsed({a, a}, take_nothing), 2, latencies);
  EXPECT_GT(elapsed({a, a}, take_nothing), 2);
  // A definition leaves the time alone, and so does a reset.
  sim::define_kernel(take_nothing);
  sim::reset(strict());
  EXPECT_NEAR(elapsed({make_stream()}, take_nothing), 1, latencies);
  sim::set_kernel_time(take_nothing, [](const sim::KernelLaunch& launch) {
    return std::uint64_t{launch.grid.x} * 3'000'000;
  });
  EXPECT_NEAR(elapsed({make_stream()}, take_nothing), 6, latencies);
  sim::set_kernel_time(take_nothing, 0);
  EXPECT_LT(elapsed({make_stream()}, take_nothing), latencies);
}

struct alignas(16) Wide {
  char bytes[16];
};
void take_many(char, double, short, Wide, int) {}

TEST_F(Kernel, ParametersAreToldAsLaidOut) {
  sim::define_kernel(take_many);
  const std::vector<std::pair<std::size_t, std::size_t>> expected{
      {0, 1}, {8, 8}, {16, 2}, {32, 16}, {48, 4}};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    std::size_t offset = 99;
    std::size_t size = 99;
    CUDA_OK(cudaFuncGetParamInfo(address(take_many), i, &offset, &size));
    EXPECT_EQ(std::pair(offset, size), expected[i]) << i;
  }
  std::size_t offset = 0;
  EXPECT_EQ(cudaFuncGetParamInfo(address(take_many), 5, &offset, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFuncGetParamInfo(address(take_nothing), 0, &offset, nullptr),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaFuncGetParamInfo(address(never_defined), 0, &offset, nullptr),
            cudaErrorInvalidDeviceFunction);
}

TEST_F(Kernel, HandlesAndPreferences) {
  cudaKernel_t handle = nullptr;
  CUDA_OK(cudaGetKernel(&handle, address(take_nothing)));
  CUDA_OK(cudaLaunchKernel(handle, 1, 1, nullptr, 0, nullptr));
  EXPECT_EQ(cudaGetKernel(&handle, address(never_defined)), cudaErrorInvalidDeviceFunction);
  CUDA_OK(cudaFuncSetCacheConfig(address(take_nothing), cudaFuncCachePreferL1));
  EXPECT_EQ(cudaFuncSetCacheConfig(address(never_defined), cudaFuncCachePreferL1),
            cudaErrorInvalidDeviceFunction);
  const char* name = nullptr;
  EXPECT_EQ(cudaFuncGetName(&name, address(take_nothing)), cudaErrorNotSupported);
}

TEST_F(Kernel, TheCooperativeFunctionLaunches) {
  std::vector<sim::KernelLaunch> launches;
  sim::define_kernel(
      see, [&](const sim::KernelLaunch& launch, int*, double) { launches.push_back(launch); });
  int* pointer = nullptr;
  double number = 0;
  std::array<void*, 2> arguments{&pointer, &number};
  CUDA_OK(cudaLaunchCooperativeKernel(address(see), 4, 32, arguments.data(), 5, nullptr));
  CUDA_OK(cudaLaunchCooperativeKernel_ptsz(address(see), 4, 32, arguments.data(), 5, nullptr));
  EXPECT_EQ(cudaLaunchCooperativeKernel(address(see), 100000, 32, arguments.data(), 5, nullptr),
            cudaErrorCooperativeLaunchTooLarge);
  CUDA_OK(cudaDeviceSynchronize());
  ASSERT_EQ(launches.size(), 2U);
  EXPECT_TRUE(launches[0].cooperative);
  EXPECT_EQ(launches[1].shared_memory_bytes, 5U);
  sim::define_kernel(see);
}

TEST_F(Kernel, OccupancyOfClusters) {
  cudaLaunchConfig_t how = config(nullptr, 128, 1024);
  int size = 0;
  CUDA_OK(cudaOccupancyMaxPotentialClusterSize(&size, address(take_nothing), &how));
  EXPECT_EQ(size, 8);
  int clusters = 0;
  EXPECT_EQ(cudaOccupancyMaxActiveClusters(&clusters, address(take_nothing), &how),
            cudaErrorInvalidClusterSize);
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = 4;
  cluster.val.clusterDim.y = 1;
  cluster.val.clusterDim.z = 1;
  how.attrs = &cluster;
  how.numAttrs = 1;
  CUDA_OK(cudaOccupancyMaxActiveClusters(&clusters, address(take_nothing), &how));
  EXPECT_EQ(clusters, 2 * 132 / 4);
  how.blockDim = 1025;
  EXPECT_EQ(cudaOccupancyMaxPotentialClusterSize(&size, address(take_nothing), &how),
            cudaErrorInvalidValue);
}

TEST_F(Kernel, SharedMemoryLeftForEachBlock) {
  std::size_t size = 0;
  CUDA_OK(cudaOccupancyAvailableDynamicSMemPerBlock(&size, address(take_nothing), 1, 1024));
  EXPECT_EQ(size, 232448U);
  CUDA_OK(cudaOccupancyAvailableDynamicSMemPerBlock(&size, address(take_nothing), 2, 1024));
  EXPECT_EQ(size, 233472U / 2 - 1024);
  EXPECT_EQ(cudaOccupancyAvailableDynamicSMemPerBlock(&size, address(take_nothing), 3, 1024),
            cudaErrorInvalidValue);
}

using KernelDeathTest = Kernel;

TEST_F(KernelDeathTest, MemoryOutsideABody) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT((void)sim::memory(make_device(1)), testing::ExitedWithCode(2),
              "memory: it was called outside the body of a kernel");
}

}  // namespace
