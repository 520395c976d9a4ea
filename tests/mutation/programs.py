# SPDX-License-Identifier: BSL-1.0
"""Runs test programs on the simulated runtime, one test at a time, under experiments."""

import argparse
import concurrent.futures
import fnmatch
import os
import pathlib
import subprocess
import tempfile

HANGS = 124


def run_told(program, test, extra, limit):
    """(exit status or HANGS, standard error) of one test of a program in that environment."""
    environment = dict(os.environ, **extra)
    command = [str(program)]
    if test:
        command.append(f"--gtest_filter={test}")
    try:
        done = subprocess.run(command, env=environment, timeout=limit, check=False,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        return done.returncode, done.stderr
    except subprocess.TimeoutExpired:
        return HANGS, b""


def run(program, test, extra, limit):
    """The exit status alone."""
    return run_told(program, test, extra, limit)[0]


def tests_of(program):
    """The names of a GoogleTest program's tests. Any other program is one test without a name."""
    if b"gtest_list_tests" not in program.read_bytes():
        return [""]
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


def journal_of(kind, program, test, timeout, extra=None):
    """The journal's lines of that kind as (number, function, place); None if the test fails."""
    with tempfile.NamedTemporaryFile("r", suffix=".journal") as journal:
        if run(program, test, {**(extra or {}), "CULVERT_SIM_JOURNAL": journal.name}, timeout) != 0:
            return None
        entries = []
        for line in journal:
            named, number, function, *place = line.rstrip("\n").split(" ", 3)
            if named == kind:
                entries.append((int(number), function, place[0] if place else ""))
        return entries


def parser(description):
    """A parser of what every experiment takes."""
    result = argparse.ArgumentParser(description=description)
    result.add_argument("programs", nargs="+", type=pathlib.Path)
    result.add_argument("--jobs", type=int, default=os.cpu_count())
    result.add_argument("--timeout", type=int, default=60, help="seconds for one run")
    result.add_argument("--filter", default="*", help="tests, as in file names")
    return result


def examine_all(options, examine):
    """Yields (program, test, examine(program, test)) of every test, several at a time."""
    work = [(program, test) for program in options.programs for test in tests_of(program)
            if fnmatch.fnmatch(test, options.filter)]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        yield from zip(*zip(*work), pool.map(lambda item: examine(*item), work))
