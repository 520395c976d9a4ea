#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
#
# Checks every source with a compiler, warnings as errors, without generating code.
#
#   tests/checks/syntax.sh [COMPILER]     g++ by default
set -euo pipefail
cd "$(dirname "$0")/../.."
compiler=${1:-g++}
cuda_include=${CUDA_PATH:-/usr/local/cuda}/include

check() {
  "$compiler" -std=c++20 -fsyntax-only -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror \
    -Iinclude -Itests -I. -isystem "$cuda_include" '-DCULVERT_TEST_PLUGIN=""' "$@"
}
export -f check
export compiler cuda_include

# Those compiled with flags of their own come after. (The raw calls of tests/sim have nothing of the
# headers, and other compilers have them.)
find sim examples benchmarks tests -name '*.cpp' \
  ! -path 'tests/compile_fail/*' ! -path 'tests/consumers/*' ! -path 'tests/sim/*' \
  ! -name 'per_thread_stream_test.cpp' ! -name 'mixed_default_streams_per_thread.cpp' \
  ! -name 'no_exceptions_sim_test.cpp' -print0 |
  xargs -0 -P "$(nproc)" -I FILE bash -c 'check FILE'
check -DCUDA_API_PER_THREAD_DEFAULT_STREAM tests/per_thread_stream_test.cpp
check tests/mixed_default_streams_per_thread.cpp
check -fno-exceptions tests/no_exceptions_sim_test.cpp
echo "no warnings from $compiler"
