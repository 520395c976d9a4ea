// SPDX-License-Identifier: BSL-1.0
//
// Work that uses all of culvert's process-wide state, for the program and for its plugin.
#pragma once

#include <culvert/culvert.hpp>

// Joins two streams, which keeps an event, and checks the bytes. Returns 0 where all is well.
inline int joined_streams() {
  using namespace culvert;
  Stream a, b;
  DeviceBuffer<int> x(1000, a);
  PinnedBuffer<int> host(1000);
  fill(x, 7, a);
  b.wait(a);
  copy(host, x, b);
  a.wait(b);
  b.synchronize();
  for (const int value : host) {
    if (value != 7) return 1;
  }
  return 0;
}
