#!/usr/bin/env python3
"""Writes the embedded model's text as a GGUF file in float32, which llama-quantize makes other formats of for kl_bench and
llama-perplexity: both programs then read the same file.

Usage: mini_gguf.py OUT.gguf [FOLDER]     (needs gguf, numpy and safetensors; FOLDER has another dense Qwen3.5 in bfloat16)
"""
import json
import sys
from pathlib import Path

import gguf
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "Tools/fixtures/gguf_files"))
from gguf_models import finish, write_sizes  # noqa: E402
NAMES = {
    "input_layernorm": "attn_norm", "post_attention_layernorm": "post_attention_norm", "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down", "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output", "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm", "linear_attn.in_proj_qkv": "attn_qkv", "linear_attn.in_proj_z": "attn_gate",
    "linear_attn.in_proj_b": "ssm_beta", "linear_attn.in_proj_a": "ssm_alpha", "linear_attn.conv1d": "ssm_conv1d",
    "linear_attn.norm": "ssm_norm", "linear_attn.out_proj": "ssm_out"}


def read_text_tensors(folder):
    """(name without "model.language_model.", numbers) of each tensor of the text model."""
    for path in sorted(folder.glob("*.safetensors")):
        data = path.read_bytes()
        start = 8 + int.from_bytes(data[:8], "little")
        for name, entry in json.loads(data[8:start]).items():
            if not name.startswith("model.language_model."):
                continue
            assert entry["dtype"] == "BF16", name
            begin, end = entry["data_offsets"]
            halves = np.frombuffer(data[start + begin:start + end], dtype=np.uint16)
            yield name.removeprefix("model.language_model."), (halves.astype(np.uint32) << 16).view(np.float32).reshape(entry["shape"])


def tiled(c, x, size, axis=0, before=0):
    """V-heads of one K-head are adjacent; in GGUF they are interleaved over the K-heads. `before` rows are no V-heads."""
    head, tail = np.split(x, [before], axis=axis)
    k_heads, v_heads = c["linear_num_key_heads"], c["linear_num_value_heads"]
    split = tail.shape[:axis] + (k_heads, v_heads // k_heads, size) + tail.shape[axis + 1:]
    return np.concatenate([head, tail.reshape(split).swapaxes(axis, axis + 1).reshape(tail.shape)], axis=axis)


def converted(c, name, x):
    """(name, numbers) in the file of a tensor of layer or model, without "model.language_model."."""
    if not name.startswith("layers."):
        return {"embed_tokens.weight": ("token_embd.weight", x), "norm.weight": ("output_norm.weight", x + 1)}[name]
    _, layer, rest = name.split(".", 2)
    dim, qk = c["linear_value_head_dim"], 2 * c["linear_num_key_heads"] * c["linear_key_head_dim"]
    if rest == "linear_attn.A_log":
        return f"blk.{layer}.ssm_a", tiled(c, -np.exp(x), 1)
    if rest == "linear_attn.dt_bias":
        return f"blk.{layer}.ssm_dt.bias", tiled(c, x, 1)
    stem = rest.removesuffix(".weight")
    if stem in ("linear_attn.in_proj_qkv", "linear_attn.conv1d"):
        x = tiled(c, x.squeeze(1) if x.ndim == 3 else x, dim, before=qk)
    elif stem == "linear_attn.in_proj_z":
        x = tiled(c, x, dim)
    elif stem in ("linear_attn.in_proj_a", "linear_attn.in_proj_b"):
        x = tiled(c, x, 1)
    elif stem == "linear_attn.out_proj":
        x = tiled(c, x, dim, axis=1)
    elif x.ndim == 1 and stem != "linear_attn.norm":
        x = x + 1
    return f"blk.{layer}.{NAMES[stem]}.weight", x


def add_keys(writer, c):
    write_sizes(writer, c)
    rope = c["rope_parameters"]
    writer.add_rope_freq_base(rope["rope_theta"])
    writer.add_rope_dimension_count(int(c["head_dim"] * rope["partial_rotary_factor"]))
    writer.add_rope_dimension_sections([*rope["mrope_section"], 0])
    writer.add_ssm_conv_kernel(c["linear_conv_kernel_dim"])
    writer.add_ssm_state_size(c["linear_key_head_dim"])
    writer.add_ssm_group_count(c["linear_num_key_heads"])
    writer.add_ssm_time_step_rank(c["linear_num_value_heads"])
    writer.add_ssm_inner_size(c["linear_num_value_heads"] * c["linear_value_head_dim"])
    writer.add_full_attention_interval(c["layer_types"].index("full_attention") + 1)


def add_tokenizer(writer, tokenizer, size):
    tokens, types = [f"[unused{i}]" for i in range(size)], [5] * size
    for token, i in tokenizer["model"]["vocab"].items():
        tokens[i], types[i] = token, 1
    for token in tokenizer["added_tokens"]:
        tokens[token["id"]], types[token["id"]] = token["content"], 3 if token["special"] else 4
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen35")
    writer.add_token_list(tokens)
    writer.add_token_types(types)
    writer.add_token_merges([merge if isinstance(merge, str) else " ".join(merge) for merge in tokenizer["model"]["merges"]])


def main():
    folder = Path(sys.argv[2]) if len(sys.argv) > 2 else ROOT / "Sources/MiniModel/files"
    c = json.loads((folder / "config.json").read_text())["text_config"]
    writer = gguf.GGUFWriter(sys.argv[1], "qwen35")
    add_keys(writer, c)
    add_tokenizer(writer, json.loads((folder / "tokenizer.json").read_text()), c["vocab_size"])
    for name, x in read_text_tensors(folder):
        new_name, x = converted(c, name, x)
        writer.add_tensor(new_name, np.ascontiguousarray(x, dtype=np.float32))
    finish(writer)


if __name__ == "__main__":
    main()
