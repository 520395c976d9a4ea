#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Counts the instructions of each operation, as raw CUDA and as culvert, and prints a table.

The program instructions.cpp runs them on a runtime that does nothing, under valgrind's
callgrind. The counts are exact: they depend on the compiler, not on the machine or its load.
See docs/overhead.md.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
SOURCES = ["instructions.cpp", "operations.cpp", "null_runtime.cpp"]
FLAGS = ["-std=c++20", "-O2"]
CALLS = 1000  # as in instructions.cpp
COLUMNS = ["operation", "raw", "culvert", "culvert's own", "allocations"]


def output(command, **options):
    process = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, **options)
    if process.returncode != 0:
        sys.exit(f"failed ({process.returncode}): {' '.join(map(str, command))}")
    return process.stdout


def count(options):
    """Compiles and runs the program: instructions by name, and its lines of allocations."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program = folder / "instructions"
        output([options.compiler, *FLAGS, f"-I{ROOT / 'include'}",
                "-isystem", options.cuda_include,
                *(ROOT / "benchmarks" / source for source in SOURCES), "-o", program])
        allocations = output(["valgrind", "-q", "--tool=callgrind",
                              f"--callgrind-out-file={folder / 'counts'}", program])
        counts = {}
        for path in folder.glob("counts*"):
            text = path.read_text()
            trigger = re.search(r"^desc: Trigger: Client Request: (.+)$", text, re.MULTILINE)
            if trigger:
                total = re.search(r"^(?:totals|summary): (\d+)", text, re.MULTILINE)
                counts[trigger[1]] = int(total[1])
    return counts, allocations.splitlines()


def rows(counts, lines):
    """The table's rows, as lists of strings."""
    allocated = {name: int(number) for name, _, number in (line.rpartition("|") for line in lines)}
    result = []
    for operation in dict.fromkeys(name.split("|")[0] for name in allocated):
        for prefix in ("", "host function of "):
            raw, culvert = (round(counts[f"{prefix}{operation}|{side}"] / CALLS)
                            for side in ("raw", "culvert"))
            if prefix and raw == culvert == 0:
                continue
            own = allocated[f"{operation}|culvert"] / CALLS
            result.append([prefix + operation, str(raw), str(culvert), str(culvert - raw),
                           "" if prefix else f"{own:g}"])
    return result


def compiler_name(options):
    first = output([options.compiler, "--version"]).split("\n")[0]
    version = output([options.compiler, "-dumpfullversion"]).strip() if "clang" not in first else ""
    return f"g++ {version}" if version else first


def page(name, table):
    lines = ["# Instructions per call", "",
             f"Written by `benchmarks/instructions.py`; [overhead.md](overhead.md) explains it.", "",
             f"Compiler: {name}, `{' '.join(FLAGS)}`, x86-64", ""]
    for row in [COLUMNS, ["---", *["---:"] * (len(COLUMNS) - 1)], *table]:
        lines.append("| " + " | ".join(row) + " |")
    return "\n".join(lines) + "\n"


def differences(committed, now):
    """What differs between two pages, as text."""
    def parts(text):
        return {line.split("|")[1].strip(): line for line in text.splitlines()
                if line.startswith("|")}
    before, after = parts(committed), parts(now)
    for row in dict.fromkeys([*before, *after]):
        if before.get(row) != after.get(row):
            yield f"{row}:\n  committed {before.get(row, 'nothing')}\n  now       {after.get(row, 'nothing')}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--compiler", default="g++-12")
    parser.add_argument("--cuda-include", default="/usr/local/cuda/include")
    parser.add_argument("--write", type=pathlib.Path, metavar="FILE", help="write the page")
    parser.add_argument("--check", type=pathlib.Path, metavar="FILE",
                        help="fail where the page differs")
    parser.add_argument("--strict", action="store_true",
                        help="fail also where the page is of another compiler")
    options = parser.parse_args()

    name = compiler_name(options)
    now = page(name, rows(*count(options)))
    print(now[now.index("Compiler"):], end="")
    if options.write:
        options.write.write_text(now)
    if options.check:
        committed = options.check.read_text()
        if f"Compiler: {name}, " not in committed:
            print(f"cannot compare: {options.check} is of another compiler")
            return int(options.strict)
        found = list(differences(committed, now))
        print("\n".join(found) or f"as in {options.check}")
        if found:
            print(f"If that is meant, write the page again: {sys.argv[0]} --compiler "
                  f"{options.compiler} --write {options.check}")
        return int(bool(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
