#!/usr/bin/env python3
"""Writes the vision tower of a shape of vision_bench.cpp as llama.cpp's mmproj file, with random weights, beside a model of make_gguf.py.

Both engines then see with the same work: pagoda's --mmproj, llama-mtmd-cli's --mmproj. Needs no package.
Usage: make_mmproj.py SHAPE OUT.gguf [BF16 | Q8_0]
"""
import re
import sys
from pathlib import Path

from make_gguf import Writer

TOWERS = Path(__file__).with_name("vision_bench.cpp")
PATCH, MERGE, POSITION_SIDE = 16, 2, 48


def read_towers():
    """{name: (depth, width, inner, heads, out)}"""
    rows = re.findall(r'\{"([\w.-]+)", (\d+), (\d+), (\d+), (\d+), (\d+)\}', TOWERS.read_text(encoding="utf-8"))
    return {name: tuple(map(int, numbers)) for name, *numbers in rows}


def write_keys(file, depth, width, inner, heads, out):
    file.add("clip.has_vision_encoder", True)
    file.add("clip.projector_type", "qwen3vl_merger")
    file.add("clip.use_gelu", True)
    for key, value in (("block_count", depth), ("embedding_length", width), ("feed_forward_length", inner),
                       ("attention.head_count", heads), ("projection_dim", out), ("patch_size", PATCH),
                       ("image_size", POSITION_SIDE * PATCH), ("spatial_merge_size", MERGE)):
        file.add("clip.vision." + key, value)
    file.add("clip.vision.attention.layer_norm_epsilon", 1e-6)
    for key in ("image_mean", "image_std"):
        file.add("clip.vision." + key, [0.5, 0.5, 0.5])


def write_tensors(w, depth, width, inner, out):
    def linear(name, rows, cols):
        w.matrix(name + ".weight", rows, cols)
        w.vector(name + ".bias", rows, value=0.0)

    def norm(name):
        w.vector(name + ".weight", width)
        w.vector(name + ".bias", width, value=0.0)

    for name in ("v.patch_embd.weight", "v.patch_embd.weight.1"):
        w.vector(name, width, 3, PATCH, PATCH, value=0.01)
    w.vector("v.patch_embd.bias", width, value=0.0)
    w.vector("v.position_embd.weight", POSITION_SIDE**2, width, value=0.01)
    for block in (f"v.blk.{i}." for i in range(depth)):
        norm(block + "ln1")
        norm(block + "ln2")
        linear(block + "attn_qkv", 3 * width, width)
        linear(block + "attn_out", width, width)
        linear(block + "ffn_up", inner, width)
        linear(block + "ffn_down", width, inner)
    norm("v.post_ln")
    linear("mm.0", MERGE**2 * width, MERGE**2 * width)
    linear("mm.2", out, MERGE**2 * width)


def make_mmproj(shape, path, kind="BF16"):
    towers = read_towers()
    if shape not in towers:
        raise SystemExit(f"there is no tower of shape '{shape}'; known shapes are {', '.join(towers)}")
    depth, width, inner, heads, out = towers[shape]
    w = Writer(path, "clip", kind)
    write_keys(w.file, depth, width, inner, heads, out)
    write_tensors(w, depth, width, inner, out)
    w.close()


if __name__ == "__main__":
    make_mmproj(*sys.argv[1:])
