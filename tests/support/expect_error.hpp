// SPDX-License-Identifier: BSL-1.0
//
// Expectations about what culvert throws.
#pragma once

#include <culvert/error.hpp>

#include <string>
#include <vector>

#include "support/test_support.hpp"

namespace support {

// What an error must tell.
struct Expected {
  cudaError_t status;
  std::string function;
  std::vector<std::string> texts = {};  // parts of what()
};

inline void check_error(const culvert::Error& error, const Expected& expected,
                        culvert::SourceLocation here) {
  EXPECT_EQ(error.status(), expected.status);
  EXPECT_EQ(error.function(), expected.function);
  EXPECT_EQ(error.code(), culvert::make_error_code(expected.status));
  const bool out_of_memory = dynamic_cast<const culvert::OutOfMemory*>(&error) != nullptr;
  EXPECT_EQ(out_of_memory, expected.status == cudaErrorMemoryAllocation);

  // The statement that failed is a few lines from the expectation at most.
  EXPECT_STREQ(error.where().file, here.file);
  EXPECT_NEAR(error.where().line, here.line, 10);

  const std::string what = error.what();
  const auto expect_text = [&](const std::string& text) {
    EXPECT_NE(what.find(text), std::string::npos)
        << '"' << text << "\" is not in \"" << what << '"';
  };
  expect_text(std::string(here.file) + ":" + std::to_string(error.where().line) + ": ");
  expect_text(expected.function);
  expect_text(cudaGetErrorName(expected.status));
  expect_text(cudaGetErrorString(expected.status));
  for (const std::string& text : expected.texts) expect_text(text);

  EXPECT_EQ(culvert::peek_last_error(), cudaSuccess);
}

// Expects `use` to throw a culvert::Error that tells this, and names the caller's place.
template <class Use>
void expect_error(Use&& use, const Expected& expected,
                  culvert::SourceLocation here = culvert::SourceLocation::current()) {
  const testing::ScopedTrace trace(here.file, static_cast<int>(here.line), "an error is expected");
  try {
    use();
  } catch (const culvert::Error& error) {
    check_error(error, expected, here);
    return;
  }
  ADD_FAILURE() << "nothing was thrown";
}

// The same, where culvert refuses before any CUDA call.
template <class Use>
void expect_refused(Use&& use, const Expected& expected,
                    culvert::SourceLocation here = culvert::SourceLocation::current()) {
  const std::uint64_t calls = runtime_calls();
  expect_error(use, expected, here);
  EXPECT_EQ(runtime_calls(), calls) << "a CUDA call was made";
}

}  // namespace support
