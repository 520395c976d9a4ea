// SPDX-License-Identifier: BSL-1.0
#include <culvert/sim/sim.hpp>
#include <culvert/stream.hpp>

#include "support/test_support.hpp"

namespace support {

bool is_simulated() { return true; }

void reset_runtime(int devices) {
  culvert::sim::Config config = culvert::sim::config_from_environment();
  config.devices = devices;
  // Nothing runs because a test was slow.
  config.idle_everything_ms = 0;
  culvert::sim::reset(config);
  culvert::forget_kept_events();
}

std::uint64_t runtime_calls() { return culvert::sim::call_count(); }

void expect_no_leaks(std::size_t kept_events) {
  culvert::sim::run_pending();
  const culvert::sim::Live live = culvert::sim::live();
  EXPECT_EQ(live.streams, 0u);
  EXPECT_LE(live.events, kept_events);
  EXPECT_EQ(live.pools, 0u);
  EXPECT_EQ(live.device_allocations, 0u);
  EXPECT_EQ(live.device_bytes, 0u);
  EXPECT_EQ(live.host_allocations, 0u);
  EXPECT_EQ(live.host_registrations, 0u);
}

void delay(cudaStream_t stream) { (void)culvert::StreamRef(stream).record(); }

}  // namespace support
