#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
#
# Builds everything with other compilers, each in build/compilers/NAME with warnings as
# errors, and runs the simulated tests; for NAME:build it only builds.
#
#   tests/checks/compilers.sh [NAME[:build]...]     by default those found of the list below
set -euo pipefail
cd "$(dirname "$0")/../.."

compilers=("$@")
if [ $# -eq 0 ]; then
  for compiler in g++-11:build g++-12 clang++-14:build clang++-19; do
    if command -v "${compiler%:build}" > /dev/null; then compilers+=("$compiler"); fi
  done
fi

for compiler in "${compilers[@]}"; do
  name=${compiler%:build}
  folder=build/compilers/$name
  echo "-- $name"
  cmake -S . -B "$folder" -DCMAKE_CXX_COMPILER="$name" -DCULVERT_WARNINGS_AS_ERRORS=ON
  cmake --build "$folder" --parallel "$(nproc)"
  if [ "$name" = "$compiler" ]; then
    ctest --test-dir "$folder" --label-regex '^sim$' --parallel "$(nproc)" \
          --output-on-failure --no-tests=error
  fi
done
