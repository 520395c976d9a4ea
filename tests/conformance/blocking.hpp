// SPDX-License-Identifier: BSL-1.0
//
// Whether a call returns before the work of a stream that is held back.
#pragma once

#include "facts.hpp"

namespace facts {

// A held stream goes on by itself after this time, when asked again after twice as long.
inline constexpr int hold_ms = 150;

inline void nothing() {}

// Prints whether `call` returned before the work of `held`. `prepare` and `end` come before and
// after it, outside of what is told. The first call, which nothing holds, warms up. A call that
// seems to have waited is asked again, since it may only have been slow.
template <class Prepare, class Call, class End>
void returns_early(const std::string& name, cudaStream_t held, Prepare prepare, Call call,
                   End end) {
  prepare();
  (void)call();
  need(cudaDeviceSynchronize());
  end();
  bool early = false;
  cudaError_t answer = cudaSuccess;
  for (int attempt = 0; attempt < 2 && !early; ++attempt) {
    prepare();
    {
      Gate gate(held, hold_ms * (attempt + 1));
      answer = call();
      early = gate.open();
    }
    need(cudaDeviceSynchronize());
    end();
  }
  text(name, std::string("returned before the work: ") + (early ? "yes" : "no") +
                 (answer == cudaSuccess ? "" : ", " + name_of(answer)));
}

template <class Call>
void returns_early(const std::string& name, cudaStream_t held, Call call) {
  returns_early(name, held, nothing, call, nothing);
}

// The same while a blocking stream is busy, and while a non-blocking one is.
template <class Prepare, class Call, class End>
void returns_early_of_both(const std::string& name, Prepare prepare, Call call, End end) {
  const Stream blocking(cudaStreamDefault);
  const Stream non_blocking(cudaStreamNonBlocking);
  returns_early(name + ", blocking stream busy", blocking, prepare, call, end);
  returns_early(name + ", non-blocking stream busy", non_blocking, prepare, call, end);
}

template <class Call>
void returns_early_of_both(const std::string& name, Call call) {
  returns_early_of_both(name, nothing, call, nothing);
}

}  // namespace facts
