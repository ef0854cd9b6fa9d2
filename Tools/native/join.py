#!/usr/bin/env python3
"""Writes CxxCore/joined: the files that the package compiles, each of which includes up to eight files of one folder of CxxCore/src.
The compiler then reads their headers once, which halves the time of a first build. Usage: join.py [--check]

Files with a #pragma or #define, which would affect the next file, and files listed in unity_alone.txt, which define a local name
that another file of their folder defines too, are compiled alone. CxxCore/src/device/gpu is a target of its own.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES, JOINED = ROOT / "CxxCore/src", ROOT / "CxxCore/joined"
MOST = 8


def file_name(path):
    """engine/core -> engine/core, device/cpu/isa -> device/cpu_isa, cache -> cache/cache"""
    return f"{path.parts[0]}/{'_'.join(path.parts[1:]) or path.parts[0]}"


def groups():
    """Name of a joined file -> the files it includes, relative to CxxCore/src."""
    alone = {line.removeprefix("CxxCore/src/") for line in (ROOT / "Tools/native/unity_alone.txt").read_text().split()}
    folders, made = {}, {}
    for path in sorted(SOURCES.rglob("*.cpp")):
        name = path.relative_to(SOURCES)
        if name.parts[:2] == ("device", "gpu"):
            continue
        if str(name) in alone or re.search(r"^#(pragma|define)", path.read_text(), re.MULTILINE):
            made[file_name(name.with_suffix(""))] = [name]
        else:
            folders.setdefault(file_name(name.parent), []).append(name)
    for folder, names in folders.items():
        count = -(-len(names) // MOST)
        for part in range(count):
            members = names[part * len(names) // count : (part + 1) * len(names) // count]
            made[folder + (f"_{part + 1}" if count > 1 else "")] = members
    return made


def main():
    wanted = {JOINED / f"{name}.cpp": "// Compiled as one file; Tools/native/join.py writes this list.\n"
              + "".join(f'#include "../../src/{member}"\n' for member in members) for name, members in groups().items()}
    found = {path: path.read_text() for path in JOINED.rglob("*.cpp")}
    if "--check" in sys.argv[1:]:
        different = sorted(str(path.relative_to(JOINED)) for path in wanted.keys() | found.keys() if wanted.get(path) != found.get(path))
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
