#!/usr/bin/env python3
"""Snippets that Metal rejects or the subset excludes: each must be rejected by the checks named in its row.

Usage: bad_snippets.py [-v]. Prints a line for each that is accepted, and ends with "N passed, N failed".
"""
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HEAD = "".join(f"#include <metal_{h}>\n" for h in ("stdlib", "simdgroup", "simdgroup_matrix")) + "using namespace metal;\n"
OUT = "device float* out [[buffer(1)]], uint tid [[thread_index_in_threadgroup]]"
SIGNATURE = f"kernel void k(device const float* in [[buffer(0)]], {OUT})"


def body(statements, before=""):
    return (f"{before}{SIGNATURE} {{\n  threadgroup float tile[32];\n  tile[tid] = in[tid];\n"
            f"  threadgroup_barrier(mem_flags::mem_threadgroup);\n  {statements}\n}}\n")


FIRST = "METAL_FUNC float first({} p) {{ return p[0]; }}\n"
POINT = "struct P { float v; float get() const { return v; } };\n"
def tensors(right="half", side=16, space="threadgroup", operands="x, w, sums"):
    """A matrix product that uses Metal 4's tensor operations."""
    kind = "dextents<int, 2>, tensor_inline>"
    return body(f"""threadgroup half a[1024];
  threadgroup {right} b[1024];
  constexpr auto descriptor = mpp::tensor_ops::matmul2d_descriptor(
      {side}, {side}, 16, false, true, false, mpp::tensor_ops::matmul2d_descriptor::mode::multiply_accumulate);
  mpp::tensor_ops::matmul2d<descriptor, execution_simdgroups<1>> multiply;
  tensor<{space} half, {kind} x(a, dextents<int, 2>(16, {side}));
  tensor<threadgroup {right}, {kind} w(b, dextents<int, 2>(16, {side}));
  auto sums = multiply.get_destination_cooperative_tensor<decltype(x), decltype(w), float>();
  multiply.run({operands});""", "#include <metal_tensor>\n")


MATRIX = "simdgroup_float8x8 m = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);\n"
# name: (text, checks that reject it). lint and strict belong to mslc, types to the software shim.
SNIPPETS = {
    "valid": (body("out[tid] = tile[31 - tid];"), ""),
    "valid_const_order": (f"kernel void k(const device float* in [[buffer(0)]], {OUT}) {{ out[tid] = in[tid]; }}\n", ""),
    "valid_select": (body("float4 a = float4(1.0f), b = float4(in[0]);\n  out[tid] = select(a, b, a < b).x;"), ""),
    "valid_loops": (body("int n = 3;\n  while (n > 0) { --n; }\n  do { ++n; } while (n < 2);\n"
                         "  for (;;) { break; }\n  out[tid] = float(n);"), ""),
    "valid_tensors": (tensors(), ""),
    "tensors_of_two_types": (tensors(right="bfloat"), "strict types"),
    "tensors_of_eight_rows": (tensors(side=8), "strict types"),
    "tensor_of_another_space": (tensors(space="device"), "strict"),
    "tensor_that_is_temporary": (tensors(operands="decltype(x)(x), w, sums"), "strict types"),
    "threadgroup_as_device": (body("device float* p = tile;\n  out[tid] = p[0];"), "strict"),
    "threadgroup_to_thread": (body("out[tid] = first(tile);", FIRST.format("thread float*")), "strict"),
    "local_pointer_without_space": (body("float* p = tile;\n  out[tid] = p[0];"), "strict"),
    "parameter_without_space": (body("float x = 1.0f;\n  out[tid] = first(&x);", FIRST.format("float*")), "lint"),
    "cast_between_spaces": (body("device const float4* p = (device const float4*)(tile);\n  out[tid] = p[0].x;"), "strict"),
    "cast_without_parentheses": (body("device const uint* p = (device const uint*)in;\n  out[tid] = float(p[0]);"), "lint"),
    "reference_between_spaces": (body("thread float& r = tile[0];\n  out[tid] = r;"), "strict"),
    "write_to_constant": (f"kernel void k(constant float* in [[buffer(0)]], {OUT}) {{ in[tid] = 1.0f; out[tid] = 0.0f; }}\n",
                          "strict types"),
    "method_on_device": (f"{POINT}kernel void k(device const P* in [[buffer(0)]], {OUT}) {{ out[tid] = in[tid].get(); }}\n",
                         "strict"),
    "struct_load": (f"{POINT}kernel void k(device const P* in [[buffer(0)]], {OUT}) {{ P p = in[tid]; out[tid] = p.v; }}\n",
                    "strict"),
    "reference_to_component": (body("float4 v = float4(1.0f);\n  thread float& r = v.x;\n  r = 2.0f;\n  out[tid] = v.x;"), "strict"),
    "address_of_component": (body("float4 v = float4(1.0f);\n  thread float* r = &v.y;\n  out[tid] = *r;"), "strict"),
    "implicit_vector": (body("half4 h = half4(half(1.0f));\n  float4 f = h;\n  out[tid] = f.x;"), "strict types"),
    "swizzle": (body("float4 v = float4(1.0f);\n  out[tid] = v.zyx.x;"), "types"),
    "recursion": (body("out[tid] = float(fact(3));", "METAL_FUNC int fact(int n) { return n < 2 ? 1 : n * fact(n - 1); }\n"), "lint"),
    "function_pointer": (body("float (*f)(float) = twice;\n  out[tid] = f(1.0f);",
                              "METAL_FUNC float twice(float x) { return x * 2.0f; }\n"), "lint"),
    "lambda": (body("auto f = [&](float x) { return x * 2.0f; };\n  out[tid] = f(1.0f);"), "lint"),
    "double_literal": (body("out[tid] = tile[tid] * 0.5;"), "lint"),
    "double": (body("double d = 1.0f;\n  out[tid] = float(d);"), "lint"),
    "sized_integer": (body("uint32_t d = 1;\n  out[tid] = float(d);"), "lint"),
    "long_long": (body("long long d = 1;\n  out[tid] = float(d);"), "lint"),
    "goto": (body("goto end;\n  end:\n  out[tid] = 0.0f;"), "lint"),
    "prototype": (body("out[tid] = f();", "METAL_FUNC float f();\nMETAL_FUNC float f() { return 1.0f; }\n"), "lint"),
    "bfloat_implicit": (body("bfloat b = 1.0f;\n  out[tid] = float(b);"), "types"),
    "bfloat_exp": (body("bfloat b = bfloat(1.0f);\n  out[tid] = float(exp(b));"), "types"),
    "bfloat_simd": (body("bfloat b = bfloat(1.0f);\n  out[tid] = float(simd_sum(b));"), "types"),
    "bfloat_arithmetic": (body("bfloat b = bfloat(1.0f);\n  b = b + b;\n  out[tid] = float(b);"), "types"),
    "threadgroup_in_helper": (body("out[tid] = f();", "METAL_FUNC float f() { threadgroup float x[4]; x[0] = 1.0f; return x[0]; }\n"), "lint"),
    "threadgroup_initializer": (f"{SIGNATURE} {{\n  threadgroup float s = 0.0f;\n  out[tid] = s + in[tid];\n}}\n", "lint"),
    "threadgroup_argument": (f"kernel void k(threadgroup float* t [[threadgroup(0)]], {OUT}) {{ t[tid] = 1.0f; out[tid] = t[tid]; }}\n", "lint"),
    "plain_function": (body("out[tid] = f();", "inline float f() { return 1.0f; }\n"), "lint"),
    "static_local": (body("static int n = 0;\n  out[tid] = float(n++);"), "lint"),
    "global": (f"float g = 1.0f;\n{SIGNATURE} {{ out[tid] = in[tid] + g; }}\n", "lint"),
    "constant_type": (f"constant half g [[function_constant(0)]];\n{SIGNATURE} {{ out[tid] = in[tid] + float(g); }}\n", "lint"),
    "mixed_positions": ("kernel void k(device float* out [[buffer(0)]], uint a [[thread_position_in_grid]], "
                        "uint2 b [[threadgroup_position_in_grid]]) { out[a] = float(b.x); }\n", "lint"),
    "same_index": ("kernel void k(device float* out [[buffer(0)]], device float* in [[buffer(0)]], "
                   "uint a [[thread_position_in_grid]]) { out[a] = in[a]; }\n", "lint"),
    "index_over_30": ("kernel void k(device float* out [[buffer(31)]], uint a [[thread_position_in_grid]]) { out[a] = 0.0f; }\n", "lint"),
    "host_name": ("template <typename T>\nkernel void k(device T* out [[buffer(0)]], uint a [[thread_position_in_grid]]) "
                  "{ out[a] = T(0.0f); }\ntemplate [[host_name(\"other\")]] kernel decltype(k<float>) k<float>;\n", "lint"),
    "isnan": (body("out[tid] = isnan(tile[0]) ? 1.0f : 0.0f;"), "lint"),
    "std": (body("out[tid] = std::max(1.0f, 2.0f);"), "lint"),
    "matrix_elements": (body(MATRIX + "  out[tid] = m.thread_elements()[0];"), "lint"),
    "matrix_types": (body("simdgroup_half8x8 m;\n  simdgroup_load(m, tile, 8);\n  out[tid] = 0.0f;"), "strict types"),
    "variable_length": (body("threadgroup float t2[tid];\n  t2[0] = 1.0f;\n  out[tid] = t2[0];"), "strict types"),
}


def refuses(check, path, out):
    mslc = [sys.executable, "Tools/mslc/mslc.py"]
    if check == "lint":
        commands = [mslc + ["--target", "lint", path, "-o", out]]
    elif check == "strict":
        commands = [["Tools/mslc/strict.sh", path]]
    else:
        commands = [mslc + ["--target", "software", "--no-lint", path, "-o", out],
                    ["clang++", "-std=c++20", "-fsyntax-only", "-x", "c++", "-Werror=vla-cxx-extension", "-ICxxCore/src", out]]
    for command in commands:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        if done.returncode:
            return next((line for line in (done.stderr + done.stdout).splitlines() if "error" in line or "mslc" in line), "?")
    return ""


def main():
    sys.dont_write_bytecode = True
    passed, failed = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for name, (text, checks) in SNIPPETS.items():
            path = f"{folder}/{name}.metal"
            Path(path).write_text(HEAD + text, encoding="utf-8")
            for check in checks.split() or ("lint", "strict", "types"):
                said = refuses(check, path, f"{folder}/out.cpp")
                if bool(said) == bool(checks):
                    passed += 1
                else:
                    failed += 1
                    print(f"FAIL {name}: {check} {'lets it pass' if checks else 'refuses it: ' + said}")
                if "-v" in sys.argv:
                    print(f"{name:26} {check:7} {said[-100:]}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
