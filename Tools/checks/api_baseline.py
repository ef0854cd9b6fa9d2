#!/usr/bin/env python3
"""Compares the public API with the baseline in api_baseline.txt, so that no client's code breaks without a decision.

Usage: api_baseline.py BIN (the folder of `swift build --show-bin-path`) [--update] | --self-test
A symbol of the baseline that was removed or changed is an error; a new one is only listed. Deprecated symbols belong to the
baseline as well, because clients still use them until a version removes them: one that the baseline lacks is an error.
--update rewrites the baseline: for a new version, or after a change that the changelog describes.
"""
import contextlib
import io
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
from documentation import MODULES, all_symbols, symbol_graphs

BASELINE = Path(__file__).with_suffix(".txt")


def declarations(module, graph):
    """A line for each symbol, with its module, kind, path and declaration, and whether it is deprecated."""
    lines = {}
    for symbol in graph["symbols"]:
        if "::SYNTHESIZED::" in symbol["identifier"]["precise"]:
            continue
        text = "".join(part["spelling"] for part in symbol.get("declarationFragments", []))
        line = " ".join(f"{module} {symbol['kind']['identifier']} {'.'.join(symbol['pathComponents'])}: {text}".split())
        lines[line] = any(entry.get("isUnconditionallyDeprecated") for entry in symbol.get("availability", []))
    return lines


def compare(before, now):
    """(removed lines, new lines, new lines of deprecated symbols)."""
    new = sorted(line for line in now if line not in before)
    return (sorted(line for line in before if line not in now), [line for line in new if not now[line]],
            [line for line in new if now[line]])


def self_test():
    def symbol(name, text, **more):
        return {"identifier": {"precise": "s:1"}, "kind": {"identifier": "swift.method"}, "pathComponents": ["Type", name],
                "declarationFragments": [{"spelling": text}], **more}

    def lines(*symbols):
        return declarations("Kit", {"symbols": symbols})

    a, c = symbol("a()", "func a()"), symbol("c()", "func c()")
    old = symbol("old()", "func old()", availability=[{"domain": "*", "isUnconditionallyDeprecated": True}])
    before = lines(a, symbol("b()", "func b()  -> Int"))
    now = lines(symbol("b()", "func b() -> String"), a, c, old)
    gone, new, unlisted = compare(before, now)
    return (gone == ["Kit swift.method Type.b(): func b() -> Int"] and len(new) == 2
            and unlisted == ["Kit swift.method Type.old(): func old()"]
            and compare(lines(a, old), lines(a)) == (unlisted, [], []) and compare(now, now) == ([], [], []))


def main(arguments):
    if arguments == ["--self-test"]:
        return 0 if self_test() else 1
    with tempfile.TemporaryDirectory() as name:
        with contextlib.redirect_stdout(io.StringIO()):
            symbol_graphs(arguments[0], Path(name))
        now = {}
        for module in MODULES:
            now |= declarations(module, all_symbols(Path(name, module)))
    if "--update" in arguments:
        BASELINE.write_text("\n".join(sorted(now)) + "\n")
        print(f"{len(now)} symbols are the baseline now")
        return 0
    gone, new, unlisted = compare(set(BASELINE.read_text().splitlines()), now)
    for line in gone:
        print(f"gone or changed: {line}")
    for line in unlisted:
        print(f"deprecated, but not in the baseline: {line}")
    for line in new:
        print(f"new: {line}")
    print(f"{len(now)} public symbols, {len(gone)} of the baseline gone or changed, {len(unlisted)} deprecated and not in it, "
          f"{len(new)} new")
    return 1 if gone or unlisted else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
