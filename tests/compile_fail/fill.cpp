// SPDX-License-Identifier: BSL-1.0
//
// What fill refuses.
#include <culvert/device_buffer.hpp>
#include <culvert/fill.hpp>
#include <culvert/pinned_buffer.hpp>

#include <vector>

using namespace culvert;

void fills(Stream& stream, DeviceBuffer<float>& floats, DeviceBuffer<std::byte>& bytes,
           DeviceBuffer<unsigned char>& chars, PinnedBuffer<float>& pinned,
           std::vector<float>& vector, double value, int number) {
  fill(floats, 1.0f, stream);
  fill(bytes, std::byte{0x11}, stream);
  fill(chars, static_cast<unsigned char>(number), stream);
  fill(floats.subspan(0, 1), 1.0f, stream);  // a temporary view is no owner
  fill_bytes(bytes, 0x11, stream);
  const DeviceBuffer<float>& constant = floats;

#ifdef CASE_INT_INTO_FLOAT  // error: fill: the value does not convert .* without narrowing
  fill(floats, 1, stream);
#endif
#ifdef CASE_DOUBLE_INTO_FLOAT  // error: fill: the value does not convert .* without narrowing
  fill(floats, value, stream);
#endif
#ifdef CASE_INT_INTO_BYTE  // error: fill: the value does not convert .* without narrowing
  fill(bytes, 0x11, stream);
#endif
#ifdef CASE_INT_INTO_UNSIGNED_CHAR  // error: fill: the value does not convert .* without narrowing
  number = 300;
  fill(chars, number, stream);
#endif

#ifdef CASE_PINNED_BUFFER  // error: fill: the destination is not device memory .* use std::fill
  fill(pinned, 1.0f, stream);
#endif
#ifdef CASE_VECTOR  // error: fill: the destination is not device memory .* use std::fill
  fill(vector, 1.0f, stream);
#endif
#ifdef CASE_BYTES_OF_VECTOR  // error: fill: the destination is not device memory .*std::memset
  fill_bytes(vector, 0, stream);
#endif
#ifdef CASE_CONST_BUFFER  // error: fill: the destination is const
  fill(constant, 1.0f, stream);
#endif
#ifdef CASE_CONST_SPAN  // error: fill: the destination is const
  fill(DeviceSpan<const float>(floats), 1.0f, stream);
#endif
#ifdef CASE_BYTES_OF_CONST_BUFFER  // error: fill: the destination is const
  fill_bytes(constant, 0, stream);
#endif
#ifdef CASE_TEMPORARY_BUFFER  // error: fill: the destination is a temporary
  fill(DeviceBuffer<float>(4), 1.0f, stream);
#endif
}
