// SPDX-License-Identifier: BSL-1.0
#include <culvert/copy.hpp>
#include <culvert/device_buffer.hpp>
#include <culvert/pinned_buffer.hpp>
#include <culvert/stream.hpp>

#include <algorithm>
#include <set>
#include <type_traits>
#include <utility>

#include "support/test_support.hpp"

using namespace culvert;

static_assert(std::is_nothrow_move_constructible_v<Stream>);
static_assert(std::is_nothrow_move_assignable_v<Stream>);
static_assert(!std::is_copy_constructible_v<Stream> && !std::is_copy_assignable_v<Stream>);
static_assert(std::is_default_constructible_v<Stream>);
static_assert(sizeof(Stream) == sizeof(cudaStream_t));
static_assert(!std::is_convertible_v<cudaStream_t, Stream>);

static_assert(sizeof(StreamRef) == sizeof(cudaStream_t));
static_assert(std::is_trivially_copyable_v<StreamRef>);
static_assert(!std::is_default_constructible_v<StreamRef>);
static_assert(!std::is_constructible_v<StreamRef, std::nullptr_t>);
static_assert(!std::is_constructible_v<StreamRef, int>);
static_assert(!std::is_constructible_v<StreamRef, long>);
static_assert(!std::is_constructible_v<StreamRef, Stream>);
static_assert(!std::is_constructible_v<StreamRef, const Stream>);
static_assert(std::is_convertible_v<const Stream&, StreamRef>);
static_assert(std::is_convertible_v<Stream&, StreamRef>);
static_assert(std::is_convertible_v<cudaStream_t, StreamRef>);

namespace {

// Another library's stream.
struct ForeignStream {
  cudaStream_t handle;
  operator cudaStream_t() const { return handle; }
};
struct NoStream {};
static_assert(std::is_convertible_v<const ForeignStream&, StreamRef>);
static_assert(!std::is_constructible_v<StreamRef, NoStream>);

using StreamTest = support::RuntimeTest;

TEST_F(StreamTest, IsNonBlockingByDefault) {
  const Stream stream;
  EXPECT_EQ(stream.kind(), StreamKind::non_blocking);
  EXPECT_EQ(stream.flags(), unsigned{cudaStreamNonBlocking});
  EXPECT_EQ(stream.priority(), 0);
  EXPECT_EQ(stream.device(), Device::current());
  EXPECT_TRUE(stream.is_done());
}

TEST_F(StreamTest, Kinds) {
  const Stream blocking{{.kind = StreamKind::blocking}};
  EXPECT_EQ(blocking.kind(), StreamKind::blocking);
  EXPECT_EQ(blocking.flags(), unsigned{cudaStreamDefault});
  const Stream non_blocking{{.device = Device(0), .kind = StreamKind::non_blocking}};
  EXPECT_EQ(non_blocking.kind(), StreamKind::non_blocking);
  EXPECT_EQ(StreamRef::legacy().kind(), StreamKind::blocking);
}

TEST_F(StreamTest, Priorities) {
  const PriorityRange range = Device::current().priority_range();
  EXPECT_EQ((Stream{{.priority = Priority::highest}}.priority()), range.highest);
  EXPECT_EQ((Stream{{.priority = Priority::lowest}}.priority()), range.lowest);
  EXPECT_EQ((Stream{{.priority = Priority::normal}}.priority()), 0);
  for (int number = range.highest; number <= range.lowest; ++number) {
    const Stream stream{{.kind = StreamKind::blocking, .priority = number}};
    EXPECT_EQ(stream.priority(), number);
    EXPECT_EQ(stream.kind(), StreamKind::blocking);
  }
}

TEST_F(StreamTest, IdsAreNotUsedAgain) {
  std::set<unsigned long long> ids{StreamRef::legacy().id(), StreamRef::per_thread().id()};
  for (int i = 0; i < 20; ++i) {
    const Stream stream;
    EXPECT_TRUE(ids.insert(stream.id()).second);
    EXPECT_EQ(StreamRef(stream).id(), stream.id());
  }
}

TEST_F(StreamTest, DefaultStreams) {
  EXPECT_EQ(StreamRef::legacy().get(), cudaStreamLegacy);
  EXPECT_EQ(StreamRef::per_thread().get(), cudaStreamPerThread);
  EXPECT_FALSE(StreamRef::legacy() == StreamRef::per_thread());
  for (const StreamRef stream : {StreamRef::legacy(), StreamRef::per_thread()}) {
    EXPECT_EQ(stream.device(), Device::current());
    // Redundant: the stream is empty; that the handle is accepted is the test.
    stream.synchronize();
    EXPECT_TRUE(stream.is_done());
  }
}

// No null handle reaches CUDA.
TEST_F(StreamTest, NullInAVariableIsTheDefaultStreamOfTheFile) {
  const cudaStream_t null = nullptr;
#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM)
  const StreamRef expected = StreamRef::per_thread();
#else
  const StreamRef expected = StreamRef::legacy();
#endif
  EXPECT_EQ(StreamRef(null), expected);
  EXPECT_EQ(StreamRef(ForeignStream{nullptr}), expected);
  EXPECT_NE(StreamRef(null).get(), nullptr);
}

TEST_F(StreamTest, ViewsOfTheSameStreamAreEqual) {
  const Stream stream;
  const StreamRef view = stream;
  EXPECT_EQ(view.get(), stream.get());
  EXPECT_EQ(view, StreamRef(stream.get()));
  EXPECT_EQ(view, StreamRef(ForeignStream{stream.get()}));
  const Stream other;
  EXPECT_FALSE(view == StreamRef(other));
}

TEST_F(StreamTest, MovedFromIsNotTheDefaultStream) {
  Stream first;
  const cudaStream_t handle = first.get();
  Stream second(std::move(first));
  EXPECT_EQ(second.get(), handle);
  EXPECT_NE(first.get(), nullptr);  // NOLINT(bugprone-use-after-move)
  EXPECT_NE(first.get(), cudaStreamLegacy);
  EXPECT_NE(first.get(), cudaStreamPerThread);
  EXPECT_NE(first.get(), handle);
  Stream third;
  third = std::move(second);
  EXPECT_EQ(third.get(), handle);
  // Redundant: the stream is empty; that the handle is accepted is the test.
  third.synchronize();
}

TEST_F(StreamTest, SelfMoveKeepsTheHandle) {
  Stream stream;
  const cudaStream_t handle = stream.get();
  Stream& same = stream;
  stream = std::move(same);
  EXPECT_EQ(stream.get(), handle);
  // Redundant: the stream is empty; that the handle is accepted is the test.
  stream.synchronize();
}

TEST_F(StreamTest, ReleaseAndAdopt) {
  Stream first{{.kind = StreamKind::blocking}};
  const unsigned long long id = first.id();
  const cudaStream_t handle = first.release();
  EXPECT_NE(first.get(), handle);
  Stream second = Stream::from_handle(handle);
  EXPECT_EQ(second.get(), handle);
  EXPECT_EQ(second.id(), id);
  second.reset();
  EXPECT_NE(second.get(), handle);
}

TEST_F(StreamTest, IsDoneOnceItsWorkIs) {
  const Stream stream;
  support::delay(stream.get());
  EXPECT_FALSE(stream.is_done());
  EXPECT_FALSE(StreamRef(stream).is_done());
  stream.synchronize();
  EXPECT_TRUE(stream.is_done());
}

TEST_F(StreamTest, RecordsNewEvents) {
  const Stream stream;
  support::delay(stream.get());
  const Event event = stream.record();
  const TimedEvent timed = StreamRef(stream).record_timed();
  EXPECT_FALSE(event.is_done());
  EXPECT_FALSE(timed.is_done());
  timed.synchronize();
  EXPECT_TRUE(event.is_done());
}

TEST_F(StreamTest, EndNeitherBlocksNorDropsWork) {
  constexpr std::size_t size = 4096;
  const std::vector<std::byte> expected = support::random_bytes(size);
  PinnedBuffer<std::byte> source(size);
  PinnedBuffer<std::byte> result(size);
  std::ranges::copy(expected, source.begin());
  std::ranges::fill(result, support::poison);
  DeviceBuffer<std::byte> buffer(size);
  const Event done;
  {
    const Stream stream;
    support::delay(stream.get());
    copy(buffer, source, stream);
    copy(result, buffer, stream);
    stream.record(done);
  }
  EXPECT_FALSE(done.is_done());
  done.synchronize();
  EXPECT_TRUE(support::same_bytes(result, expected));
}

}  // namespace
