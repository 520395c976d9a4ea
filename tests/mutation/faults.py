#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Makes each runtime call of each test fail on the simulated runtime, one at a time.

A test may fail then. It must not crash, end by std::terminate, hang or leave anything behind. What
a test leaves behind without a fault, on purpose, is not held against it.
Of a function that one test calls in a loop, `--most` calls are chosen, evenly spread.
"""

import collections
import sys

import programs

# How the simulated runtime tells of leaks.
LEAK = b"culvert::sim: leaked:"
# What a failed call leaves: nobody can end the same object twice.
ENDS = ("Destroy", "Free", "Unregister", "Release")
FAIL_ON_LEAKS = {"CULVERT_SIM_LEAKS": "fail"}


def evenly(items, most):
    """At most so many of them, the first and the last among them."""
    if len(items) <= most:
        return items
    return [items[i * (len(items) - 1) // max(most - 1, 1)] for i in range(most)]


def chosen(calls, most):
    """(function, which of its calls, from 1), of each function at most so many."""
    counts = collections.Counter(function for _, function, _ in calls)
    return [(function, number) for function, count in counts.items()
            for number in evenly(range(1, count + 1), most)]


def examine(program, test, options):
    """(call, what went wrong or None) of each call of a test; None where the test fails anyway."""
    calls = programs.journal_of("call", program, test, options.timeout)
    if calls is None:
        return None
    results = []
    leaks_anyway = programs.run(program, test, FAIL_ON_LEAKS, options.timeout) != 0
    for function, number in chosen(calls, options.most):
        extra = {"CULVERT_SIM_FAIL": f"{function}:{options.error}:{number}"}
        if not leaks_anyway and not any(word in function for word in ENDS):
            extra.update(FAIL_ON_LEAKS)
        status, told = programs.run_told(program, test, extra, options.timeout)
        wrong = None
        if status == programs.HANGS:
            wrong = "hangs"
        elif status < 0:
            wrong = f"ends by signal {-status}"
        elif status == 2 and LEAK in told:
            wrong = "leaks"
        elif status == 2 and test:
            wrong = "is refused"  # (a plain program may end with 2 by itself)
        results.append(((number, function), wrong))
    return results


def main():
    parser = programs.parser(__doc__.splitlines()[0])
    parser.add_argument("--error", default="cudaErrorUnknown", help="what the calls answer")
    parser.add_argument("--most", type=int, default=50, metavar="N",
                        help="calls of one function in one test")
    options = parser.parse_args()

    injected = 0
    failed = []
    for program, test, calls in programs.examine_all(
            options, lambda *one: examine(*one, options)):
        if calls is None:
            failed.append(f"{program.name} {test} fails without a fault")
        for (number, function), wrong in calls or []:
            injected += 1
            if wrong:
                failed.append(f"{program.name} {test} {number}:{function} {wrong}")
    print(f"{injected} faults injected, {len(failed)} not survived")
    for line in failed:
        print(line)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
