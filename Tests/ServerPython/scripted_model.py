"""A model that says one given text: each token of its vocabulary leads to the next. For tests of what is done with answers."""
import json
import struct


def byte_letters():
    """The characters that stand for bytes in byte-level BPE."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in plain]
    return [chr(byte) for byte in plain] + [chr(256 + i) for i in range(len(others))]


def write_scripted_model(folder, chunks):
    """Writes a model folder whose answer to any message is the chunks, which must differ from each other, one per token.

    Attention and the MLP are zero, so the logits depend on the last token only: token t has the embedding e_t, and the head's
    row of the token after t is e_t."""
    letters = byte_letters()
    first = len(letters)
    size = -(-(len(chunks) + 2) // 16) * 16  # tokens that take part: the prompt's, the chunks, the end
    names = ["<go>", *chunks, "<end>"]
    assert len(set(names)) == len(names)
    vocab = first + len(names)
    tensors = {"model.embed_tokens.weight": [vocab, size], "lm_head.weight": [vocab, size], "model.norm.weight": [size]}
    for name, shape in {"self_attn.q_proj": [size, size], "self_attn.k_proj": [size, size], "self_attn.v_proj": [size, size],
                        "self_attn.o_proj": [size, size], "mlp.gate_proj": [size, size], "mlp.up_proj": [size, size],
                        "mlp.down_proj": [size, size], "input_layernorm": [size], "post_attention_layernorm": [size]}.items():
        tensors[f"model.layers.0.{name}.weight"] = shape
    ones = {"model.norm.weight": range(size), "model.layers.0.input_layernorm.weight": range(size),
            "model.layers.0.post_attention_layernorm.weight": range(size),
            "model.embed_tokens.weight": [(first + t) * size + t for t in range(len(names))],
            "lm_head.weight": [(first + t + 1) * size + t for t in range(len(names) - 1)]}
    folder.mkdir(exist_ok=True)
    header, data = {}, b""
    for name, shape in tensors.items():
        values = [0.0] * (shape[0] * (shape[1] if len(shape) > 1 else 1))
        for index in ones.get(name, []):
            values[index] = 1.0
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + 4 * len(values)]}
        data += struct.pack(f"<{len(values)}f", *values)
    text = json.dumps(header).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)
    (folder / "config.json").write_text(json.dumps({
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": vocab, "hidden_size": size,
        "intermediate_size": size, "num_hidden_layers": 1, "num_attention_heads": size // 16, "num_key_value_heads": size // 16,
        "head_dim": 16, "rms_norm_eps": 1e-5, "max_position_embeddings": 2048, "tie_word_embeddings": False, "dtype": "float32",
        "eos_token_id": vocab - 1, "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0}}))
    added = [{"id": first + i, "content": name, "special": name in ("<go>", "<end>")} for i, name in enumerate(names)]
    (folder / "tokenizer.json").write_text(json.dumps({
        "added_tokens": added, "normalizer": None, "decoder": {"type": "ByteLevel"},
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True},
        "model": {"type": "BPE", "vocab": {letter: i for i, letter in enumerate(letters)}, "merges": []}}))
    (folder / "chat_template.jinja").write_text("<go>")
    return str(folder)
