#!/usr/bin/env python3
"""Plants mutants into the kernels of Shaders/ and runs the tests against each, in the build that detects races and bounds.

Usage: mutate.py [--out folder] [--cxx clang++] [--only text] [--plant] [-v]
A mutant that no test executes, or that survives all tests, is a failure. Ends with "N passed, N failed".
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MAX_PER_RUN = 12  # a run tries its mutants sequentially; several runs share the cores
# The tests of a kernel, by prefix of its file name: substrings of test names, the fastest first. Default: the file
# name.
TESTS = {
    "causal_conv1d": ["conformance_causal", "invariance_conv"],
    "combine_experts": ["expert"],
    "expert_": ["gpu_scalar_products_of_experts", "expert"],
    "gdn": ["gpu_fusion_convolves", "conformance_gdn", "invariance_gdn"],
    "adapters": ["conformance_adapters", "adapters_leave"],
    "full_attention": ["conformance_full_attention", "invariance_full_attention"],
    "gelu": ["conformance_gelu"],
    "kda": ["conformance_kda", "invariance_kda"],
    "latent_attention": ["conformance_latent_attention"],
    "layer_norm": ["conformance_layer_norm"],
    "matmul_tensor": ["gpu_matmul_tensor"],
    "matmul_scalar": ["gpu_scalar_products_have", "gpu_matmul_stays", "gpu_fusion_gives", "conformance_matmul_with", "conformance_matmul"],
    "matmul_wide": ["gpu_matmul_wide"],
    "embedding": ["embedding", "gpu_stored_rows"],
    "matmul": ["gpu_matmul_stays", "gpu_fusion_gives", "conformance_matmul_with", "conformance_matmul", "gpu_matmul_gives",
               "gpu_stored_products", "gpu_stored_bits", "gpu_matmul_wide", "gpu_scalar_products_have"],
    "paged_attention": ["conformance_paged_attention_of_one", "conformance_paged_attention_over",
                        "conformance_paged_attention", "invariance_attention_bits_do_not_depend_on_chunks",
                        "conformance_full_attention", "invariance_full_attention"],
    "route_experts": ["expert"],
    "sample_nucleus": ["gpu_sample_compares_equal_tokens_by", "gpu_sample_adds", "gpu_sample_sums",
                       "gpu_sample_compares", "gpu_sample_draws_from", "gpu_sample"],
    "sample": ["gpu_sample_stays", "gpu_sample_keeps", "gpu_sample_draws_what_the_sampler_draws_at_every_edge",
               "gpu_sample_sums", "gpu_sample_leaves", "gpu_sample"],
    "sigmoid_gate": ["conformance_gates"],
    "slots": ["_slot"],
    "token_attention": ["gpu_token_attention"],
}


def plant(mutated):
    """Writes the kernels with all mutants, and leaves files that are the same as they were."""
    mutated.mkdir(parents=True, exist_ok=True)
    shaders = sorted(str(p.relative_to(ROOT)) for p in (ROOT / "Shaders").glob("*.metal"))
    with tempfile.TemporaryDirectory() as fresh:
        subprocess.run([sys.executable, "Tools/mslc/mslc.py", "--target", "all", "--mutants", "-o", fresh, *shaders],
                       cwd=ROOT, check=True)
        for file in Path(fresh).iterdir():
            if not (mutated / file.name).is_file() or (mutated / file.name).read_bytes() != file.read_bytes():
                shutil.copy(file, mutated)


def build(out, cxx):
    """The runner and the mutants: (number, stem of the kernel, file, line, kind)."""
    mutated = out / "mutated"
    plant(mutated)
    jobs = str(os.cpu_count())
    relative = os.path.relpath(out, ROOT / "Tools/native")  # make splits absolute paths with spaces
    subprocess.run(["make", "-s", "-j", jobs, "-C", "Tools/native", "BUILD=mutants", f"OUT={relative}", f"CXX={cxx}", "build"],
                   cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    rows = [line.split("\t") for line in (mutated / "mutants.txt").read_text(encoding="utf-8").splitlines()]
    return out / "tests", [(int(n), stem, file, int(line), kind) for n, stem, file, line, kind in rows]


def tests_of(stem):
    texts = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "Tests/CxxCoreTests/device").rglob("*_test.cpp"))]
    names = re.findall(r"^PAGODA_TEST\((\w+)\)", "\n".join(texts), re.MULTILINE)
    parts = next((parts for kernel, parts in TESTS.items() if stem.startswith(kernel)), [stem])
    return list(dict.fromkeys(name for part in parts for name in names if part in name))


def runs(mutants):
    """Groups consecutive mutants of one kernel, as lists."""
    out = []
    for mutant in mutants:
        if not out or out[-1][0][1] != mutant[1] or len(out[-1]) == MAX_PER_RUN:
            out.append([])
        out[-1].append(mutant)
    return out


def judge(binary, run):
    """Number -> (detected, tests) of a run's mutants that a test executed; failures without any mutant; and seconds."""
    begin = time.monotonic()
    command = [binary, ROOT / "Tests/Fixtures", ROOT / "Sources/MiniModel/files", "--mutants", str(run[0][0]), str(run[-1][0] + 1),
               *tests_of(run[0][1])]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    met = {}
    for how, number, test in re.findall(r"^(noticed|survives) (\d+) (\w+)$", done.stdout, re.MULTILINE):
        met[int(number)] = (how == "noticed", met.get(int(number), (False, []))[1] + [test])
    fault = f"FAIL {run[0][1]} without any mutant\n{done.stdout[-2000:]}{done.stderr}" if done.returncode else ""
    return met, fault, time.monotonic() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default=str(ROOT / ".build/native/mutants"))
    parser.add_argument("--cxx", default="clang++")
    parser.add_argument("--only", default="", help="mutants of kernels whose name contains this")
    parser.add_argument("--plant", action="store_true", help="only write the kernels that BUILD=mutants compiles")
    parser.add_argument("-v", action="store_true")
    options = parser.parse_args()
    if options.plant:
        return plant(Path(options.out).resolve() / "mutated")
    binary, mutants = build(Path(options.out).resolve(), options.cxx)
    chosen = runs([m for m in mutants if options.only in m[1]])
    passed = failed = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for run, (met, fault, seconds) in zip(chosen, pool.map(lambda r: judge(binary, r), chosen)):
            if fault:
                failed += 1
                print(fault, flush=True)
            for number, stem, file, line, kind in run:
                noticed, tests = met.get(number, (False, []))
                passed, failed = passed + noticed, failed + (not noticed)
                if not noticed or options.v:
                    what = "survives " + ", ".join(tests) if tests else f"is met by no test of {stem}"
                    print(f"{'ok  ' if noticed else 'FAIL'} {file}:{line}: {kind}: {tests[-1] if noticed else what}")
            if options.v:
                print(f"     {len(run)} mutants of {run[0][1]} in {seconds:.1f} s", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(main())
