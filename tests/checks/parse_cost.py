#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Prints what each public header costs a compiler to parse, and fails above the limits.

The cost is the median user and system time of `-fsyntax-only`, as a ratio to that of
cuda_runtime_api.h alone. Runs of all headers take turns, so that a change in the machine's
load meets all alike, and a miss is measured once more before it counts.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BASE = "cuda_runtime_api.h"
# What a translation unit includes, and how many times the base it may cost.
LIMITS = {
    ("culvert/stream.hpp",): 9,
    ("culvert/device_buffer.hpp", "culvert/copy.hpp"): 10,
    ("culvert/culvert.hpp",): 20,
}


def cpu_seconds(command):
    """User and system time of a command and its children."""
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"failed: {' '.join(command)}")
    return usage.ru_utime + usage.ru_stime


def measure(units, options):
    """Median seconds of each unit, a tuple of headers."""
    command = [options.compiler, "-std=c++20", "-fsyntax-only"]
    command += [f"-I{options.include}", "-isystem", options.cuda_include]
    with tempfile.TemporaryDirectory() as folder:
        files = {}
        for number, unit in enumerate(units):
            files[unit] = pathlib.Path(folder, f"{number}.cpp")
            files[unit].write_text("".join(f"#include <{header}>\n" for header in unit))
        samples = {unit: [] for unit in units}
        for _ in range(options.runs):
            for unit in units:
                samples[unit].append(cpu_seconds([*command, str(files[unit])]))
    return {unit: statistics.median(times) for unit, times in samples.items()}


def misses(units, options):
    """Measures and prints; the units above their limits."""
    medians = measure(units, options)
    base = medians[(BASE,)]
    above = []
    for unit in units:
        ratio = medians[unit] / base
        limit = LIMITS.get(unit)
        if limit is not None and ratio > limit:
            above.append(unit)
        text = f"{' + '.join(unit):48} {medians[unit] * 1000:7.0f} ms {ratio:6.1f}"
        print(text + (f"  (limit {limit})" if limit else ""))
    return above


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--include", default=str(ROOT / "include"))
    parser.add_argument("--cuda-include", default="/usr/local/cuda/include")
    parser.add_argument("--limited", action="store_true", help="only what has a limit")
    options = parser.parse_args()

    headers = sorted(pathlib.Path(options.include).glob("culvert/**/*.hpp"))
    units = [(BASE,)]
    if not options.limited:
        units += [(str(h.relative_to(options.include)),) for h in headers]
    units += [unit for unit in LIMITS if unit not in units]
    above = misses(units, options)
    if above:
        print("above a limit; measured once more:")
        above = misses([(BASE,), *above], options)
    for unit in above:
        print(f"above its limit: {' + '.join(unit)}")
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
