// SPDX-License-Identifier: BSL-1.0
#pragma once

namespace culvert::sim::detail {

// Refuses to run beside the real runtime. It runs before main; calling it makes sure that the
// linker takes it along.
void check_startup();

}  // namespace culvert::sim::detail
