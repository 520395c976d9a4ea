// SPDX-License-Identifier: BSL-1.0
// Streams and the rules of the legacy default stream. Plain C++ that knows no CUDA.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "sim/call_site.hpp"
#include "sim/op.hpp"

namespace culvert::sim::detail {

struct StreamCapture;   // capture.hpp
struct StreamSettings;  // stream_settings.hpp

enum class StreamKind { legacy, blocking, non_blocking };

struct Stream {
  StreamKind kind = StreamKind::blocking;
  unsigned long long id = 0;
  int device = 0;
  unsigned flags = 0;
  int priority = 0;
  bool destroyed = false;
  std::uint64_t fails_in = 0;  // its operation of this number from now on fails; 0: none
  int fails_with = 0;
  CallSite made;
  // Where work goes instead of becoming an operation: while the stream is captured, and where a
  // node of a graph is made.
  std::function<void(Work)> recorder;
  std::shared_ptr<StreamCapture> capture;    // its part in a capture, or null
  std::shared_ptr<StreamSettings> settings;  // null: the defaults
  OpPtr tail;  // the last operation enqueued, also once it is done: it holds the virtual time

  // How often a query about the operation with this number was answered with "not ready".
  std::uint64_t asked_sequence = 0;
  int answers = 0;
};

using StreamPtr = std::shared_ptr<Stream>;

// The streams of one device, as far as they are ordered against each other.
class DeviceStreams {
 public:
  explicit DeviceStreams(StreamPtr legacy) : legacy_(std::move(legacy)) {}

  const StreamPtr& legacy() const { return legacy_; }

  // A blocking stream takes part until it is destroyed and its work is done.
  void add_blocking(StreamPtr stream);

  // Makes `op` the next operation of `stream`.
  void append(const OpPtr& op, Stream& stream);

  // The operations after which all work in `stream` so far is done. For the legacy stream that is
  // the work of all blocking streams too.
  std::vector<OpPtr> tails(const Stream& stream);

 private:
  void forget_ended();

  StreamPtr legacy_;
  std::vector<StreamPtr> blocking_;
  std::size_t forget_at_ = 0;  // the number of blocking streams at which to look for ended ones
};

}  // namespace culvert::sim::detail
