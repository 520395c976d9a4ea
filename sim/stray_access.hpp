// SPDX-License-Identifier: BSL-1.0
// Tells what it was when host code reads or writes device memory, which faults as on a GPU.
#pragma once

namespace culvert::sim::detail {

// Installs a handler of SIGSEGV, once. It prints, and leaves the rest to the handler of before, by
// default the end of the process by that signal. One that the program installs later replaces it.
void watch_for_stray_accesses();

}  // namespace culvert::sim::detail
