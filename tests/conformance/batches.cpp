// SPDX-License-Identifier: BSL-1.0
//
// Batches of copies, as CUDA 13.0 declares them.
#include <cstring>

#include "facts.hpp"
#include "groups.hpp"

namespace facts {

namespace {

constexpr std::size_t size = 256;

// Two copies from pinned memory to the device; what differs is changed before issue().
struct Batch {
  DeviceMemory device{2 * size};
  PinnedMemory pinned{2 * size};
  void* to[2] = {device.bytes(), device.bytes() + size};
  const void* from[2] = {pinned.bytes(), pinned.bytes() + size};
  std::size_t sizes[2] = {size, size};
  cudaMemcpyAttributes attributes[2] = {make(), make()};
  std::size_t firsts[2] = {0, 1};
  std::size_t count = 2;
  std::size_t attribute_count = 1;
  Stream stream;

  static cudaMemcpyAttributes make() {
    cudaMemcpyAttributes result{};
    result.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    return result;
  }
  void issue(const std::string& name) { issue_in(name, stream); }
  void issue_in(const std::string& name, cudaStream_t in) {
    error(name,
          cudaMemcpyBatchAsync(to, from, sizes, count, attributes, firsts, attribute_count, in));
    need(cudaDeviceSynchronize());
  }
};

template <class Change>
void with(const std::string& name, Change change) {
  Batch batch;
  change(batch);
  batch.issue(name);
}

void content() {
  Batch batch;
  std::memset(batch.pinned, 9, 2 * size);
  batch.issue("two copies");
  unsigned char last = 0;
  need(cudaMemcpy(&last, batch.device.bytes() + 2 * size - 1, 1, cudaMemcpyDeviceToHost));
  yes_no("and the bytes are there", last == 9);
  batch.attribute_count = 2;
  batch.issue("two copies, an attribute for each");
  batch.attribute_count = 1;
  batch.issue_in("in null", nullptr);
  batch.issue_in("in legacy", cudaStreamLegacy);
  batch.issue_in("in per-thread", cudaStreamPerThread);
}

void orders() {
  for (const int order : {0, 1, 2, 3, 4}) {
    with("source access order " + std::to_string(order), [&](Batch& batch) {
      batch.attributes[0].srcAccessOrder = number_as<cudaMemcpySrcAccessOrder>(order);
    });
  }
  with("flags 1", [](Batch& batch) { batch.attributes[0].flags = 1; });
  with("flags 2", [](Batch& batch) { batch.attributes[0].flags = 2; });
}

void counts() {
  with("count 0", [](Batch& batch) { batch.count = 0; });
  with("no attributes", [](Batch& batch) { batch.attribute_count = 0; });
  with("count 0, no attributes", [](Batch& batch) { batch.count = batch.attribute_count = 0; });
  with("more attributes than copies", [](Batch& batch) {
    batch.count = 1;
    batch.attribute_count = 2;
  });
  with("the first attribute is for the second copy", [](Batch& batch) { batch.firsts[0] = 1; });
  with("an attribute past the last copy", [](Batch& batch) {
    batch.attribute_count = 2;
    batch.firsts[1] = 2;
  });
  with("attributes in no order", [](Batch& batch) {
    batch.attribute_count = 2;
    batch.firsts[1] = 0;
  });
  with("a size of 0", [](Batch& batch) { batch.sizes[1] = 0; });
}

void memory() {
  const PageableMemory pageable(size);
  static void* host;
  host = pageable;
  with("pageable source", [](Batch& batch) { batch.from[1] = host; });
  with("pageable destination", [](Batch& batch) { batch.to[1] = host; });
  with("pageable source, during the call", [](Batch& batch) {
    batch.from[1] = host;
    batch.attributes[0].srcAccessOrder = cudaMemcpySrcAccessOrderDuringApiCall;
  });
  with("past the end of the destination",
       [](Batch& batch) { batch.to[1] = batch.device.bytes() + size + 1; });
  with("device to device", [](Batch& batch) { batch.from[1] = batch.device.bytes(); });
  with("pinned to pinned", [](Batch& batch) { batch.to[1] = batch.pinned.bytes(); });
  with("null destination", [](Batch& batch) { batch.to[1] = nullptr; });
  with("null source", [](Batch& batch) { batch.from[1] = nullptr; });
}

cudaMemcpy3DOperand operand(void* pointer) {
  cudaMemcpy3DOperand result{};
  result.type = cudaMemcpyOperandTypePointer;
  result.op.ptr.ptr = pointer;
  return result;
}

void batches_3d() {
  const Stream stream;
  const DeviceMemory device(size);
  const PinnedMemory pinned(size);
  cudaMemcpy3DBatchOp plain{};
  plain.src = operand(pinned);
  plain.dst = operand(device);
  plain.extent.width = size;
  plain.extent.height = 1;
  plain.extent.depth = 1;
  plain.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  const auto issue = [&](const char* name, std::size_t count, unsigned long long flags,
                         cudaStream_t in, auto change) {
    cudaMemcpy3DBatchOp operation = plain;
    change(operation);
    error(std::string("3D, ") + name, cudaMemcpy3DBatchAsync(count, &operation, flags, in));
    need(cudaDeviceSynchronize());
  };
  const auto same = [](cudaMemcpy3DBatchOp&) {};
  issue("plain", 1, 0, stream, same);
  issue("count 0", 0, 0, stream, same);
  issue("flags 1", 1, 1, stream, same);
  issue("in legacy", 1, 0, cudaStreamLegacy, same);
  issue("width 0", 1, 0, stream, [](cudaMemcpy3DBatchOp& op) { op.extent.width = 0; });
  issue("depth 0", 1, 0, stream, [](cudaMemcpy3DBatchOp& op) { op.extent.depth = 0; });
  issue("access order 0", 1, 0, stream,
        [](cudaMemcpy3DBatchOp& op) { op.srcAccessOrder = cudaMemcpySrcAccessOrderInvalid; });
  issue("operand type 0", 1, 0, stream,
        [](cudaMemcpy3DBatchOp& op) { op.src.type = number_as<cudaMemcpy3DOperandType>(0); });
  issue("row length below the width", 1, 0, stream,
        [](cudaMemcpy3DBatchOp& op) { op.src.op.ptr.rowLength = 1; });
}

void nulls() {
  Batch batch;
  const auto issue = [&](const char* name, void** to, const void** from, std::size_t* sizes,
                         cudaMemcpyAttributes* attributes, std::size_t* firsts, std::size_t count) {
    error(name, cudaMemcpyBatchAsync(to, from, sizes, count, attributes, firsts, 1, batch.stream));
  };
  issue("count 0, null arrays", nullptr, nullptr, nullptr, nullptr, nullptr, 0);
  issue("null attributes", batch.to, batch.from, batch.sizes, nullptr, batch.firsts, 2);
  issue("null attribute indices", batch.to, batch.from, batch.sizes, batch.attributes, nullptr, 2);
  issue("null destinations", nullptr, batch.from, batch.sizes, batch.attributes, batch.firsts, 2);
  issue("null sources", batch.to, nullptr, batch.sizes, batch.attributes, batch.firsts, 2);
  issue("null sizes", batch.to, batch.from, nullptr, batch.attributes, batch.firsts, 2);
}

}  // namespace

void batches() {
  section("content", content);
  section("orders", orders);
  section("counts", counts);
  section("memory", memory);
  section("3D", batches_3d);
  section("nulls", nulls);
}

}  // namespace facts
