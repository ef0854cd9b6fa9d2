#!/usr/bin/env python3
"""Finds duplicated logic: the same six lines twice in the core, the Swift sources or the tools.

Usage: duplicate_code.py [--self-test]
Comments, blank lines, includes, braces, declarations of overrides and rows of tables do not count. ALLOWED gives the reason
for each pair of files that may share lines.
"""
import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ["CxxCore/src", "CxxCore/include", "Sources", "Apps", "Tools"]
SUFFIXES = {".cpp", ".h", ".swift", ".py", ".sh"}
RUN = 6  # lines
SKIPPED = re.compile(r"""//|\*|\#\s*(include|import|pragma|if|endif|else|\s)|\#!|"|import\b|from\b.*\bimport\b|namespace\b|using\b
    |@\w+$|(public|private|protected)\s*:|[\W_]*$|.*\boverride;|.*=\s*0;|case\b[^{]*:[^{]*return|\{.*\},?$
    |args\.\w+\ =\ |\.\w+\ =\ .*,$""", re.VERBOSE)  # the last two: fields of structs, one per line
# Files that may share lines: (parts of their paths) -> reason.
ALLOWED = {
    ("device/gpu/shim/",): "each shim declares the same language to another compiler",
    ("device/cpu/isa/",): "tables of kernels, one for each instruction set",
}


def code_lines(text):
    """(number, line) of the lines that count, with white space folded."""
    lines = ((number, " ".join(line.split())) for number, line in enumerate(text.splitlines(), 1))
    return [(number, line) for number, line in lines if line and not SKIPPED.match(line)]


def pairs(texts):
    """{(file, file): (line, line, number of lines)} of the first run that two files, or two parts of one file, share."""
    seen, found = {}, {}
    for file, text in texts.items():
        lines = code_lines(text)
        for i in range(len(lines) - RUN + 1):
            run = tuple(line for _, line in lines[i:i + RUN])
            first = seen.setdefault(run, (file, lines[i][0], i))
            if first[0] == file and i - first[2] < RUN:
                continue
            found.setdefault((first[0], file), (first[1], lines[i][0]))
    return found


def is_allowed(a, b):
    return any(all(any(part in file for part in parts) for file in (a, b)) for parts in ALLOWED)


def sources(root):
    found = (path for folder in FOLDERS for path in sorted((root / folder).rglob("*")))
    files = [path for path in found if path.suffix in SUFFIXES and ".build" not in path.relative_to(root).parts]
    kept = [path for path in files if "generated" not in path.parts and not re.search(r"_tables?\.", path.name)]
    return {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in kept}


def check(root):
    texts = sources(root)
    found = {places: lines for places, lines in pairs(texts).items() if not is_allowed(*places)}
    return [f"{a}:{x} and {b}:{y} share {RUN} lines" for (a, b), (x, y) in sorted(found.items())], len(texts)


def self_test():
    logic = "".join(f"  total_{i} += weight[{i}] * scale;\n" for i in range(RUN))
    table = "".join(f'  {{"row", {i}}},\n' for i in range(2 * RUN))
    with tempfile.TemporaryDirectory() as folder:
        for name, text in {"CxxCore/src/a.cpp": "int a() {\n" + logic + "}\n", "Sources/b.swift": "// b\n" + logic.replace("  ", "\t"),
                           "Apps/c.swift": table, "Apps/d.swift": table, "Tools/e.py": logic[:-20] + "\n",
                           "CxxCore/src/generated/f.cpp": logic}.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        faults, count = check(Path(folder))
    expected = ["CxxCore/src/a.cpp:2 and Sources/b.swift:2 share 6 lines"]
    if faults != expected or count != 5:
        print("self-test:", faults, count)
        return False
    return True


def main():
    if sys.argv[1:] == ["--self-test"]:
        return 0 if self_test() else 1
    faults, count = check(ROOT)
    print(*faults, f"{count} source files, {len(faults)} pairs that share {RUN} lines of logic", sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
