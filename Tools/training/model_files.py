"""The model folder that training writes and evaluation reads: text model, tower and multi-token-prediction layer in three shards."""

import json
import os

import torch
from safetensors.torch import load_file, save_file
from transformers import Qwen3_5TextConfig

import tower

# The last entries of the learnt vocabulary gave way to these, so that the vocabulary keeps its size.
VISION_TOKENS = ["<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>"]


def with_vision_tokens(tokenizer_json):
    """The tokenizer with the tokens around pictures instead of its last learnt entries; unchanged if it has them."""
    values = json.loads(tokenizer_json)
    vocabulary, merges, added = values["model"]["vocab"], values["model"]["merges"], values["added_tokens"]
    if any(token["content"] == VISION_TOKENS[0] for token in added):
        return tokenizer_json
    first = min(token["id"] for token in added) - len(VISION_TOKENS)
    names = {i: text for text, i in vocabulary.items()}
    for i, content in enumerate(reversed(VISION_TOKENS)):
        number = first + len(VISION_TOKENS) - 1 - i
        joined = merges.pop()
        assert "".join(joined if isinstance(joined, list) else joined.split(" ")) == names[number], (joined, names[number])
        del vocabulary[names[number]]
        added.append(dict(id=number, content=content, single_word=False, lstrip=False, rstrip=False, normalized=False, special=True))
    added.sort(key=lambda token: token["id"])
    return json.dumps(values, ensure_ascii=False, indent=2)


def save(model, mtp, visual, tokenizer, folder):
    half = {name: tensor.to(torch.bfloat16).contiguous() for name, tensor in visual.state_dict().items()}
    shards = [{}, {}, {"model.visual." + name: tensor for name, tensor in half.items()}]
    text = {k.replace("model.", "model.language_model.", 1): v for k, v in model.state_dict().items() if k != "lm_head.weight"}
    text |= {"mtp." + k: v for k, v in mtp.state_dict().items()}
    for i, name in enumerate(sorted(text)):
        shards[2 * i // len(text)][name] = text[name].to(torch.bfloat16).contiguous()
    weight_map = {}
    for number, shard in enumerate(shards, start=1):
        file = f"model-{number:05}-of-{len(shards):05}.safetensors"
        save_file(shard, f"{folder}/{file}.part")
        os.replace(f"{folder}/{file}.part", f"{folder}/{file}")
        weight_map |= {name: file for name in shard}
    total_size = sum(tensor.numel() * 2 for shard in shards for tensor in shard.values())
    write(f"{folder}/model.safetensors.index.json", {"metadata": {"total_size": total_size}, "weight_map": weight_map})
    write(f"{folder}/config.json", config_values(model.config, visual.config, tokenizer))
    eos, pad = model.config.eos_token_id, model.config.pad_token_id
    write(f"{folder}/generation_config.json", dict(do_sample=False, eos_token_id=[eos, pad], pad_token_id=pad))
    write(f"{folder}/preprocessor_config.json", dict(image_processor_type="Qwen2VLImageProcessorFast", patch_size=16, temporal_patch_size=2, merge_size=2, image_mean=[0.5] * 3, image_std=[0.5] * 3,
          size=dict(shortest_edge=tower.FEWEST_PIXELS, longest_edge=tower.MOST_PIXELS)))
    print(f"{sum(map(len, shards))} tensors, {total_size} bytes", flush=True)


def write(path, values):
    with open(path, "w") as file:
        json.dump(values, file, indent=1, default=str)
        file.write("\n")


def config_values(text, vision, tokenizer):
    names = ("vocab_size hidden_size intermediate_size num_hidden_layers num_attention_heads num_key_value_heads head_dim hidden_act max_position_embeddings initializer_range rms_norm_eps tie_word_embeddings "
             "attention_bias linear_conv_kernel_dim linear_key_head_dim linear_value_head_dim linear_num_key_heads linear_num_value_heads layer_types pad_token_id eos_token_id").split()
    rotary = dict(rope_type="default", rope_theta=1e6, partial_rotary_factor=0.25, mrope_interleaved=True, mrope_section=[11, 11, 10])
    text_values = {name: getattr(text, name) for name in names} | dict(model_type="qwen3_5_text", rope_parameters=rotary, mtp_num_hidden_layers=1)
    vision_names = "depth hidden_size intermediate_size num_heads in_channels patch_size spatial_merge_size temporal_patch_size out_hidden_size num_position_embeddings hidden_act".split()
    ids = dict(zip(("vision_start_token_id", "vision_end_token_id", "image_token_id", "video_token_id"), map(tokenizer.token_to_id, VISION_TOKENS)))
    return dict(architectures=["Qwen3_5ForConditionalGeneration"], model_type="qwen3_5", dtype="bfloat16", tie_word_embeddings=True, **ids,
                text_config=text_values, vision_config=dict(model_type="qwen3_5_vision") | {name: getattr(vision, name) for name in vision_names})


def text_config(folder):
    with open(f"{folder}/config.json") as file:
        values = json.load(file)
    return Qwen3_5TextConfig(**values.get("text_config", values))


def load(model, mtp, visual, folder):
    """Loads what the folder has; names of models with and without a tower."""
    tensors = {}
    for file in sorted(os.listdir(folder)):
        if file.endswith(".safetensors"):
            tensors |= {k.replace("model.language_model.", "model."): v.float() for k, v in load_file(f"{folder}/{file}").items()}
    pick = lambda prefix: {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}
    if mtp is not None:
        mtp.load_state_dict(pick("mtp."))
    if visual is not None and pick("model.visual."):
        visual.load_state_dict(pick("model.visual."))
    rest = {k: v for k, v in tensors.items() if not k.startswith(("mtp.", "model.visual."))}
    print("missing", model.load_state_dict(rest, strict=False))
