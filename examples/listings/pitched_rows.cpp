// SPDX-License-Identifier: BSL-1.0
//
// Rows in device memory: an image whose rows begin at aligned addresses, a rectangle of it filled
// and copied out, and layers of a volume. Extents are checked, and pitches never computed by hand.
#include <culvert/culvert.hpp>

#include <algorithm>
#include <cstdio>

using namespace culvert;

namespace {

bool passed = true;

void check(bool ok, const char* what) {
  if (ok) return;
  passed = false;
  std::fprintf(stderr, "Not so: %s\n", what);
}

void rectangle(const Stream& stream) {
  constexpr std::size_t width = 100, height = 60;
  PitchedBuffer<float> image(width, height, stream);
  PinnedBuffer<float> host(width * height);
  const HostSpan2D<float> rows = as_2d(host, width, height);  // rows without gaps

  fill_2d(image, 0.0f, stream);
  fill_2d(image.rect(20, 10, 30, 5), 1.0f, stream);  // 30 by 5 elements from column 20 of row 10 on
  copy_2d(rows, image, stream);                      // the two pitches differ
  stream.synchronize();
  std::printf("Width=%zu Height=%zu Ones=%zd\n", image.width(), image.height(),
              std::count(host.begin(), host.end(), 1.0f));
  check(rows(20, 10) == 1.0f && rows(49, 14) == 1.0f, "the rectangle is filled");
  check(rows(19, 10) == 0.0f && rows(50, 14) == 0.0f, "what is beside it is not");

  // Only the rectangle, back into the middle of another.
  PitchedBuffer<float> other(width, height, stream);
  fill_2d(other, 2.0f, stream);
  copy_2d(other.rect(0, 0, 30, 5), image.rect(20, 10, 30, 5), stream);
  copy_2d(rows, other, stream);
  stream.synchronize();
  check(rows(29, 4) == 1.0f && rows(30, 4) == 2.0f, "a rectangle is copied to another place");
}

void layers(const Stream& stream) {
  constexpr std::size_t width = 16, height = 8, depth = 4;
  PitchedBuffer<int> memory(width, height * depth, stream);
  const DeviceSpan3D<int> volume(memory.span_2d(), height);  // each layer has 8 of the rows
  PinnedBuffer<int> host(width * height * depth);
  const HostSpan3D<int> host_volume = as_3d(host, width, height, depth);

  for (std::size_t z = 0; z < depth; ++z) {
    fill_2d(volume.layer(z), static_cast<int>(z), stream);
  }
  copy_3d(host_volume, volume, stream);
  stream.synchronize();
  std::printf("Layers=%zu LastElement=%d\n", volume.depth(), host[host.size() - 1]);
  check(host_volume.layer(2)(5, 5) == 2, "each layer has its value");
}

}  // namespace

int main() try {
  const Environment env = Environment::probe();
  if (!env.usable()) {
    std::printf("PitchedRows=Skipped %s\n", env.reason());
    return 77;
  }
  const Stream stream;
  rectangle(stream);
  layers(stream);
  std::printf("PitchedRows Passed=%s\n", passed ? "True" : "False");
  return passed ? 0 : 1;
} catch (const Error& error) {
  std::fprintf(stderr, "pitched_rows: %s\n", error.what());
  return 1;
}
