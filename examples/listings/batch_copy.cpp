// SPDX-License-Identifier: BSL-1.0
//
// Batches of copies: many small copies enqueued by one call, which costs less than a call for each.
// One batch is built once and enqueued in each round; one mixes pinned memory with variables of the
// stack, which may end as soon as the call has returned.
#include <culvert/culvert.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <vector>

using namespace culvert;

namespace {

bool passed = true;

void check(bool ok, const char* what) {
  if (ok) return;
  passed = false;
  std::fprintf(stderr, "Not so: %s\n", what);
}

// The 64 parts of one buffer go to 64 places, in each of four rounds.
void reuse(const Stream& stream) {
  constexpr std::size_t parts = 64, part = 1024;
  PinnedBuffer<int> source(parts * part), result(parts * part);
  std::vector<DeviceBuffer<int>> places;
  CopyBatch up, down;
  up.reserve(parts);
  down.reserve(parts);
  for (std::size_t i = 0; i < parts; ++i) {
    places.emplace_back(part, stream);
    up.add(places.back(), source.subspan(i * part, part));
    down.add(result.subspan(i * part, part), places.back());
  }

  bool right = true;
  for (int round = 1; round <= 4; ++round) {
    std::fill(source.begin(), source.end(), round);
    up.enqueue(stream);    // one call; the pinned source is read in the order of the stream
    down.enqueue(stream);  // another batch, so it comes after the first
    stream.synchronize();  // before the host writes the source and reads the result
    right = right && std::count(result.begin(), result.end(), round) == parts * part;
  }
  std::printf("CopiesInABatch=%zu Rounds=4\n", up.size());
  check(right, "each round's values came back");
}

// Parameters on the stack, beside a large pinned source.
void ephemeral(const Stream& stream) {
  PinnedBuffer<float> table(4096);
  std::fill(table.begin(), table.end(), 0.5f);
  DeviceBuffer<float> device_table(table.size(), stream);
  DeviceBuffer<int> device_parameters(4, stream);
  {
    std::array<int, 4> parameters{1, 2, 3, 4};
    CopyBatch batch;
    batch.add(device_table, table);            // pinned: read in the order of the stream
    batch.add(device_parameters, parameters);  // pageable: read during the call of enqueue
    batch.enqueue(stream);
    parameters.fill(0);  // too late to change what is copied
  }
  std::array<int, 4> back{};
  copy_and_wait(back, device_parameters, stream);  // also waits for the table's copy
  std::printf("Parameters=%d,%d,%d,%d\n", back[0], back[1], back[2], back[3]);
  check(back == std::array<int, 4>{1, 2, 3, 4}, "the parameters are those of the call");
}

}  // namespace

int main() try {
  const Environment env = Environment::probe();
  if (!env.usable()) {
    std::printf("BatchCopy=Skipped %s\n", env.reason());
    return 77;
  }
  const Stream stream;
  reuse(stream);
  ephemeral(stream);
  std::printf("BatchCopy Passed=%s\n", passed ? "True" : "False");
  return passed ? 0 : 1;
} catch (const Error& error) {
  std::fprintf(stderr, "batch_copy: %s\n", error.what());
  return 1;
}
