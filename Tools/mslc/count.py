#!/usr/bin/env python3
"""Counts, from a kernel's text alone, what decides its speed on Apple's GPUs: registers, threadgroup memory, instructions per weight.

Usage: count.py                 every kernel: registers and bytes of threadgroup memory per thread and threadgroup
       count.py --weights       instructions per weight of unpacking 16, 8 and 4 bits, and of whole products without matrix units
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
UNPACK = """#include "matmul.h"
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
template [[host_name("unpack_16")]] kernel decltype(unpack<16>) unpack<16>;
template [[host_name("unpack_8")]] kernel decltype(unpack<8>) unpack<8>;
template [[host_name("unpack_4")]] kernel decltype(unpack<4>) unpack<4>;
"""
WEIGHTS = 16  # that a lane unpacks in one call
SCALAR = """#include "scalar.h"
template <typename T, uint BITS>
kernel void scalar(device const uint* w [[buffer(0)]], device const ushort* steps [[buffer(1)]], device float* to [[buffer(2)]]) {
  threadgroup float x[kStaged];
  Line<BITS> line;
  load_line(w, steps, 0, line);
  float sums[1];
  sums[0] = 0.0f;
  multiply_line<T, BITS, 1>(line, (threadgroup const float*)(x), sums);
  to[0] = sums[0];
}
template [[host_name("scalar_f16")]] kernel decltype(scalar<half, 16>) scalar<half, 16>;
template [[host_name("scalar_16")]] kernel decltype(scalar<bfloat, 16>) scalar<bfloat, 16>;
template [[host_name("scalar_8")]] kernel decltype(scalar<bfloat, 8>) scalar<bfloat, 8>;
template [[host_name("scalar_4")]] kernel decltype(scalar<bfloat, 4>) scalar<bfloat, 4>;
"""
SCALAR_WEIGHTS = 64  # that a lane multiplies in one call
# What strict.h only declares, where clang must see through it.
DEFINITIONS = """
namespace metal {
template <typename T, typename U> inline T as_type(U from) { return __builtin_bit_cast(T, from); }
inline float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
}
"""
FLAGS = ["--target=aarch64-linux-gnu", "-std=c++20", "-O2", "-fno-vectorize", "-fno-slp-vectorize", "-ffreestanding", "-nostdinc", "-nostdinc++",
         "-fno-exceptions", "-fno-rtti", "-w", "-mllvm", "-inline-threshold=1000000", "-ICxxCore/src", "-S", "-emit-llvm"]
FREE = {"load", "store", "getelementptr", "bitcast", "ret", "br", "phi", "alloca", "extractelement", "insertelement", "zext", "trunc", "freeze"}
SIZES = {"f": 4, "j": 4, "i": 4, "t": 2, "s": 2, "h": 1, "c": 1, "m": 8, "l": 8, "DF16_": 2, "Dh": 2}
# Per weight; before 2026-11-18 unpacking 4 bits took 7.6. "scalar" includes the product.
MOST_INSTRUCTIONS = {"unpack_16": 0.0, "unpack_8": 6.2, "unpack_4": 5.0, "scalar_f16": 2.4, "scalar_16": 2.4, "scalar_8": 7.5, "scalar_4": 4.9}
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


def functions(source, half):
    """Host name -> lines of its function in LLVM's text form."""
    loaded = mslc.load(str(source), "strict", Diag(), argparse.Namespace(includes=[str(ROOT / "Shaders")], defines=[], clang="clang++"))
    names = iter([host for host, _, _ in loaded.entries()])
    code = re.sub(r"static auto\* const msl_use_\d+ =", lambda _: f'extern "C" __attribute__((used)) auto* const used_{next(names)} =',
                  emit.strict(loaded, str(source)))
    done = subprocess.run(["clang++", *FLAGS, *half, "-x", "c++", "-", "-o", "-"], cwd=ROOT, input=code + DEFINITIONS, capture_output=True,
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
            found |= {name: instructions(body, free) / weights for name, (body, _) in functions(source, half).items()}
    return found


def all_kernels(half):
    """(name, registers, threadgroup bytes) of every kernel but those of tensor operations, whose registers are the compiler's."""
    files = [p for p in sorted((ROOT / "Shaders").glob("*.metal")) if "<metal_tensor>" not in p.read_text(encoding="utf-8")]
    with ThreadPoolExecutor(2) as pool:
        for found in pool.map(lambda path: functions(path, half), files):
            for name, (body, types) in found.items():
                yield name, most_alive(body, types), threadgroup_bytes(body)


def swift_table(counts, kernels):
    rows = "".join(f"    {name} {registers} {size}\n" for name, registers, size in sorted(kernels))
    return f'''// What kernels need, counted from their texts; written by Tools/mslc/count.py --check --update.

/// The registers of a thread and the threadgroup memory of a kernel, by the estimate of Tools/mslc/count.py.
struct KernelCosts {{
  var registers: Int
  var threadgroupBytes: Int

  static func of(_ kernel: String) -> KernelCosts? {{ all[kernel] }}

  /// Instructions that unpack one weight of a format.
  static func instructionsPerWeight(_ weightDType: String) -> Double {{
    weightDType.contains("4") ? {counts["unpack_4"]:.2f} : weightDType.contains("8") ? {counts["unpack_8"]:.2f} : {counts["unpack_16"]:.2f}
  }}

  /// Instructions that unpack and multiply one weight without matrix units.
  static func scalarInstructionsPerWeight(_ weightDType: String) -> Double {{
    weightDType.contains("4") ? {counts["scalar_4"]:.2f} : weightDType.contains("8") ? {counts["scalar_8"]:.2f} : {counts["scalar_16"]:.2f}
  }}

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
