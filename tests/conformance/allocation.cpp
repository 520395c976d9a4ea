// SPDX-License-Identifier: BSL-1.0
//
// Allocation, registration, and what a pointer is.
#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>

#include "facts.hpp"
#include "groups.hpp"

namespace facts {
namespace {

constexpr std::size_t too_large = std::size_t{1} << 60;

// A failing allocation: the answer, what it leaves, and whether the next call works.
template <class Allocate>
void too_much(const std::string& name, Allocate allocate) {
  int marker = 0;
  void* pointer = &marker;
  const cudaError_t answer = allocate(&pointer);
  const cudaError_t last = cudaPeekAtLastError();
  error(name, answer);
  error(name + ", last error", last);
  text(name + ", the pointer", pointer == &marker ? "as before" : pointer_kind(pointer, nullptr));
  const DeviceMemory next(16);
  yes_no(name + ", the next allocation works", true);
}

template <class Allocate>
void none(const std::string& name, Allocate allocate) {
  int marker = 0;
  void* pointer = &marker;
  error(name, allocate(&pointer));
  text(name + ", the pointer", pointer == &marker ? "as before" : pointer_kind(pointer, nullptr));
}

void sizes() {
  none("cudaMalloc of 0 bytes", [](void** pointer) { return cudaMalloc(pointer, 0); });
  none("cudaMallocHost of 0 bytes", [](void** pointer) { return cudaMallocHost(pointer, 0); });
  none("cudaHostAlloc of 0 bytes", [](void** pointer) { return cudaHostAlloc(pointer, 0, 0); });
  none("cudaHostAlloc with flags 0x100",
       [](void** pointer) { return cudaHostAlloc(pointer, 16, 0x100); });
  too_much("cudaMalloc of 1 << 60 bytes",
           [](void** pointer) { return cudaMalloc(pointer, too_large); });
  too_much("cudaMalloc of the largest size",
           [](void** pointer) { return cudaMalloc(pointer, static_cast<std::size_t>(-1)); });
  too_much("cudaMallocHost of 1 << 60 bytes",
           [](void** pointer) { return cudaMallocHost(pointer, too_large); });
  too_much("cudaHostAlloc of 1 << 60 bytes",
           [](void** pointer) { return cudaHostAlloc(pointer, too_large, 0); });
  error("cudaMalloc null", cudaMalloc(nullptr, 16));
  error("cudaMalloc null, 0 bytes", cudaMalloc(nullptr, 0));
  error("cudaMallocHost null", cudaMallocHost(nullptr, 16));
  error("cudaHostAlloc null", cudaHostAlloc(nullptr, 16, 0));
  for (const unsigned flags : {1U, 2U, 4U, 7U, 8U}) {
    void* pointer = nullptr;
    const cudaError_t answer = cudaHostAlloc(&pointer, 16, flags);
    error("cudaHostAlloc with flags " + std::to_string(flags), answer);
    if (answer == cudaSuccess) need(cudaFreeHost(pointer));
  }
}

void frees() {
  void* device = nullptr;
  void* pinned = nullptr;
  const PageableMemory pageable(64);
  error("cudaFree null", cudaFree(nullptr));
  error("cudaFreeHost null", cudaFreeHost(nullptr));
  need(cudaMalloc(&device, 1 << 20));
  need(cudaMallocHost(&pinned, 1 << 20));
  error("cudaFree interior", cudaFree(static_cast<char*>(device) + 512));
  error("cudaFreeHost interior", cudaFreeHost(static_cast<char*>(pinned) + 4096));
  error("cudaFree of pinned memory", cudaFree(pinned));
  error("cudaFreeHost of device memory", cudaFreeHost(device));
  error("cudaFree of pageable memory", cudaFree(pageable));
  error("cudaFreeHost of pageable memory", cudaFreeHost(pageable));
  error("cudaFree", cudaFree(device));
  error("cudaFreeHost", cudaFreeHost(pinned));
  error("cudaFree twice", cudaFree(device));
  error("cudaFreeHost twice", cudaFreeHost(pinned));
}

}  // namespace

void allocation() {
  section("sizes", sizes);
  section("frees", frees);
}

namespace {

constexpr std::size_t page = 4096;

// Some pages of the program's own.
class Pages {
 public:
  explicit Pages(std::size_t count)
      : bytes_(static_cast<unsigned char*>(std::aligned_alloc(page, count * page))) {
    for (std::size_t i = 0; i < count * page; ++i) bytes_[i] = 0;
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() { std::free(bytes_); }
  [[nodiscard]] unsigned char* at(std::size_t offset) const { return bytes_ + offset; }

 private:
  unsigned char* bytes_;
};

void registrations() {
  const Pages pages(8);
  const auto add = [&](const char* name, std::size_t offset, std::size_t size, unsigned flags) {
    error(name, cudaHostRegister(pages.at(offset), size, flags));
  };
  const auto remove = [&](const char* name, std::size_t offset) {
    error(name, cudaHostUnregister(pages.at(offset)));
  };
  error("register null", cudaHostRegister(nullptr, page, 0));
  add("register 0 bytes", 0, 0, 0);
  add("register with flags 0x40", 0, page, 0x40);
  remove("unregister what never was", 0);
  error("unregister null", cudaHostUnregister(nullptr));
  add("register two pages", page, 2 * page, 0);
  add("register the same again", page, 2 * page, 0);
  add("register a part again", page, page, 0);
  add("register what reaches over its end", 2 * page, 2 * page, 0);
  add("register what reaches over its begin", 0, 2 * page, 0);
  add("register what contains it", 0, 4 * page, 0);
  add("register what follows it", 3 * page, page, 0);
  remove("unregister an interior address", page + 64);
  remove("unregister its second page", 2 * page);
  remove("unregister", page);
  remove("unregister twice", page);
  remove("unregister what followed", 3 * page);
  for (const unsigned flags : {1U, 2U, 3U}) {
    add(("register with flags " + std::to_string(flags)).c_str(), 0, page, flags);
    remove(("unregister with flags " + std::to_string(flags)).c_str(), 0);
  }
}

void small_registrations() {
  const Pages pages(4);
  error("register 100 bytes inside a page", cudaHostRegister(pages.at(64), 100, 0));
  error("register other bytes of the page", cudaHostRegister(pages.at(1024), 100, 0));
  error("unregister the other bytes", cudaHostUnregister(pages.at(1024)));
  error("unregister the page's begin", cudaHostUnregister(pages.at(0)));
  error("unregister the 100 bytes", cudaHostUnregister(pages.at(64)));
  const PinnedMemory pinned(page);
  const DeviceMemory device(page);
  error("register pinned memory", cudaHostRegister(pinned, page, 0));
  error("unregister pinned memory", cudaHostUnregister(pinned));
  error("register device memory", cudaHostRegister(device, page, 0));
  error("unregister device memory", cudaHostUnregister(device));
  need(cudaHostRegister(pages.at(0), page, 0));
  error("cudaFreeHost of registered memory", cudaFreeHost(pages.at(0)));
  error("cudaFree of registered memory", cudaFree(pages.at(0)));
  error("unregister after these", cudaHostUnregister(pages.at(0)));
}

void half_registered() {
  const Pages pages(2);
  const DeviceMemory device(2 * page);
  const Stream stream;
  need(cudaHostRegister(pages.at(0), page, 0));
  error("copy from registered memory",
        cudaMemcpyAsync(device, pages.at(0), page, cudaMemcpyHostToDevice, stream));
  stream.synchronize();
  error("copy from memory of which half is registered",
        cudaMemcpyAsync(device, pages.at(0), 2 * page, cudaMemcpyHostToDevice, stream));
  stream.synchronize();
  need(cudaHostUnregister(pages.at(0)));
  need(cudaHostRegister(pages.at(page), page, 0));
  error("copy from memory of which the second half is registered",
        cudaMemcpyAsync(device, pages.at(0), 2 * page, cudaMemcpyHostToDevice, stream));
  stream.synchronize();
  need(cudaHostUnregister(pages.at(page)));
}

void no_memory() {
  const Pages pages(2);
  void* const range =
      mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (range == MAP_FAILED) need(cudaErrorMemoryAllocation);
  auto* const second = static_cast<char*>(range) + page;
  munmap(second, page);
  error("register what is no memory", cudaHostRegister(second, page, 0));
  error("register what is memory in part", cudaHostRegister(range, 2 * page, 0));
  error("unregister it", cudaHostUnregister(range));
  munmap(range, page);
  error("register the first page", cudaHostRegister(reinterpret_cast<void*>(page), page, 0));
  error("register more than there is", cudaHostRegister(pages.at(0), SIZE_MAX, 0));
  error("register past the last address", cudaHostRegister(pages.at(0), SIZE_MAX - page, 0));
}

}  // namespace

void registration() {
  section("registrations", registrations);
  section("small", small_registrations);
  section("half", half_registered);
  section("no memory", no_memory);
}

namespace {

void describe(const std::string& name, const void* pointer) {
  cudaPointerAttributes attributes{};
  attributes.type = number_as<cudaMemoryType>(99);
  const cudaError_t answer = cudaPointerGetAttributes(&attributes, pointer);
  const cudaError_t last = cudaPeekAtLastError();
  error(name + ", cudaPointerGetAttributes", answer);
  if (last != answer) error(name + ", last error", last);
  if (answer != cudaSuccess) return;
  text(name + ", attributes",
       "type " + std::to_string(attributes.type) + ", device " + std::to_string(attributes.device) +
           ", device pointer " + pointer_kind(attributes.devicePointer, pointer) +
           ", host pointer " + pointer_kind(attributes.hostPointer, pointer));
}

void attributes() {
  void* device = nullptr;
  need(cudaMalloc(&device, 512));
  const Stream stream;
  describe("device", device);
  describe("device, interior", static_cast<char*>(device) + 100);
  describe("device, one past the end", static_cast<char*>(device) + 512);
  need(cudaFree(device));
  describe("device, freed", device);
  {
    const PinnedMemory pinned(2 * page);
    describe("pinned", pinned);
    describe("pinned, interior", pinned.bytes() + 100);
  }
  void* other = nullptr;
  need(cudaHostAlloc(&other, page, cudaHostAllocWriteCombined));
  describe("write-combined", other);
  need(cudaFreeHost(other));
  const Pages pages(4);
  need(cudaHostRegister(pages.at(page), page, 0));
  describe("registered", pages.at(page));
  describe("registered, interior", pages.at(page + 100));
  describe("registered, one before", pages.at(page) - 1);
  need(cudaHostUnregister(pages.at(page)));
  describe("unregistered again", pages.at(page));
  describe("null", nullptr);
  need(cudaMallocAsync(&other, page, stream));
  describe("cudaMallocAsync", other);
  describe("cudaMallocAsync, interior", static_cast<char*>(other) + 100);
  need(cudaFreeAsync(other, stream));
  stream.synchronize();
  error("null attributes", cudaPointerGetAttributes(nullptr, pages.at(0)));
}

void host_pointers() {
  const Pages pages(2);
  const PinnedMemory pinned(page);
  const DeviceMemory device(page);
  need(cudaHostRegister(pages.at(0), page, 0));
  const auto ask = [](const std::string& name, void* pointer) {
    int marker = 0;
    void* result = &marker;
    unsigned flags = 12345;
    const cudaError_t answer = cudaHostGetDevicePointer(&result, pointer, 0);
    error(name + ", cudaHostGetDevicePointer", answer);
    text(name + ", the device pointer",
         result == &marker ? "as before" : pointer_kind(result, pointer));
    error(name + ", cudaHostGetFlags", cudaHostGetFlags(&flags, pointer));
    number(name + ", flags", flags);
  };
  ask("pinned", pinned);
  ask("pinned, interior", pinned.bytes() + 100);
  ask("registered", pages.at(0));
  ask("pageable", pages.at(page));
  ask("device", device);
  ask("null", nullptr);
  for (const unsigned flags : {1U, 2U, 4U}) {
    void* other = nullptr;
    need(cudaHostAlloc(&other, page, flags));
    ask("allocated with flags " + std::to_string(flags), other);
    need(cudaFreeHost(other));
  }
  need(cudaHostUnregister(pages.at(0)));
  void* result = nullptr;
  error("cudaHostGetDevicePointer, flags 1", cudaHostGetDevicePointer(&result, pinned, 1));
  error("cudaHostGetDevicePointer, null result", cudaHostGetDevicePointer(nullptr, pinned, 0));
  error("cudaHostGetFlags, null result", cudaHostGetFlags(nullptr, pinned));
}

}  // namespace

void pointers() {
  section("host pointers", host_pointers);
  section("attributes", attributes);
}

namespace {

void managed_memory() {
  void* pointer = nullptr;
  error("cudaMallocManaged null", cudaMallocManaged(nullptr, 16, cudaMemAttachGlobal));
  none("cudaMallocManaged of 0 bytes",
       [](void** result) { return cudaMallocManaged(result, 0, cudaMemAttachGlobal); });
  for (const unsigned flags : {0U, 3U, 4U, 8U}) {
    none("cudaMallocManaged with flags " + std::to_string(flags),
         [flags](void** result) { return cudaMallocManaged(result, 16, flags); });
  }
  too_much("cudaMallocManaged of 1 << 60 bytes",
           [](void** result) { return cudaMallocManaged(result, too_large, cudaMemAttachGlobal); });
  need(cudaMallocManaged(&pointer, page, cudaMemAttachGlobal));
  describe("managed", pointer);
  describe("managed, interior", static_cast<char*>(pointer) + 100);
  error("cudaFreeHost of managed memory", cudaFreeHost(pointer));
  error("cudaHostRegister of managed memory", cudaHostRegister(pointer, page, 0));
  error("cudaFree of managed memory", cudaFree(pointer));
  describe("managed, freed", pointer);
}

void managed_copies() {
  void* pointer = nullptr;
  const PageableMemory pageable(page);
  const Stream stream;
  need(cudaMallocManaged(&pointer, page, cudaMemAttachGlobal));
  static_cast<unsigned char*>(pointer)[5] = 6;
  error("cudaMemset of managed memory", cudaMemset(static_cast<char*>(pointer) + 8, 1, 8));
  need(cudaDeviceSynchronize());
  yes_no("and the host reads it", static_cast<unsigned char*>(pointer)[8] == 1);
  for (int kind = 0; kind < 5; ++kind) {
    error("copy from managed to pageable, kind " + std::to_string(kind),
          cudaMemcpyAsync(pageable, pointer, page, number_as<cudaMemcpyKind>(kind), stream));
    stream.synchronize();
    error("copy from pageable to managed, kind " + std::to_string(kind),
          cudaMemcpyAsync(pointer, pageable, page, number_as<cudaMemcpyKind>(kind), stream));
    stream.synchronize();
  }
  yes_no("the host's byte came through", pageable.bytes()[5] == 6);
  need(cudaFree(pointer));
}

}  // namespace

void managed() {
  section("memory", managed_memory);
  section("copies", managed_copies);
}

}  // namespace facts
