#!/usr/bin/env python3
"""Checks the Markdown files: links, paths they name, and the `pagoda` commands in their shell blocks.
Usage: docs.py [--self-test] [--run PAGODA]

Links to files and headings must exist, and so must every path in backquotes that begins with a top-level folder, or in
ARCHITECTURE.md and CONTRIBUTING.md with a module of the core (`engine/load/loader`, with or without a suffix).
Shell blocks are checked with --run PAGODA: each `pagoda` command must exist and know all its flags, and a block that no
comment exempts is executed. `<!-- not run: REASON -->` before a block exempts it; the reasons are printed.
A block after `<!-- server -->` is executed while `pagoda serve` listens on port 8080."""
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = "Apps|CxxCore|Deploy|Shaders|Sources|Tests|Tools|docs"
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
NAMED_PATH = re.compile(r"`((?:%s)/[^`\s]*)`" % FOLDERS)
CORE_PATH = re.compile(r"`(\w+/[\w/*.]+)`")  # below CxxCore/src
CORE_DOCUMENTS = {"ARCHITECTURE.md", "CONTRIBUTING.md"}
HEADING = re.compile(r"^#+ +(.*)$", re.MULTILINE)
BLOCK = re.compile(r"(?:<!-- (not run: [^>]*?|server) -->\s*)?^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def documents(root):
    files = [*root.glob("*.md"), *root.glob("docs/**/*.md"), *root.glob("Sources/*/README.md"), *root.glob("Deploy/**/*.md")]
    return sorted(files)


def anchors(text):
    names = set()
    for heading in HEADING.findall(FENCE.sub("", text)):
        plain = re.sub(r"[^\w\- ]", "", heading.lower()).strip()
        names.add(plain.replace(" ", "-"))
    return names


def link_faults(root, document):
    text, faults = document.read_text(encoding="utf-8"), []
    body = FENCE.sub("", text)
    for target in LINK.findall(body):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        file = (document.parent / name) if name else document
        if not file.exists():
            faults.append(f"{document.relative_to(root)}: link to {target}: no such file")
        elif anchor and file.suffix == ".md" and anchor not in anchors(file.read_text(encoding="utf-8")):
            faults.append(f"{document.relative_to(root)}: link to {target}: no such heading")
    for name in NAMED_PATH.findall(body):
        name = name.rstrip("/")
        if re.search(r"[<>{}]|\bNAME\b", name):
            continue  # a pattern, not a path
        if not (any(root.glob(name)) if "*" in name else (root / name).exists()):
            faults.append(f"{document.relative_to(root)}: names {name}: no such file")
    core = root / "CxxCore/src"
    for name in CORE_PATH.findall(body) if document.name in CORE_DOCUMENTS else []:
        is_module = (core / name.split("/")[0]).is_dir()
        if is_module and not any(any(core.glob(name.rstrip("/") + suffix)) for suffix in ("", ".h", ".cpp")):
            faults.append(f"{document.relative_to(root)}: names {name}: no such file in CxxCore/src")
    return faults


def commands(block):
    """The `pagoda` commands of a block as lists of words."""
    for line in block.replace("\\\n", " ").splitlines():
        found = re.search(r"(?:^|&& |\| )(?:swift run -c release )?pagoda ([a-z].*)", line.split(" #")[0])
        if found:
            yield found.group(1).split()


def flag_faults(pagoda, words):
    name = "bench " + words[1] if words[0] == "bench" and len(words) > 1 and not words[1].startswith("-") else words[0]
    answer = subprocess.run([pagoda, *name.split(), "--help"], capture_output=True, text=True, timeout=60)
    if answer.returncode != 0:
        return [f"there is no command `pagoda {name}`"]
    known = set(re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", answer.stdout))
    flags = [w.split("=")[0] for w in words if re.match(r"--?[a-z]", w)]
    return [f"`pagoda {name}` has no flag {flag}" for flag in flags if flag not in known]


def run_block(block, environment, folder):
    return subprocess.run(["bash", "-euo", "pipefail", "-c", block], cwd=folder, env=environment, capture_output=True,
                          text=True, timeout=300, stdin=subprocess.DEVNULL)


class Server:
    """Runs `pagoda serve` on its default port, for blocks that send requests to it."""

    def __init__(self, pagoda):
        self.process = subprocess.Popen([pagoda, "serve"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 300
        while self.process.poll() is None and time.monotonic() < end:
            try:
                urllib.request.urlopen("http://localhost:8080/health", timeout=60).read()
                return
            except OSError:
                time.sleep(0.2)
        raise SystemExit("docs: `pagoda serve` did not become ready; is port 8080 in use?")

    def close(self):
        self.process.terminate()
        self.process.wait(timeout=120)


def run_documents(root, pagoda):
    passed, faults = 0, []
    pagoda = os.path.abspath(pagoda)
    environment = dict(os.environ, PATH=os.path.dirname(pagoda) + ":" + os.environ["PATH"])
    with tempfile.TemporaryDirectory() as folder:
        for document in documents(root):
            name = document.relative_to(root)
            for mark, block in BLOCK.findall(document.read_text(encoding="utf-8")):
                where = f"{name}: {block.strip().splitlines()[0][:60]}"
                wrong = [fault for words in commands(block) for fault in flag_faults(pagoda, words)]
                if not wrong and mark.startswith("not run: "):
                    print(f"{mark}: {where}")
                elif not wrong:
                    server = Server(pagoda) if mark == "server" else None
                    answer = run_block(block.replace("swift run -c release pagoda", "pagoda"), environment, folder)
                    if server:
                        server.close()
                    if answer.returncode != 0:
                        wrong = [f"ended with status {answer.returncode}: {answer.stderr.strip()[-300:]}"]
                faults += [f"{where}: {fault}" for fault in wrong]
                passed += not wrong
    return passed, faults


def self_test():
    planted = {
        "a.md": "[x](missing.md)", "b.md": "[x](c.md#nowhere)", "d.md": "see `Tools/gone.py`", "e.md": "`CxxCore/*.none`",
        "CONTRIBUTING.md": "`engine/gone`"}
    fine = {"c.md": "# Some title\n[y](#some-title) and [z](https://example.com/) and `Tools/<name>`\n```\n[q](gone)\n```",
            "ARCHITECTURE.md": "`engine/step`, `engine/step.h`, `engine/*.h` and `other/thing`"}
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "CxxCore/src/engine").mkdir(parents=True)
        (root / "CxxCore/src/engine/step.h").touch()
        for name, text in (planted | fine).items():
            (root / name).write_text(text)
        faults = [fault for document in documents(root) for fault in link_faults(root, document)]
        tool = root / "pagoda"
        tool.write_text("#!/bin/sh\n[ \"$1\" = chat ] && echo ' --model NAME' || exit 1\n")
        tool.chmod(0o755)
        (root / "docs").mkdir()
        (root / "docs/f.md").write_text("```sh\npagoda chat --nope\n```\n<!-- not run: why -->\n```sh\npagoda chat --model x\n```\n"
                                        "```sh\nfalse\n```\n```sh\npagoda sing\n```\n")
        passed, wrong = run_documents(root, str(tool))
    missed = [name for name in planted if not any(fault.startswith(name + ":") for fault in faults)]
    extra = [fault for fault in faults if fault.split(":")[0] in fine]
    if missed or extra or passed != 1 or len(wrong) != 3:
        print("self-test:", missed, extra, passed, wrong)
        return False
    return True


def main():
    if "--self-test" in sys.argv:
        return 0 if self_test() else 1
    if "--run" in sys.argv:
        passed, faults = run_documents(ROOT, sys.argv[sys.argv.index("--run") + 1])
        print("\n".join(["FAIL " + fault for fault in faults] + [f"{passed} passed, {len(faults)} failed"]))
        return 1 if faults else 0
    faults = [fault for document in documents(ROOT) for fault in link_faults(ROOT, document)]
    print("\n".join(faults + [f"{len(documents(ROOT))} documents, {len(faults)} faults"]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
