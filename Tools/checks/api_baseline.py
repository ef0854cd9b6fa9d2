#!/usr/bin/env python3
"""Compares the public API with the baseline in api_baseline.txt, so that no client's code breaks without a decision.

Usage: api_baseline.py BIN (the folder of `swift build --show-bin-path`) [--update] | --self-test
A symbol of the baseline that was removed or changed is an error; a new one is only listed. --update rewrites the baseline:
for a new version, or after a change that the changelog and docs/migration.md describe.
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
    """One line for each symbol: module, kind, path and declaration."""
    lines = set()
    for symbol in graph["symbols"]:
        if "::SYNTHESIZED::" in symbol["identifier"]["precise"]:
            continue
        text = "".join(part["spelling"] for part in symbol.get("declarationFragments", []))
        lines.add(" ".join(f"{module} {symbol['kind']['identifier']} {'.'.join(symbol['pathComponents'])}: {text}".split()))
    return lines


def compare(before, now):
    """(removed lines, new lines)."""
    return sorted(before - now), sorted(now - before)


def self_test():
    def symbol(name, text):
        return {"identifier": {"precise": "s:1"}, "kind": {"identifier": "swift.method"}, "pathComponents": ["Type", name],
                "declarationFragments": [{"spelling": text}]}

    before = declarations("Kit", {"symbols": [symbol("a()", "func a()"), symbol("b()", "func b()  -> Int")]})
    now = declarations("Kit", {"symbols": [symbol("b()", "func b() -> String"), symbol("a()", "func a()"), symbol("c()", "func c()")]})
    gone, new = compare(before, now)
    return gone == ["Kit swift.method Type.b(): func b() -> Int"] and len(new) == 2 and compare(now, now) == ([], [])


def main(arguments):
    if arguments == ["--self-test"]:
        return 0 if self_test() else 1
    with tempfile.TemporaryDirectory() as name:
        with contextlib.redirect_stdout(io.StringIO()):
            symbol_graphs(arguments[0], Path(name))
        now = set().union(*(declarations(module, all_symbols(Path(name, module))) for module in MODULES))
    if "--update" in arguments:
        BASELINE.write_text("\n".join(sorted(now)) + "\n")
        print(f"{len(now)} symbols are the baseline now")
        return 0
    gone, new = compare(set(BASELINE.read_text().splitlines()), now)
    for line in gone:
        print(f"gone or changed: {line}")
    for line in new:
        print(f"new: {line}")
    print(f"{len(now)} public symbols, {len(gone)} of the baseline gone or changed, {len(new)} new")
    return 1 if gone else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
