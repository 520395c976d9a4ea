// SPDX-License-Identifier: BSL-1.0
//
// What a batch of copies refuses: as copy does.
#include <culvert/batch_copy.hpp>
#include <culvert/device_buffer.hpp>
#include <culvert/pinned_buffer.hpp>

#include <span>
#include <vector>

using namespace culvert;

void batches(Stream& stream, DeviceBuffer<int>& device, PinnedBuffer<int>& pinned,
             const std::vector<int>& vector) {
  DeviceBuffer<float> floats;
  CopyBatch batch;
  batch.add(device, vector);
  batch.add(pinned, device);
  batch.add(device.first(1), std::span(vector).first(1));
  batch.enqueue(stream);

#ifdef CASE_FROM_TEMPORARY_VECTOR  // error: copy: a side is a temporary .*give it a name
  batch.add(device, std::vector<int>(4));
#endif
#ifdef CASE_INTO_CONST_VECTOR  // error: copy: the destination is const; it comes first
  batch.add(vector, device);
#endif
#ifdef CASE_OTHER_TYPE  // error: copy: the elements of source and destination differ in type
  batch.add(floats, vector);
#endif
#ifdef CASE_POINTER  // error: copy: a pointer does not tell its size
  batch.add(device, vector.data());
#endif
#ifdef CASE_NO_STREAM  // error: deleted
  batch.enqueue(nullptr);
#endif
}
