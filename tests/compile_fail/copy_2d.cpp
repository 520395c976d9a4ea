// SPDX-License-Identifier: BSL-1.0
//
// What copy_2d, copy_3d and fill_2d refuse.
#include <culvert/fill_2d.hpp>
#include <culvert/pinned_buffer.hpp>
#include <culvert/pitched_buffer.hpp>

#include <vector>

using namespace culvert;

void copies(Stream& stream, PitchedBuffer<int>& device, std::vector<int>& vector) {
  const PitchedBuffer<int>& constant = device;
  PitchedBuffer<float> floats;
  copy_2d(device, as_2d(vector, 2, 2), stream);
  copy_2d(as_2d(vector, 2, 2), constant, stream);
  copy_2d(device.rect(0, 0, 1, 1), constant.rect(1, 1, 1, 1), stream);
  copy_3d(DeviceSpan3D<int>(device.span_2d(), 2), as_3d(vector, 2, 2, 1), stream);
  fill_2d(device, 1, stream);
  fill_2d(floats.rect(0, 0, 1, 1), 1.0f, stream);

#ifdef CASE_RANGE_WITHOUT_ROWS  // error: copy_2d: a side has no rows
  copy_2d(device, vector, stream);
#endif
#ifdef CASE_TEMPORARY_BUFFER  // error: copy_2d: a side is a temporary .*give it a name
  copy_2d(PitchedBuffer<int>(2, 2), as_2d(vector, 2, 2), stream);
#endif
#ifdef CASE_TEMPORARY_VECTOR  // error: as_2d: the range is a temporary: give it a name
  copy_2d(device, as_2d(std::vector<int>(4), 2, 2), stream);
#endif
#ifdef CASE_INTO_CONST  // error: copy: the destination is const; it comes first
  copy_2d(constant, as_2d(vector, 2, 2), stream);
#endif
#ifdef CASE_OTHER_TYPE  // error: copy: the elements of source and destination differ in type
  copy_2d(floats, as_2d(vector, 2, 2), stream);
#endif
#ifdef CASE_ROWS_AS_LAYERS  // error: copy_3d: a side has no layers
  copy_3d(device, as_3d(vector, 2, 2, 1), stream);
#endif
#ifdef CASE_FILL_NARROWS  // error: fill_2d: the value does not convert
  fill_2d(floats, 1, stream);
#endif
#ifdef CASE_FILL_HOST  // error: fill_2d: the destination is not device memory
  fill_2d(as_2d(vector, 2, 2), 1, stream);
#endif
#ifdef CASE_FILL_CONST  // error: fill_2d: the destination is const
  fill_2d(constant, 1, stream);
#endif
#ifdef CASE_VIEW_OF_TEMPORARY  // error: deleted
  (void)PitchedBuffer<int>(2, 2).span_2d();
#endif
#ifdef CASE_DEREFERENCE  // error: (no match for call|does not provide a call operator|no matching|constraint)
  (void)device.span_2d()(0, 0);
#endif
}
