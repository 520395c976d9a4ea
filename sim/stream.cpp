// SPDX-License-Identifier: BSL-1.0
#include "sim/stream.hpp"

#include <algorithm>

namespace culvert::sim::detail {
namespace {

constexpr std::size_t least_to_forget = 16;

std::uint64_t sequence_of(const OpPtr& op) { return op ? op->sequence : 0; }

}  // namespace

void DeviceStreams::add_blocking(StreamPtr stream) {
  if (blocking_.size() >= forget_at_) {
    forget_ended();
    // Looked at again once their number has doubled: constant time for each stream on average.
    forget_at_ = std::max(least_to_forget, 2 * blocking_.size());
  }
  blocking_.push_back(std::move(stream));
}

void DeviceStreams::append(const OpPtr& op, Stream& stream) {
  depend(*op, stream.tail);
  // What is older than the tail is behind it already, so each edge is drawn once.
  const std::uint64_t known = sequence_of(stream.tail);
  if (stream.kind == StreamKind::legacy) {
    forget_ended();
    for (const StreamPtr& other : blocking_) {
      if (sequence_of(other->tail) > known) depend(*op, other->tail);
    }
  } else if (stream.kind == StreamKind::blocking) {
    if (sequence_of(legacy_->tail) > known) depend(*op, legacy_->tail);
  }
  stream.tail = op;
}

std::vector<OpPtr> DeviceStreams::tails(const Stream& stream) {
  std::vector<OpPtr> tails;
  if (stream.tail) tails.push_back(stream.tail);
  if (stream.kind == StreamKind::legacy) {
    forget_ended();
    for (const StreamPtr& other : blocking_) {
      if (other->tail) tails.push_back(other->tail);
    }
  }
  return tails;
}

void DeviceStreams::forget_ended() {
  std::erase_if(blocking_, [](const StreamPtr& stream) {
    return stream->destroyed && (!stream->tail || stream->tail->done());
  });
}

}  // namespace culvert::sim::detail
