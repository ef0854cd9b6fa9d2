#!/usr/bin/env python3
"""Writes a GGUF file in one of Pagoda's synthetic shapes, with random weights, so that llama.cpp does the same work.

Needs numpy and the `gguf` package (GGUF_PY may name its folder). The vocabulary has bytes and numbered words, because
llama.cpp's server does not answer without one; prompts are token ids.
Matrices are bfloat16, or of the given type: a large model then needs no larger intermediate file.
Usage: make_gguf.py SHAPE OUT.gguf [BF16 | Q8_0 | Q4_0 | Q4_K]
"""
import os
import re
import sys
from pathlib import Path

sys.path.insert(0, os.environ.get("GGUF_PY", ""))
SHAPES = Path(__file__).resolve().parents[2] / "CxxCore/src/io/synthetic/shapes.cpp"
ARCHITECTURES = {  # family in SHAPES: name in GGUF, rope base, epsilon of norms
    "kQwen35": ("qwen35", 1e7, 1e-6),
    "kQwen3": ("qwen3", 1e6, 1e-6),
    "kQwen2": ("qwen2", 1e6, 1e-6),
    "kLlama32": ("llama", 5e5, 1e-5),
    "kSmolLM2": ("llama", 1e5, 1e-5),
    "kDeepSeekV2": ("deepseek2", 1e4, 1e-6),
}
BLOCKS = {"Q8_0": (32, 34), "Q4_0": (32, 18), "Q4_K": (256, 144)}  # columns, bytes
SIZES = "hidden layers ffn heads kv_heads head_dim v_heads k_heads linear_dim vocab context".split()
ATTENTION_INTERVAL, CONV_KERNEL = 4, 4


def read_shapes():
    """The engine's own table, so that there is only one: {name: (family, sizes, is_tied)}."""
    row = r'\{"([\w.-]+)",\s*(k\w+),\s*((?:\d+,\s*){%d})(true|false)\}' % len(SIZES)
    found = re.findall(row, SHAPES.read_text(encoding="utf-8"))
    return {
        name: (family, dict(zip(SIZES, map(int, re.findall(r"\d+", numbers)))), tied == "true")
        for name, family, numbers, tied in found
    }


class Writer:
    """Random matrices and neutral vectors; the numbers come from one block, since only their size matters here."""

    def __init__(self, path, architecture, kind):
        import gguf
        import numpy as np

        self.np, self.gguf = np, gguf
        self.file = gguf.GGUFWriter(path, architecture, use_temp_file=True)
        self.kind = gguf.GGMLQuantizationType[kind]
        values = np.random.default_rng(0).standard_normal(1 << 22, dtype=np.float32) * np.float32(0.02)
        self.block = ((values.view(np.uint32) + 0x8000) >> 16).astype(np.uint16)
        if kind != "BF16":
            blocks = np.random.default_rng(1).integers(0, 256, (1 << 17, BLOCKS[kind][1]), dtype=np.uint8)
            # The scales: of Q4_K those of 6-bit scales and of 6-bit minima, about 32 each, of codes from 0 to 15.
            scales = {"Q8_0": [0.02 / 128], "Q4_0": [0.02 / 8], "Q4_K": [0.02 / 8 / 32, 0.02 / 32]}[kind]
            blocks[:, :2 * len(scales)] = np.array(scales, np.float16).view(np.uint8)
            self.block = blocks.reshape(-1)

    def matrix(self, name, *shape):
        if self.block.dtype == self.np.uint8:
            numbers = self.np.resize(self.block, (*shape[:-1], self.row_bytes(shape[-1])))
        else:
            numbers = self.np.resize(self.block, shape).view(self.np.uint8)
        self.file.add_tensor(name, numbers, raw_dtype=self.kind)

    def row_bytes(self, columns):
        of_block, size = BLOCKS[self.kind.name]
        if columns % of_block != 0:
            raise SystemExit(f"rows of {columns} columns cannot have {self.kind.name}, whose blocks have {of_block}")
        return columns // of_block * size

    def vector(self, name, *shape, value=1.0):
        self.file.add_tensor(name, self.np.full(shape, value, dtype=self.np.float32))

    def close(self):
        self.file.write_header_to_file()
        self.file.write_kv_data_to_file()
        self.file.write_tensors_to_file()
        self.file.close()


def write_keys(w, family, s):
    _, rope_base, epsilon = ARCHITECTURES[family]
    file = w.file
    file.add_context_length(s["context"])
    file.add_embedding_length(s["hidden"])
    file.add_feed_forward_length(s["ffn"])
    file.add_block_count(s["layers"])
    file.add_head_count(s["heads"])
    file.add_layer_norm_rms_eps(epsilon)
    file.add_rope_freq_base(rope_base)
    file.add_vocab_size(s["vocab"])
    write_vocabulary(w, file, s["vocab"])
    file.add_file_type(int(w.gguf.LlamaFileType["MOSTLY_" + {"Q4_K": "Q4_K_S"}.get(w.kind.name, w.kind.name)]))
    if family == "kDeepSeekV2":
        return write_latent_keys(w, file)
    file.add_head_count_kv(s["kv_heads"])
    file.add_key_length(s["head_dim"])
    file.add_value_length(s["head_dim"])
    if family != "kQwen35":
        file.add_rope_dimension_count(s["head_dim"])
        return
    file.add_rope_dimension_count(s["head_dim"] // 4)
    file.add_rope_dimension_sections([11, 11, 10, 0])
    file.add_ssm_conv_kernel(CONV_KERNEL)
    file.add_ssm_state_size(s["linear_dim"])
    file.add_ssm_group_count(s["k_heads"])
    file.add_ssm_time_step_rank(s["v_heads"])
    file.add_ssm_inner_size(s["linear_dim"] * s["v_heads"])
    file.add_full_attention_interval(ATTENTION_INTERVAL)


def write_vocabulary(w, file, size):
    """Byte-level BPE with one merge: the 256 bytes, its result, then words that no text has; the last one ends an answer."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in plain]
    letters = [chr(byte) for byte in plain] + [chr(256 + i) for i in range(len(others))]
    file.add_tokenizer_model("gpt2")
    file.add_tokenizer_pre("qwen2")
    tokens = letters + ["wo"]  # the result of a merge must be a token
    file.add_token_list(tokens + [f"word{i}" for i in range(size - len(tokens))])
    file.add_token_types([int(w.gguf.TokenType.NORMAL)] * (size - 1) + [int(w.gguf.TokenType.CONTROL)])
    file.add_token_merges(["w o"])
    file.add_eos_token_id(size - 1)


def family_numbers(family):
    """Integers among the keys that a family's shapes share in SHAPES."""
    text = re.search(r"constexpr FamilyKeys %s = .*?\)\"\};" % family, SHAPES.read_text(encoding="utf-8"), re.DOTALL)[0]
    return {key: int(number) for key, number in re.findall(r'"(\w+)": (\d+)[,}\s]', text)}


def write_latent_keys(w, file):
    c = family_numbers("kDeepSeekV2")
    rank, rope, nope, v = (c[k] for k in ("kv_lora_rank", "qk_rope_head_dim", "qk_nope_head_dim", "v_head_dim"))
    file.add_head_count_kv(1)  # the cached row counts as one head
    file.add_key_length(rank + rope)
    file.add_value_length(rank)
    file.add_key_length_mla(nope + rope)
    file.add_value_length_mla(v)
    file.add_kv_lora_rank(rank)
    file.add_rope_dimension_count(rope)
    file.add_leading_dense_block_count(c["first_k_dense_replace"])
    file.add_expert_count(c["n_routed_experts"])
    file.add_expert_used_count(c["num_experts_per_tok"])
    file.add_expert_feed_forward_length(c["moe_intermediate_size"])
    file.add_expert_shared_count(c["n_shared_experts"])
    file.add_expert_weights_scale(1.0)
    file.add_expert_gating_func(w.gguf.ExpertGatingFuncType.SOFTMAX)


def write_latent_attention(w, prefix, s):
    c, hidden, heads = family_numbers("kDeepSeekV2"), s["hidden"], s["heads"]
    rank, rope, nope, v = (c[k] for k in ("kv_lora_rank", "qk_rope_head_dim", "qk_nope_head_dim", "v_head_dim"))
    w.matrix(prefix + "attn_q.weight", heads * (nope + rope), hidden)
    w.matrix(prefix + "attn_kv_a_mqa.weight", rank + rope, hidden)
    w.vector(prefix + "attn_kv_a_norm.weight", rank)
    w.matrix(prefix + "attn_k_b.weight", heads, rank, nope)
    w.matrix(prefix + "attn_v_b.weight", heads, v, rank)
    w.matrix(prefix + "attn_output.weight", hidden, heads * v)


def write_experts(w, prefix, s):
    c, hidden = family_numbers("kDeepSeekV2"), s["hidden"]
    count, inner = c["n_routed_experts"], c["moe_intermediate_size"]
    # The rows differ: with equal logits every token would be routed to the same few experts.
    w.file.add_tensor(prefix + "ffn_gate_inp.weight",
                      w.np.random.default_rng(2).standard_normal((count, hidden), dtype=w.np.float32) * w.np.float32(0.02))
    for name, outputs, inputs in (("gate", inner, hidden), ("up", inner, hidden), ("down", hidden, inner)):
        shared = c["n_shared_experts"]
        w.matrix(f"{prefix}ffn_{name}_exps.weight", count, outputs, inputs)
        w.matrix(f"{prefix}ffn_{name}_shexp.weight", outputs * (shared if name != "down" else 1),
                 inputs * (shared if name == "down" else 1))


def write_attention(w, prefix, family, s):
    hidden, q, kv = s["hidden"], s["heads"] * s["head_dim"], s["kv_heads"] * s["head_dim"]
    for name, rows in (("q", 2 * q if family == "kQwen35" else q), ("k", kv), ("v", kv)):
        w.matrix(f"{prefix}attn_{name}.weight", rows, hidden)
        if family == "kQwen2":
            w.vector(f"{prefix}attn_{name}.bias", rows, value=0.0)
    w.matrix(prefix + "attn_output.weight", hidden, q)
    if family in ("kQwen35", "kQwen3"):
        w.vector(prefix + "attn_q_norm.weight", s["head_dim"])
        w.vector(prefix + "attn_k_norm.weight", s["head_dim"])


def write_gated_delta_net(w, prefix, s):
    hidden, v = s["hidden"], s["linear_dim"] * s["v_heads"]
    channels = 2 * s["linear_dim"] * s["k_heads"] + v
    w.matrix(prefix + "attn_qkv.weight", channels, hidden)
    w.matrix(prefix + "attn_gate.weight", v, hidden)
    w.vector(prefix + "ssm_conv1d.weight", channels, CONV_KERNEL, value=0.25)
    w.vector(prefix + "ssm_dt.bias", s["v_heads"], value=-4.0)
    w.vector(prefix + "ssm_a", s["v_heads"], value=-4.0)
    w.matrix(prefix + "ssm_beta.weight", s["v_heads"], hidden)
    w.matrix(prefix + "ssm_alpha.weight", s["v_heads"], hidden)
    w.vector(prefix + "ssm_norm.weight", s["linear_dim"])
    w.matrix(prefix + "ssm_out.weight", hidden, v)


def make_gguf(shape, path, kind="BF16"):
    shapes = read_shapes()
    if shape not in shapes:
        raise SystemExit(f"there is no shape '{shape}'; known shapes are {', '.join(shapes)}")
    family, s, is_tied = shapes[shape]
    if family not in ARCHITECTURES:
        raise SystemExit(f"shape '{shape}' is of a family that this script does not write")
    partial = f"{path}.partial"
    w = Writer(partial, ARCHITECTURES[family][0], kind)
    write_keys(w, family, s)
    hidden = s["hidden"]
    w.matrix("token_embd.weight", s["vocab"], hidden)
    w.vector("output_norm.weight", hidden)
    if not is_tied:
        w.matrix("output.weight", s["vocab"], hidden)
    for layer in range(s["layers"]):
        prefix = f"blk.{layer}."
        is_recurrent = family == "kQwen35" and (layer + 1) % ATTENTION_INTERVAL != 0
        w.vector(prefix + "attn_norm.weight", hidden)
        w.vector(prefix + ("post_attention_norm" if family == "kQwen35" else "ffn_norm") + ".weight", hidden)
        if is_recurrent:
            write_gated_delta_net(w, prefix, s)
        elif family == "kDeepSeekV2":
            write_latent_attention(w, prefix, s)
        else:
            write_attention(w, prefix, family, s)
        if family == "kDeepSeekV2" and layer >= family_numbers(family)["first_k_dense_replace"]:
            write_experts(w, prefix, s)
            continue
        w.matrix(prefix + "ffn_gate.weight", s["ffn"], hidden)
        w.matrix(prefix + "ffn_up.weight", s["ffn"], hidden)
        w.matrix(prefix + "ffn_down.weight", hidden, s["ffn"])
    w.close()
    os.replace(partial, path)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        raise SystemExit(__doc__)
    make_gguf(*sys.argv[1:])
