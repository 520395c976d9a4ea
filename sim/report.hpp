// SPDX-License-Identifier: BSL-1.0
// What the simulated runtime tells a person.
#pragma once

namespace culvert::sim::detail {

// One line on stderr, after "culvert::sim: ".
[[gnu::format(printf, 1, 2)]] void report(const char* format, ...);

// The same, and the process ends with status 2.
[[noreturn, gnu::format(printf, 1, 2)]] void refuse(const char* format, ...);

}  // namespace culvert::sim::detail
