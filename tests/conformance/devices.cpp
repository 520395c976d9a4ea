// SPDX-License-Identifier: BSL-1.0
//
// Devices.
#include <thread>

#include "facts.hpp"
#include "groups.hpp"

namespace facts {
namespace {

void choosing() {
  int count = 0;
  int current = 99;
  error("cudaGetDeviceCount", cudaGetDeviceCount(&count));
  yes_no("there is a device", count > 0);
  error("cudaSetDevice 0", cudaSetDevice(0));
  error("cudaSetDevice -1", cudaSetDevice(-1));
  error("cudaSetDevice of the number of devices", cudaSetDevice(count));
  error("cudaGetDevice after that", cudaGetDevice(&current));
  number("the current device after that", current);
  int there = 99;
  std::thread([&] { (void)cudaGetDevice(&there); }).join();
  number("the current device of a new thread", there);
  error("cudaDeviceSynchronize", cudaDeviceSynchronize());
}

void attributes() {
  int value = 0;
  cudaDeviceProp properties{};
  const auto ask = [&](const char* name, int attribute, int device) {
    error(name, cudaDeviceGetAttribute(&value, number_as<cudaDeviceAttr>(attribute), device));
  };
  ask("cudaDeviceGetAttribute", cudaDevAttrWarpSize, 0);
  ask("cudaDeviceGetAttribute of device -1", cudaDevAttrWarpSize, -1);
  ask("cudaDeviceGetAttribute of device 99", cudaDevAttrWarpSize, 99);
  ask("cudaDeviceGetAttribute 0", 0, 0);
  ask("cudaDeviceGetAttribute -1", -1, 0);
  ask("cudaDeviceGetAttribute 9999", 9999, 0);
  error("cudaDeviceGetAttribute null", cudaDeviceGetAttribute(nullptr, cudaDevAttrWarpSize, 0));
  const struct {
    const char* name;
    cudaDeviceAttr attribute;
  } yes_or_no[] = {
      {"unified addressing", cudaDevAttrUnifiedAddressing},
      {"memory pools supported", cudaDevAttrMemoryPoolsSupported},
      {"can map host memory", cudaDevAttrCanMapHostMemory},
      {"managed memory", cudaDevAttrManagedMemory},
      {"concurrent managed access", cudaDevAttrConcurrentManagedAccess},
      {"pageable memory access", cudaDevAttrPageableMemoryAccess},
      {"host register supported", cudaDevAttrHostRegisterSupported},
      {"host register read-only supported", cudaDevAttrHostRegisterReadOnlySupported},
      {"can use the host pointer of registered memory",
       cudaDevAttrCanUseHostPointerForRegisteredMem},
      {"stream priorities supported", cudaDevAttrStreamPrioritiesSupported},
      {"direct managed access from the host", cudaDevAttrDirectManagedMemAccessFromHost}};
  for (const auto& one : yes_or_no) {
    need(cudaDeviceGetAttribute(&value, one.attribute, 0));
    number(std::string("attribute, ") + one.name, value);
  }
  error("cudaGetDeviceProperties", cudaGetDeviceProperties(&properties, 0));
  error("cudaGetDeviceProperties of device -1", cudaGetDeviceProperties(&properties, -1));
  error("cudaGetDeviceProperties of device 99", cudaGetDeviceProperties(&properties, 99));
  error("cudaGetDeviceProperties null", cudaGetDeviceProperties(nullptr, 0));
  std::size_t size = 0;
  error("cudaMemGetInfo", cudaMemGetInfo(&size, &size));
  error("cudaMemGetInfo null free", cudaMemGetInfo(nullptr, &size));
  error("cudaMemGetInfo null total", cudaMemGetInfo(&size, nullptr));
}

void peers() {
  int access = 99;
  error("cudaDeviceCanAccessPeer itself", cudaDeviceCanAccessPeer(&access, 0, 0));
  number("itself, access", access);
  error("cudaDeviceCanAccessPeer, peer 99", cudaDeviceCanAccessPeer(&access, 0, 99));
  error("cudaDeviceCanAccessPeer, device -1", cudaDeviceCanAccessPeer(&access, -1, 0));
  error("cudaDeviceCanAccessPeer null", cudaDeviceCanAccessPeer(nullptr, 0, 0));
  error("cudaDeviceEnablePeerAccess of itself", cudaDeviceEnablePeerAccess(0, 0));
  error("cudaDeviceEnablePeerAccess of device 99", cudaDeviceEnablePeerAccess(99, 0));
  error("cudaDeviceEnablePeerAccess of itself, flags 1", cudaDeviceEnablePeerAccess(0, 1));
  error("cudaDeviceDisablePeerAccess of itself", cudaDeviceDisablePeerAccess(0));
  error("cudaDeviceDisablePeerAccess of device 99", cudaDeviceDisablePeerAccess(99));
}

}  // namespace

void devices() {
  section("choosing", choosing);
  section("attributes", attributes);
  section("peers", peers);
}

namespace {

void reset() {
  void* pointer = nullptr;
  cudaPointerAttributes attributes{};
  need(cudaMalloc(&pointer, 64));
  need(cudaMallocHost(&pointer, 64));
  need(cudaMalloc(&pointer, 64));
  error("cudaDeviceReset", cudaDeviceReset());
  error("last error after it", cudaPeekAtLastError());
  error("attributes of old memory", cudaPointerGetAttributes(&attributes, pointer));
  number("the type of old memory", attributes.type);
  error("free of old memory", cudaFree(pointer));
  error("cudaMalloc", cudaMalloc(&pointer, 64));
  error("cudaMemset", cudaMemset(pointer, 0, 64));
  error("cudaFree", cudaFree(pointer));
  error("cudaDeviceReset twice", cudaDeviceReset());
  error("cudaDeviceReset twice, the second", cudaDeviceReset());
  error("cudaFree null", cudaFree(nullptr));
  error("cudaStreamQuery of the legacy stream", cudaStreamQuery(cudaStreamLegacy));
}

}  // namespace

void device_reset() { section("reset", reset); }

}  // namespace facts
