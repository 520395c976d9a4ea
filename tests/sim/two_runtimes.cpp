// SPDX-License-Identifier: BSL-1.0
// Linked with two runtimes, so it must not get here.
#include "culvert/sim/sim.hpp"

extern "C" int other_runtime();

int main() { return culvert::sim::is_simulated() ? other_runtime() : 1; }
