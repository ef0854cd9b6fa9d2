#!/usr/bin/env python3
"""Compares llama.cpp with Pagoda: the same shape, format and test, interleaved, because the speed of machines varies.

Needs a folder with llama-bench, llama-batched-bench and llama-quantize, and either a GGUF file of the shape or the packages that
make_gguf.py needs to create one. Example:
  Tools/bench/beside_llama.py --llama llama.cpp/build/bin --formats 8bit,4bit --tests pp512,tg128,tg64@d16384,b8
llama.cpp of August 2026 with AMX fails an assertion on --shape deepseek-v2-lite; without AMX (cmake -DGGML_NATIVE=OFF
-DGGML_AVX512=ON -DGGML_AVX512_VNNI=ON -DGGML_AVX512_BF16=ON) it runs.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
from pathlib import Path

from make_gguf import make_gguf

ROOT = Path(__file__).resolve().parents[2]
LLAMA_TYPES = {"8bit": "Q8_0", "4bit": "Q4_K_M", "bf16": "BF16"}
DIRECT_TYPES = {"8bit": "Q8_0", "4bit": "Q4_0"}  # for shapes too large to be written in 16 bits first
BATCH_PROMPT, BATCH_TOKENS = 16, 64  # the same as in `pagoda bench`


def run(command):
    """Returns the standard output of a program that must not fail."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}\nfailed with {done.returncode}:\n{done.stderr[-2000:]}")
    return done.stdout


def pagoda_speed(options, format_name, test):
    command = [options.pagoda, "bench", "--json", "--repetitions", 1, "--threads", options.threads, "--tests", test]
    command += ["--model", options.model] if options.model else ["--shape", options.shape]
    if options.has_quantize:
        command += ["--quantize", format_name]
    return json.loads(run(command))["rows"][0]["tok_s"]


def llama_speed(options, gguf, test):
    batch = re.fullmatch(r"b(\d+)", test)
    if batch:
        count = int(batch[1])
        command = [options.llama / "llama-batched-bench", "-m", gguf, "-c", count * (BATCH_PROMPT + BATCH_TOKENS)]
        command += ["-npp", BATCH_PROMPT, "-ntg", BATCH_TOKENS, "-npl", count]
        command += ["-t", options.threads, "-tb", options.threads, "--output-format", "jsonl"]
        for _ in range(3):  # on a busy machine it sometimes exits with 0 but prints nothing
            speed = re.search(r'"speed_tg": ([0-9.]+)', run(command))
            if speed:
                return float(speed[1])
        raise SystemExit(f"{' '.join(map(str, command))}\nprinted no speed")
    prompt, decode = re.fullmatch(r"pp(\d+)", test), re.fullmatch(r"tg(\d+)(?:@d(\d+))?", test)
    if not prompt and not decode:
        raise SystemExit(f"'{test}' is no test; known forms are pp512, tg128, tg64@d16384 and b8")
    command = [options.llama / "llama-bench", "-m", gguf, "-t", options.threads, "-r", 1, "-o", "json"]
    command += ["-p", prompt[1], "-n", 0] if prompt else ["-p", 0, "-n", decode[1], "-d", decode[2] or 0]
    return json.loads(run(command))[0]["avg_ts"]


def prepare_gguf(options, format_name):
    """The file llama.cpp reads: the given one or a generated one, quantised with llama.cpp's own tool and kept for later runs."""
    if options.direct and not options.gguf:
        target = options.work / f"{options.shape}-{DIRECT_TYPES[format_name]}-direct.gguf"
        if not target.exists():
            options.work.mkdir(parents=True, exist_ok=True)
            make_gguf(options.shape, str(target), DIRECT_TYPES[format_name])
        return target
    source = options.gguf or options.work / f"{options.shape}.gguf"
    if not source.exists():
        print(f"making {source}", file=sys.stderr)
        options.work.mkdir(parents=True, exist_ok=True)
        make_gguf(options.shape, str(source))
    kind = LLAMA_TYPES[format_name]
    if kind == "BF16":
        return source
    target = options.work / f"{source.stem}-{kind}.gguf"
    if not target.exists():
        print(f"making {target}", file=sys.stderr)
        options.work.mkdir(parents=True, exist_ok=True)
        partial = target.with_suffix(".partial")
        run([options.llama / "llama-quantize", source, partial, kind, options.threads])
        os.replace(partial, target)
    return target


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--llama", type=Path, required=True, help="folder of llama.cpp's programs")
    parser.add_argument("--pagoda", type=Path, default=ROOT / ".build/release/pagoda")
    parser.add_argument("--shape", default="qwen3.5-0.8b")
    parser.add_argument("--model", help="a model folder for Pagoda instead of the shape; then --gguf is needed too")
    parser.add_argument("--gguf", type=Path, help="the same model for llama.cpp, in bfloat16 or float16")
    parser.add_argument("--direct", action="store_true", help="make files of random quantised numbers, for large shapes: 4bit is Q4_0")
    parser.add_argument("--work", type=Path, default=ROOT / ".build/bench", help="where files are made")
    parser.add_argument("--formats", default="8bit", help="of 8bit, 4bit, bf16")
    parser.add_argument("--tests", default="pp512,tg128,b8")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    options = parser.parse_args()
    options.formats, options.tests = options.formats.split(","), options.tests.split(",")
    if options.model and not options.gguf:
        parser.error("--model needs --gguf, the same model for llama.cpp")
    if options.direct and "bf16" in options.formats:
        parser.error("--direct is for 8bit and 4bit")
    for name in options.formats:
        if name not in LLAMA_TYPES:
            parser.error(f"--formats has '{name}'; there are {', '.join(LLAMA_TYPES)}")
    options.has_quantize = "--quantize" in run([options.pagoda, "bench", "--help"])
    if not options.has_quantize and options.formats != ["bf16"]:
        parser.error("this pagoda has no --quantize; only --formats bf16 can be measured")
    return options


def main():
    options = parse_options()
    print("| format | test | pagoda median (best) | llama.cpp median (best) | ratio of medians | of bests |")
    print("|---|---|---:|---:|---:|---:|", flush=True)
    for format_name in options.formats:
        gguf = prepare_gguf(options, format_name)
        for test in options.tests:
            ours, theirs = [], []
            for _ in range(options.rounds):
                ours.append(pagoda_speed(options, format_name, test))
                theirs.append(llama_speed(options, gguf, test))
            a, b = statistics.median(ours), statistics.median(theirs)
            print(
                f"| {format_name} | {test} | {a:.2f} ({max(ours):.2f}) | {b:.2f} ({max(theirs):.2f}) "
                f"| {a / b:.2f} | {max(ours) / max(theirs):.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
