// SPDX-License-Identifier: BSL-1.0
#include "illegal_address.hpp"

#include <culvert/sim/sim.hpp>

void load_illegal_address() {}

void enqueue_illegal_address(cudaStream_t) {}

void raise_illegal_address() { culvert::sim::raise_sticky(0, cudaErrorIllegalAddress); }
