#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Prints what each public header costs a compiler to parse, and fails above the limits.

The cost is the median user and system time of `-fsyntax-only`, as a ratio to that of
cuda_runtime_api.h alone. Runs of all headers take turns, so that a change in the machine's
load meets all alike. A busy machine still moves that ratio (one header was seen at 8.0 and at
9.5), so above its limit the compiler's instructions decide, counted by valgrind: they do not
depend on what else the machine does. The limits on them are those on time, for g++ 12, at the
ratio of the two that a quiet machine showed (stream.hpp: 8.05 in time, 11.5 in instructions).
"""

import argparse
import os
import pathlib
import re
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
INSTRUCTIONS_PER_TIME = 1.43


def cpu_seconds(command):
    """User and system time of a command and its children."""
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"failed: {' '.join(command)}")
    return usage.ru_utime + usage.ru_stime


def instructions(command):
    """Instructions that a command and its children execute."""
    counted = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--trace-children=yes",
               "--cachegrind-out-file=/dev/null", *command]
    run = subprocess.run(counted, capture_output=True, text=True, check=False)
    counts = re.findall(r"I +refs: +([0-9,]+)", run.stderr)
    if run.returncode != 0 or not counts:
        sys.exit(f"failed: {' '.join(counted)}\n{run.stderr}")
    return sum(int(count.replace(",", "")) for count in counts)


def measure(units, options, cost, runs):
    """Median cost of each unit, a tuple of headers."""
    command = [options.compiler, "-std=c++20", "-fsyntax-only"]
    command += [f"-I{options.include}", "-isystem", options.cuda_include]
    with tempfile.TemporaryDirectory() as folder:
        files = {}
        for number, unit in enumerate(units):
            files[unit] = pathlib.Path(folder, f"{number}.cpp")
            files[unit].write_text("".join(f"#include <{header}>\n" for header in unit))
        samples = {unit: [] for unit in units}
        for _ in range(runs):
            for unit in units:
                samples[unit].append(cost([*command, str(files[unit])]))
    return {unit: statistics.median(costs) for unit, costs in samples.items()}


def misses(medians, factor, scale, unit_name):
    """Prints; the units above their limits, which are `factor` times those on time."""
    above = []
    for unit, median in medians.items():
        ratio = median / medians[(BASE,)]
        limit = LIMITS.get(unit)
        if limit is not None and ratio > limit * factor:
            above.append(unit)
        text = f"{' + '.join(unit):48} {median * scale:7.0f} {unit_name} {ratio:6.1f}"
        print(text + (f"  (limit {limit * factor:.1f})" if limit else ""))
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
    above = misses(measure(units, options, cpu_seconds, options.runs), 1, 1000, "ms")
    if above:
        print("above a limit in time; by instructions:")
        counts = measure([(BASE,), *above], options, instructions, 1)
        above = misses(counts, INSTRUCTIONS_PER_TIME, 1e-6, "million")
    for unit in above:
        print(f"above its limit: {' + '.join(unit)}")
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
