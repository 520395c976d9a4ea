#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Leaves out each wait of each test on the simulated runtime, one at a time.

A test that fails without it catches the wait: under the late schedule, or under one of the seeds of
the random one. Any other wait is redundant, and its line in the source, or the comment above it,
has to say why: "// Redundant: REASON".
"""

import collections
import functools
import pathlib
import re
import sys

import programs


def catcher(program, test, wait, pageable, options):
    """What fails without the wait, or None."""
    number, function, _ = wait
    schedules = ["late"] + [f"random:{seed}" for seed in range(1, options.seeds + 1)]
    for schedule in schedules:
        extra = {**pageable, "CULVERT_SIM_SKIP_WAIT": f"{number}:{function}",
                 "CULVERT_SIM_SCHEDULE": schedule}
        if programs.run(program, test, extra, options.timeout) != 0:
            return schedule
    return None


def examine(program, test, options):
    """(wait, catcher) of each wait of a test; None where the test does not pass."""
    # A copy with pageable memory waits by itself, and would hide that a wait is missing.
    for pageable in {"CULVERT_SIM_LATE_PAGEABLE_COPIES": "1"}, {}:
        waits = programs.journal_of("wait", program, test, options.timeout, pageable)
        if waits is not None:
            return [(wait, catcher(program, test, wait, pageable, options)) for wait in waits]
    return None


@functools.cache
def lines_of(file):
    path = pathlib.Path(file)
    return path.read_text().splitlines() if path.exists() else []


def reason_for(place):
    """Why the source says that a wait at FILE:LINE is redundant, or None."""
    found = re.match(r"(.+):(\d+)( |$)", place)
    if not found:
        return None
    lines, at = lines_of(found[1]), int(found[2]) - 1
    for begin in range(at, max(at - 6, -1), -1):
        if begin >= len(lines):
            continue
        reason = re.search(r"// Redundant: (.+)", lines[begin])
        if reason:
            return reason[1]
        if begin < at and not lines[begin].lstrip().startswith("//"):
            break  # only a comment directly above
    return None


def main():
    parser = programs.parser(__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--list", action="store_true", help="print the redundant waits too")
    options = parser.parse_args()

    counts = collections.Counter()
    redundant = collections.Counter()
    not_caught = collections.defaultdict(list)
    failed = []
    results = programs.examine_all(options, lambda *test: examine(*test, options))
    for program, test, waits in results:
        if waits is None:
            failed.append(f"{program.name} {test} fails with all its waits")
        for (number, function, place), caught in waits or []:
            reason = None if caught else reason_for(place)
            if caught:
                counts["late" if caught == "late" else "random"] += 1
            elif reason:
                counts["redundant"] += 1
                redundant[f"{place.split(' ')[0]} {reason}"] += 1
            else:
                counts["not caught"] += 1
                not_caught[f"{place.split(' ')[0]} {function}"].append(
                    f"{program.name} {test} {number}")
    print(f"{sum(counts.values())} waits: " + ", ".join(
        f"{name} {counts[name]}" for name in ("late", "random", "redundant", "not caught")))
    failed += [f"{place}: {len(tests)} in {', '.join(sorted(tests)[:3])}"
               for place, tests in sorted(not_caught.items())]
    for line in failed + (sorted(redundant) if options.list else []):
        print(line)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
