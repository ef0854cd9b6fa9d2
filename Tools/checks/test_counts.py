#!/usr/bin/env python3
"""Compares the tests a runner reports with those in the source tree, so that no test is silently lost.

Usage: test_counts.py native LOG [FILTER ...] | swift LOG | leave LIST | --self-test
TEST_DIRS, as in Tools/native, limits the C++ tests to those of some folders.
`leave` writes the C++ tests that `swift test` may skip because a native run covers all of them: those outside
Tests/CxxCoreTests/device, which depend least on the compiler's optimisation. PAGODA_CXX_TESTS_LEFT names that list: `swift test` must then skip exactly
these, and the native run must name each.
Prints "PASSED FAILED" as its last line; exits 1, with the reason, if the runner ran fewer tests than exist.
"""
import os
import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NATIVE_END = re.compile(r"^(\d+) passed, (\d+) failed$", re.MULTILINE)
XCTEST_END = re.compile(r"^\s*Executed (\d+) tests?, with (\d+) failures?", re.MULTILINE)
SWIFT_END = re.compile(r"^. Test run with (\d+) tests? in \d+ suites? (passed|failed)", re.MULTILINE)
SWIFT_CASES = re.compile(r"^. Test (?!case |run ).* with (\d+) test cases? (?:passed|failed) after", re.MULTILINE)
SWIFT_FAILED = re.compile(r"^. Test (?!case |run ).* failed after", re.MULTILINE)
SWIFT_SKIPPED = re.compile(r"^. Test (?!case |run )(.*?)(?:\(\))? skipped", re.MULTILINE)
NATIVE_RAN = re.compile(r"^(?:ok  |FAIL) (\w+)", re.MULTILINE)


def without_comments(text):
    return re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE)


def tests_in_tree(root, folders=()):
    """Names of the C++ tests, and the number of @Test functions and XCTest methods of the package's own Swift test targets.

    `folders`: names below Tests/CxxCoreTests; all of them by default.
    """
    cxx, swift = [], 0
    top = root / "Tests/CxxCoreTests"
    for path in (path for folder in folders or ["."] for path in (top / folder).rglob("*.cpp")):
        cxx += re.findall(r"^\s*PAGODA_TEST\((\w+)\)", without_comments(path.read_text(encoding="utf-8")), re.MULTILINE)
    for path in (root / "Tests").rglob("*.swift"):
        text = without_comments(path.read_text(encoding="utf-8"))
        swift += len(re.findall(r"@Test\b", text))
        if re.search(r"^import XCTest$", text, re.MULTILINE) and "Stubs" not in path.parts:
            swift += len(re.findall(r"^  func test\w+\(\)", text, re.MULTILINE))
    return cxx, swift


def tests_to_leave(root):
    """C++ tests that do not have to run in every optimised build."""
    device = set(tests_in_tree(root, ["device"])[0])
    return [name for name in tests_in_tree(root)[0] if name not in device]


def missing(names, where):
    return [f"{len(names)} C++ tests {where}, among them {min(names)}"] if names else []


def native(log, names, *filters, left=()):
    """(passed, failed, faults) of a Tools/native run of the tests whose names contain one of the filters.

    `left`: tests that another runner skipped because this one covers them.
    """
    expected = sum(not filters or any(part in name for part in filters) for name in names)
    ends = NATIVE_END.findall(log)
    if not ends:
        return 0, 1, ["the runner printed no closing line: it crashed or did not build"]
    passed, failed = map(int, ends[-1])
    faults = [f'no C++ test has "{part}" in its name' for part in filters if not any(part in name for name in names)]
    if passed + failed < expected:
        faults.append(f"{passed + failed} C++ tests ran, the tree holds {expected}")
    faults += missing(set(left) - set(NATIVE_RAN.findall(log)), "were left to this run, which does not name them")
    return passed, failed, faults


def swift(log, num_cxx, num_swift, left=()):
    """(passed, failed, faults) of `swift test`, which has one test function per C++ test besides its own.

    Each case of a parameterised test counts as one, a skipped test as none. `left`: tests that it skips because a native run covers them.
    """
    ends, xctest = SWIFT_END.findall(log), XCTEST_END.findall(log)
    if not ends:
        return 0, 1, ["swift test printed no closing line of Swift Testing: it crashed or did not build"]
    functions = sum(int(count) for count, _ in ends)
    cases = [int(count) for count in SWIFT_CASES.findall(log)]
    skipped, failed = SWIFT_SKIPPED.findall(log), len(SWIFT_FAILED.findall(log))
    xctest_ran, xctest_failed = map(int, xctest[-1]) if xctest else (0, 0)
    if any(verdict == "failed" for _, verdict in ends) and failed == 0:
        failed = 1
    faults = missing(set(left) - set(skipped), "were to be left to a native run, but were not skipped")
    ran = functions - len(skipped) + xctest_ran
    if ran + len(left) < num_cxx + num_swift:
        tree = f"{num_cxx} in C++ and {num_swift} in Swift"
        faults.append(f"swift test ran {ran} tests ({len(skipped)} skipped), the tree holds {tree}")
    total = functions - len(skipped) - len(cases) + sum(cases) + xctest_ran
    return total - failed - xctest_failed, failed + xctest_failed, faults


def folders_are_respected():
    with tempfile.TemporaryDirectory() as root:
        for folder in ["engine", "model"]:
            path = Path(root, "Tests/CxxCoreTests", folder)
            path.mkdir(parents=True)
            (path / "a_test.cpp").write_text(f"PAGODA_TEST({folder}_a) {{}}\n", encoding="utf-8")
        both, one = tests_in_tree(Path(root))[0], tests_in_tree(Path(root), ["model"])[0]
        return (sorted(both) == ["engine_a", "model_a"] and one == ["model_a"] and
                sorted(tests_to_leave(Path(root))) == ["engine_a", "model_a"])


def tests_of_the_device_are_not_left():
    with tempfile.TemporaryDirectory() as root:
        for folder in ["device/gpu", "model"]:
            path = Path(root, "Tests/CxxCoreTests", folder)
            path.mkdir(parents=True)
            (path / "a_test.cpp").write_text(f"PAGODA_TEST({path.name}_a) {{}}\n", encoding="utf-8")
        return tests_to_leave(Path(root)) == ["model_a"]


def both_kinds_of_swift_tests_count():
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root, "Tests/Some")
        folder.mkdir(parents=True)
        (folder / "A.swift").write_text("import XCTest\nclass A: XCTestCase {\n  func testA() async throws {}\n  func testB() {}\n"
                                        "  func helper() {}\n}\n", encoding="utf-8")
        (folder / "B.swift").write_text("import Testing\n@Test func a() {}\nfunc testing() {}\n", encoding="utf-8")
        return tests_in_tree(Path(root))[1] == 3


def self_test():
    names = ["io_a", "io_b", "engine_c"]
    good = ("\t Executed 0 tests, with 0 failures (0 unexpected) in 0.0 (0.0) seconds\n"
            "✔ Test free() passed after 0.001 seconds.\n"
            "✔ Test many(index:) with 3 test cases passed after 0.001 seconds.\n"
            "✔ Test run with 5 tests in 1 suite passed after 0.002 seconds.\n")
    bad = good.replace("✔ Test free() passed", "✘ Test free() failed").replace("suite passed", "suite failed")
    skipped = good.replace("✔ Test free() passed after 0.001 seconds.", '➜ Test free() skipped: "why"')
    left = good.replace("✔ Test free() passed after 0.001 seconds.", '➜ Test io_a() skipped: "left"')
    ran = "ok   io_a (1 ms)\nFAIL io_b (1 ms)\nok   engine_c (1 ms)\n2 passed, 1 failed\n"
    return folders_are_respected() and tests_of_the_device_are_not_left() and both_kinds_of_swift_tests_count() and all([
        native(ran, names, left=["io_a", "io_b"]) == (2, 1, []),
        native(ran.replace("io_b", "io_x"), names, left=["io_a", "io_b"])[2] != [],
        swift(left, 3, 2, ["io_a"]) == (6, 0, []),
        swift(left, 3, 2, ["io_b"])[2] != [],
        swift(left, 4, 2, ["io_a"])[2] != [],
        native("3 passed, 0 failed\n", names) == (3, 0, []),
        native("1 passed, 1 failed\n", names, "io") == (1, 1, []),
        native("3 passed, 0 failed\n", names, "io", "_c") == (3, 0, []),
        native("2 passed, 0 failed\n", names, "io", "_c")[2] != [],
        native("2 passed, 0 failed\n", names)[2] != [],
        native("0 passed, 0 failed\n", names, "nothing")[2] != [],
        native("2 passed, 0 failed\n", names, "io", "nothing")[2] != [],
        native("Segmentation fault\n", names)[1:] != (0, []),
        swift(good, 3, 2) == (7, 0, []),
        swift(bad, 3, 2) == (6, 1, []),
        swift(good, 4, 2)[2] != [],
        swift(good, 3, 3)[2] != [],
        swift(skipped, 3, 2)[2] != [],
        swift("✔ Test run with 0 tests in 0 suites passed after 0.001 seconds.\n", 3, 2)[2] != [],
        swift("error: fatalError\n", 3, 2)[1:] != (0, []),
    ])


def main():
    arguments = sys.argv[1:]
    if arguments == ["--self-test"]:
        return 0 if self_test() else 1
    if arguments[0] == "leave":
        left = tests_to_leave(ROOT)
        Path(arguments[1]).write_text("\n".join(left) + "\n", encoding="utf-8")
        print(f"{len(left)} of {len(tests_in_tree(ROOT)[0])} C++ tests are left to the native run of all of them")
        return 0
    log = Path(arguments[1]).read_text(encoding="utf-8", errors="replace")
    list_of_left = os.environ.get("PAGODA_CXX_TESTS_LEFT")
    left = Path(list_of_left).read_text(encoding="utf-8").split() if list_of_left else []
    names, num_swift = tests_in_tree(ROOT, [Path(folder).name for folder in os.environ.get("TEST_DIRS", "").split()])
    if arguments[0] == "native":
        passed, failed, faults = native(log, names, *arguments[2:], left=left)
    else:
        passed, failed, faults = swift(log, len(names), num_swift, left)
    for fault in faults:
        print(f"counts: {fault}")
    print(passed, failed + len(faults))
    return 1 if faults or failed else 0


if __name__ == "__main__":
    sys.exit(main())
