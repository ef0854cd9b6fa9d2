#!/usr/bin/env python3
"""Plants mutants into the kernels of Shaders/ and runs the tests against each, in the build that sees races and bounds.

Usage: mutate.py [--out folder] [--cxx clang++] [--only text] [-v]
A mutant that no test reaches, or that all tests survive, is a fault, unless equivalent_mutants.txt says why it is none.
Ends with "N passed, N failed".
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "Tests/CxxCoreTests"
EQUIVALENT = Path(__file__).with_name("equivalent_mutants.txt")
# Tests of kernels run on the software device alone, and end at their first failure.
ENVIRONMENT = {"PAGODA_TEST_DEVICE": "software", "PAGODA_TEST_FAIL_FAST": "1"}


def kernel_tests():
    """Names of the tests that may launch kernels."""
    names = []
    for path in sorted((TESTS / "device").rglob("*.cpp")):
        names += re.findall(r"^PAGODA_TEST\((\w+)\)", path.read_text(encoding="utf-8"), re.MULTILINE)
    about_kernels = [name for name in names if re.search("gpu|conformance|invariance.*chunks", name)]
    return [name for name in about_kernels if "every_path" not in name]  # that one is about devices


def run(binary, test, seconds, **env):
    command = [binary, ROOT / "Tests/Fixtures", ROOT / "Sources/MiniModel/files", test]
    try:
        return subprocess.run(command, env=os.environ | ENVIRONMENT | env, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return None


def build(out, cxx):
    mutated = out / "mutated"
    mutated.mkdir(parents=True, exist_ok=True)
    shaders = sorted(str(p.relative_to(ROOT)) for p in (ROOT / "Shaders").glob("*.metal"))
    subprocess.run([sys.executable, "Tools/mslc/mslc.py", "--target", "all", "--mutants", "-o", str(mutated), *shaders],
                   cwd=ROOT, check=True)
    jobs = str(os.cpu_count())
    subprocess.run(["make", "-s", "-j", jobs, "-C", "Tools/native", "BUILD=mutants", f"OUT={out}", f"CXX={cxx}", "build"],
                   cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    rows = [line.split("\t") for line in (mutated / "mutants.txt").read_text(encoding="utf-8").splitlines()]
    return out / "tests", [(int(n), file, int(line), kind) for n, file, line, kind in rows]


def reached_by(binary, tests):
    """Mutant -> tests that come by it, the quickest first; and how long they take. Every test must pass meanwhile."""
    reached, seconds, faults = {}, {}, []
    with tempfile.TemporaryDirectory() as folder:
        def one(test):
            path = Path(folder) / test
            begin = time.monotonic()
            done = run(binary, test, 600, PAGODA_MUTANTS_REACHED=str(path))
            seconds[test] = time.monotonic() - begin
            if done is None or done.returncode:
                faults.append(f"FAIL {test} without any mutant\n{done.stdout[-2000:] if done else 'hangs'}")
            return test, set(map(int, path.read_text().split())) if path.is_file() else set()
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for test, numbers in pool.map(one, tests):
                for n in numbers:
                    reached.setdefault(n, []).append(test)
    if faults:
        raise SystemExit("\n".join(faults) + f"\n0 passed, {len(faults)} failed")
    for tests_of in reached.values():
        tests_of.sort(key=seconds.get)
    return reached, seconds


def excused():
    """(file, text of the line, kind) of mutants that change nothing."""
    rows = [line for line in EQUIVALENT.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    return {tuple(part.strip() for part in row.split("|")[:3]) for row in rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default=str(ROOT / ".build/native/mutants"))
    parser.add_argument("--cxx", default="clang++")
    parser.add_argument("--only", default="", help="mutants whose file contains this")
    parser.add_argument("-v", action="store_true")
    options = parser.parse_args()
    binary, mutants = build(Path(options.out).resolve(), options.cxx)
    tests, known = kernel_tests(), excused()
    reached, seconds = reached_by(binary, tests)

    def judge(mutant):
        n, file, line, kind = mutant
        text = (ROOT / file).read_text(encoding="utf-8").splitlines()[line - 1].strip()
        if (file, text, kind) in known:
            return True, "excused"
        for test in reached.get(n, []):
            done = run(binary, test, 20 + 10 * seconds[test], PAGODA_MUTANT=str(n))  # longer is a hang, and noticed
            if done is None or done.returncode:
                return True, test + (" hangs" if done is None else "")
        if n in reached:
            return False, "survives " + ", ".join(reached[n])
        if any(m in reached for m, *place in mutants if place == [file, line, kind]):
            return True, "is met in another file that has the same header"
        return False, "is reached by no test"

    if options.v:
        print("".join(f"{seconds[t]:6.1f} s {t}\n" for t in sorted(tests, key=seconds.get)), flush=True)
    chosen = [m for m in mutants if options.only in m[1]]
    passed = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for (n, file, line, kind), (ok, what) in zip(chosen, pool.map(judge, chosen)):
            passed += ok
            if not ok or options.v:
                print(f"{'ok  ' if ok else 'FAIL'} {file}:{line}: {kind}: {what}", flush=True)
    print(f"{len(tests)} tests against {len(chosen)} mutants")
    print(f"{passed} passed, {len(chosen) - passed} failed")
    return 0 if passed == len(chosen) and chosen else 1


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(main())
