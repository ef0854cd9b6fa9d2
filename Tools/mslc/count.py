#!/usr/bin/env python3
"""Counts, from a kernel's text alone, what decides its speed on Apple's GPUs: registers, threadgroup memory, instructions per weight.

Usage: count.py                 every kernel: registers and bytes of threadgroup memory per thread and threadgroup
       count.py --weights       instructions per weight of unpacking, and of whole products without matrix units, by format
       count.py --check         compares both with the limits below. Ends with "N passed, N failed"
The text passes mslc and clang -O2 for a machine without vectors. Registers are the most 32-bit words that are alive at once, with 8x8
matrices as two floats or two halves per lane: an estimate for comparing versions, not what Apple's compiler allocates.
"""
import argparse
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import emit
import mslc
from liveness import most_alive
from tokens import Diag

ROOT = Path(__file__).resolve().parents[2]
# Formats by name: types, and of formats of files the kind of scales (stored.h).
FORMATS = {"f16": ("half", "16", 0), "16": ("bfloat", "16", 0), "8": ("bfloat", "8", 0), "4": ("bfloat", "4", 0),
           "q4_0": ("bfloat", "kStored4", 0), "q4_k": ("bfloat", "kStored4", 3), "mlx4": ("bfloat", "kStored4", 13),
           "q8_0": ("bfloat", "kStored8", 0), "q5_k": ("bfloat", "kStored8", 3), "mlx8": ("bfloat", "kStored8", 13),
           "q6_k": ("bfloat", "kFine8", 18)}
# The first of these that begins a format's name (base/weight_format.h) says which count applies to it.
NAMES = {"4bit": "4", "8bit": "8", "Q4_0": "q4_0", "Q4_1": "mlx4", "Q4_K": "q4_k", "int4 with": "q8_0", "int4": "q4_0", "affine 2": "mlx4", "affine 3": "mlx4",
         "affine 4": "mlx4", "affine": "mlx8", "Q5_1": "mlx8", "Q5_K": "q5_k", "Q5_0": "q8_0", "Q8_0": "q8_0", "IQ4": "q8_0", "MXFP4": "q8_0",
         "int8": "q8_0", "Q2_K": "q6_k", "Q3_K": "q6_k", "Q6_K": "q6_k"}
UNPACK = """#include "stored.h"
template <uint BITS>
kernel void unpack(device const uint* w [[buffer(0)]], device const ushort* steps [[buffer(1)]], device uint* to [[buffer(2)]], constant pagoda_args::Scales& scales [[buffer(3)]]) {
  Share<BITS> share;
  load_share(w, steps, scales, 0, 0, share);
  uint words[kChunkTiles];
  share_words(share, scales, words);
#pragma unroll
  for (uint j = 0; j < kChunkTiles; ++j) {
    to[j] = words[j];
  }
}
template <uint BITS, uint TERMS, uint KIND>
kernel void unpack_stored(device const uint* w [[buffer(0)]], device const ushort* steps [[buffer(1)]], device uint* to [[buffer(2)]], constant pagoda_args::Scales& scales [[buffer(3)]], device float* terms_to [[buffer(4)]]) {
  if (scales.kind != KIND) {
    return;
  }
  Share<BITS> share;
  load_share(w, steps, scales, 0, 0, share);
  uint words[kChunkTiles];
  float terms[TERMS];
  share_terms(share, scales, terms);
  share_words(share, scales, words);
#pragma unroll
  for (uint j = 0; j < TERMS; ++j) {
    terms_to[j] = terms[j];
  }
#pragma unroll
  for (uint j = 0; j < kChunkTiles; ++j) {
    to[j] = words[j];
  }
}
"""
UNPACK += "".join(f'template [[host_name("unpack_{name}")]] kernel decltype(unpack<{bits}>) unpack<{bits}>;\n' if "k" not in bits else
                  f'template [[host_name("unpack_{name}")]] kernel decltype(unpack_stored<{bits}, {8 if "Fine" in bits else 4}, {kind}>) '
                  f'unpack_stored<{bits}, {8 if "Fine" in bits else 4}, {kind}>;\n'
                  for name, (_, bits, kind) in FORMATS.items() if name != "f16")
WEIGHTS = 16  # that a lane unpacks in one call
SCALAR = """#include "stored_scalar.h"
template <typename T, uint BITS, uint KIND>
kernel void scalar(device const uint* w [[buffer(0)]], device const ushort* steps [[buffer(1)]], device float* to [[buffer(2)]], constant pagoda_args::Scales& scales [[buffer(3)]], uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float x[kStaged];
  if (scales.kind != KIND) {
    return;
  }
  Line<BITS> first;
  Line<BITS> second;
  load_line(w, steps, scales, 0, first);
  load_line(w, steps, scales, kChunk, second);
  float sums[1];
  sums[0] = 0.0f;
  threadgroup const float* columns = x;
  const float x_sums = staged_sums<BITS, 1>(Stored<(BITS > 100)>(), scales, columns, lane);
  multiply_line<T, BITS, 1>(Stored<(BITS > 100)>(), first, scales, columns, x_sums, 0, sums);
  multiply_line<T, BITS, 1>(Stored<(BITS > 100)>(), second, scales, columns, x_sums, 1, sums);
  to[0] = sums[0];
}
"""
SCALAR += "".join(f'template [[host_name("scalar_{name}")]] kernel decltype(scalar<{t}, {bits}, {kind}>) scalar<{t}, {bits}, {kind}>;\n'
                  for name, (t, bits, kind) in FORMATS.items())
SCALAR_WEIGHTS = 128  # that a lane multiplies in one call
# What strict.h only declares, where clang must see through it.
DEFINITIONS = """
namespace metal {
template <typename T, typename U> inline T as_type(U from) { return __builtin_bit_cast(T, from); }
inline float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
}
"""
# So that the kind of scales stays known after a shuffle.
SHUFFLE = """
namespace metal {
__attribute__((const)) float msl_shuffled(float x, ushort lane);
template <typename T> T simd_shuffle(T x, ushort lane) { return msl_shuffled(x, lane); }
}
"""
FLAGS = ["--target=aarch64-linux-gnu", "-std=c++20", "-O2", "-fno-vectorize", "-fno-slp-vectorize", "-ffreestanding", "-nostdinc", "-nostdinc++",
         "-fno-exceptions", "-fno-rtti", "-w", "-mllvm", "-inline-threshold=1000000", "-ICxxCore/src", "-S", "-emit-llvm"]
FREE = {"load", "store", "getelementptr", "bitcast", "ret", "br", "phi", "alloca", "extractelement", "insertelement", "zext", "trunc", "freeze"}
SIZES = {"f": 4, "j": 4, "i": 4, "t": 2, "s": 2, "h": 1, "c": 1, "m": 8, "l": 8, "DF16_": 2, "Dh": 2}
# Per weight; before 2026-11-18 unpacking 4 bits took 7.6. "scalar" includes the product.
MOST_INSTRUCTIONS = {"unpack_16": 0.0, "unpack_8": 6.2, "unpack_4": 5.0, "unpack_q4_0": 5.3, "unpack_q4_k": 6.4, "unpack_mlx4": 5.1, "unpack_q8_0": 5.5,
                     "unpack_q5_k": 6.6, "unpack_mlx8": 5.2, "unpack_q6_k": 8.0,
                     "scalar_f16": 2.4, "scalar_16": 2.4, "scalar_8": 7.6, "scalar_4": 4.9,
                     "scalar_q4_0": 4.8, "scalar_q4_k": 5.6, "scalar_mlx4": 5.2, "scalar_q8_0": 4.8, "scalar_q5_k": 5.6, "scalar_mlx8": 5.2,
                     "scalar_q6_k": 5.2}
MOST_THREADGROUP_BYTES = 32768  # Apple's limit
MOST_REGISTERS = 128            # of a thread of Apple's GPUs
# Tiles fit without spilling. Stored formats need a few more by this estimate; those of 128 rows of weights are not for Apple's GPUs.
FITTING = re.compile(r"matmul_tiles_(f16|bf16|q8|q4)_4")
MOST_TILE_BYTES = 8192  # of these: three threadgroups share a core
# What each kernel needs, for `pagoda bench --predict`; none may need more than it did. --check --update writes it.
TABLE = ROOT / "Apps/PagodaCLI/Bench/KernelCosts.swift"


def half_flag():
    native = "-fnative-half-arguments-and-returns"
    tried = subprocess.run(["clang++", "-fsyntax-only", "-x", "c++", "-Xclang", native, "/dev/null"], capture_output=True, check=False)
    return ["-Xclang", native if tried.returncode == 0 else "-fallow-half-arguments-and-returns"]


def functions(source, half, definitions=DEFINITIONS):
    """Host name -> lines of its function in LLVM's text form."""
    loaded = mslc.load(str(source), "strict", Diag(), argparse.Namespace(includes=[str(ROOT / "Shaders")], defines=[], clang="clang++"))
    names = iter([host for host, _, _ in loaded.entries()])
    code = re.sub(r"static auto\* const msl_use_\d+ =", lambda _: f'extern "C" __attribute__((used)) auto* const used_{next(names)} =',
                  emit.strict(loaded, str(source)))
    done = subprocess.run(["clang++", *FLAGS, *half, "-x", "c++", "-", "-o", "-"], cwd=ROOT, input=code + definitions, capture_output=True,
                          text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{source}: {done.stderr[:2000]}")
    bodies = {m[1]: m[2].splitlines() for m in re.finditer(r'^define [^@]*@"?([\w.]+)"?\(.*?\{\n(.*?)^\}', done.stdout, re.M | re.S)}
    types = "\n".join(re.findall(r"^%.* = type .*$", done.stdout, re.M))
    return {m[1]: (bodies[m[2]], types) for m in re.finditer(r"^@used_(\w+) = .*ptr @(\w+)", done.stdout, re.M)}


def threadgroup_bytes(body):
    """Of the arrays that the kernel declares; each is a call whose mangled name has the type."""
    total = 0
    for dims, base in re.findall(r"call .*@_ZN5metal13msl_somewhereIP((?:A\d+_)*)U3AS3(DF16_|Dh|[a-z])", "\n".join(body)):
        size = SIZES[base]
        for n in re.findall(r"\d+", dims):
            size *= int(n)
        total += size
    return total


def instructions(body, free=FREE):
    ops = [re.sub(r"^\s*(%[\w.]+ = )?(tail |musttail |notail )?", "", line).split()[0] for line in body if re.match(r"^  \S", line)]
    return sum(op not in free for op in ops if not op.startswith(("#", "]", "i32")))


def per_weight(half):
    """Of unpacking without loads, which matrix products do ahead; of products without matrix units with those of weights and activations."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for text, weights, free in ((UNPACK, WEIGHTS, FREE), (SCALAR, SCALAR_WEIGHTS, FREE - {"load"})):
            source = Path(folder) / "counted.metal"
            source.write_text(text, encoding="utf-8")
            found |= {name: instructions(body, free) / weights for name, (body, _) in functions(source, half, DEFINITIONS + SHUFFLE).items()}
    return found


def all_kernels(half):
    """(name, registers, threadgroup bytes) of every kernel but those of tensor operations, whose registers are the compiler's."""
    files = [p for p in sorted((ROOT / "Shaders").glob("*.metal")) if "<metal_tensor>" not in p.read_text(encoding="utf-8")]
    with ThreadPoolExecutor(2) as pool:
        for found in pool.map(lambda path: functions(path, half), files):
            for name, (body, types) in found.items():
                yield name, most_alive(body, types), threadgroup_bytes(body)


def instructions_of(counts, key):
    return f"Instructions(unpacking: {counts['unpack_' + key]:.2f}, scalar: {counts['scalar_' + key]:.2f})"


def swift_table(counts, kernels):
    rows = "".join(f"    {name} {registers} {size}\n" for name, registers, size in sorted(kernels))
    formats = "".join(f'    ("{name}", {instructions_of(counts, key)}),\n' for name, key in NAMES.items())
    return f'''// What kernels need, counted from their texts; written by Tools/mslc/count.py --check --update.

/// The registers of a thread and the threadgroup memory of a kernel, by the estimate of Tools/mslc/count.py.
package struct KernelCosts {{
  var registers: Int
  var threadgroupBytes: Int

  static func of(_ kernel: String) -> KernelCosts? {{ all[kernel] }}

  /// Instructions per weight: to unpack it for matrix units, and to unpack and multiply it without them.
  package struct Instructions {{
    package var unpacking: Double
    package var scalar: Double
  }}

  /// Of a format, or of several of which the first has most weights.
  package static func instructionsPerWeight(_ weightDType: String) -> Instructions {{
    formats.first {{ weightDType.hasPrefix($0.name) }}?.count ?? {instructions_of(counts, "16")}
  }}

  private static let formats: [(name: String, count: Instructions)] = [
{formats}  ]

  private static let all: [String: KernelCosts] = Dictionary(
    uniqueKeysWithValues: table.split(separator: "\\n").map {{ row in
      let cells = row.split(separator: " ")
      return (String(cells[0]), KernelCosts(registers: Int(cells[1]) ?? 0, threadgroupBytes: Int(cells[2]) ?? 0))
    }})

  /// Name, registers, bytes.
  private static let table = """
{rows}    """
}}
'''


def check(half, update):
    failures, passed = [], 0
    counts = per_weight(half)
    for name, count in counts.items():
        passed += 1
        if count > MOST_INSTRUCTIONS[name]:
            failures.append(f"{name}: {count} instructions per weight, more than {MOST_INSTRUCTIONS[name]}")
    kernels = list(all_kernels(half))
    if update:
        TABLE.write_text(swift_table(counts, kernels), encoding="utf-8")
    known = {name: (int(registers), int(size)) for name, registers, size in re.findall(r"^    (\w+) (\d+) (\d+)$", TABLE.read_text(encoding="utf-8"), re.M)}
    for name, registers, size in kernels:
        passed += 1
        before = known.get(name, (MOST_REGISTERS, MOST_THREADGROUP_BYTES))
        if FITTING.fullmatch(name):
            before = (min(before[0], MOST_REGISTERS), min(before[1], MOST_TILE_BYTES))
        if registers > before[0]:
            failures.append(f"{name}: {registers} registers, more than {before[0]}")
        elif size > min(before[1], MOST_THREADGROUP_BYTES):
            failures.append(f"{name}: {size} bytes of threadgroup memory, more than {before[1]}")
    for failure in failures:
        print("FAIL", failure)
    print(f"{passed - len(failures)} passed, {len(failures)} failed")
    return 0 if passed > 100 and not failures else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--weights", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    half = half_flag()
    if options.check:
        return check(half, options.update)
    if options.weights:
        for name, count in per_weight(half).items():
            print(f"{name} {count:.2f}")
        return 0
    for name, registers, size in all_kernels(half):
        print(f"{name:40} {registers:5} registers {size:7} bytes")
    return 0


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(main())
