// SPDX-License-Identifier: BSL-1.0
//
// A stream that does not go on until it is let.
#pragma once

#include <culvert/host_func.hpp>

#include <atomic>
#include <memory>

namespace support {

// Opens at its end, and waits for nothing.
class Gate {
 public:
  explicit Gate(culvert::StreamRef stream) {
    culvert::launch_host(stream, [open = open_] { open->wait(false); });
  }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  ~Gate() { open(); }
  void open() {
    *open_ = true;
    open_->notify_all();
  }

 private:
  std::shared_ptr<std::atomic<bool>> open_ = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace support
