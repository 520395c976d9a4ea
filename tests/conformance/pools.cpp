// SPDX-License-Identifier: BSL-1.0
//
// Memory pools and memory in the order of a stream.
#include <cstdint>

#include "facts.hpp"
#include "groups.hpp"

namespace facts {
namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

cudaMemPoolProps good_properties() {
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = 0;
  return properties;
}

class Pool {
 public:
  explicit Pool(const cudaMemPoolProps& properties = good_properties()) {
    need(cudaMemPoolCreate(&pool_, &properties));
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool() { (void)cudaMemPoolDestroy(pool_); }
  operator cudaMemPool_t() const { return pool_; }

 private:
  cudaMemPool_t pool_ = nullptr;
};

std::uint64_t large_attribute(cudaMemPool_t pool, cudaMemPoolAttr attribute) {
  std::uint64_t value = 0;
  need(cudaMemPoolGetAttribute(pool, attribute, &value));
  return value;
}

void set_threshold(cudaMemPool_t pool, std::uint64_t value) {
  need(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &value));
}

void creation_of_pools() {
  cudaMemPoolProps properties = good_properties();
  error("cudaMemPoolCreate null pool", cudaMemPoolCreate(nullptr, &properties));
  const auto create = [](const char* name, auto change) {
    cudaMemPoolProps changed = good_properties();
    change(changed);
    cudaMemPool_t pool = nullptr;
    const cudaError_t answer = cudaMemPoolCreate(&pool, &changed);
    error(name, answer);
    if (answer == cudaSuccess) need(cudaMemPoolDestroy(pool));
  };
  create("create", [](cudaMemPoolProps&) {});
  create("create, all zero", [](cudaMemPoolProps& p) { p = {}; });
  create("create, allocation type 0",
         [](cudaMemPoolProps& p) { p.allocType = cudaMemAllocationTypeInvalid; });
  create("create, location type 0",
         [](cudaMemPoolProps& p) { p.location.type = cudaMemLocationTypeInvalid; });
  create("create, device -1", [](cudaMemPoolProps& p) { p.location.id = -1; });
  create("create, device 99", [](cudaMemPoolProps& p) { p.location.id = 99; });
  create("create, handle type 0x80",
         [](cudaMemPoolProps& p) { p.handleTypes = number_as<cudaMemAllocationHandleType>(0x80); });
  create("create, with a maximum size", [](cudaMemPoolProps& p) { p.maxSize = 64 * mebibyte; });
}

void device_pools() {
  cudaMemPool_t standard = nullptr;
  cudaMemPool_t current = nullptr;
  error("cudaDeviceGetDefaultMemPool", cudaDeviceGetDefaultMemPool(&standard, 0));
  error("cudaDeviceGetDefaultMemPool, device 99", cudaDeviceGetDefaultMemPool(&current, 99));
  error("cudaDeviceGetDefaultMemPool, device -1", cudaDeviceGetDefaultMemPool(&current, -1));
  error("cudaDeviceGetDefaultMemPool null", cudaDeviceGetDefaultMemPool(nullptr, 0));
  error("cudaDeviceGetMemPool", cudaDeviceGetMemPool(&current, 0));
  yes_no("the current pool is the default one", current == standard);
  error("cudaDeviceGetMemPool, device 99", cudaDeviceGetMemPool(&current, 99));
  error("cudaDeviceGetMemPool null", cudaDeviceGetMemPool(nullptr, 0));
  error("destroy the default pool", cudaMemPoolDestroy(standard));
  {
    const Pool pool;
    error("cudaDeviceSetMemPool, device 99", cudaDeviceSetMemPool(99, pool));
    error("cudaDeviceSetMemPool", cudaDeviceSetMemPool(0, pool));
    need(cudaDeviceGetMemPool(&current, 0));
    yes_no("the current pool is the new one", current == pool);
  }
  need(cudaDeviceGetMemPool(&current, 0));
  yes_no("after its end the current pool is the default one", current == standard);
  need(cudaDeviceSetMemPool(0, standard));
}

void attributes() {
  const Pool pool;
  const struct {
    const char* name;
    cudaMemPoolAttr attribute;
    bool large;
  } all[] = {
      {"reuse follow event dependencies", cudaMemPoolReuseFollowEventDependencies, false},
      {"reuse allow opportunistic", cudaMemPoolReuseAllowOpportunistic, false},
      {"reuse allow internal dependencies", cudaMemPoolReuseAllowInternalDependencies, false},
      {"release threshold", cudaMemPoolAttrReleaseThreshold, true},
      {"reserved", cudaMemPoolAttrReservedMemCurrent, true},
      {"reserved high", cudaMemPoolAttrReservedMemHigh, true},
      {"used", cudaMemPoolAttrUsedMemCurrent, true},
      {"used high", cudaMemPoolAttrUsedMemHigh, true}};
  for (const auto& one : all) {
    // Wide enough for either, and zero, so that an int is read right, too.
    std::uint64_t value = 0;
    need(cudaMemPoolGetAttribute(pool, one.attribute, &value));
    number(std::string("new pool, ") + one.name, static_cast<long long>(value));
  }
  for (const auto& one : all) {
    for (const std::uint64_t wanted : {std::uint64_t{1}, std::uint64_t{0}}) {
      std::uint64_t value = wanted;
      error("set " + std::string(one.name) + " to " + std::to_string(wanted),
            cudaMemPoolSetAttribute(pool, one.attribute, &value));
      value = 0;
      need(cudaMemPoolGetAttribute(pool, one.attribute, &value));
      number("after that, " + std::string(one.name) + " of " + std::to_string(wanted),
             static_cast<long long>(value));
    }
  }
  std::uint64_t value = 0;
  for (const int unknown : {0, 99}) {
    const auto attribute = number_as<cudaMemPoolAttr>(unknown);
    error("get attribute " + std::to_string(unknown),
          cudaMemPoolGetAttribute(pool, attribute, &value));
    error("set attribute " + std::to_string(unknown),
          cudaMemPoolSetAttribute(pool, attribute, &value));
  }
}

void limits() {
  const Stream stream;
  cudaMemPoolProps properties = good_properties();
  properties.maxSize = 64 * mebibyte;
  const Pool pool(properties);
  void* pointer = nullptr;
  error("more than the maximum size",
        cudaMallocFromPoolAsync(&pointer, 128 * mebibyte, pool, stream));
  error("less than the maximum size", cudaMallocFromPoolAsync(&pointer, mebibyte, pool, stream));
  need(cudaFreeAsync(pointer, stream));
  stream.synchronize();
}

void destroyed() {
  const Stream stream;
  const PinnedMemory host(4);
  void* pointer = nullptr;
  cudaMemPool_t pool = nullptr;
  const cudaMemPoolProps properties = good_properties();
  need(cudaMemPoolCreate(&pool, &properties));
  need(cudaMallocFromPoolAsync(&pointer, 4, pool, stream));
  stream.synchronize();
  error("destroy a pool in use", cudaMemPoolDestroy(pool));
  error("set memory of the destroyed pool", cudaMemsetAsync(pointer, 3, 4, stream));
  error("copy it", cudaMemcpyAsync(host, pointer, 4, cudaMemcpyDeviceToHost, stream));
  error("free it", cudaFreeAsync(pointer, stream));
  error("synchronize", cudaStreamSynchronize(stream));
  yes_no("and the bytes came through", host.bytes()[3] == 3);
}

void nulls() {
  const Stream stream;
  const Pool pool;
  void* pointer = nullptr;
  std::uint64_t value = 0;
  cudaMemPool_t created = nullptr;
  error("cudaMemPoolDestroy null", cudaMemPoolDestroy(nullptr));
  error("cudaDeviceSetMemPool null", cudaDeviceSetMemPool(0, nullptr));
  error("cudaMallocFromPoolAsync null pool",
        cudaMallocFromPoolAsync(&pointer, 16, nullptr, stream));
  error("cudaMemPoolTrimTo null", cudaMemPoolTrimTo(nullptr, 0));
  error("cudaMemPoolGetAttribute null pool",
        cudaMemPoolGetAttribute(nullptr, cudaMemPoolAttrUsedMemCurrent, &value));
  error("cudaMemPoolCreate null properties", cudaMemPoolCreate(&created, nullptr));
  error("cudaMemPoolGetAttribute null value",
        cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, nullptr));
  // cudaMemPoolSetAttribute with a null pointer crashes on a GPU.
}

}  // namespace

void pools() {
  section("creation", creation_of_pools);
  section("device pools", device_pools);
  section("attributes", attributes);
  section("limits", limits);
  section("destroyed", destroyed);
  section("nulls", nulls);
}

namespace {

void sizes() {
  const Stream stream;
  int marker = 0;
  void* pointer = &marker;
  error("cudaMallocAsync of 0 bytes", cudaMallocAsync(&pointer, 0, stream));
  text("cudaMallocAsync of 0 bytes, the pointer",
       pointer == &marker ? "as before" : pointer_kind(pointer, nullptr));
  if (pointer != &marker && pointer != nullptr) need(cudaFreeAsync(pointer, stream));
  error("cudaMallocAsync null", cudaMallocAsync(nullptr, 16, stream));
  pointer = &marker;
  error("cudaMallocAsync of 1 << 60 bytes",
        cudaMallocAsync(&pointer, std::size_t{1} << 60, stream));
  text("cudaMallocAsync of 1 << 60 bytes, the pointer",
       pointer == &marker ? "as before" : pointer_kind(pointer, nullptr));
  pointer = nullptr;
  error("the next cudaMallocAsync", cudaMallocAsync(&pointer, 16, stream));
  need(cudaFreeAsync(pointer, stream));
  error("cudaMallocAsync in null", cudaMallocAsync(&pointer, 16, nullptr));
  error("cudaFreeAsync in null", cudaFreeAsync(pointer, nullptr));
  error("cudaMallocAsync in per-thread", cudaMallocAsync(&pointer, 16, cudaStreamPerThread));
  error("cudaFreeAsync in per-thread", cudaFreeAsync(pointer, cudaStreamPerThread));
}

void frees() {
  const Stream stream;
  const Stream other;
  const PageableMemory pageable(64);
  void* pointer = nullptr;
  error("cudaFreeAsync null", cudaFreeAsync(nullptr, stream));
  need(cudaMallocAsync(&pointer, 4096, stream));
  stream.synchronize();
  error("cudaFreeAsync interior", cudaFreeAsync(static_cast<char*>(pointer) + 512, stream));
  error("cudaFreeHost of cudaMallocAsync memory", cudaFreeHost(pointer));
  error("cudaFreeAsync in another stream", cudaFreeAsync(pointer, other));
  other.synchronize();
  error("cudaFreeAsync twice", cudaFreeAsync(pointer, other));
  error("cudaFree of what cudaFreeAsync freed", cudaFree(pointer));
  need(cudaMallocAsync(&pointer, 4096, stream));
  error("cudaFree of cudaMallocAsync memory", cudaFree(pointer));
  error("cudaFreeAsync of what cudaFree freed", cudaFreeAsync(pointer, stream));
  need(cudaMalloc(&pointer, 4096));
  error("cudaFreeAsync of cudaMalloc memory", cudaFreeAsync(pointer, stream));
  stream.synchronize();
  error("cudaFree of it after that", cudaFree(pointer));
  error("cudaFreeAsync of pageable memory", cudaFreeAsync(pageable, stream));
  const PinnedMemory pinned(64);
  error("cudaFreeAsync of pinned memory", cudaFreeAsync(pinned, stream));
}

void report(const std::string& when, cudaMemPool_t pool) {
  const std::uint64_t used = large_attribute(pool, cudaMemPoolAttrUsedMemCurrent);
  const std::uint64_t reserved = large_attribute(pool, cudaMemPoolAttrReservedMemCurrent);
  number(when + ", used", static_cast<long long>(used));
  yes_no(when + ", something is reserved", reserved != 0);
  yes_no(when + ", reserved is at least used", reserved >= used);
}

void books(const std::string& name, std::uint64_t threshold) {
  const Stream stream;
  const Pool pool;
  void* pointer = nullptr;
  set_threshold(pool, threshold);
  {
    const Gate gate(stream);
    need(cudaMallocFromPoolAsync(&pointer, mebibyte, pool, stream));
    report(name + ", allocated, not synchronized", pool);
    need(cudaFreeAsync(pointer, stream));
    report(name + ", freed, not synchronized", pool);
  }
  stream.synchronize();
  report(name + ", freed and synchronized", pool);
  need(cudaMallocFromPoolAsync(&pointer, mebibyte, pool, stream));
  stream.synchronize();
  report(name + ", allocated and synchronized", pool);
  error(name + ", trim to 0 in use", cudaMemPoolTrimTo(pool, 0));
  report(name + ", after that", pool);
  need(cudaFreeAsync(pointer, stream));
  stream.synchronize();
  report(name + ", freed and synchronized again", pool);
  error(name + ", trim to 0", cudaMemPoolTrimTo(pool, 0));
  report(name + ", trimmed", pool);
  number(name + ", used high",
         static_cast<long long>(large_attribute(pool, cudaMemPoolAttrUsedMemHigh)));
}

void small_books() {
  const Stream stream;
  const Pool pool;
  void* pointer = nullptr;
  need(cudaMallocFromPoolAsync(&pointer, 1, pool, stream));
  stream.synchronize();
  number("used by an allocation of one byte",
         static_cast<long long>(large_attribute(pool, cudaMemPoolAttrUsedMemCurrent)));
  number("reserved for an allocation of one byte",
         static_cast<long long>(large_attribute(pool, cudaMemPoolAttrReservedMemCurrent)));
  need(cudaFreeAsync(pointer, stream));
  stream.synchronize();
}

void waits_that_release() {
  // Which waits give unused memory back.
  const Stream stream;
  const Stream other;
  const Event event;
  const auto after = [&](const char* name, auto wait) {
    const Pool pool;
    void* pointer = nullptr;
    need(cudaMallocFromPoolAsync(&pointer, mebibyte, pool, stream));
    need(cudaFreeAsync(pointer, stream));
    need(cudaEventRecord(event, stream));
    while (cudaStreamQuery(stream) == cudaErrorNotReady) {
    }
    wait();
    yes_no(std::string("reserved after a free and ") + name,
           large_attribute(pool, cudaMemPoolAttrReservedMemCurrent) != 0);
    stream.synchronize();
  };
  after("queries", [] {});
  after("cudaStreamSynchronize", [&] { stream.synchronize(); });
  after("cudaStreamSynchronize of another stream", [&] { other.synchronize(); });
  after("cudaEventSynchronize", [&] { need(cudaEventSynchronize(event)); });
  after("cudaDeviceSynchronize", [] { need(cudaDeviceSynchronize()); });
}

void use_after_free() {
  const Stream stream;
  void* pointer = nullptr;
  // The pool keeps the memory, so that what is done to it harms nobody.
  const Pool pool;
  set_threshold(pool, UINT64_MAX);
  need(cudaMallocFromPoolAsync(&pointer, 4096, pool, stream));
  stream.synchronize();
  {
    const Gate gate(stream);
    need(cudaFreeAsync(pointer, stream));
    error("pending free, set in the same stream", cudaMemsetAsync(pointer, 1, 16, stream));
    error("pending free, freed again", cudaFreeAsync(pointer, stream));
  }
  error("pending free, synchronize", cudaStreamSynchronize(stream));
}

}  // namespace

void pool_memory() {
  section("sizes", sizes);
  section("small books", small_books);
  section("books", [] { books("threshold 0", 0); });
  section("books, maximum", [] { books("threshold at its maximum", UINT64_MAX); });
  section("waits", waits_that_release);
  section("frees", frees);
  section("use after free", use_after_free);
}

}  // namespace facts
