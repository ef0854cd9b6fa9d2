"""Trains the embedded model (Qwen3.5 architecture, about 10M parameters) on corpus.py's chats.

Usage: train.py SECONDS OUTDIR. Needs one CUDA GPU, torch, transformers with Qwen3.5, tokenizers and safetensors.
SECONDS is the whole time, corpus included; 540 gave the model in Sources/MiniModel. Two runs do not give the same bits.
"""

import json
import math
import os
import random
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F
from safetensors.torch import save_file
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from transformers import Qwen3_5ForCausalLM, Qwen3_5TextConfig
from transformers.models.qwen3_5 import modeling_qwen3_5 as qwen

import corpus
import evaluate
import gated_delta

NUM_CHATS = 1_000_000
VOCAB_SIZE = 4096
MAX_TOKENS = 512
HIDDEN_SIZE = 256
BATCH_TOKENS = 65536
LEARNING_RATE = 3e-3
MTP_LOSS_WEIGHT = 0.3
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
ADDED = ["<think>", "</think>", "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>"]
# Left out of the text the merges are learnt from. Another list gives another tokenizer.json than the checked-in one.
NOT_LEARNT = SPECIAL + ADDED[:4]

# The pre-tokenizer pattern of Qwen3.5.
PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def train_tokenizer(texts):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PATTERN), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()

    def plain(text):
        for token in NOT_LEARNT:
            text = text.replace(token, "")
        return text

    trainer = trainers.BpeTrainer(
        vocab_size=VOCAB_SIZE - len(SPECIAL) - len(ADDED),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator((plain(text) for text in texts), trainer)
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in SPECIAL])
    tokenizer.add_tokens([AddedToken(token, special=False, normalized=False) for token in ADDED])
    return tokenizer


def make_config(tokenizer):
    return Qwen3_5TextConfig(
        vocab_size=VOCAB_SIZE,
        hidden_size=HIDDEN_SIZE,
        intermediate_size=512,
        num_hidden_layers=8,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=256,
        linear_num_key_heads=2,
        linear_num_value_heads=4,
        linear_key_head_dim=128,
        linear_value_head_dim=128,
        linear_conv_kernel_dim=4,
        max_position_embeddings=8192,
        tie_word_embeddings=True,
        rope_parameters=dict(rope_type="default", rope_theta=1e6, partial_rotary_factor=0.25),
        eos_token_id=tokenizer.token_to_id("<|im_end|>"),
        pad_token_id=tokenizer.token_to_id("<|endoftext|>"),
        bos_token_id=None,
    )


class MultiTokenPrediction(nn.Module):
    """One layer that guesses the token after the next from the hidden state and the next token's embedding."""

    def __init__(self, config):
        super().__init__()
        self.fc = nn.Linear(2 * HIDDEN_SIZE, HIDDEN_SIZE, bias=False)
        self.pre_fc_norm_hidden = qwen.Qwen3_5RMSNorm(HIDDEN_SIZE)
        self.pre_fc_norm_embedding = qwen.Qwen3_5RMSNorm(HIDDEN_SIZE)
        self.layers = nn.ModuleList([qwen.Qwen3_5DecoderLayer(config, config.layer_types.index("full_attention"))])
        self.norm = qwen.Qwen3_5RMSNorm(HIDDEN_SIZE)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.normal_(module.weight, std=0.02)

    def forward(self, hidden, embeddings, rotary_emb):
        x = self.fc(torch.cat([self.pre_fc_norm_embedding(embeddings), self.pre_fc_norm_hidden(hidden)], -1))
        positions = torch.arange(x.shape[1], device=x.device)[None]
        rotation = rotary_emb(x, positions[None].expand(3, 1, -1))
        out = self.layers[0](x, position_embeddings=rotation, attention_mask=None, position_ids=positions)
        return self.norm(out[0] if isinstance(out, tuple) else out)


def batches(ids, pad):
    """Endless batches of about BATCH_TOKENS tokens, similar lengths together: inputs, and labels (-100 where none)."""
    order = list(range(len(ids)))
    padded = lambda index: -(-len(ids[index]) // 64) * 64
    while True:
        random.shuffle(order)
        for begin in range(0, len(order), 40000):
            groups, group = [], []
            for index in sorted(order[begin : begin + 40000], key=lambda i: len(ids[i])):
                if group and (len(group) + 1) * padded(index) > BATCH_TOKENS:
                    groups.append(group)
                    group = []
                group.append(index)
            groups.append(group)
            random.shuffle(groups)
            for group in groups:
                x = torch.full((len(group), max(map(padded, group))), pad)
                y = torch.full_like(x, -100)
                for row, index in enumerate(group):
                    x[row, : len(ids[index])] = y[row, : len(ids[index])] = torch.tensor(ids[index])
                yield x.cuda(non_blocking=True), y.cuda(non_blocking=True)


def losses(model, mtp, x, y):
    """Cross entropy of the next token, and of the one after it by the extra layer."""

    def cross_entropy(hidden, labels):
        return F.cross_entropy(model.lm_head(hidden).float().flatten(0, 1), labels.flatten(), ignore_index=-100)

    with torch.autocast("cuda", torch.bfloat16):
        hidden = model.model(input_ids=x, use_cache=False).last_hidden_state
        ahead = mtp(hidden[:, :-1], model.model.embed_tokens(x[:, 1:]), model.model.rotary_emb)
        return cross_entropy(hidden[:, :-1], y[:, 1:]), cross_entropy(ahead[:, :-1], y[:, 2:])


def train(model, mtp, ids, pad, seconds):
    parameters = list(model.parameters()) + list(mtp.parameters())
    groups = [
        dict(params=[p for p in parameters if p.dim() > 1], weight_decay=0.05),
        dict(params=[p for p in parameters if p.dim() <= 1], weight_decay=0.0),
    ]
    optimizer = torch.optim.AdamW(groups, lr=LEARNING_RATE, betas=(0.9, 0.98), fused=True)
    begin, seen = time.time(), 0
    for step, (x, y) in enumerate(batches(ids, pad), start=1):
        elapsed = time.time() - begin
        if elapsed > seconds:
            return
        cosine = 0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * elapsed / seconds))
        for group in optimizer.param_groups:
            group["lr"] = LEARNING_RATE * min(1, step / 200) * cosine
        loss, mtp_loss = losses(model, mtp, x, y)
        (loss + MTP_LOSS_WEIGHT * mtp_loss).backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        seen += x.numel()
        if step % 100 == 0:
            rate = seen / elapsed / 1e3
            print(f"{step} {elapsed:.0f}s loss {loss:.4f} mtp {mtp_loss:.4f} {rate:.0f}k tok/s", flush=True)


def save(model, mtp, tokenizer, config, folder):
    tensors = {k: v.to(torch.bfloat16).contiguous() for k, v in model.state_dict().items() if k != "lm_head.weight"}
    tensors |= {"mtp." + k: v.to(torch.bfloat16).contiguous() for k, v in mtp.state_dict().items()}
    names = sorted(tensors)
    shards = [names[: len(names) // 2], names[len(names) // 2 :]]
    weight_map = {}
    for number, shard in enumerate(shards, start=1):
        file = f"model-{number:05}-of-{len(shards):05}.safetensors"
        save_file({name: tensors[name] for name in shard}, f"{folder}/{file}")
        weight_map |= {name: file for name in shard}
    total_size = sum(tensor.numel() * 2 for tensor in tensors.values())
    with open(f"{folder}/model.safetensors.index.json", "w") as file:
        json.dump({"metadata": {"total_size": total_size}, "weight_map": weight_map}, file, indent=1)
    tokenizer.save(f"{folder}/tokenizer.json")
    values = config.to_dict() | {"architectures": ["Qwen3_5ForCausalLM"], "mtp_num_hidden_layers": 1}
    with open(f"{folder}/config.json", "w") as file:
        json.dump(values, file, indent=1, default=str)
    print(f"{len(tensors)} tensors, {total_size} bytes")


def main():
    begin = time.time()
    seconds, folder = float(sys.argv[1]), sys.argv[2]
    os.makedirs(folder, exist_ok=True)
    torch.manual_seed(0)
    random.seed(0)
    torch.backends.cuda.matmul.allow_tf32 = True

    texts = [corpus.chat() for _ in range(NUM_CHATS)]
    tokenizer = train_tokenizer(texts[:60000])
    ids = [encoding.ids for encoding in tokenizer.encode_batch(texts)]
    ids = [chat for chat in ids if len(chat) <= MAX_TOKENS]
    print(f"{len(ids)} chats, {sum(map(len, ids)) / 1e6:.0f}M tokens, {time.time() - begin:.0f}s", flush=True)

    print("chunk rule against transformers:", gated_delta.check_against(qwen.torch_chunk_gated_delta_rule), flush=True)
    qwen.torch_chunk_gated_delta_rule = gated_delta.chunk_rule
    config = make_config(tokenizer)
    model, mtp = Qwen3_5ForCausalLM(config).cuda(), MultiTokenPrediction(config).cuda()
    train(model, mtp, ids, config.pad_token_id, seconds - (time.time() - begin) - 60)
    model.eval()
    evaluate.report(model, tokenizer)
    save(model, mtp, tokenizer, config, folder)


if __name__ == "__main__":
    main()
