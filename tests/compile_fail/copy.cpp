// SPDX-License-Identifier: BSL-1.0
//
// What copy refuses.
#include <culvert/copy.hpp>
#include <culvert/device_buffer.hpp>
#include <culvert/pinned_buffer.hpp>

#include <array>
#include <span>
#include <vector>

using namespace culvert;

void copies(Stream& stream, DeviceBuffer<int>& device, PinnedBuffer<int>& pinned,
            std::vector<int>& vector, std::array<int, 4>& array) {
  const std::vector<int>& constant = vector;
  const DeviceBuffer<int>& constant_device = device;
  DeviceBuffer<float> floats;
  copy(device, constant, stream);
  copy(array, device, stream);
  copy(pinned, constant_device, stream);
  copy(std::span(vector), device, stream);  // temporary views are no owners
  copy(device.subspan(0, 1), DeviceSpan<const int>(device), stream);
  copy_and_wait(vector, device, stream);

#ifdef CASE_FROM_TEMPORARY_VECTOR  // error: copy: a side is a temporary .*give it a name
  copy(device, std::vector<int>(4), stream);
#endif
#ifdef CASE_FROM_MOVED_VECTOR  // error: copy: a side is a temporary .*give it a name
  copy(device, std::move(vector), stream);
#endif
#ifdef CASE_FROM_TEMPORARY_ARRAY  // error: copy: a side is a temporary .*give it a name
  copy(device, std::array<int, 4>{}, stream);
#endif
#ifdef CASE_FROM_TEMPORARY_PINNED_BUFFER  // error: copy: a side is a temporary .*give it a name
  copy(device, PinnedBuffer<int>(4), stream);
#endif
#ifdef CASE_FROM_TEMPORARY_DEVICE_BUFFER  // error: copy: a side is a temporary .*give it a name
  copy(pinned, DeviceBuffer<int>(4), stream);
#endif
#ifdef CASE_INTO_TEMPORARY_VECTOR  // error: copy: a side is a temporary .*give it a name
  copy(std::vector<int>(4), device, stream);
#endif
#ifdef CASE_INTO_TEMPORARY_PINNED_BUFFER  // error: copy: a side is a temporary .*give it a name
  copy(PinnedBuffer<int>(4), device, stream);
#endif
#ifdef CASE_INTO_TEMPORARY_DEVICE_BUFFER  // error: copy: a side is a temporary .*give it a name
  copy(DeviceBuffer<int>(4), pinned, stream);
#endif
#ifdef CASE_AND_WAIT_FROM_TEMPORARY  // error: copy: a side is a temporary .*give it a name
  copy_and_wait(device, std::vector<int>(4), stream);
#endif

#ifdef CASE_INTO_CONST_VECTOR  // error: copy: the destination is const; it comes first
  copy(constant, device, stream);
#endif
#ifdef CASE_INTO_CONST_SPAN  // error: copy: the destination is const; it comes first
  copy(std::span<const int>(vector), device, stream);
#endif
#ifdef CASE_INTO_CONST_DEVICE_BUFFER  // error: copy: the destination is const; it comes first
  copy(constant_device, pinned, stream);
#endif
#ifdef CASE_INTO_CONST_DEVICE_SPAN  // error: copy: the destination is const; it comes first
  copy(DeviceSpan<const int>(device), pinned, stream);
#endif

#ifdef CASE_OTHER_TYPE  // error: copy: the elements of source and destination differ in type
  copy(floats, vector, stream);
#endif
#ifdef CASE_OTHER_TYPE_TO_HOST  // error: copy: the elements of source and destination differ in type
  copy(vector, floats, stream);
#endif
#ifdef CASE_NO_RANGE  // error: copy: a side is neither device memory .* nor a contiguous host range
  copy(device, 4, stream);
#endif
}
