// SPDX-License-Identifier: BSL-1.0
//
// Declarations of culvert's types, for headers that only name them.
#pragma once

#include <culvert/version.hpp>

namespace culvert::inline CULVERT_ABI {

class Error;
class OutOfMemory;
class Environment;
class Device;
class DeviceGuard;
class Event;
class EventRef;
class TimedEvent;
class Stream;
class StreamRef;
class MemoryPool;
class MemoryPoolRef;
template <class T>
class DeviceSpan;
template <class T>
class DeviceBuffer;
template <class T>
class PinnedBuffer;
template <class T>
class RegisteredBuffer;
template <class T>
class ManagedBuffer;
template <class T>
class PitchedBuffer;
template <class F>
class HostFunc;
template <class R>
class HostFuture;

}  // namespace culvert::inline CULVERT_ABI
