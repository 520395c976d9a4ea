// SPDX-License-Identifier: BSL-1.0
#include "facts.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <thread>

#include "run.hpp"

namespace facts {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

const char* current_group = "";
const char* current_section = "";
struct SetupFailed {};

void print(std::string_view name, std::string_view answer) {
  std::printf("%s/%.*s = %.*s\n", current_group, static_cast<int>(name.size()), name.data(),
              static_cast<int>(answer.size()), answer.data());
  std::fflush(stdout);
}

template <class Done>
bool within(int ms, Done done) {
  const auto end = steady_clock::now() + milliseconds(ms);
  while (!done()) {
    if (steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(milliseconds(1));
  }
  return true;
}

}  // namespace

void run_group(const Group& group) {
  current_group = group.name;
  group.run();
}

std::string name_of(cudaError_t error) {
  return std::string(cudaGetErrorName(error)) + " (" + std::to_string(static_cast<int>(error)) +
         ")";
}

void text(std::string_view name, std::string_view answer) {
  print(name, answer);
  (void)cudaGetLastError();
}

void error(std::string_view name, cudaError_t answer) { text(name, name_of(answer)); }

void number(std::string_view name, long long answer) { text(name, std::to_string(answer)); }

void yes_no(std::string_view name, bool answer) { text(name, answer ? "yes" : "no"); }

void need(cudaError_t error, int line, const char* file) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s:%d: %s\n", file, line, name_of(error).c_str());
  print(std::string("setup of ") + current_section, name_of(error));
  throw SetupFailed{};
}

void section(const char* name, void (*body)()) {
  current_section = name;
  try {
    body();
  } catch (const SetupFailed&) {
  }
  (void)cudaGetLastError();
  const cudaError_t health = cudaDeviceSynchronize();
  (void)cudaGetLastError();
  if (health == cudaSuccess) return;
  print(std::string("device after ") + name, name_of(health));
  std::fflush(stdout);
  std::_Exit(3);
}

const char* pointer_kind(const void* pointer, const void* other) {
  return pointer == nullptr ? "null" : pointer == other ? "same" : "other";
}

Memory::Memory(Kind kind, std::size_t size) : kind_(kind) {
  switch (kind) {
    case Kind::device:
      need(cudaMalloc(&bytes_, size));
      need(cudaMemset(bytes_, 0, size));
      need(cudaDeviceSynchronize());
      break;
    case Kind::pinned:
      need(cudaMallocHost(&bytes_, size));
      std::memset(bytes_, 0, size);
      break;
    case Kind::pageable:
      bytes_ = std::calloc(size, 1);
      if (bytes_ == nullptr) throw std::bad_alloc();
      break;
  }
}

Memory::~Memory() {
  switch (kind_) {
    case Kind::device:
      (void)cudaFree(bytes_);
      break;
    case Kind::pinned:
      (void)cudaFreeHost(bytes_);
      break;
    case Kind::pageable:
      std::free(bytes_);
      break;
  }
}

struct Gate::State {
  std::mutex mutex;
  std::condition_variable changed;
  int limit_ms = 0;
  bool begun = false;
  bool opened = false;   // by open()
  bool expired = false;  // by the limit
  bool ended = false;
  int owners = 2;  // the Gate and the host function

  // By the one that has the lock.
  void leave(std::unique_lock<std::mutex>& lock) {
    const bool last = --owners == 0;
    lock.unlock();
    if (last) delete this;
  }
};

namespace {

void hold(void* data) {
  auto* const state = static_cast<Gate::State*>(data);
  std::unique_lock lock(state->mutex);
  state->begun = true;
  state->changed.notify_all();
  state->expired = !state->changed.wait_for(lock, milliseconds(state->limit_ms),
                                            [state] { return state->opened; });
  state->ended = true;
  state->changed.notify_all();
  state->leave(lock);
}

}  // namespace

Gate::Gate(cudaStream_t stream, int limit_ms) : state_(new State) {
  state_->limit_ms = limit_ms;
  const cudaError_t error = cudaLaunchHostFunc(stream, hold, state_);
  if (error != cudaSuccess) {
    delete state_;
    need(error);
  }
  std::unique_lock lock(state_->mutex);
  const bool begun =
      state_->changed.wait_for(lock, milliseconds(5000), [this] { return state_->begun; });
  if (!begun) {
    state_->opened = true;
    state_->leave(lock);
    print("a gate", "did not begin");
    throw SetupFailed{};
  }
}

Gate::~Gate() {
  (void)open();
  std::unique_lock lock(state_->mutex);
  state_->changed.wait_for(lock, milliseconds(5000), [this] { return state_->ended; });
  state_->leave(lock);
}

bool Gate::open() {
  const std::lock_guard lock(state_->mutex);
  state_->opened = true;
  state_->changed.notify_all();
  return !state_->expired;
}

bool finishes(cudaStream_t stream) {
  return within(100, [stream] { return cudaStreamQuery(stream) == cudaSuccess; });
}

bool finishes(cudaEvent_t event) {
  return within(100, [event] { return cudaEventQuery(event) == cudaSuccess; });
}

void in_thread(void (*function)(void*), void* data) {
  bool failed = false;
  std::thread([&] {
    try {
      function(data);
    } catch (const SetupFailed&) {
      failed = true;
    }
  }).join();
  if (failed) throw SetupFailed{};
}

}  // namespace facts
