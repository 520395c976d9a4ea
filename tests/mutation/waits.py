#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Leaves out each wait of each test on the simulated runtime, one at a time.

A test that fails without it catches the wait: under the late schedule, or under one of the seeds of
the random one. Every other wait has to stand in the list of redundant ones, with its reason: a line
of the list is PROGRAM TEST NUMBER:FUNCTION REASON, where TEST and NUMBER:FUNCTION may have * and ?
as in file names. A line that nothing needed any more is an error too.
"""

import fnmatch
import pathlib
import sys

import programs


def catcher(program, test, wait, options):
    """What fails without the wait, or None."""
    number, function, _ = wait
    schedules = ["late"] + [f"random:{seed}" for seed in range(1, options.seeds + 1)]
    for schedule in schedules:
        extra = {"CULVERT_SIM_SKIP_WAIT": f"{number}:{function}", "CULVERT_SIM_SCHEDULE": schedule}
        if programs.run(program, test, extra, options.timeout) != 0:
            return schedule
    return None


def examine(program, test, options):
    """(wait, catcher) of each wait of a test; None where the test does not pass."""
    waits = programs.journal_of("wait", program, test, options.timeout)
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
    parser = programs.parser(__doc__.splitlines()[0])
    parser.add_argument("--redundant", type=pathlib.Path)
    parser.add_argument("--seeds", type=int, default=10)
    options = parser.parse_args()

    redundant = Redundant(options.redundant)
    counts = {"late": 0, "random": 0, "listed": 0, "not caught": 0}
    failed = []
    results = programs.examine_all(options, lambda *test: examine(*test, options))
    for program, test, waits in results:
        if waits is None:
            failed.append(f"{program.name} {test} fails with all its waits")
        for wait, caught in waits or []:
            if caught:
                counts["late" if caught == "late" else "random"] += 1
            elif redundant.reason(program.name, test, wait):
                counts["listed"] += 1
            else:
                counts["not caught"] += 1
                failed.append(f"{program.name} {test} {wait[0]}:{wait[1]} {wait[2]}")
    failed += [f"not needed in the list: {line}"
               for line in redundant.unused({program.name for program in options.programs})]
    print(f"{sum(counts.values())} waits: " +
          ", ".join(f"{name} {count}" for name, count in counts.items()))
    for line in failed:
        print(line)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
