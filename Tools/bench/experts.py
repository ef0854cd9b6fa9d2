#!/usr/bin/env python3
"""Measures answers of a mixture of experts whose experts are read from the disk (--expert-memory).

Writes a folder in the shape of Qwen3-Next-80B-A3B with fewer layers, 4 bits as MLX stores them and random numbers, so
that all experts are equally likely: real routers repeat themselves, and need fewer reads. Then it measures what the
disk delivers for reads of such sizes, and the tokens per second of `pagoda bench` with several amounts of memory, while
a thread drops the files from the system's cache, as if other programs needed that memory. Linux; needs numpy.
Usage: experts.py PAGODA FOLDER [--layers 8] [--threads 2] [--memory 1GiB,2GiB,8GiB] [--tests tg32,pp128]
"""
import argparse
import json
import os
import random
import struct
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy

HIDDEN, EXPERTS, CHOSEN, INNER, VOCABULARY = 2048, 512, 10, 512, 151936
GROUP = 64
CONFIG = {
    "architectures": ["Qwen3NextForCausalLM"], "model_type": "qwen3_next", "hidden_size": HIDDEN,
    "num_attention_heads": 16, "num_key_value_heads": 2, "head_dim": 256, "intermediate_size": 5120,
    "moe_intermediate_size": INNER, "shared_expert_intermediate_size": INNER, "num_experts": EXPERTS,
    "num_experts_per_tok": CHOSEN, "norm_topk_prob": True, "decoder_sparse_step": 1, "mlp_only_layers": [],
    "linear_num_key_heads": 16, "linear_num_value_heads": 32, "linear_key_head_dim": 128,
    "linear_value_head_dim": 128, "linear_conv_kernel_dim": 4, "full_attention_interval": 4,
    "partial_rotary_factor": 0.25, "rope_theta": 1e7, "rms_norm_eps": 1e-6, "vocab_size": VOCABULARY,
    "max_position_embeddings": 262144, "hidden_act": "silu", "tie_word_embeddings": False, "dtype": "bfloat16",
    "attention_bias": False, "eos_token_id": None,
}  # fmt: skip


def matrices(layers):
    """Name, shape and bits of every quantised matrix."""
    yield "model.embed_tokens", [VOCABULARY, HIDDEN], 4
    yield "lm_head", [VOCABULARY, HIDDEN], 4
    for layer in range(layers):
        at = f"model.layers.{layer}."
        if layer % 4 == 3:
            for name, rows in ("q", 8192), ("k", 512), ("v", 512):
                yield f"{at}self_attn.{name}_proj", [rows, HIDDEN], 4
            yield at + "self_attn.o_proj", [HIDDEN, 4096], 4
        else:
            yield at + "linear_attn.in_proj_qkvz", [12288, HIDDEN], 4
            yield at + "linear_attn.in_proj_ba", [64, HIDDEN], 4
            yield at + "linear_attn.out_proj", [HIDDEN, 4096], 4
        yield at + "mlp.gate", [EXPERTS, HIDDEN], 8
        yield at + "mlp.shared_expert_gate", [1, HIDDEN], 8
        for prefix, count in ("shared_expert.", []), ("switch_mlp.", [EXPERTS]):
            yield f"{at}mlp.{prefix}gate_proj", [*count, INNER, HIDDEN], 4
            yield f"{at}mlp.{prefix}up_proj", [*count, INNER, HIDDEN], 4
            yield f"{at}mlp.{prefix}down_proj", [*count, HIDDEN, INNER], 4


def vectors(layers):
    """Name and shape of every other tensor."""
    yield "model.norm.weight", [HIDDEN]
    for layer in range(layers):
        at = f"model.layers.{layer}."
        yield at + "input_layernorm.weight", [HIDDEN]
        yield at + "post_attention_layernorm.weight", [HIDDEN]
        if layer % 4 == 3:
            yield at + "self_attn.q_norm.weight", [256]
            yield at + "self_attn.k_norm.weight", [256]
        else:
            yield at + "linear_attn.A_log", [32]
            yield at + "linear_attn.dt_bias", [32]
            yield at + "linear_attn.norm.weight", [128]
            yield at + "linear_attn.conv1d.weight", [8192, 4, 1]


def bfloat16(value):
    return struct.pack("<f", value)[2:]


def write_model(folder, layers):
    """The folder; its one file of tensors has no gaps, so that every byte is read from the disk."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "model.safetensors"
    quantization = {"group_size": GROUP, "bits": 4, "mode": "affine"}
    header, pieces, offset = {"__metadata__": {"format": "mlx"}}, [], 0

    def add(name, dtype, shape, content):
        nonlocal offset
        width = {"U32": 4, "BF16": 2}[dtype]
        size = int(numpy.prod(shape)) * width
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [offset, offset + size]}
        pieces.append((size, content))
        offset += size

    for name, shape, bits in matrices(layers):
        if bits == 8:
            quantization[name] = {"group_size": GROUP, "bits": 8}
        # Large embeddings: the choice of experts must depend on the token, not on what random layers add to all.
        scale = (12 if name == "model.embed_tokens" else 0.12) / (1 << bits)
        groups = [*shape[:-1], shape[-1] // GROUP]
        add(name + ".weight", "U32", [*shape[:-1], shape[-1] * bits // 32], None)
        add(name + ".scales", "BF16", groups, bfloat16(scale))
        add(name + ".biases", "BF16", groups, bfloat16(-scale * ((1 << bits) - 1) / 2))  # a mean of zero
    for name, shape in vectors(layers):
        add(name, "BF16", shape, bfloat16(0.5))
    config = {**CONFIG, "num_hidden_layers": layers, "quantization": quantization}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    text = json.dumps(header).encode()
    wanted = 8 + len(text) + offset
    if path.exists() and path.stat().st_size == wanted:
        return path
    noise = numpy.random.default_rng(1).bytes(64 << 20)
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for size, content in pieces:
            while size > 0:
                start = random.randrange(len(noise) // 2) & ~7
                block = noise[start : start + size] if content is None else content * (min(size, 8 << 20) // 2)
                file.write(block)
                size -= len(block)
        file.flush()
        os.fsync(file.fileno())
    return path


class DroppedCache:
    """While it lasts, a thread removes the file's pages from the system's cache."""

    def __init__(self, path):
        self.descriptor, self.ends = os.open(path, os.O_RDONLY), threading.Event()
        self.thread = threading.Thread(target=self.drop)

    def drop(self):
        while not self.ends.wait(0.02):
            os.posix_fadvise(self.descriptor, 0, 0, os.POSIX_FADV_DONTNEED)

    def __enter__(self):
        self.thread.start()

    def __exit__(self, *_):
        self.ends.set()
        self.thread.join()


def disk_speed(path, bytes_per_read, num_threads, seconds=4.0):
    """Bytes per second of reads of that size at random offsets, by as many threads."""
    size, end, descriptor = path.stat().st_size, time.monotonic() + seconds, os.open(path, os.O_RDONLY)

    def work(index):
        offsets, total, buffer = random.Random(index), 0, bytearray(bytes_per_read)
        while time.monotonic() < end:
            total += os.preadv(descriptor, [buffer], offsets.randrange(size - bytes_per_read) & ~4095)
        return total

    with DroppedCache(path), ThreadPoolExecutor(num_threads) as pool:
        start = time.monotonic()
        return sum(pool.map(work, range(num_threads))) / (time.monotonic() - start)


def peak_bytes(process):
    """The peak of the memory that the process holds itself, until it ends."""
    peak = 0
    while process.poll() is None:
        try:
            status = Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
        except OSError:
            break
        anonymous = [int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("RssAnon")]
        peak = max([peak, *anonymous])
        time.sleep(0.05)
    return peak


def measure(options, path, memory, drops):
    command = [options.pagoda, "bench", "--model", str(options.folder), "--device", "cpu", "--json", "--tests",
               options.tests, "--repetitions", "3", "--threads", str(options.threads), "--max-num-seqs", "1",
               "--max-model-len", "1024"]  # fmt: skip
    command += ["--expert-memory", memory] if memory else []
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    if drops:
        with DroppedCache(path):
            peak = peak_bytes(process)
    else:
        peak = peak_bytes(process)
    report = json.loads(process.stdout.read())
    return {"memory": memory or "all", "dropped": drops, "peak_gib": round(peak / 2**30, 2), "report": report}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pagoda")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--memory", default="1GiB,2GiB,4GiB")
    parser.add_argument("--tests", default="tg32")
    parser.add_argument("--whole", action="store_true", help="also without --expert-memory")
    options = parser.parse_args()
    path = write_model(options.folder, options.layers)
    print(f"{path}: {path.stat().st_size / 2**30:.2f} GiB")
    expert_read = INNER * HIDDEN // 2
    for threads in 1, 4, 16:
        speed = disk_speed(path, expert_read, threads)
        print(f"disk, {expert_read >> 10} KiB at random, {threads} threads: {speed / 1e9:.2f} GB/s", flush=True)
    runs = [(memory, True) for memory in options.memory.split(",")] + [(options.memory.split(",")[0], False)]
    for memory, drops in runs + ([(None, False)] if options.whole else []):
        print(json.dumps(measure(options, path, memory, drops)), flush=True)


if __name__ == "__main__":
    main()
