// SPDX-License-Identifier: BSL-1.0
//
// What the groups of facts share. A fact is a line "group/name = answer": what raw calls of the
// CUDA runtime answered. Nothing here expects anything.
#pragma once

#include <cuda_runtime_api.h>

#include <bit>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>

namespace facts {

struct Group {
  const char* name;
  void (*run)();
};

// All groups, in the order of their output.
extern const Group groups[];
extern const std::size_t group_count;

// "cudaErrorInvalidValue (1)".
std::string name_of(cudaError_t error);

// Each prints one line and clears the last error.
void text(std::string_view name, std::string_view answer);
void error(std::string_view name, cudaError_t answer);
void number(std::string_view name, long long answer);
void yes_no(std::string_view name, bool answer);

// For what the facts of a section need and do not tell: a failure is printed and ends the section.
void need(cudaError_t error, int line = __builtin_LINE(), const char* file = __builtin_FILE());

// Runs some facts that belong together. Afterwards the device is idle; if it is not healthy, that
// is printed, and the group ends.
void section(const char* name, void (*body)());

// What `pointer` is: "null", or "same" as the other, or "other".
const char* pointer_kind(const void* pointer, const void* other);

// A value of an enumeration that may not be one of its own.
template <class Enumeration>
Enumeration number_as(int value) {
  return std::bit_cast<Enumeration>(value);
}

// Owners, which ignore errors at their end.

class Stream {
 public:
  explicit Stream(unsigned flags = cudaStreamNonBlocking) {
    need(cudaStreamCreateWithFlags(&stream_, flags));
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { (void)cudaStreamDestroy(stream_); }
  operator cudaStream_t() const { return stream_; }
  void synchronize() const { need(cudaStreamSynchronize(stream_)); }

 private:
  cudaStream_t stream_ = nullptr;
};

class Event {
 public:
  explicit Event(unsigned flags = cudaEventDefault) {
    need(cudaEventCreateWithFlags(&event_, flags));
  }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { (void)cudaEventDestroy(event_); }
  operator cudaEvent_t() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

// Memory of each kind.
enum class Kind { device, pinned, pageable };

class Memory {
 public:
  Memory(Kind kind, std::size_t size);
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory();
  operator void*() const { return bytes_; }
  [[nodiscard]] unsigned char* bytes() const { return static_cast<unsigned char*>(bytes_); }

 private:
  Kind kind_;
  void* bytes_ = nullptr;
};

class DeviceMemory : public Memory {
 public:
  explicit DeviceMemory(std::size_t size) : Memory(Kind::device, size) {}
};
class PinnedMemory : public Memory {
 public:
  explicit PinnedMemory(std::size_t size) : Memory(Kind::pinned, size) {}
};
class PageableMemory : public Memory {
 public:
  explicit PageableMemory(std::size_t size) : Memory(Kind::pageable, size) {}
};

// Holds a stream back by a host function that waits for open(). After limit_ms it goes on without,
// so nothing can stay held.
class Gate {
 public:
  // Returns when the host function has begun.
  explicit Gate(cudaStream_t stream, int limit_ms = 2000);
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  // Opens it and waits until the host function has ended.
  ~Gate();
  // Whether it was still closed.
  bool open();

  struct State;

 private:
  State* state_;
};

// Whether the stream becomes idle within a time that is long for what facts enqueue.
bool finishes(cudaStream_t stream);
bool finishes(cudaEvent_t event);

// Runs `function` in a thread of its own and waits for it.
void in_thread(void (*function)(void*), void* data);
template <class Function>
void in_thread(Function&& function) {
  in_thread([](void* data) { (*static_cast<std::remove_reference_t<Function>*>(data))(); },
            &function);
}

}  // namespace facts
