#!/usr/bin/env python3
"""Checks that Tests/Client, which CI compiles as a client of the package, uses every public entry point.

Usage: entry_points.py | --self-test
An entry point is a public function, initialiser or static property of a product that clients import (MODULES), as
api_baseline.txt lists them. Not entry points: properties, cases and subscripts, which belong to a value that a client has already,
and members that only the language calls (NEVER_CALLED). A function counts as used if the client calls or declares one with its
name and labels: every parameter without a default, no other label, in order; closures may trail. Functions with the same name and
labels, of several types or for several types of arguments, therefore count together. PagodaChatCore is the app's own logic, and
PagodaFoundationModels and PagodaTransformers need frameworks that CI lacks.
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MODULES = {"PagodaKit", "PagodaMini", "PagodaHub", "PagodaMCP", "PagodaTesting", "PagodaServer"}
KINDS = {"swift.method", "swift.type.method", "swift.init", "swift.type.property", "swift.func"}
NEVER_CALLED = re.compile(r"(^|\.)(hash\(into:\)|encode\(to:\)|init\(from:\)|init\(rawValue:\)|init\(stringLiteral:\)"
                          r"|makeAsyncIterator\(\)|next\(\))$")
BASELINE_LINE = re.compile(r"(\w+) (swift\.\S+) ([\w.]+(?:\([^)]*\))?): (.*)")
CLOSING = {"(": ")", "[": "]", "{": "}"}
STRING = re.compile(r'#"(?:[^"]|"(?!#))*"#|"(?:[^"\\]|\\.)*"')


def skip(text, index):
    """The index after the bracket that opens at `index`. Strings must have been removed."""
    stack = []
    while index < len(text):
        if text[index] in CLOSING:
            stack.append(CLOSING[text[index]])
        elif stack and text[index] == stack[-1]:
            stack.pop()
            if not stack:
                return index + 1
        index += 1
    return index


def elements(text):
    """The elements of an argument or parameter list, divided by its own commas."""
    found, begin, index = [], 0, 0
    while index < len(text):
        if text[index] in CLOSING:
            index = skip(text, index)
            continue
        if text[index] == ",":
            found.append(text[begin:index])
            begin = index + 1
        index += 1
    return [element.strip() for element in [*found, text[begin:]] if element.strip()]


def declared_label(element):
    label = re.match(r"(?:@\w+ )*(\w+)", element)[1]
    return "" if label == "_" else label


def parameters(declaration):
    """(label, whether it may be left out, whether it is a closure, whether it takes several) of each parameter."""
    text = re.sub(r"<[^<>()]*>", "", STRING.sub("0", declaration))
    start = text.find("(")
    return [(declared_label(element), " = " in element, "->" in element, element.endswith("..."))
            for element in elements(text[start + 1:skip(text, start) - 1])]


def fits(wanted, labels, has_trailing):
    """Whether a call with these labels can be one of a function with the parameters `wanted`."""
    index = 0
    for label, is_optional, is_closure, is_several in wanted:
        if index < len(labels) and labels[index] == label:
            index += 1
            while is_several and index < len(labels) and labels[index] == "":
                index += 1
        elif not is_optional and not is_several and not (is_closure and has_trailing):
            return False
    return index == len(labels)


def calls(source, name):
    """(labels, whether a closure trails) of each call or declaration of `name`."""
    for match in re.finditer(rf"(func )?(?<!\w){re.escape(name)}(?:<[^()]*?>)?([(]| ?[{{])", source):
        if match[2] != "(":
            yield [], True
            continue
        end = skip(source, match.end() - 1)
        listed = elements(source[match.end():end - 1])
        if match[1]:
            yield [declared_label(element) for element in listed], False
        else:
            labels = (re.match(r"(\w+):", element) for element in listed)
            yield [label[1] if label else "" for label in labels], re.match(r"\s*{", source[end:]) is not None


def is_used(kind, path, declaration, source):
    names = path.split("(")[0].split(".")
    if kind == "swift.type.property":
        return re.search(rf"(\.|var |let ){names[-1]}\b", source) is not None
    wanted = parameters(declaration)
    called = [names[-2], ".init"] if names[-1] == "init" else [names[-1]]
    return any(fits(wanted, *call) for name in called for call in calls(source, name))


def unused(baseline, source):
    """The entry points that the client does not use, and the number of all entry points."""
    source = STRING.sub("0", re.sub(r"^\s*//.*$", "", source, flags=re.MULTILINE))
    missing, count = [], 0
    for module, kind, path, declaration in BASELINE_LINE.findall(baseline):
        if module not in MODULES or kind not in KINDS or NEVER_CALLED.search(path):
            continue
        count += 1
        if not is_used(kind, path, declaration, source):
            missing.append(f"{module} {path}")
    return missing, count


def self_test():
    baseline = "\n".join([
        "PagodaKit swift.method A.go(to:by:): func go(to place: String, by way: Map<Way, Int> = .foot) throws",
        "PagodaKit swift.method A.go(to:with:): func go(to place: String, with friends: [String])",
        "PagodaKit swift.method A.ask(_:then:): func ask(_ text: String, then: @escaping (Int, Int) -> Void)",
        "PagodaKit swift.init A.B.init(_:_:): init(_ name: String, _ body: () -> Int)",
        "PagodaKit swift.type.property A.all: static let all: [A]",
        "PagodaKit swift.property A.size: var size: Int { get }",
        "PagodaKit swift.method A.hash(into:): func hash(into hasher: inout Hasher)",
        "PagodaChatCore swift.method Z.z(): func z()"])
    whole = 'a.go(to: "x, with: (")\na.go(to: f(1, 2), with: [])\nask("q") { print($0, $1) }\nB("n") { 1 }\nprint(A.all)'
    names = ["A.go(to:by:)", "A.go(to:with:)", "A.ask(_:then:)", "A.B.init(_:_:)", "A.all"]
    cut = whole.splitlines()
    without = [unused(baseline, "\n".join(cut[:i] + cut[i + 1:])) for i in range(len(cut))]
    declared = unused(baseline.splitlines()[0], "func go(to place: String, by way: Way) {}")
    commented = unused(baseline.splitlines()[4], "// A.all")
    return (unused(baseline, whole) == ([], 5) and declared == ([], 1) and commented[0] == ["PagodaKit A.all"]
            and without == [([f"PagodaKit {name}"], 5) for name in names])


def main(arguments):
    if arguments == ["--self-test"]:
        return 0 if self_test() else 1
    client = "\n".join(path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("Tests/Client/**/*.swift")))
    missing, count = unused((ROOT / "Tools/checks/api_baseline.txt").read_text(encoding="utf-8"), client)
    for name in missing:
        print(f"Tests/Client does not use {name}")
    print(f"{count} public entry points, {len(missing)} not used by the client package")
    return 1 if missing or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
