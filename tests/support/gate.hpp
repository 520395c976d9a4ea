// SPDX-License-Identifier: BSL-1.0
//
// A stream that does not go on until it is let.
#pragma once

#include <culvert/host_func.hpp>

#include <atomic>

namespace support {

class Gate {
 public:
  explicit Gate(culvert::StreamRef stream) : stream_(stream) {
    culvert::launch_host(stream, [this] { open_.wait(false); });
  }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  // Waits, since the function looks at this.
  ~Gate() {
    open();
    stream_.synchronize();
  }
  void open() {
    open_ = true;
    open_.notify_all();
  }

 private:
  culvert::StreamRef stream_;
  std::atomic<bool> open_{false};
};

}  // namespace support
