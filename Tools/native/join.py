#!/usr/bin/env python3
"""Writes the files that the package compiles for the core (CxxCore/joined), its code for GPUs (CxxCore/gpu) and its tests
(Tests/CoreTestSuite): each includes up to eight files of one folder. The compiler then reads their headers once, which halves the time
of a first build. Usage: join.py [--check]

Compiled alone are files with a #pragma or #define, which would affect the next file; files listed in unity_alone.txt, which define a
local name that another file of their folder defines too; generated kernels, which all define the names of their headers; fibers, whose
switch of stacks must stay a call; and Metal, which no compiler here sees as a whole.
"""

import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
GPU = "CxxCore/src/device/gpu"
FOLDERS = {"CxxCore/src": "CxxCore/joined", GPU: "CxxCore/gpu", "Tests/CxxCoreTests": "Tests/CoreTestSuite"}
ALONE_BELOW = ("generated", "metal", "software")
MOST = 8


def file_name(path):
    """engine/core -> engine/core, device/cpu/isa -> device/cpu_isa, cache -> cache/cache; the top folder -> all/all"""
    parts = path.parts or ("all",)
    return f"{parts[0]}/{'_'.join(parts[1:]) or parts[0]}"


def is_alone(path, top):
    """Whether a file of a folder below the top one must be compiled as it is. Kernels as text define one name each."""
    if top in ALONE_BELOW:
        return not path.name.endswith("_source.cpp")
    return bool(re.search(r"^#(pragma|define)", path.read_text(), re.MULTILINE))


def groups(folder):
    """Name of a joined file -> the files of the folder that it includes."""
    alone = set((ROOT / "Tools/native/unity_alone.txt").read_text().split())
    folders, made = {}, {}
    for path in sorted((ROOT / folder).rglob("*.cpp")):
        name, whole = path.relative_to(ROOT / folder), path.relative_to(ROOT).as_posix()
        if folder != GPU and whole.startswith(GPU):
            continue
        if whole in alone or is_alone(path, name.parts[0]):
            made[file_name(name.with_suffix(""))] = [path]
        else:
            folders.setdefault(file_name(name.parent), []).append(path)
    for name, paths in folders.items():
        count = -(-len(paths) // MOST)
        for part in range(count):
            members = paths[part * len(paths) // count : (part + 1) * len(paths) // count]
            made[name + (f"_{part + 1}" if count > 1 else "")] = members
    return made


def text_of(joined, paths):
    includes = (f'#include "{pathlib.PurePath(os.path.relpath(path, joined.parent)).as_posix()}"\n' for path in paths)
    return "// Compiled as one file; Tools/native/join.py writes this list.\n" + "".join(includes)


def main():
    wanted, found = {}, {}
    for folder, to in FOLDERS.items():
        for name, paths in groups(folder).items():
            joined = ROOT / to / f"{name}.cpp"
            wanted[joined] = text_of(joined, paths)
        found |= {path: path.read_text() for path in (ROOT / to).rglob("*.cpp")}
    if "--check" in sys.argv[1:]:
        different = sorted(str(path.relative_to(ROOT)) for path in wanted.keys() | found.keys() if wanted.get(path) != found.get(path))
        print(f"{len(wanted)} joined files, {len(different)} out of date" + (f": run Tools/native/join.py ({', '.join(different)})" if different else ""))
        return bool(different)
    for path in found.keys() - wanted.keys():
        path.unlink()
    for path, text in wanted.items():
        if found.get(path) != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    return False


if __name__ == "__main__":
    sys.exit(main())
