#!/usr/bin/env python3
"""Writes a GGUF file in one of Pagoda's synthetic shapes, with random weights, so that llama.cpp does the same work.

Needs no package. The vocabulary and the chat template are those that `--shape` has: words that grow by one letter per merge.
Matrices are bfloat16, or of the given type: a large model then needs no larger intermediate file.
Usage: make_gguf.py SHAPE OUT.gguf [BF16 | Q8_0 | Q4_0 | Q4_K]
"""
import array
import os
import random
import re
import struct
import sys
from pathlib import Path

from gguf_file import BLOCKS, FILE_TYPES, GGUFFile, size_of

SYNTHETIC = Path(__file__).resolve().parents[2] / "CxxCore/src/io/synthetic"
SHAPES, TEXT = SYNTHETIC / "shapes.cpp", SYNTHETIC / "text.cpp"
ARCHITECTURES = {  # family in SHAPES: name in GGUF, rope base, epsilon of norms
    "kQwen35": ("qwen35", 1e7, 1e-6),
    "kQwen3": ("qwen3", 1e6, 1e-6),
    "kQwen2": ("qwen2", 1e6, 1e-6),
    "kLlama32": ("llama", 5e5, 1e-5),
    "kSmolLM2": ("llama", 1e5, 1e-5),
    "kDeepSeekV2": ("deepseek2", 1e4, 1e-6),
}
# The scales at the start of a block; those of Q4_K are for 6-bit scales and 6-bit minima, about 32 each, of codes from 0 to 15.
SCALES = {"Q8_0": [0.02 / 128], "Q4_0": [0.02 / 8], "Q4_K": [0.02 / 8 / 32, 0.02 / 32]}
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
        self.file = GGUFFile(path, architecture)
        self.kind = kind
        self.random = random.Random(0)
        if kind == "BF16":
            numbers = array.array("f", (self.random.gauss(0, 0.02) for _ in range(1 << 18))).tobytes()
            self.block = bytearray(len(numbers) // 2)
            self.block[0::2], self.block[1::2] = numbers[2::4], numbers[3::4]
        else:
            scales = struct.pack(f"<{len(SCALES[kind])}e", *SCALES[kind])
            self.block = b"".join(scales + self.random.randbytes(BLOCKS[kind][1] - len(scales)) for _ in range(1 << 15))

    def matrix(self, name, *shape):
        self.file.add_tensor(name, shape, self.kind, lambda: self.repeated(size_of(self.kind, shape)))

    def repeated(self, size):
        for start in range(0, size, len(self.block)):
            yield memoryview(self.block)[:size - start]

    def vector(self, name, *shape, value=1.0):
        self.file.add_tensor(name, shape, "F32", lambda: [struct.pack("<f", value) * (size_of("F32", shape) // 4)])

    def noise(self, name, *shape):
        count = size_of("F32", shape) // 4
        self.file.add_tensor(name, shape, "F32", lambda: [array.array("f", (self.random.gauss(0, 0.02) for _ in range(count))).tobytes()])

    def close(self):
        self.file.close()


def write_keys(w, family, s):
    _, rope_base, epsilon = ARCHITECTURES[family]
    file = w.file
    file.add(".context_length", s["context"])
    file.add(".embedding_length", s["hidden"])
    file.add(".feed_forward_length", s["ffn"])
    file.add(".block_count", s["layers"])
    file.add(".attention.head_count", s["heads"])
    file.add(".attention.layer_norm_rms_epsilon", epsilon)
    file.add(".rope.freq_base", rope_base)
    file.add(".vocab_size", s["vocab"])
    write_vocabulary(file, s["vocab"])
    file.add("general.file_type", FILE_TYPES[w.kind])
    if family == "kDeepSeekV2":
        return write_latent_keys(w, file)
    file.add(".attention.head_count_kv", s["kv_heads"])
    file.add(".attention.key_length", s["head_dim"])
    file.add(".attention.value_length", s["head_dim"])
    if family != "kQwen35":
        file.add(".rope.dimension_count", s["head_dim"])
        return
    file.add(".rope.dimension_count", s["head_dim"] // 4)
    file.add(".rope.dimension_sections", [11, 11, 10, 0])
    file.add(".ssm.conv_kernel", CONV_KERNEL)
    file.add(".ssm.state_size", s["linear_dim"])
    file.add(".ssm.group_count", s["k_heads"])
    file.add(".ssm.time_step_rank", s["v_heads"])
    file.add(".ssm.inner_size", s["linear_dim"] * s["v_heads"])
    file.add(".full_attention_interval", ATTENTION_INTERVAL)


def shape_text():
    """The control tokens and the chat template of shapes, from the engine's own source."""
    source = TEXT.read_text(encoding="utf-8")
    control = re.search(r"kControlTokens\[\] = \{(.*?)\}", source, re.DOTALL)[1]
    return re.findall(r'"(.*?)"', control), re.search(r'kChatTemplate =\s+R"\((.*?)\)";', source, re.DOTALL)[1]


def vocabulary(size):
    """Byte-level BPE as in text.cpp: the 256 bytes, then words of up to four letters, then pairs, as far as there is room."""
    plain = {*range(33, 127), *range(161, 173), *range(174, 256)}
    spare = iter(range(256, 512))
    tokens = [chr(byte if byte in plain else next(spare)) for byte in range(256)]
    letters = [chr(letter) for letter in range(ord("a"), ord("z") + 1)]

    def lengthened(shorter, merges):
        longer = [(word, letter) for word in shorter for letter in letters][:size - len(tokens)]
        merges += [f"{word} {letter}" for word, letter in longer]
        tokens.extend(word + letter for word, letter in longer)
        return [word + letter for word, letter in longer]

    words, merges, pairs = [tokens[32]], [], []
    for length in range(1, 5):
        words = lengthened(words, merges)
        if length == 2:
            lengthened(letters, pairs)
    return tokens, merges + pairs


def write_vocabulary(file, size):
    control, template = shape_text()
    tokens, merges = vocabulary(size - len(control))
    unused = size - len(tokens) - len(control)
    tokens += [f"[unused{i}]" for i in range(unused)] + control
    file.add("tokenizer.ggml.model", "gpt2")
    file.add("tokenizer.ggml.pre", "qwen2")
    file.add("tokenizer.ggml.tokens", tokens)
    is_special = [not name.endswith("tool_call>") for name in control]
    types = [1] * (size - unused - len(control)) + [5] * unused + [3 if special else 4 for special in is_special]
    file.add("tokenizer.ggml.token_type", types)
    file.add("tokenizer.ggml.merges", merges)
    file.add("tokenizer.ggml.eos_token_id", tokens.index("<|im_end|>"))
    file.add("tokenizer.chat_template", template)


def family_numbers(family):
    """Integers among the keys that a family's shapes share in SHAPES."""
    text = re.search(r"constexpr FamilyKeys %s = .*?\)\"\};" % family, SHAPES.read_text(encoding="utf-8"), re.DOTALL)[0]
    return {key: int(number) for key, number in re.findall(r'"(\w+)": (\d+)[,}\s]', text)}


def write_latent_keys(w, file):
    c = family_numbers("kDeepSeekV2")
    rank, rope, nope, v = (c[k] for k in ("kv_lora_rank", "qk_rope_head_dim", "qk_nope_head_dim", "v_head_dim"))
    file.add(".attention.head_count_kv", 1)  # the cached row counts as one head
    file.add(".attention.key_length", rank + rope)
    file.add(".attention.value_length", rank)
    file.add(".attention.key_length_mla", nope + rope)
    file.add(".attention.value_length_mla", v)
    file.add(".attention.kv_lora_rank", rank)
    file.add(".rope.dimension_count", rope)
    file.add(".leading_dense_block_count", c["first_k_dense_replace"])
    file.add(".expert_count", c["n_routed_experts"])
    file.add(".expert_used_count", c["num_experts_per_tok"])
    file.add(".expert_feed_forward_length", c["moe_intermediate_size"])
    file.add(".expert_shared_count", c["n_shared_experts"])
    file.add(".expert_weights_scale", 1.0)
    file.add(".expert_gating_func", 1)  # softmax


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
    w.noise(prefix + "ffn_gate_inp.weight", count, hidden)
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
