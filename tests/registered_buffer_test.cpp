// SPDX-License-Identifier: BSL-1.0
#include <culvert/batch_copy.hpp>
#include <culvert/device_buffer.hpp>
#include <culvert/registered_buffer.hpp>

#include <algorithm>
#include <type_traits>
#include <vector>

#include "support/expect_error.hpp"

using namespace culvert;
using support::expect_error;
using support::expect_refused;

static_assert(!std::is_copy_constructible_v<RegisteredBuffer<int>>);
static_assert(std::is_nothrow_move_constructible_v<RegisteredBuffer<int>>);
static_assert(std::is_nothrow_move_assignable_v<RegisteredBuffer<int>>);

namespace {

using RegisteredBufferTest = support::RuntimeTest;

bool is_pinned(const void* data) {
  cudaPointerAttributes attributes{};
  EXPECT_EQ(cudaPointerGetAttributes(&attributes, data), cudaSuccess);
  return attributes.type == cudaMemoryTypeHost;
}

TEST_F(RegisteredBufferTest, PinsWhileItLives) {
  std::vector<int> memory(5000, 3);
  {
    const RegisteredBuffer pinned(memory);
    EXPECT_EQ(pinned.data(), memory.data());
    EXPECT_EQ(pinned.size(), memory.size());
    EXPECT_TRUE(is_pinned(memory.data()));
    expect_error([&] { RegisteredBuffer again(memory); },
                 {cudaErrorHostMemoryAlreadyRegistered, "cudaHostRegister"});
  }
  EXPECT_FALSE(is_pinned(memory.data()));
  RegisteredBuffer<int> moved(memory, {.portable = true, .mapped = true});
  RegisteredBuffer<int> kept = std::move(moved);
  EXPECT_EQ(kept[4], 3);
  EXPECT_EQ(moved.size(), 0u);
  expect_refused([&] { (void)moved.host_span(); },
                 {cudaErrorInvalidResourceHandle, "culvert::RegisteredBuffer"});
  expect_refused([&] { (void)kept.subspan(4999, 2); },
                 {cudaErrorInvalidValue, "culvert::RegisteredBuffer::subspan"});
  EXPECT_EQ(kept.mapped_span().size(), 5000u);
  kept.reset();
  EXPECT_FALSE(is_pinned(memory.data()));
}

// Copies read it in the order of the stream: what is written after the call, but before the stream
// gets there, cannot be told; what an earlier copy writes can.
TEST_F(RegisteredBufferTest, CopiesTakeItAsPinned) {
  const Stream stream;
  std::vector<int> memory(1000, -1), result(1000);
  const std::vector<int> content(1000, 8);
  DeviceBuffer<int> made(1000, stream), first(1000, stream);
  const RegisteredBuffer pinned(memory);
  copy(made, content, stream);
  support::delay(stream.get());
  copy(pinned, made, stream);
  CopyBatch batch;
  batch.add(first, pinned);
  batch.enqueue(stream);
  copy_and_wait(result, first, stream);
  EXPECT_EQ(result, content);
  EXPECT_EQ(memory, content);
}

TEST_F(RegisteredBufferTest, NothingMakesNoCall) {
  std::vector<int> empty;
  const std::uint64_t before = support::runtime_calls();
  { const RegisteredBuffer none(empty); }
  const RegisteredBuffer<int> nothing;
  EXPECT_EQ(nothing.data(), nullptr);
  EXPECT_EQ(support::runtime_calls(), before);
}

}  // namespace
