// SPDX-License-Identifier: BSL-1.0
// Small programs of raw CUDA calls. Each needs one wait, which it makes if it is told to, and
// answers whether its bytes are right.
#pragma once

#include <span>

struct MissingWait {
  const char* name;
  bool (*program)(bool with_wait);

  [[nodiscard]] bool run(bool with_wait) const;
};

[[nodiscard]] std::span<const MissingWait> missing_waits();
