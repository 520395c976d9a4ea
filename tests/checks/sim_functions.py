#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Lists the CUDA functions that the simulated runtime defines, as docs/simulated_functions.md.

With --check it writes nothing and fails if the page is stale, or if culvert's headers call a
function of CUDA's runtime that is not defined.
"""

import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/simulated_functions.md"
PER_THREAD = ("_ptsz", "_ptds")

# At the beginning of a line, as the formatter puts it: a type, the name, parameters, a brace.
DEFINITION = re.compile(
    r'^(?:extern "C" )?[A-Za-z_][\w:]*(?: [\w:]+)*[ *&]+((?:cuda|cu|__cuda)[A-Z]\w*)'
    r"\(([^;{}]*)\)\s*(?:noexcept\s*)?\{",
    re.MULTILINE,
)
# What the driver's entry points are called.
ENTRY_POINT = re.compile(r'"(cu[A-Z]\w*Async)"')
DECLARATION = re.compile(r"CUDARTAPI (cuda\w+)\s*\(")

HEAD = """# Functions of the simulated runtime

Written by `tests/checks/sim_functions.py` from `sim/*.cpp`; a test fails when it is stale. What they
do is on the page of [the simulated runtime](simulated_runtime.md). "Both forms" means that a
program compiled with `CUDA_API_PER_THREAD_DEFAULT_STREAM` finds the form it calls, too.
"""


def subject(text):
    """The comment at the head of a file, up to its first full stop."""
    lines = []
    for line in text.splitlines()[1:]:
        if not line.startswith("// "):
            break
        lines.append(line[3:])
    return re.split(r"\.(?: |$)", " ".join(lines))[0]


def scan():
    """By file: its subject, and the functions it defines."""
    files = {}
    for path in sorted((ROOT / "sim").glob("*.cpp")):
        text = path.read_text()
        names = {match.group(1) for match in DEFINITION.finditer(text)}
        if path.name == "api_driver.cpp":
            names |= {match.group(1) for match in ENTRY_POINT.finditer(text)}
        if names:
            files[path.name] = (subject(text), names)
    return files


def base(name):
    return name[:-5] if name.endswith(PER_THREAD) else name


def page(files):
    everything = set().union(*(names for _, names in files.values()))
    both = {base(name) for name in everything if name.endswith(PER_THREAD)}
    plain = {name for name in everything if not name.endswith(PER_THREAD)}
    parts = [HEAD, f"{len(plain)} functions, {len(both)} of them in both forms.\n"]
    for file, (about, names) in files.items():
        own = sorted(names & plain)
        if not own:
            continue
        parts.append(f"## {about}\n\n`sim/{file}`\n")
        lines = [f"- `{name}`" + (", both forms" if name in both else "") for name in own]
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def called_by_headers(cuda_includes):
    """The runtime's functions that are named in culvert's headers outside of comments."""
    declared = set()
    for folder in cuda_includes:
        path = pathlib.Path(folder, "cuda_runtime_api.h")
        if path.exists():
            declared |= set(DECLARATION.findall(path.read_text()))
    if not declared:
        sys.exit("cuda_runtime_api.h is not in " + " or ".join(cuda_includes))
    named = set()
    for header in (ROOT / "include/culvert").glob("*.hpp"):
        text = re.sub(r"//[^\n]*|\"[^\"\n]*\"", "", header.read_text())
        named |= set(re.findall(r"\bcuda[A-Z]\w*", text))
    return named & declared


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--cuda-include", nargs="+", help="with --check: checks what culvert's headers call, too")
    options = parser.parse_args()
    files = scan()
    text = page(files)
    if not options.check:
        PAGE.write_text(text)
        return
    faults = []
    if not PAGE.exists() or PAGE.read_text() != text:
        faults.append(f"{PAGE.relative_to(ROOT)} is stale: run tests/checks/sim_functions.py")
    if options.cuda_include:
        defined = set().union(*(names for _, names in files.values()))
        called = called_by_headers(options.cuda_include)
        if not called:
            faults.append("no call is found in culvert's headers")
        for name in sorted(called - defined):
            faults.append(f"culvert's headers call {name}, which the simulated runtime has not")
    if faults:
        sys.exit("\n".join(faults))


if __name__ == "__main__":
    main()
