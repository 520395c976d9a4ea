// SPDX-License-Identifier: BSL-1.0
//
// Owners move and do not copy; buffers hold trivially copyable elements.
#include <culvert/device_buffer.hpp>
#include <culvert/pinned_buffer.hpp>

#include <utility>

namespace {

using namespace culvert;

struct NotTrivial {
  NotTrivial(const NotTrivial&);
};

template <class Owner>
void move(Owner& owner, Owner& other) {
  Owner moved = std::move(owner);
  other = std::move(moved);
}

}  // namespace

void owners(Stream& stream, Event& event, TimedEvent& timed, DeviceBuffer<int>& buffer,
            PinnedBuffer<int>& pinned, MemoryPool& pool) {
  move(stream, stream);
  move(event, event);
  move(timed, timed);
  move(buffer, buffer);
  move(pinned, pinned);
  move(pool, pool);

#ifdef CASE_CONSTRUCT_STREAM  // error: std::move it, or pass a StreamRef
  Stream copied = stream;
#endif
#ifdef CASE_ASSIGN_STREAM  // error: std::move it, or pass a StreamRef
  stream = static_cast<const Stream&>(stream);
#endif
#ifdef CASE_CONSTRUCT_EVENT  // error: std::move it, or pass an EventRef
  Event copied = event;
#endif
#ifdef CASE_ASSIGN_EVENT  // error: std::move it, or pass an EventRef
  event = static_cast<const Event&>(event);
#endif
#ifdef CASE_CONSTRUCT_TIMED_EVENT  // error: std::move it, or pass an EventRef
  TimedEvent copied = timed;
#endif
#ifdef CASE_ASSIGN_TIMED_EVENT  // error: std::move it, or pass an EventRef
  timed = static_cast<const TimedEvent&>(timed);
#endif
#ifdef CASE_CONSTRUCT_DEVICE_BUFFER  // error: std::move it, or pass a DeviceSpan
  DeviceBuffer<int> copied = buffer;
#endif
#ifdef CASE_ASSIGN_DEVICE_BUFFER  // error: std::move it, or pass a DeviceSpan
  buffer = static_cast<const DeviceBuffer<int>&>(buffer);
#endif
#ifdef CASE_CONSTRUCT_PINNED_BUFFER  // error: std::move it, or pass a std::span
  PinnedBuffer<int> copied = pinned;
#endif
#ifdef CASE_ASSIGN_PINNED_BUFFER  // error: std::move it, or pass a std::span
  pinned = static_cast<const PinnedBuffer<int>&>(pinned);
#endif
#ifdef CASE_CONSTRUCT_MEMORY_POOL  // error: std::move it, or pass a MemoryPoolRef
  MemoryPool copied = pool;
#endif
#ifdef CASE_ASSIGN_MEMORY_POOL  // error: std::move it, or pass a MemoryPoolRef
  pool = static_cast<const MemoryPool&>(pool);
#endif

#ifdef CASE_NOT_TRIVIAL_DEVICE_BUFFER  // error: T of a DeviceBuffer must be trivially copyable
  DeviceBuffer<NotTrivial> of_objects;
#endif
#ifdef CASE_NOT_TRIVIAL_PINNED_BUFFER  // error: T of a PinnedBuffer must be trivially copyable
  PinnedBuffer<NotTrivial> of_objects;
#endif
#ifdef CASE_NOT_TRIVIAL_DEVICE_SPAN  // error: culvert moves bytes: T must be trivially copyable
  DeviceSpan<NotTrivial> of_objects;
#endif
#ifdef CASE_CONST_DEVICE_BUFFER  // error: a DeviceBuffer of const elements could never be written
  DeviceBuffer<const int> constant;
#endif
#ifdef CASE_CONST_PINNED_BUFFER  // error: a PinnedBuffer of const elements could never be written
  PinnedBuffer<const int> constant;
#endif
}
