#!/usr/bin/env python3
"""Checks the documentation: public symbols have comments, types that a client starts from have examples, articles compile,
`docc` converts without a warning.

Usage: documentation.py BIN (the folder of `swift build --show-bin-path`) | --self-test
"""
import json
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MODULES = ["PagodaKit", "PagodaMini", "PagodaHub", "PagodaMCP", "PagodaTesting", "PagodaServer", "PagodaChatCore"]
CATALOG = ROOT / "Sources/PagodaKit/PagodaKit.docc"
# Members that the compiler synthesises or a protocol requires, which need no explanation.
WELL_KNOWN = re.compile(r"^(==|!=|hash\(into:\)|encode\(to:\)|init\(from:\)|init\(rawValue:\)|rawValue|allCases|AllCases"
                        r"|RawValue|ID|hashValue|unownedExecutor)")


def undocumented(graph):
    """Names of the graph's own symbols without a comment."""
    faults = []
    for symbol in graph["symbols"]:
        path = symbol["pathComponents"]
        if "docComment" not in symbol and not WELL_KNOWN.match(path[-1]) and "::SYNTHESIZED::" not in \
                symbol["identifier"]["precise"]:
            faults.append(".".join(path))
    return faults


def without_example(graph, front_page):
    """Types that a client starts from, which are those that the catalogue's front page lists, without an example."""
    comments = {symbol["pathComponents"][0]: "\n".join(line["text"] for line in symbol.get("docComment", {}).get("lines", []))
                for symbol in graph["symbols"] if len(symbol["pathComponents"]) == 1}
    return [name for name in re.findall(r"^- ``(\w+)``$", front_page, re.MULTILINE) if "```swift" not in comments.get(name, "")]


def programs(text):
    """The concatenated Swift blocks of an article: together they are one program."""
    return "\n".join(re.findall(r"^```swift\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))


def run(command):
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def all_symbols(folder):
    """The graph of a module, including its extensions of other modules' types, which the extractor writes separately."""
    graphs = sorted(folder.glob("*.symbols.json"))
    return {"symbols": [symbol for graph in graphs for symbol in json.loads(graph.read_text())["symbols"]]}


def symbol_graphs(bin_path, folder):
    """Missing comments of all modules; leaves PagodaKit's graph in `folder`."""
    faults = []
    target = f"{platform.machine()}-unknown-linux-gnu" if sys.platform == "linux" else f"{platform.machine()}-apple-macosx14.0"
    for module in MODULES:
        out = folder / module
        out.mkdir()
        command = ["swift", "symbolgraph-extract", "-module-name", module, "-I", f"{bin_path}/Modules", "-target", target,
                   "-I", "Sources/CEpoll", "-Xcc", f"-fmodule-map-file={bin_path}/ServerPage.build/module.modulemap",
                   "-Xcc", f"-fmodule-map-file={bin_path}/CDigest.build/module.modulemap",
                   "-minimum-access-level", "public", "-skip-synthesized-members", "-output-dir", str(out)]
        result = run(command)
        graph = out / f"{module}.symbols.json"
        if result.returncode != 0 or not graph.exists():
            faults.append(f"{module}: no symbol graph: {result.stderr.strip()[-400:]}")
            continue
        content = all_symbols(out)
        faults += [f"{module}: {name} has no comment" for name in undocumented(content)]
        if module == CATALOG.stem:
            page = (CATALOG / f"{module}.md").read_text(encoding="utf-8")
            faults += [f"{module}: the comment of {name} has no example" for name in without_example(content, page)]
        print(f"{module}: {len(content['symbols'])} public symbols")
    return faults


def articles(bin_path, folder):
    """Compile errors of the articles' programs."""
    faults = []
    for article in [*sorted(CATALOG.glob("*.md")), ROOT / "README.md", ROOT / "docs/embedding.md"]:
        source = programs(article.read_text(encoding="utf-8"))
        if not source:
            continue
        main = folder / article.stem / "main.swift"
        main.parent.mkdir()
        main.write_text(source)
        result = run(["swiftc", "-typecheck", "-swift-version", "6", "-I", f"{bin_path}/Modules", str(main)])
        if result.returncode != 0:
            faults.append(f"{article.relative_to(ROOT)} does not compile:\n{result.stderr}")
        else:
            print(f"{article.relative_to(ROOT)}: compiles")
    return faults


def converted(folder):
    """Errors and warnings that docc reports for the catalog."""
    if not shutil.which("docc"):
        print("not run: this toolchain has no docc")
        return []
    graphs = folder / "PagodaKit"
    result = run(["docc", "convert", str(CATALOG), "--additional-symbol-graph-dir", str(graphs), "--warnings-as-errors",
                  "--fallback-bundle-identifier", "dev.pagoda.kit", "--output-path", str(folder / "archive")])
    text = result.stdout + result.stderr
    if result.returncode != 0 or "warning:" in text:
        return [f"docc: {text.strip()[-4000:]}"]
    print("docc: no warning")
    return []


def self_test():
    def symbol(name, **more):
        return {"pathComponents": ["Type", name], "identifier": {"precise": "s:1"}, **more}

    graph = {"symbols": [symbol("good", docComment={"lines": []}), symbol("bad"), symbol("==(_:_:)")]}
    article = "text\n```swift\nlet a = 1\n```\n```sh\nls\n```\n```swift\nprint(a)\n```\n"
    types = {"symbols": [{"pathComponents": [name], "docComment": {"lines": [{"text": text}]}}
                         for name, text in [("A", "```swift"), ("B", "B."), ("C", "C.")]]}
    return (undocumented(graph) == ["Type.bad"] and programs(article) == "let a = 1\n\nprint(a)\n"
            and without_example(types, "# ``M``\n- ``A``\n- ``B``\n- ``A/b``\n") == ["B"])


def main():
    if sys.argv[1:] == ["--self-test"]:
        return 0 if self_test() else 1
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        faults = symbol_graphs(sys.argv[1], folder) + articles(sys.argv[1], folder) + converted(folder)
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
