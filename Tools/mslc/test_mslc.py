#!/usr/bin/env python3
"""Tests of the generator: its output matches the source, wrong names do not compile, and stale files are detected.

Usage: test_mslc.py. Ends with "N passed, N failed".
"""
import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import headers
import host
import mslc
import texts
from tokens import Diag, preprocess, tokenize

ROOT = Path(__file__).resolve().parents[2]
GENERATED = ROOT / "CxxCore/src/device/gpu/generated"
RESULTS = []


def expect(name, condition, detail=""):
    RESULTS.append(bool(condition))
    if not condition:
        print(f"FAIL {name} {detail}")


def load(path, target):
    return mslc.load(path, target, Diag(), argparse.Namespace(includes=[], defines=[], clang="clang++"))


def translate(text, target="software", options=()):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sample.metal"
        path.write_text(text, encoding="utf-8")
        command = [sys.executable, "-B", "Tools/mslc/mslc.py", "--target", target, *options, str(path)]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def compiles(statement):
    """Whether a host file with this statement compiles against the generated names."""
    text = f'#include "device/gpu/generated/bindings.h"\nnamespace k = pagoda::device::gpu::kernels;\nauto x = {statement};\n'
    command = ["clang++", "-std=c++20", "-fsyntax-only", "-x", "c++", "-ICxxCore/src", "-ICxxCore/include", "-"]
    return subprocess.run(command, cwd=ROOT, input=text, capture_output=True, text=True).returncode == 0


def names():
    expect("a right name compiles", compiles("k::rms_norm::kernel") or compiles("k::rms_norm::f32"))
    expect("a right binding compiles", compiles("int{k::rms_norm::weight}"))
    expect("a wrong kernel does not compile", not compiles("k::rms_nrom::kernel"))
    expect("a wrong binding does not compile", not compiles("int{k::rms_norm::wieght}"))
    # Every binding in the source, found with a simple pattern, has its index in the header.
    header = (GENERATED / "bindings.h").read_text(encoding="utf-8")
    for path in sorted((ROOT / "Shaders").glob("*.metal")):
        for name, index in re.findall(r"(\w+) \[\[buffer\((\d+)\)\]\]", path.read_text(encoding="utf-8")):
            expect(f"{path.name}: {name}", re.search(rf"\b{name} = {index}\b", header), "is not in bindings.h")


def translation():
    sample = """#include <metal_stdlib>
using namespace metal;
constant float scale [[function_constant(3)]];
template <typename T, uint N>
[[max_total_threads_per_threadgroup(N * 32)]]
kernel void fill(device T* out [[buffer(4)]], device const half4* in [[buffer(1)]], constant uint& n [[buffer(2)]],
                 uint2 at [[thread_position_in_grid]]) {
  threadgroup T tile[N * 2][3];
  threadgroup T* p = &tile[0][0];
  for (uint i = 0; i < n; ++i) { p[i] = T(0.5f); }
#pragma unroll
  for (uint i = 0; i < 4; ++i) { out[at.x + i] = p[i] * T(scale) + T(in[0].x); }
}
template [[host_name("fill_f32")]] kernel decltype(fill<float, 8>) fill<float, 8>;
template [[host_name("fill_f16")]] kernel decltype(fill<half, 4>) fill<half, 4>;
"""
    done = translate(sample)
    text = done.stdout
    expect("the sample translates", done.returncode == 0, done.stderr)
    expect("bindings are sorted, with sizes and who writes", '{"in", 1, BindingKind::buffer, sizeof(half4), false}, '
           '{"n", 2, BindingKind::values, sizeof(uint), false}, {"out", 4, BindingKind::buffer, sizeof(float), true}' in text)
    expect("the limit of threads is the text's", "{}, 8*32, msl_entry_0}" in text.replace("msl_constants", "{}") and "4*32, msl_entry_1}" in text)
    expect("function constants are listed", '{"scale", 3, ConstantType::float_, msl_set_scale}' in text)
    expect("a threadgroup array is no pointer", "MSL_TG_VAR(1, tile, [N*2][3], T)" in text)
    expect("a threadgroup pointer is no array", "MSL_THREADGROUP T* p = " in text)
    expect("loops are counted", "MSL_LOOP(i < n)" in text and "MSL_LOOP(i < 4)" not in text)
    cuda = translate(sample, "cuda").stdout
    expect("CUDA parameters follow the indices", "MSL_GLOBAL(BOUNDS)(const half4* in, const uint n, T* out) {" in cuda)
    expect("CUDA limits threads", "#define MSL_ENTRY_fill_f32 MSL_KERNEL_fill((8*32), float, 8)\n" in cuda)
    expect("an instance is a macro", "\nMSL_INSTANCE(fill_f16, fill, half, 4)\n" in cuda and "host_name" not in cuda)
    expect("a threadgroup array is shared", "  MSL_SHARED T tile[N * 2][3];\n  threadgroup T* p = " in cuda)
    expect("a function constant is a macro", "\nMSL_FUNCTION_CONSTANT(float, scale, 3)\n" in cuda)


def staleness():
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "tree"
        for part in ("Shaders", "Tools/mslc", "Tests/Kernels", "Tests/CxxCoreTests/generated",
                     "CxxCore/src/device/gpu/shim", "CxxCore/src/device/gpu/generated"):
            shutil.copytree(ROOT / part, copy / part)
        check = [copy / "Tools/mslc/generate.sh", "--check"]
        fresh = subprocess.run(check, capture_output=True, text=True)
        expect("what is checked in is fresh", fresh.returncode == 0, fresh.stdout + fresh.stderr)
        shader = copy / "Shaders/rms_norm.metal"
        shader.write_text(shader.read_text(encoding="utf-8") + "constant constexpr uint kNew = 1;\n", encoding="utf-8")
        expect("a changed text is stale", subprocess.run(check, capture_output=True).returncode != 0)


def lines_of(text):
    return [line for line in text.split("\n") if line.strip() and not headers.MARK.match(line)]


def software_headers():
    """Texts that include headers are equivalent to texts with the headers expanded in place."""
    shared = headers.Shared(lambda path: f"Shaders/{path}")
    bodies = {path: load(path, "software").body() for path in SOURCES}
    split = {path: shared.split(body, path) for path, body in bodies.items()}
    by_name = {f"Shaders/{path}": text for path, text in shared.headers()}

    def spliced(text, seen):
        for line in lines_of(text):
            include = headers.INCLUDE.match(line)
            if not include:
                yield line
            elif include[1] not in seen:
                seen.add(include[1])
                yield from spliced(by_name[include[1]], seen)

    for path, body in bodies.items():
        expect(f"{path} with its headers is its text", list(spliced(split[path], set())) == lines_of(body))
    bad = bodies[SOURCES[0]].replace('# 1 "Shaders/common.h"', '# 1 "Shaders/common.h"\nint planted;', 1)
    try:
        shared.split(bad, SOURCES[0])
        expect("a header that differs is an error", False)
    except SystemExit as error:
        expect("a header that differs is an error", "Shaders/common.h" in str(error))


def metal_texts():
    """Metal's compiler sees the same tokens in the shared texts, after shim/metal.h, as in Shaders/."""
    begin = (host.SHIM / "metal.h").read_text(encoding="utf-8")
    marks = {}
    for path in SOURCES:
        marks |= load(path, "software").marks | load(path, "cuda").marks
    with tempfile.TemporaryDirectory() as folder:
        for path in [*SOURCES, *map(str, Path("Shaders").rglob("*.h"))]:
            text = texts.shared(Path(path), path, marks)
            copy = Path(folder) / path
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text((begin if path in SOURCES else "#pragma once\n") + text, encoding="utf-8")
        for path in SOURCES:
            seen = [preprocess(str(base / path), "clang++", [str(base / "Shaders")], []) for base in (ROOT, Path(folder))]
            old, new = ([t.text.strip() for t in tokenize(text) if t.kind not in ("ws", "nl", "mark")] for text in seen)
            expect(f"{path}: the same for Metal", ["#pragma METAL fp contract(off)", *old] == new)


os.chdir(ROOT)  # line markers contain file names as given on the command line
SOURCES = sorted(glob.glob("Shaders/*.metal"))
names()
translation()
software_headers()
metal_texts()
staleness()
print(f"{sum(RESULTS)} passed, {len(RESULTS) - sum(RESULTS)} failed")
sys.exit(0 if all(RESULTS) else 1)
