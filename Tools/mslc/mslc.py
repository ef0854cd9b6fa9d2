#!/usr/bin/env python3
"""mslc: translates .metal files in the portable subset to C++ for one of several targets.

  mslc.py --target software|cuda|strict|lint [--clang clang++] [-o out] in.metal
  mslc.py --target all -o folder in.metal...     everything the core compiles: Tools/mslc/generate.sh

The text is preprocessed with Metal's predefined macros and tokenised. Everything except the constructs listed in
module.py reaches the C++ compiler unchanged; the target's shim header defines it.
"""
import argparse
import sys
from pathlib import Path

import emit
import host
import texts
from headers import SHADERS, Shared
from module import Module
from tokens import Diag, preprocess, tokenize

DEFINES = {"cuda": ["__MSL_PAIRED_MMA__"]}


def load(path, target, diag, options, first_mutant=None):
    includes = options.includes + [str(Path(path).parent)]
    text = preprocess(path, options.clang, includes, options.defines + DEFINES.get(target, []))
    return Module(tokenize(text), target, diag, first_mutant)


def translate_all(options, diag):
    """Name -> text of every generated file."""
    files, modules, mutants = {}, [], []
    own = options.table == "files"  # kernels of Shaders/, which share headers
    for_software, marks = Shared(host.software_name), {}
    for path in sorted(options.sources):
        stem = Path(path).stem
        software = load(path, "software", diag, options, len(mutants) if options.mutants else None)
        modules.append((stem, software))
        mutants += [(stem, *site) for site in software.mutants]
        inline = not own or options.mutants  # a mutant is numbered by the kernel it is planted in
        files[f"{stem}.cpp"] = emit.software(software, path, str if inline else for_software.splitter(path))
        cuda = None if emit.has_tensors(path) else load(path, "cuda", diag, options)
        marks |= software.marks | (cuda.marks if cuda else {})
        files[f"{stem}_source.cpp"] = host.source_file(stem, texts.shared(Path(path), path, marks), emit.entries(cuda) if cuda else "")
    files["bindings.h"] = host.bindings_header(modules)
    files["files.cpp"] = host.table_file([stem for stem, _ in modules], options.table)
    if own:
        names = sorted(path.relative_to(SHADERS).as_posix() for path in SHADERS.rglob("*.h"))
        files["headers.cpp"] = host.kernel_headers([(n, texts.shared(SHADERS / n, f"Shaders/{n}", marks)) for n in names])
        files["cuda_headers.cpp"] = host.cuda_headers()
    if own and not options.mutants:
        for path, text in for_software.headers():
            files[Path(host.software_name(path)).name] = host.software_header(path, text)
    if options.mutants:
        files["mutants.txt"] = "".join("\t".join(map(str, (n, *site))) + "\n" for n, site in enumerate(mutants))
    return files


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--target", required=True, choices=[*emit.TARGETS, "all"])
    parser.add_argument("--clang", default="clang++")
    parser.add_argument("-I", action="append", default=[], dest="includes")
    parser.add_argument("-D", action="append", default=[], dest="defines")
    parser.add_argument("--table", default="files", help="the function that lists the files of --target all")
    parser.add_argument("--mutants", action="store_true", help="with --target all: plant mutants, listed in mutants.txt")
    parser.add_argument("--no-lint", action="store_true", help="report lints and continue")
    parser.add_argument("-o", default="-", dest="out")
    parser.add_argument("sources", nargs="+")
    options = parser.parse_args()
    diag = Diag()
    if options.target == "all":
        outputs = {Path(options.out) / name: text for name, text in translate_all(options, diag).items()}
    else:
        mod = load(options.sources[0], options.target, diag, options)
        outputs = {options.out: emit.TARGETS[options.target](mod, options.sources[0])}
    for item in diag.items:
        print(f"{item} [mslc]", file=sys.stderr)
    if diag.items and not options.no_lint:
        return 1
    for path, text in outputs.items():
        if path == "-":
            sys.stdout.write(text)
        elif not Path(path).is_file() or Path(path).read_text(encoding="utf-8") != text:
            Path(path).write_text(text, encoding="utf-8")  # leaves the timestamps of unchanged files alone: no rebuild
    return 0


if __name__ == "__main__":
    sys.exit(main())
