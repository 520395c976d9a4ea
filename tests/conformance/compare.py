#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Compares the facts that a program prints with those of a real GPU.

usage: compare.py PROGRAM REFERENCE [--differences FILE] [--output FILE] [--same-machine]

Ends with 0 if they are the same but for the listed differences, with 1 and the lines that differ if
they are not, and with 77 if there is no reference or the program could not run (1 with
CULVERT_REQUIRE_GPU=1). With --same-machine also with 77 if they differ and the program's first line
names another GPU or version of CUDA than that of the reference: then both may be right. A line of
the differences is "group/name = reason", or "group/* = reason" for a whole group. A listed fact that is the same is an error: its line has to go.
"""
import argparse
import os
import pathlib
import subprocess
import sys

SKIPPED = 77


def parse(text, what):
    """The lines "name = answer" as a dictionary; # begins a comment."""
    facts = {}
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        name, equals, answer = line.partition(" = ")
        if not equals:
            sys.exit(f'{what}: no " = " in: {line}')
        if name in facts:
            sys.exit(f"{what}: twice: {name}")
        facts[name] = answer
    return facts


def compare(actual, reference, listed):
    """The messages about what differs, and about listed facts that do not."""
    # The order is that of the reference; a dictionary keeps it.
    different = [name for name in {**reference, **actual} if actual.get(name) != reference.get(name)]
    used = set()
    messages = []
    for name in different:
        entry = next((e for e in (name, name.split("/")[0] + "/*") if e in listed), None)
        if entry:
            used.add(entry)
            continue
        messages.append(f"{name}\n    GPU:  {reference.get(name, '(no such line)')}"
                        f"\n    here: {actual.get(name, '(no such line)')}")
    for entry in listed:
        if entry not in used:
            messages.append(f"listed as different, but it is the same: {entry}")
    return len(different), messages


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("reference", type=pathlib.Path)
    parser.add_argument("--differences", type=pathlib.Path)
    parser.add_argument("--output", type=pathlib.Path)
    parser.add_argument("--same-machine", action="store_true")
    arguments = parser.parse_args()

    run = subprocess.run([arguments.program, "--jobs", "4"], stdout=subprocess.PIPE, text=True,
                         check=False)
    if arguments.output:
        arguments.output.write_text(run.stdout)
    if run.returncode == SKIPPED:
        print(run.stdout, end="")
        return 1 if os.environ.get("CULVERT_REQUIRE_GPU") == "1" else SKIPPED
    if run.returncode != 0:
        print(f"{run.stdout}{arguments.program} ended with {run.returncode}")
        return 1
    if not arguments.reference.exists():
        print(f"skipped: there is no {arguments.reference}, which is the output of a GPU")
        return SKIPPED

    actual = parse(run.stdout, arguments.program)
    reference_text = arguments.reference.read_text()
    reference = parse(reference_text, arguments.reference)
    listed = {}
    if arguments.differences:
        listed = parse(arguments.differences.read_text(), arguments.differences)
    different, messages = compare(actual, reference, listed)
    print("\n".join(messages))
    print(f"{len(reference)} facts of the GPU, {len(actual)} here; {different} differ, "
          f"{len(listed)} listed; {len(messages)} errors")
    machines = [text.partition("\n")[0] for text in (run.stdout, reference_text)]
    if messages and arguments.same_machine and machines[0] != machines[1]:
        print(f"skipped: this is {machines[0]}; the reference is of {machines[1]}")
        return SKIPPED
    return 1 if messages else 0


sys.exit(main())
