// SPDX-License-Identifier: BSL-1.0
//
// What launch refuses.
#include <culvert/device_buffer.hpp>
#include <culvert/launch.hpp>
#include <culvert/pinned_buffer.hpp>

#include <array>
#include <span>
#include <vector>

using namespace culvert;

struct Pair {
  int first;
  int second;
};

void write(float* x);
void read(const float* x);
void read_bytes(const void* x);
void take_float(float value);
void take_double(double value);
void take_unsigned(unsigned value);
void take_size(std::size_t value);
void take_bool(bool value);
void take_pair(Pair value);
void take_span(DeviceSpan<float> span);

void launches(Stream& stream, DeviceBuffer<float>& buffer, DeviceBuffer<int>& integers,
              PinnedBuffer<float>& pinned, std::vector<float>& vector, float* pointer, int number,
              double real, unsigned size) {
  const DeviceBuffer<float>& constant = buffer;
  const DeviceSpan<const float> constant_span = buffer;
  std::array<float, 4> array{};
  launch(stream, {}, write, buffer);
  launch(stream, {}, write, pinned);
  launch(stream, {}, write, pointer);
  launch(stream, {}, read, constant_span);
  launch(stream, {}, read_bytes, integers);
  launch(stream, {}, take_double, 1.0f);
  launch(stream, {}, take_size, size);
  launch(stream, {}, take_pair, Pair{1, 2});
  launch(stream, {}, take_span, buffer);
  launch(stream, {.grid = number, .block = {16, size}}, write, array.empty() ? nullptr : pointer);

#ifdef CASE_TOO_FEW_ARGUMENTS  // error: launch: the kernel takes another number of arguments
  launch(stream, {}, write);
#endif
#ifdef CASE_TOO_MANY_ARGUMENTS  // error: launch: the kernel takes another number of arguments
  launch(stream, {}, write, buffer, 4);
#endif

#ifdef CASE_INT_INTO_FLOAT  // error: launch: an argument does not convert .* without narrowing
  launch(stream, {}, take_float, 1);
#endif
#ifdef CASE_DOUBLE_INTO_FLOAT  // error: launch: an argument does not convert .* without narrowing
  launch(stream, {}, take_float, real);
#endif
#ifdef CASE_INT_INTO_UNSIGNED  // error: launch: an argument does not convert .* without narrowing
  launch(stream, {}, take_unsigned, number);
#endif
#ifdef CASE_INT_INTO_SIZE  // error: launch: an argument does not convert .* without narrowing
  launch(stream, {}, take_size, number);
#endif
#ifdef CASE_INT_INTO_BOOL  // error: launch: an argument does not convert .* without narrowing
  launch(stream, {}, take_bool, number);
#endif
#ifdef CASE_BUFFER_INTO_FLOAT  // error: launch: an argument does not convert .* without narrowing
  launch(stream, {}, take_float, buffer);
#endif

#ifdef CASE_CONST_BUFFER_FOR_WRITING  // error: launch: a buffer's element type .* const and the para
  launch(stream, {}, write, constant);
#endif
#ifdef CASE_CONST_SPAN_FOR_WRITING  // error: launch: a buffer's element type .* const and the para
  launch(stream, {}, write, constant_span);
#endif
#ifdef CASE_CONST_PINNED_FOR_WRITING  // error: launch: a buffer's element type .* const and the para
  launch(stream, {}, write, static_cast<const PinnedBuffer<float>&>(pinned));
#endif
#ifdef CASE_OTHER_ELEMENT_TYPE  // error: launch: a buffer's element type is not that of the kernel
  launch(stream, {}, write, integers);
#endif
#ifdef CASE_OTHER_ELEMENT_TYPE_OF_SPAN  // error: launch: a buffer's element .* span parameter
  launch(stream, {}, take_span, integers);
#endif
#ifdef CASE_CONST_BUFFER_FOR_SPAN  // error: launch: a buffer's element .* span parameter
  launch(stream, {}, take_span, constant);
#endif

#ifdef CASE_VECTOR  // error: launch: an argument is ordinary host memory.*copy it to a DeviceBuffer
  launch(stream, {}, write, vector);
#endif
#ifdef CASE_ARRAY  // error: launch: an argument is ordinary host memory.*copy it to a DeviceBuffer
  launch(stream, {}, write, array);
#endif
#ifdef CASE_HOST_SPAN  // error: launch: an argument is ordinary host memory
  launch(stream, {}, write, std::span<float>(vector));
#endif
#ifdef CASE_TEMPORARY_BUFFER  // error: launch: a buffer argument is a temporary
  launch(stream, {}, write, DeviceBuffer<float>(4));
#endif
#ifdef CASE_TEMPORARY_PINNED_BUFFER  // error: launch: a buffer argument is a temporary
  launch(stream, {}, write, PinnedBuffer<float>(4));
#endif
#ifdef CASE_TEMPORARY_BUFFER_FOR_SPAN  // error: launch: a buffer argument is a temporary
  launch(stream, {}, take_span, DeviceBuffer<float>(4));
#endif

#ifdef CASE_CLASS  // error: launch: an argument does not convert to the kernel's parameter
  launch(stream, {}, take_pair, number);
#endif
#ifdef CASE_POINTER_TO_CONST  // error: launch: an argument does not convert to the kernel's parameter
  launch(stream, {}, write, static_cast<const float*>(pointer));
#endif
#ifdef CASE_ZERO_FOR_POINTER  // error: launch: an argument does not convert to the kernel's parameter
  launch(stream, {}, write, 0);
#endif

#ifdef CASE_REFERENCE_PARAMETER  // error: launch: a kernel's parameters must be values
  void (*const by_reference)(const int&) = nullptr;
  launch(stream, {}, by_reference, 5);
#endif
#ifdef CASE_EXPLICIT_CONVERSION  // error: launch: an argument does not convert .* without narrowing
  struct Explicit {
    explicit operator float() const { return 1; }
  };
  void (*const takes_float)(float) = nullptr;
  launch(stream, {}, takes_float, Explicit{});
#endif
#ifdef CASE_FLOATING_POINT_DIMENSION  // error: [Dd]imensions
  const double blocks = 2.9;
  const Dimensions dimensions{blocks};
#endif
#ifdef CASE_BOOL_DIMENSION  // error: a dimension is a number, not a bool
  launch(stream, {.grid = true}, write, buffer);
#endif
#ifdef CASE_STREAM_ZERO  // error: say which default stream: StreamRef::legacy
  launch(0, {}, write, buffer);
#endif
#ifdef CASE_STREAM_NULLPTR  // error: say which default stream: StreamRef::legacy
  launch(nullptr, {}, write, buffer);
#endif
#ifdef CASE_TEMPORARY_STREAM  // error: the Stream ends with the expression: give it a name
  launch(Stream(), {}, write, buffer);
#endif
  static_cast<void>(vector), static_cast<void>(real), static_cast<void>(constant);
}
