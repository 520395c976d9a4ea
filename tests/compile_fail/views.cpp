// SPDX-License-Identifier: BSL-1.0
//
// Views are made from what outlives them, and host code does not dereference device memory.
#include <culvert/copy.hpp>
#include <culvert/device_buffer.hpp>
#include <culvert/fill.hpp>

using namespace culvert;

namespace {

void take_stream(StreamRef) {}
void take_event(EventRef) {}
void take_pool(MemoryPoolRef) {}
void take_span(DeviceSpan<const int>) {}
DeviceBuffer<int> make_buffer() { return {}; }
struct Pair {
  int first;
};

}  // namespace

void views(Stream& stream, cudaStream_t raw, DeviceBuffer<int>& buffer, MemoryPool& pool) {
  take_stream(stream);
  take_stream(raw);
  take_stream(StreamRef::legacy());
  const Event event = stream.record();
  take_event(event);
  take_pool(pool);
  take_span(buffer);
  stream.wait(stream.record());  // complete before the temporary ends

#ifdef CASE_STREAM_REF_FROM_ZERO  // error: say which default stream: StreamRef::legacy
  StreamRef view = 0;
#endif
#ifdef CASE_STREAM_REF_OF_ZERO  // error: say which default stream: StreamRef::legacy
  StreamRef view(0);
#endif
#ifdef CASE_STREAM_REF_FROM_NULLPTR  // error: say which default stream: StreamRef::legacy
  StreamRef view = nullptr;
#endif
#ifdef CASE_STREAM_REF_FROM_TEMPORARY  // error: the Stream ends with the expression: give it a name
  StreamRef view = Stream();
#endif
#ifdef CASE_STREAM_ARGUMENT_ZERO  // error: say which default stream: StreamRef::legacy
  take_stream(0);
#endif
#ifdef CASE_STREAM_ARGUMENT_NULLPTR  // error: say which default stream: StreamRef::legacy
  take_stream(nullptr);
#endif
#ifdef CASE_STREAM_ARGUMENT_TEMPORARY  // error: the Stream ends with the expression: give it a name
  take_stream(Stream());
#endif
#ifdef CASE_FILL_ON_TEMPORARY_STREAM  // error: the Stream ends with the expression: give it a name
  fill(buffer, 1, Stream());
#endif
#ifdef CASE_COPY_ON_TEMPORARY_STREAM  // error: the Stream ends with the expression: give it a name
  copy(buffer, buffer, Stream());
#endif
#ifdef CASE_COPY_ON_ZERO  // error: say which default stream: StreamRef::legacy
  copy(buffer, buffer, 0);
#endif
#ifdef CASE_BUFFER_ON_NULLPTR  // error: say which default stream: StreamRef::legacy
  DeviceBuffer<int> on_default(1, nullptr);
#endif

#ifdef CASE_EVENT_REF_FROM_TEMPORARY  // error: the event ends with the expression: give it a name
  EventRef view = stream.record();
#endif
#ifdef CASE_EVENT_REF_FROM_TIMED_TEMPORARY  // error: the event ends with the expression: give it a name
  EventRef view = stream.record_timed();
#endif
#ifdef CASE_EVENT_REF_FROM_NULLPTR  // error: null is no event
  take_event(nullptr);
#endif
#ifdef CASE_POOL_REF_FROM_TEMPORARY  // error: the pool ends with the expression: give it a name
  take_pool(MemoryPool());
#endif

#ifdef CASE_SPAN_FROM_TEMPORARY_BUFFER  // error: a temporary: give the buffer a name
  take_span(make_buffer());
#endif
#ifdef CASE_MUTABLE_SPAN_FROM_TEMPORARY_BUFFER  // error: a temporary: give the buffer a name
  DeviceSpan<int> view = make_buffer();
#endif

  const DeviceSpan<int> span = buffer;
#ifdef CASE_DEREFERENCE  // error: device memory: culvert::copy it to the host first
  return static_cast<void>(*span);
#endif
#ifdef CASE_INDEX  // error: device memory: culvert::copy it to the host first
  return static_cast<void>(span[0]);
#endif
#ifdef CASE_ARROW  // error: device memory: culvert::copy it to the host first
  return static_cast<void>(DeviceSpan<Pair>()->first);
#endif
#ifdef CASE_RANGE_FOR  // error: device memory: culvert::copy it to the host first
  for (int element : span) static_cast<void>(element);
#endif
  take_span(span);
}
