// SPDX-License-Identifier: BSL-1.0
// Batches of copies, in both forms. CUDA 13 changed their parameters: before it there is a further
// one, and only batches of rows are here.
#include <cstdint>
#include <vector>

#include "sim/batch.hpp"
#include "sim/copy_3d.hpp"

#if CUDART_VERSION >= 12080

namespace {

using namespace culvert::sim::detail;

bool source_read(cudaMemcpySrcAccessOrder order, SourceRead& read) {
  switch (order) {
    case cudaMemcpySrcAccessOrderStream:
      read = SourceRead::in_order;
      return true;
    case cudaMemcpySrcAccessOrderDuringApiCall:
      read = SourceRead::at_call;
      return true;
    // CUDA may read it when it likes: as late as the copy runs, a source that ends before is seen.
    case cudaMemcpySrcAccessOrderAny:
      read = SourceRead::in_order;
      return true;
    default:
      return false;
  }
}

bool is_legacy(cudaStream_t handle, NullStream null) {
  return handle == cudaStreamLegacy || (handle == nullptr && null == NullStream::legacy);
}

bool known_flags(unsigned flags) {
  return (flags & ~unsigned{cudaMemcpyFlagPreferOverlapWithCompute}) == 0;
}

// All or none. Nothing orders copies of a batch, so they run in the order least expected.
cudaError_t enqueue(Call& call, const StreamPtr& stream, const std::vector<Copy>& copies) {
  for (const Copy& each : copies) {
    const cudaError_t error = check_copy(call, each);
    if (error != cudaSuccess) return error;
  }
  for (std::size_t i = copies.size(); i-- > 0;) {
    const cudaError_t error = copy(call, stream, copies[i], CopyCall::asynchronous);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

cudaError_t copy_rows(NullStream null, void* const* to, const void* const* from,
                      const std::size_t* sizes, std::size_t count,
                      const cudaMemcpyAttributes* attributes, const std::size_t* firsts,
                      std::size_t groups, cudaStream_t handle) {
  constexpr const char* function = "cudaMemcpyBatchAsync";
  return stream_api(
      function, handle, null, [&](Call& call, const StreamPtr& stream) -> cudaError_t {
        if (is_legacy(handle, null) || to == nullptr || from == nullptr || sizes == nullptr ||
            attributes == nullptr || !is_grouping(firsts, groups, count)) {
          return cudaErrorInvalidValue;
        }
        std::vector<Copy> copies(count);
        for (std::size_t i = 0; i < count; ++i) {
          const cudaMemcpyAttributes& own = attributes[group_of(firsts, groups, i)];
          copies[i] = {function, to[i], sizes[i], from[i], sizes[i], sizes[i]};
          if (sizes[i] == 0 || !known_flags(own.flags) ||
              !source_read(own.srcAccessOrder, copies[i].read)) {
            return cudaErrorInvalidValue;
          }
        }
        return enqueue(call, stream, copies);
      });
}

#if CUDART_VERSION >= 13000

// A length of 0 means tightly packed.
cudaPitchedPtr pitched(const cudaMemcpy3DOperand& operand, const cudaExtent& extent) {
  const auto& pointer = operand.op.ptr;
  const std::size_t row = pointer.rowLength != 0 ? pointer.rowLength : extent.width;
  const std::size_t rows = pointer.layerHeight != 0 ? pointer.layerHeight : extent.height;
  return {pointer.ptr, row, extent.width, rows};
}

cudaError_t copy_of_operation(const char* function, const cudaMemcpy3DBatchOp& operation,
                              Copy& copy) {
  const cudaExtent& extent = operation.extent;
  if (extent.width == 0 || extent.height == 0 || extent.depth == 0 ||
      !known_flags(operation.flags) || !source_read(operation.srcAccessOrder, copy.read)) {
    return cudaErrorInvalidValue;
  }
  for (const cudaMemcpy3DOperand* operand : {&operation.dst, &operation.src}) {
    if (operand->type == cudaMemcpyOperandTypeArray) return refuse_arrays(function);
    const auto& pointer = operand->op.ptr;
    if (operand->type != cudaMemcpyOperandTypePointer ||
        (pointer.rowLength != 0 && pointer.rowLength < extent.width) ||
        (pointer.layerHeight != 0 && pointer.layerHeight < extent.height)) {
      return cudaErrorInvalidValue;
    }
  }
  return copy_of(function, {nullptr, {}, pitched(operation.dst, extent)},
                 {nullptr, {}, pitched(operation.src, extent)}, extent, copy);
}

cudaError_t copy_boxes(NullStream null, std::size_t count, const cudaMemcpy3DBatchOp* operations,
                       unsigned long long flags, cudaStream_t handle) {
  constexpr const char* function = "cudaMemcpy3DBatchAsync";
  return stream_api(
      function, handle, null, [&](Call& call, const StreamPtr& stream) -> cudaError_t {
        if (is_legacy(handle, null) || count == 0 || operations == nullptr || flags != 0) {
          return cudaErrorInvalidValue;
        }
        std::vector<Copy> copies(count);
        for (std::size_t i = 0; i < count; ++i) {
          const cudaError_t error = copy_of_operation(function, operations[i], copies[i]);
          if (error != cudaSuccess) return error;
        }
        return enqueue(call, stream, copies);
      });
}

#endif

}  // namespace

#if CUDART_VERSION >= 13000

extern "C" {

cudaError_t cudaMemcpyBatchAsync(void* const* to, const void* const* from, const std::size_t* sizes,
                                 std::size_t count, cudaMemcpyAttributes* attributes,
                                 std::size_t* firsts, std::size_t groups, cudaStream_t stream) {
  return copy_rows(NullStream::legacy, to, from, sizes, count, attributes, firsts, groups, stream);
}

cudaError_t cudaMemcpyBatchAsync_ptsz(void* const* to, const void* const* from,
                                      const std::size_t* sizes, std::size_t count,
                                      cudaMemcpyAttributes* attributes, std::size_t* firsts,
                                      std::size_t groups, cudaStream_t stream) {
  return copy_rows(NullStream::per_thread, to, from, sizes, count, attributes, firsts, groups,
                   stream);
}

cudaError_t cudaMemcpy3DBatchAsync(std::size_t count, cudaMemcpy3DBatchOp* operations,
                                   unsigned long long flags, cudaStream_t stream) {
  return copy_boxes(NullStream::legacy, count, operations, flags, stream);
}

cudaError_t cudaMemcpy3DBatchAsync_ptsz(std::size_t count, cudaMemcpy3DBatchOp* operations,
                                        unsigned long long flags, cudaStream_t stream) {
  return copy_boxes(NullStream::per_thread, count, operations, flags, stream);
}

}  // extern "C"

#else

// Their headers differ in what is const, so these are no redeclarations. As CUDA says, the index of
// the copy that failed is SIZE_MAX where none in particular did.
cudaError_t copy_batch_12(void** to, void** from, std::size_t* sizes, std::size_t count,
                          cudaMemcpyAttributes* attributes, std::size_t* firsts, std::size_t groups,
                          std::size_t* failed, cudaStream_t stream) asm("cudaMemcpyBatchAsync");
cudaError_t copy_batch_12_ptsz(void** to, void** from, std::size_t* sizes, std::size_t count,
                               cudaMemcpyAttributes* attributes, std::size_t* firsts,
                               std::size_t groups, std::size_t* failed,
                               cudaStream_t stream) asm("cudaMemcpyBatchAsync_ptsz");

cudaError_t copy_batch_12(void** to, void** from, std::size_t* sizes, std::size_t count,
                          cudaMemcpyAttributes* attributes, std::size_t* firsts, std::size_t groups,
                          std::size_t* failed, cudaStream_t stream) {
  if (failed != nullptr) *failed = SIZE_MAX;
  return copy_rows(NullStream::legacy, to, from, sizes, count, attributes, firsts, groups, stream);
}

cudaError_t copy_batch_12_ptsz(void** to, void** from, std::size_t* sizes, std::size_t count,
                               cudaMemcpyAttributes* attributes, std::size_t* firsts,
                               std::size_t groups, std::size_t* failed, cudaStream_t stream) {
  if (failed != nullptr) *failed = SIZE_MAX;
  return copy_rows(NullStream::per_thread, to, from, sizes, count, attributes, firsts, groups,
                   stream);
}

#endif
#endif
