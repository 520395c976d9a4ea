// SPDX-License-Identifier: BSL-1.0
//
// Uses CUDA where it can be used, and says why where not.
#include "work.hpp"

#include <iostream>

int main() {
  const culvert::Environment environment = culvert::Environment::probe();
  if (!environment.usable()) {
    std::cout << "CUDA cannot be used: " << environment.reason() << '\n';
    return 0;
  }
  culvert::Stream stream;
  if (filled(3, 0x01020304, stream) != std::vector<int>(3, 0x01020304)) {
    std::cout << "the device did something else\n";
    return 1;
  }
  std::cout << "the device did its work\n";
}
