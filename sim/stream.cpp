// SPDX-License-Identifier: BSL-1.0
#include "sim/stream.hpp"

namespace culvert::sim::detail {
namespace {

std::uint64_t sequence_of(const OpPtr& op) { return op ? op->sequence : 0; }

}  // namespace

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
