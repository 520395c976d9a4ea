#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Leaves out each wait of each test on the simulated runtime, one at a time.

A test that fails without it catches the wait: under the late schedule, or under one of the seeds of
the random one. Every other wait has to stand in the list of redundant ones, with its reason: a line
of the list is PROGRAM TEST NUMBER:FUNCTION REASON, where TEST and NUMBER:FUNCTION may have * and ?
as in file names. A line that nothing needed any more is an error too.
"""

import argparse
import concurrent.futures
import fnmatch
import os
import pathlib
import subprocess
import sys
import tempfile


def run(program, test, extra, limit):
    """Exit status of one test of a program in that environment; 124 where it hangs."""
    environment = dict(os.environ, **extra)
    command = [str(program)]
    if test:
        command.append(f"--gtest_filter={test}")
    try:
        return subprocess.run(command, env=environment, timeout=limit, check=False,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
    except subprocess.TimeoutExpired:
        return 124


def tests_of(program):
    """The names of a GoogleTest program's tests."""
    listed = subprocess.run([str(program), "--gtest_list_tests"], capture_output=True, text=True,
                            check=True).stdout
    suite, names = "", []
    for line in listed.splitlines():
        text = line.split("#")[0].rstrip()
        if text.startswith("  "):
            names.append(suite + text.strip())
        elif text.endswith("."):
            suite = text
    return names


def waits_of(program, test, options):
    """(number, function, place) of each wait of a test; None where the test does not pass."""
    with tempfile.NamedTemporaryFile("r", suffix=".journal") as journal:
        if run(program, test, {"CULVERT_SIM_JOURNAL": journal.name}, options.timeout) != 0:
            return None
        waits = []
        for line in journal:
            kind, number, *rest = line.rstrip("\n").split(" ", 3)
            if kind == "wait":
                waits.append((int(number), rest[0], rest[1] if len(rest) > 1 else ""))
        return waits


def catcher(program, test, wait, options):
    """What fails without the wait, or None."""
    number, function, _ = wait
    schedules = ["late"] + [f"random:{seed}" for seed in range(1, options.seeds + 1)]
    for schedule in schedules:
        extra = {"CULVERT_SIM_SKIP_WAIT": f"{number}:{function}", "CULVERT_SIM_SCHEDULE": schedule}
        if run(program, test, extra, options.timeout) != 0:
            return schedule
    return None


def examine(program, test, options):
    """(wait, catcher) of each wait of a test; None where the test does not pass."""
    waits = waits_of(program, test, options)
    if waits is None:
        return None
    return [(wait, catcher(program, test, wait, options)) for wait in waits]


class Redundant:
    """The list of waits that need not be caught."""

    def __init__(self, path):
        self.lines = []
        for line in path.read_text().splitlines() if path else []:
            if line.strip() and not line.startswith("#"):
                self.lines.append(line.split(None, 3))
        self.used = set()

    def reason(self, program, test, wait):
        for at, (wanted, tests, waits, reason) in enumerate(self.lines):
            if wanted == program and fnmatch.fnmatch(test, tests) and fnmatch.fnmatch(
                    f"{wait[0]}:{wait[1]}", waits):
                self.used.add(at)
                return reason
        return None

    def unused(self, programs):
        return [" ".join(line) for at, line in enumerate(self.lines)
                if at not in self.used and line[0] in programs]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="+", type=pathlib.Path)
    parser.add_argument("--redundant", type=pathlib.Path)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--timeout", type=int, default=60, help="seconds for one run")
    parser.add_argument("--filter", default="*", help="tests, as in file names")
    options = parser.parse_args()

    redundant = Redundant(options.redundant)
    work = [(program, test) for program in options.programs for test in tests_of(program)
            if fnmatch.fnmatch(test, options.filter)]
    counts = {"late": 0, "random": 0, "listed": 0, "not caught": 0}
    failed = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = pool.map(lambda item: examine(*item, options), work)
        for (program, test), result in zip(work, results):
            if result is None:
                failed.append(f"{program.name} {test} fails with all its waits")
                continue
            for wait, caught in result:
                if caught:
                    counts["late" if caught == "late" else "random"] += 1
                elif redundant.reason(program.name, test, wait):
                    counts["listed"] += 1
                else:
                    counts["not caught"] += 1
                    failed.append(f"{program.name} {test} {wait[0]}:{wait[1]} {wait[2]}")
    names = {program.name for program in options.programs}
    failed += [f"not needed in the list: {line}" for line in redundant.unused(names)]
    print(f"{sum(counts.values())} waits of {len(work)} tests: " +
          ", ".join(f"{name} {count}" for name, count in counts.items()))
    for line in failed:
        print(line)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
