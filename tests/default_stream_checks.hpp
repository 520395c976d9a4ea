// SPDX-License-Identifier: BSL-1.0
//
// What a null stream handle means in the file that includes this.
#pragma once

#include <culvert/copy.hpp>
#include <culvert/device_buffer.hpp>
#include <culvert/pinned_buffer.hpp>
#include <culvert/stream.hpp>

#include <algorithm>

#include "support/test_support.hpp"

namespace {

// A null handle in a variable, as another library hands it over.
[[nodiscard]] culvert::StreamRef null_stream() {
  const cudaStream_t null = nullptr;
  return null;
}

// Whether work on a blocking stream waits for work on the null stream: it does if that is the
// legacy default stream.
[[nodiscard]] bool blocking_stream_waits_for_null() {
  using namespace culvert;
  const Stream blocking{{.kind = StreamKind::blocking}};
  PinnedBuffer<int> source(1), result(1);
  DeviceBuffer<int> x(1);
  source[0] = support::random_value<int>();
  result[0] = 0;
  support::write_device(x.data(), std::as_bytes(result.host_span()));
  support::delay(null_stream().get());
  copy(x, source, null_stream());
  copy(result, x, blocking);
  blocking.synchronize();
  const bool waited = result[0] == source[0];
  // Redundant: tidies up; what is looked at is known before.
  null_stream().synchronize();
  return waited;
}

// Whether bytes arrive on the null stream and through a join with it.
[[nodiscard]] bool bytes_arrive() {
  using namespace culvert;
  const std::vector<std::byte> expected = support::random_bytes(4097);
  std::vector<std::byte> result = support::poisoned(4097);
  const Stream other;
  DeviceBuffer<std::byte> x(4097, null_stream());
  support::delay(null_stream().get());
  copy(x, expected, null_stream());
  other.wait(null_stream());
  copy_and_wait(result, x, other);
  return std::ranges::equal(result, expected);
}

}  // namespace
