#!/usr/bin/env python3
"""Checks that every source file starts with a comment stating its purpose. Usage: header_sentence.py [--self-test]"""
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SLASHES, HASH = ("//",), ("#",)
MARKS = {".h": SLASHES, ".cpp": SLASHES, ".swift": SLASHES, ".metal": SLASHES, ".sh": HASH, ".py": ('"""', "#")}
NOT_A_SENTENCE = re.compile(r"swift-tools-version|!|clang-format|Copyright|\w+\.(h|cpp|swift|py)$")


def opening(text, marks):
    """The text of the first comment line, or None if the file starts with something else."""
    for line in text.splitlines()[:3]:
        if line.startswith(("#!", "// swift-tools-version")):
            continue
        return line.lstrip('/#" ') if line.startswith(marks) else None
    return None


def is_sentence(words):
    return words is not None and len(words.split()) >= 3 and not NOT_A_SENTENCE.match(words)


def self_test():
    good = ["// Reads JSON with limits on depth.\n#pragma once\n",
            "// swift-tools-version: 6.2\n// The package: a core and its doors.\n"]
    bad = ["#pragma once\n", "// json.h\n", "// Copyright of somebody, some year\n", "\n// Reads JSON with limits.\n"]
    return all(is_sentence(opening(text, SLASHES)) for text in good) and not any(
        is_sentence(opening(text, SLASHES)) for text in bad)


def main():
    if "--self-test" in sys.argv[1:]:
        return 0 if self_test() else 1
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    files = [ROOT / name for name in listed if Path(name).suffix in MARKS and (ROOT / name).is_file()]
    faults = [path.relative_to(ROOT) for path in files
              if not is_sentence(opening(path.read_text(encoding="utf-8"), MARKS[path.suffix]))]
    for path in faults:
        print(f"{path}: does not start with a comment sentence stating its purpose")
    print(f"{len(files)} source files, {len(faults)} without an opening sentence")
    return 1 if faults or not files else 0


if __name__ == "__main__":
    sys.exit(main())
