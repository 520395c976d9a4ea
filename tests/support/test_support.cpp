// SPDX-License-Identifier: BSL-1.0
#include "support/test_support.hpp"

#include <culvert/environment.hpp>

#include <algorithm>
#include <cstdlib>
#include <future>
#include <iostream>
#include <random>
#include <stdexcept>
#include <string_view>

namespace support {

namespace {

void check(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

}  // namespace

RuntimeTest::RuntimeTest(int devices) { reset_runtime(devices); }

RuntimeTest::~RuntimeTest() {
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
  expect_no_leaks(kept_events);
}

void in_threads(int count, const std::function<void(int)>& work) {
  std::vector<std::future<void>> threads;
  for (int i = 0; i < count; ++i) threads.push_back(std::async(std::launch::async, work, i));
  for (std::future<void>& thread : threads) thread.wait();
  for (std::future<void>& thread : threads) thread.get();
}

std::vector<std::byte> random_bytes(std::size_t count) {
  // xorshift64*: fast enough for 64 MiB without optimization.
  static std::uint64_t state = [] {
    const std::uint64_t seed = (std::uint64_t{std::random_device{}()} << 1) | 1;
    std::cout << "random seed " << seed << '\n';
    return seed;
  }();
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; i += sizeof(std::uint64_t)) {
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    const std::uint64_t word = state * 0x2545f4914f6cdd1d;
    std::memcpy(bytes.data() + i, &word, std::min(sizeof(word), count - i));
  }
  return bytes;
}

std::vector<std::byte> read_device(const void* device, std::size_t size) {
  std::vector<std::byte> bytes(size);
  if (size != 0) check(cudaMemcpy(bytes.data(), device, size, cudaMemcpyDeviceToHost));
  return bytes;
}

void write_device(void* device, std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  check(cudaMemcpy(device, bytes.data(), bytes.size(), cudaMemcpyHostToDevice));
  // Redundant: many tests write where nothing reads before a later wait.
  check(cudaDeviceSynchronize());
}

testing::AssertionResult same_bytes(std::span<const std::byte> actual,
                                    std::span<const std::byte> expected) {
  if (actual.size() != expected.size()) {
    return testing::AssertionFailure() << actual.size() << " bytes instead of " << expected.size();
  }
  if (actual.empty() || std::memcmp(actual.data(), expected.data(), actual.size()) == 0) {
    return testing::AssertionSuccess();
  }
  const auto at = std::mismatch(actual.begin(), actual.end(), expected.begin());
  return testing::AssertionFailure()
         << "byte " << at.first - actual.begin() << " of " << actual.size() << " is "
         << std::to_integer<int>(*at.first) << " instead of " << std::to_integer<int>(*at.second);
}

}  // namespace support

// Where CUDA cannot be used the whole executable is skipped: exit code 77, never a pass. With
// CULVERT_REQUIRE_GPU=1 that is a failure.
int main(int argc, char** argv) {
  bool listing = false;
  for (int i = 1; i < argc; ++i) {
    listing = listing || std::string_view(argv[i]) == "--gtest_list_tests";
  }
  testing::InitGoogleTest(&argc, argv);
  const culvert::Environment environment = culvert::Environment::probe();
  if (!environment.usable() && !listing) {
    const char* const required = std::getenv("CULVERT_REQUIRE_GPU");
    const bool fail = required != nullptr && std::string_view(required) == "1";
    std::cout << (fail ? "FAILED: a GPU is required. " : "SKIPPED: ") << environment.reason()
              << '\n';
    return fail ? 1 : 77;
  }
  return RUN_ALL_TESTS();
}
