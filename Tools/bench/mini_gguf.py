#!/usr/bin/env python3
"""Writes the embedded model's text as a GGUF file, so that Pagoda and llama.cpp read the same one: in float32, which llama-quantize makes
other formats of for kl_bench and llama-perplexity, or in Q8_0 for agents_beside_llama.py. Needs no package.

Usage: mini_gguf.py OUT.gguf [F32 | Q8_0] [FOLDER]     (FOLDER has another dense Qwen3.5 in bfloat16)
"""
import array
import json
import math
import struct
import sys
from pathlib import Path

from gguf_file import FILE_TYPES, GGUFFile

ROOT = Path(__file__).resolve().parents[2]
NAMES = {
    "input_layernorm": "attn_norm", "post_attention_layernorm": "post_attention_norm", "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down", "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output", "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm", "linear_attn.in_proj_qkv": "attn_qkv", "linear_attn.in_proj_z": "attn_gate",
    "linear_attn.in_proj_b": "ssm_beta", "linear_attn.in_proj_a": "ssm_alpha", "linear_attn.conv1d": "ssm_conv1d",
    "linear_attn.norm": "ssm_norm", "linear_attn.out_proj": "ssm_out", "linear_attn.A_log": "ssm_a", "linear_attn.dt_bias": "ssm_dt.bias"}
BLOCK = 32  # numbers of Q8_0 with one scale


def read_text_tensors(folder):
    """(name without "model.language_model.", shape, float32 numbers) of each tensor of the text model."""
    for path in sorted(folder.glob("*.safetensors")):
        data = path.read_bytes()
        start = 8 + int.from_bytes(data[:8], "little")
        for name, entry in json.loads(data[8:start]).items():
            if not name.startswith("model.language_model."):
                continue
            if entry["dtype"] != "BF16":
                raise SystemExit(f"{name} is no bfloat16 tensor")
            begin, end = entry["data_offsets"]
            halves = data[start + begin:start + end]
            words = bytearray(2 * len(halves))
            words[2::4], words[3::4] = halves[0::2], halves[1::2]
            yield name.removeprefix("model.language_model."), [n for n in entry["shape"] if n > 1], array.array("f", bytes(words))


def tiled(c, x, size, before=0):
    """V-heads of one K-head are adjacent; in GGUF they are interleaved over the K-heads. `size` numbers are a head; the first `before`
    are of none."""
    k_heads, v_heads = c["linear_num_key_heads"], c["linear_num_value_heads"]
    per_k = v_heads // k_heads
    out = x[:before]
    for i in range(v_heads):
        start = before + (i % k_heads * per_k + i // k_heads) * size
        out += x[start:start + size]
    return out


def converted(c, name, shape, x):
    """(name, numbers) in the file of a tensor of layer or model, without "model.language_model."."""
    if not name.startswith("layers."):
        return ("token_embd.weight", x) if name == "embed_tokens.weight" else ("output_norm.weight", plus_one(x))
    _, layer, rest = name.split(".", 2)
    stem = rest.removesuffix(".weight")
    dim, cols = c["linear_value_head_dim"], shape[-1]
    if stem == "linear_attn.A_log":
        x = tiled(c, array.array("f", [-math.exp(number) for number in x]), 1)
    elif stem == "linear_attn.dt_bias":
        x = tiled(c, x, 1)
    elif stem in ("linear_attn.in_proj_qkv", "linear_attn.conv1d"):
        x = tiled(c, x, dim * cols, before=2 * c["linear_num_key_heads"] * c["linear_key_head_dim"] * cols)
    elif stem == "linear_attn.in_proj_z":
        x = tiled(c, x, dim * cols)
    elif stem in ("linear_attn.in_proj_a", "linear_attn.in_proj_b"):
        x = tiled(c, x, cols)
    elif stem == "linear_attn.out_proj":
        rows = (tiled(c, x[row:row + cols], dim) for row in range(0, len(x), cols))
        x = array.array("f", b"".join(row.tobytes() for row in rows))
    elif len(shape) == 1 and stem != "linear_attn.norm":
        x = plus_one(x)
    suffix = "" if stem in ("linear_attn.A_log", "linear_attn.dt_bias") else ".weight"
    return f"blk.{layer}.{NAMES[stem]}{suffix}", x


def plus_one(x):
    """Norms of safetensors are stored without the 1 that they add."""
    return array.array("f", [number + 1 for number in x])


def quantized(x):
    """Q8_0: a scale in half precision and 32 whole numbers for each block."""
    pack = struct.Struct(f"<e{BLOCK}b").pack
    for start in range(0, len(x), BLOCK):
        block = x[start:start + BLOCK]
        scale = max(max(block), -min(block)) / 127
        inverse = 1 / scale if scale else 0
        yield pack(scale, *[math.floor(number * inverse + 0.5) for number in block])


def add_keys(file, c):
    rope = c["rope_parameters"]
    for key, item in (
            ("context_length", c["max_position_embeddings"]), ("embedding_length", c["hidden_size"]),
            ("feed_forward_length", c["intermediate_size"]), ("block_count", c["num_hidden_layers"]),
            ("attention.head_count", c["num_attention_heads"]), ("attention.head_count_kv", c["num_key_value_heads"]),
            ("attention.key_length", c["head_dim"]), ("attention.value_length", c["head_dim"]),
            ("attention.layer_norm_rms_epsilon", c["rms_norm_eps"]), ("rope.freq_base", float(rope["rope_theta"])),
            ("rope.dimension_count", int(c["head_dim"] * rope["partial_rotary_factor"])),
            ("rope.dimension_sections", [*rope["mrope_section"], 0]), ("ssm.conv_kernel", c["linear_conv_kernel_dim"]),
            ("ssm.state_size", c["linear_key_head_dim"]), ("ssm.group_count", c["linear_num_key_heads"]),
            ("ssm.time_step_rank", c["linear_num_value_heads"]),
            ("ssm.inner_size", c["linear_num_value_heads"] * c["linear_value_head_dim"]),
            ("full_attention_interval", c["layer_types"].index("full_attention") + 1)):
        file.add("." + key, item)


def add_tokenizer(file, folder, c):
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    tokens, types = [f"[unused{i}]" for i in range(c["vocab_size"])], [5] * c["vocab_size"]
    for token, i in tokenizer["model"]["vocab"].items():
        tokens[i], types[i] = token, 1
    for token in tokenizer["added_tokens"]:
        tokens[token["id"]], types[token["id"]] = token["content"], 3 if token["special"] else 4
    file.add("tokenizer.ggml.model", "gpt2")
    file.add("tokenizer.ggml.pre", "qwen35")
    file.add("tokenizer.ggml.tokens", tokens)
    file.add("tokenizer.ggml.token_type", types)
    file.add("tokenizer.ggml.merges", [merge if isinstance(merge, str) else " ".join(merge) for merge in tokenizer["model"]["merges"]])
    file.add("tokenizer.ggml.eos_token_id", c["eos_token_id"])
    file.add("tokenizer.ggml.padding_token_id", c["pad_token_id"])
    template = folder / "chat_template.jinja"
    if template.exists():
        file.add("tokenizer.chat_template", template.read_text())


def make_mini(path, kind="F32", folder=ROOT / "Sources/MiniModel/files"):
    c = json.loads((folder / "config.json").read_text())["text_config"]
    file = GGUFFile(path, "qwen35")
    file.add("general.file_type", FILE_TYPES[kind])
    add_keys(file, c)
    add_tokenizer(file, folder, c)
    for name, shape, x in read_text_tensors(folder):
        new_name, x = converted(c, name, shape, x)
        is_matrix = len(shape) == 2 and not name.endswith("conv1d.weight")  # llama-quantize leaves the others in float32 too
        chunks = (lambda x=x: quantized(x)) if kind == "Q8_0" and is_matrix else (lambda x=x: [x.tobytes()])
        file.add_tensor(new_name, shape, kind if is_matrix else "F32", chunks)
    file.close()


def main():
    given = sys.argv[1:]
    if not 1 <= len(given) <= 3 or len(given) > 1 and given[1] not in ("F32", "Q8_0"):
        raise SystemExit(__doc__)
    make_mini(*given[:2], *map(Path, given[2:]))


if __name__ == "__main__":
    main()
