// SPDX-License-Identifier: BSL-1.0
// Stands for the real runtime: only the library's name matters.
extern "C" int other_runtime();

extern "C" int other_runtime() { return 0; }
