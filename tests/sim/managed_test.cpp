// SPDX-License-Identifier: BSL-1.0
// Managed memory: host and device at one address; advice, prefetches and discards.
#include <array>
#include <string>

#include "sim_fixture.hpp"

namespace {

void add_one(int* values, int count);

class Managed : public SimTest {
 protected:
  static int* make(std::size_t count, unsigned flags = cudaMemAttachGlobal) {
    void* pointer = nullptr;
    EXPECT_EQ(cudaMallocManaged(&pointer, count * sizeof(int), flags), cudaSuccess);
    return static_cast<int*>(pointer);
  }

  static void use_devices(int count) {
    sim::Config config = strict();
    config.devices = count;
    sim::reset(config);
  }
};

void add_one(int*, int) {}

TEST_F(Managed, HostAndDeviceUseTheSameBytes) {
  sim::define_kernel(add_one, [](int* values, int count) {
    int* const here = sim::memory(values, static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) ++here[i];
  });
  int* values = make(4);
  std::fill_n(values, 4, 1);
  int count = 4;
  void* arguments[] = {&values, &count};
  cudaStream_t stream = make_stream();
  CUDA_OK(cudaLaunchKernel(reinterpret_cast<const void*>(add_one), 1, 1, arguments, 0, stream));
  EXPECT_EQ(values[3], 1);  // a missing wait shows
  CUDA_OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(values[3], 2);
  CUDA_OK(cudaMemsetAsync(values, 0, sizeof(int), stream));
  EXPECT_EQ(values[0], 2);
  CUDA_OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(values[0], 0);
}

TEST_F(Managed, AllocatingAndFreeing) {
  void* pointer = nullptr;
  CUDA_OK(cudaMallocManaged(&pointer, 0, cudaMemAttachGlobal));
  EXPECT_EQ(pointer, nullptr);
  EXPECT_EQ(cudaMallocManaged(&pointer, 8, cudaMemAttachSingle), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMallocManaged(nullptr, 8, cudaMemAttachGlobal), cudaErrorInvalidValue);
  int* const values = make(10, cudaMemAttachHost);
  EXPECT_EQ(sim::live().managed_allocations, 1U);
  EXPECT_EQ(sim::live().managed_bytes, 40U);
  EXPECT_EQ(sim::live().host_allocations, 0U);
  cudaPointerAttributes attributes{};
  CUDA_OK(cudaPointerGetAttributes(&attributes, values + 1));
  EXPECT_EQ(attributes.type, cudaMemoryTypeManaged);
  EXPECT_EQ(attributes.devicePointer, values + 1);
  EXPECT_EQ(attributes.hostPointer, values + 1);
  EXPECT_EQ(cudaFreeHost(values), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeAsync(values, make_stream()), cudaErrorNotSupported);
  CUDA_OK(cudaFree(values));
  EXPECT_EQ(sim::live().managed_allocations, 0U);
  testing::internal::CaptureStderr();
  EXPECT_EQ(cudaFree(values), cudaErrorInvalidValue);
  EXPECT_NE(testing::internal::GetCapturedStderr().find(
                "freed twice: cudaFree freed the managed allocation of 40 bytes"),
            std::string::npos);
}

TEST_F(Managed, FreeingWaitsForWhatUsesIt) {
  cudaStream_t stream = make_stream();
  int* const values = make(4);
  unsigned char* const device = make_device(16);
  std::fill_n(values, 4, 7);
  CUDA_OK(cudaMemcpyAsync(device, values, 16, cudaMemcpyDefault, stream));
  EXPECT_EQ(sim::pending(), 1U);
  CUDA_OK(cudaFree(values));
  EXPECT_EQ(sim::pending(), 0U);
  EXPECT_EQ(read(device, 16)[0], 7);
}

TEST_F(Managed, Copies) {
  cudaStream_t stream = make_stream();
  int* const values = make(2);
  int* const others = make(2);
  int pageable[2] = {1, 2};
  CUDA_OK(cudaMemcpyAsync(values, pageable, 8, cudaMemcpyHostToDevice, stream));
  CUDA_OK(cudaMemcpyAsync(others, values, 8, cudaMemcpyDefault, stream));
  EXPECT_EQ(sim::pending(), 2U);
  CUDA_OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(others[1], 2);
  others[1] = 3;
  CUDA_OK(cudaMemcpy(values, others, 8, cudaMemcpyDefault));  // done on return
  EXPECT_EQ(values[1], 3);
  EXPECT_EQ(cudaMemcpy(values, others, 9, cudaMemcpyDefault), cudaErrorInvalidValue);
}

TEST_F(Managed, Attaching) {
  cudaStream_t stream = make_stream();
  int* const values = make(4);
  CUDA_OK(cudaStreamAttachMemAsync(stream, values, 0, cudaMemAttachSingle));
  CUDA_OK(cudaStreamAttachMemAsync(stream, values, 16, cudaMemAttachHost));
  CUDA_OK(cudaStreamAttachMemAsync(nullptr, values, 0, cudaMemAttachGlobal));
  EXPECT_EQ(cudaStreamAttachMemAsync(nullptr, values, 0, cudaMemAttachSingle),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaStreamAttachMemAsync(stream, values, 8, cudaMemAttachHost), cudaErrorInvalidValue);
  EXPECT_EQ(cudaStreamAttachMemAsync(stream, values + 1, 0, cudaMemAttachHost),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaStreamAttachMemAsync(stream, values, 0, 3), cudaErrorInvalidValue);
  EXPECT_EQ(cudaStreamAttachMemAsync(stream, make_device(8), 0, cudaMemAttachHost),
            cudaErrorInvalidValue);
  EXPECT_EQ(sim::pending(), 3U);
}

#if CUDART_VERSION >= 13000

constexpr cudaMemLocation on_host{cudaMemLocationTypeHost, 0};
constexpr cudaMemLocation on(int device) { return {cudaMemLocationTypeDevice, device}; }

int ask(const int* values, std::size_t count, cudaMemRangeAttribute attribute) {
  int answer = -99;
  EXPECT_EQ(
      cudaMemRangeGetAttribute(&answer, sizeof answer, attribute, values, count * sizeof(int)),
      cudaSuccess);
  return answer;
}

TEST_F(Managed, Advice) {
  use_devices(2);
  constexpr std::size_t count = 4096;  // four pages
  int* const values = make(count);
  const auto advise = [&](std::size_t ints, cudaMemoryAdvise advice, cudaMemLocation location) {
    return cudaMemAdvise(values, ints * sizeof(int), advice, location);
  };
  CUDA_OK(advise(count, cudaMemAdviseSetReadMostly, on(0)));
  EXPECT_EQ(ask(values, count, cudaMemRangeAttributeReadMostly), 1);
  CUDA_OK(advise(1024, cudaMemAdviseUnsetReadMostly, on(0)));
  EXPECT_EQ(ask(values, count, cudaMemRangeAttributeReadMostly), 0);
  EXPECT_EQ(ask(values + 1024, 1024, cudaMemRangeAttributeReadMostly), 1);

  EXPECT_EQ(ask(values, count, cudaMemRangeAttributePreferredLocation), cudaInvalidDeviceId);
  CUDA_OK(advise(count, cudaMemAdviseSetPreferredLocation, on(1)));
  EXPECT_EQ(ask(values, count, cudaMemRangeAttributePreferredLocation), 1);
  EXPECT_EQ(ask(values, count, cudaMemRangeAttributePreferredLocationType),
            cudaMemLocationTypeDevice);
  CUDA_OK(advise(1024, cudaMemAdviseSetPreferredLocation, on_host));
  EXPECT_EQ(ask(values, 1024, cudaMemRangeAttributePreferredLocation), cudaCpuDeviceId);
  EXPECT_EQ(ask(values, count, cudaMemRangeAttributePreferredLocation), cudaInvalidDeviceId);

  CUDA_OK(advise(count, cudaMemAdviseSetAccessedBy, on(1)));
  std::array<int, 3> devices{};
  CUDA_OK(cudaMemRangeGetAttribute(devices.data(), sizeof devices, cudaMemRangeAttributeAccessedBy,
                                   values, count * sizeof(int)));
  EXPECT_EQ(devices, (std::array<int, 3>{1, cudaInvalidDeviceId, cudaInvalidDeviceId}));

  EXPECT_EQ(advise(count, cudaMemAdviseSetAccessedBy, on(2)), cudaErrorInvalidDevice);
  EXPECT_EQ(advise(count + 1, cudaMemAdviseSetReadMostly, on(0)), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemAdvise(make_device(8), 8, cudaMemAdviseSetReadMostly, on(0)),
            cudaErrorInvalidValue);
  int answer = 0;
  EXPECT_EQ(cudaMemRangeGetAttribute(&answer, 8, cudaMemRangeAttributeReadMostly, values, 4),
            cudaErrorInvalidValue);
}

TEST_F(Managed, SeveralAttributes) {
  int* const values = make(4);
  int read_mostly = -1;
  int preferred = -1;
  void* data[] = {&read_mostly, &preferred};
  std::size_t sizes[] = {4, 4};
  cudaMemRangeAttribute attributes[] = {cudaMemRangeAttributeReadMostly,
                                        cudaMemRangeAttributePreferredLocation};
  CUDA_OK(cudaMemRangeGetAttributes(data, sizes, attributes, 2, values, 16));
  EXPECT_EQ(read_mostly, 0);
  EXPECT_EQ(preferred, cudaInvalidDeviceId);
  EXPECT_EQ(cudaMemRangeGetAttributes(data, sizes, attributes, 0, values, 16),
            cudaErrorInvalidValue);
}

TEST_F(Managed, Prefetches) {
  cudaStream_t stream = make_stream();
  constexpr std::size_t count = 2048;  // two pages
  int* const values = make(count);
  EXPECT_EQ(ask(values, count, cudaMemRangeAttributeLastPrefetchLocation), cudaInvalidDeviceId);
  CUDA_OK(cudaMemPrefetchAsync(values, count * sizeof(int), on(0), 0, stream));
  EXPECT_EQ(sim::pending(), 1U);
  EXPECT_EQ(ask(values, count, cudaMemRangeAttributeLastPrefetchLocation), 0);
  CUDA_OK(cudaMemPrefetchAsync(values, 4, on_host, 0, nullptr));
  EXPECT_EQ(ask(values, 1, cudaMemRangeAttributeLastPrefetchLocation), cudaCpuDeviceId);
  EXPECT_EQ(ask(values, count, cudaMemRangeAttributeLastPrefetchLocation), cudaInvalidDeviceId);
  EXPECT_EQ(cudaMemPrefetchAsync(values, 4, on(1), 0, stream), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaMemPrefetchAsync(values, 4, on(0), 1, stream), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemPrefetchAsync(values, 4, {}, 0, stream), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemPrefetchAsync(make_device(8), 8, on(0), 0, stream), cudaErrorInvalidValue);
}

TEST_F(Managed, DiscardedBytesAreLostInTheOrderOfTheStream) {
  cudaStream_t stream = make_stream();
  int* const a = make(4);
  int* const b = make(4);
  a[0] = b[0] = b[1] = 1;
  void* ranges[] = {a, b};
  std::size_t sizes[] = {16, 4};
  CUDA_OK(cudaMemDiscardBatchAsync(ranges, sizes, 2, 0, stream));
  EXPECT_EQ(a[0], 1);
  CUDA_OK(cudaStreamSynchronize(stream));
  constexpr int lost = static_cast<int>(0xA5A5A5A5U);
  EXPECT_EQ(a[0], lost);
  EXPECT_EQ(b[0], lost);
  EXPECT_EQ(b[1], 1);
  EXPECT_EQ(cudaMemDiscardBatchAsync(ranges, sizes, 2, 0, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemDiscardBatchAsync(ranges, sizes, 2, 1, stream), cudaErrorInvalidValue);
  sizes[1] = 17;
  EXPECT_EQ(cudaMemDiscardBatchAsync(ranges, sizes, 2, 0, stream), cudaErrorInvalidValue);
  EXPECT_EQ(sim::pending(), 0U);
}

TEST_F(Managed, BatchesOfPrefetches) {
  cudaStream_t stream = make_stream();
  int* const a = make(4);
  int* const b = make(4);
  void* ranges[] = {a, b};
  std::size_t sizes[] = {16, 16};
  cudaMemLocation locations[] = {on(0), on_host};
  std::size_t firsts[] = {0, 1};
  CUDA_OK(cudaMemPrefetchBatchAsync(ranges, sizes, 2, locations, firsts, 2, 0, stream));
  EXPECT_EQ(ask(a, 4, cudaMemRangeAttributeLastPrefetchLocation), 0);
  EXPECT_EQ(ask(b, 4, cudaMemRangeAttributeLastPrefetchLocation), cudaCpuDeviceId);
  CUDA_OK(cudaMemDiscardAndPrefetchBatchAsync(ranges, sizes, 2, locations, firsts, 1, 0, stream));
  EXPECT_EQ(ask(b, 4, cudaMemRangeAttributeLastPrefetchLocation), 0);
  firsts[0] = 1;
  EXPECT_EQ(cudaMemPrefetchBatchAsync(ranges, sizes, 2, locations, firsts, 1, 0, stream),
            cudaErrorInvalidValue);
}

#endif

}  // namespace
