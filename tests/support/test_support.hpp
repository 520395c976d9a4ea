// SPDX-License-Identifier: BSL-1.0
//
// What the tests share. No type of culvert is named here: a test may be compiled with
// CUDA_API_PER_THREAD_DEFAULT_STREAM, which gives those types other names.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <vector>

namespace support {

// Whether this executable is linked with the simulated runtime.
[[nodiscard]] bool is_simulated();

// Starts the simulated runtime anew, with this many devices; nothing on the real one.
void reset_runtime(int devices = 1);

// How many runtime calls were made so far; always 0 on the real runtime, which does not count.
[[nodiscard]] std::uint64_t runtime_calls();

// Expects that nothing is left but at most so many events, those that culvert keeps to join
// streams. Expects nothing on the real runtime.
void expect_no_leaks(std::size_t kept_events);

// Keeps the stream busy for more than 50 ms on a GPU. The simulated runtime runs everything
// late, so there it is one operation.
void delay(cudaStream_t stream);

// Waits for the device where a scope ends, early or not: for host functions that use its variables,
// which are declared before.
class Completion {
 public:
  Completion() = default;
  Completion(const Completion&) = delete;
  Completion& operator=(const Completion&) = delete;
  // Redundant: for scopes that an exception ends; the others have waited.
  ~Completion() { cudaDeviceSynchronize(); }
};

// The base of tests that use CUDA: a fresh runtime before each, and after it no leak and no
// error left behind.
class RuntimeTest : public testing::Test {
 protected:
  explicit RuntimeTest(int devices = 1);
  ~RuntimeTest() override;

  std::size_t kept_events = 1;  // how many events may be kept at the end
};

// Runs `work(i)` in that many threads, each with another i, and waits for all. Then it throws what
// the first of those that threw threw.
void in_threads(int count, const std::function<void(int)>& work);

// Fresh random bytes: another sequence in each run. The seed is printed.
[[nodiscard]] std::vector<std::byte> random_bytes(std::size_t count);

// A random value of a type for which any bytes are a value.
template <class T>
[[nodiscard]] T random_value() {
  T value;
  std::memcpy(&value, random_bytes(sizeof(T)).data(), sizeof(T));
  return value;
}

// A byte to poison destinations with.
inline constexpr std::byte poison{0x5a};

[[nodiscard]] inline std::vector<std::byte> poisoned(std::size_t count) {
  return std::vector<std::byte>(count, poison);
}

// The bytes at a device address, read with the plain runtime. Work must be complete.
[[nodiscard]] std::vector<std::byte> read_device(const void* device, std::size_t size);
// Writes bytes to a device address with the plain runtime, and returns when they are there.
void write_device(void* device, std::span<const std::byte> bytes);

// Success if both are the same; otherwise tells where they first differ.
[[nodiscard]] testing::AssertionResult same_bytes(std::span<const std::byte> actual,
                                                  std::span<const std::byte> expected);

}  // namespace support
