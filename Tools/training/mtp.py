"""The layer for multi-token prediction: its loss for one draft, its rows for several drafts as the engine computes them, and how many are right."""

import torch
import torch.nn as nn
from transformers.models.qwen3_5 import modeling_qwen3_5 as qwen


class MultiTokenPrediction(nn.Module):
    """One layer that guesses the token after the next from the hidden state and the next token's embedding."""

    def __init__(self, config):
        super().__init__()
        size = config.hidden_size
        self.fc = nn.Linear(2 * size, size, bias=False)
        self.pre_fc_norm_hidden = qwen.Qwen3_5RMSNorm(size)
        self.pre_fc_norm_embedding = qwen.Qwen3_5RMSNorm(size)
        self.layers = nn.ModuleList([qwen.Qwen3_5DecoderLayer(config, config.layer_types.index("full_attention"))])
        self.norm = qwen.Qwen3_5RMSNorm(size)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.normal_(module.weight, std=0.02)

    def forward(self, hidden, embeddings, rotary_emb):
        x = self.fc(torch.cat([self.pre_fc_norm_embedding(embeddings), self.pre_fc_norm_hidden(hidden)], -1))
        positions = torch.arange(x.shape[1], device=x.device)[None]
        rotation = rotary_emb(x, positions[None].expand(3, 1, -1))
        out = self.layers[0](x, position_embeddings=rotation, attention_mask=None, position_ids=positions)
        return self.norm(out[0] if isinstance(out, tuple) else out)

    def drafts(self, hidden, embeddings, rotary_emb, num_drafts):
        """For every row, the outputs of `num_drafts` consecutive drafts, each given the true token and the output of the previous draft.

        `hidden` is [batch, tokens, size] of the trunk and `embeddings` those of the same tokens. Row p of draft j has seen tokens
        0 to p + j and guesses token p + j + 1. Its keys are those of the rows up to p, which come from the trunk's hidden
        states, and those of its own earlier drafts.
        """
        layer, rows = self.layers[0], hidden.shape[1] - 1
        attention = layer.self_attn
        lower = torch.ones(rows, rows, dtype=torch.bool, device=hidden.device).tril()
        state, keys, values, outputs = hidden[:, :-1], [], [], []
        for j in range(num_drafts):
            token = torch.cat([embeddings[:, 1 + j :], embeddings[:, -1:].expand(-1, j, -1)], 1)
            z = self.fc(torch.cat([self.pre_fc_norm_embedding(token), self.pre_fc_norm_hidden(state)], -1))
            x = layer.input_layernorm(z)
            positions = torch.arange(j, rows + j, device=x.device)[None]
            cos, sin = rotary_emb(x, positions[None].expand(3, 1, -1))
            heads = (*x.shape[:2], -1, attention.head_dim)
            query, gate = attention.q_proj(x).view(*x.shape[:2], -1, attention.head_dim * 2).chunk(2, -1)
            query = attention.q_norm(query.reshape(heads)).transpose(1, 2)
            key = attention.k_norm(attention.k_proj(x).view(heads)).transpose(1, 2)
            query, key = qwen.apply_rotary_pos_emb(query, key, cos, sin)
            groups = attention.num_key_value_groups
            keys.append(key.repeat_interleave(groups, 1))
            values.append(attention.v_proj(x).view(heads).transpose(1, 2).repeat_interleave(groups, 1))
            scores = (query @ keys[0].transpose(-1, -2)).masked_fill(~lower, float("-inf"))
            own = [(query * key).sum(-1, keepdim=True) for key in keys[1:]]
            chances = (torch.cat([scores, *own], -1).float() * attention.scaling).softmax(-1).to(query.dtype)
            mixed = chances[..., :rows] @ values[0]
            for i, value in enumerate(values[1:]):
                mixed = mixed + chances[..., rows + i : rows + i + 1] * value
            mixed = mixed.transpose(1, 2).reshape(*x.shape[:2], -1) * torch.sigmoid(gate.reshape(*x.shape[:2], -1))
            z = z + attention.o_proj(mixed)
            z = z + layer.mlp(layer.post_attention_layernorm(z))
            state = self.norm(z)
            outputs.append(state)
        return outputs


@torch.no_grad()
def check_drafts(model, mtp, ids):
    """The largest difference between drafts() and the layer run row by row, and the largest value."""
    embed, rotary = model.model.embed_tokens, model.model.rotary_emb
    hidden = model.model(input_ids=ids, use_cache=False).last_hidden_state
    all_at_once, worst = mtp.drafts(hidden, embed(ids), rotary, 4), 0.0
    for p in (0, 3, ids.shape[1] - 6):
        states = hidden[:, : p + 1]
        for j in range(4):
            states = torch.cat([states, mtp(states, embed(ids[:, 1 : p + 2 + j]), rotary)[:, -1:]], 1)
            worst = max(worst, (states[:, -1] - all_at_once[j][:, p]).abs().max().item())
    return worst, all_at_once[0].abs().max().item()


@torch.no_grad()
def continue_greedily(model, prompts, num_tokens, pad):
    """The tokens of each prompt followed by `num_tokens` arbitrary ones, and the length of each prompt."""
    width, device = max(map(len, prompts)), next(model.parameters()).device
    x = torch.tensor([[pad] * (width - len(p)) + p for p in prompts], device=device)
    mask = torch.tensor([[0] * (width - len(p)) + [1] * len(p) for p in prompts], device=device)
    said, cache = [], None
    for _ in range(num_tokens):
        out = model(input_ids=x, attention_mask=mask, past_key_values=cache, use_cache=True, logits_to_keep=1)
        cache, x = out.past_key_values, out.logits[:, -1].argmax(-1, keepdim=True)
        mask = torch.cat([mask, torch.ones_like(x)], 1)
        said.append(x)
    said = torch.cat(said, 1).tolist()
    return [p + s for p, s in zip(prompts, said)], [len(p) for p in prompts]


def padded(texts, lengths, pad, device):
    """Texts as one batch padded on the right, and a mask: 1 for tokens after the prompt, 0 elsewhere."""
    width = -(-max(map(len, texts)) // 64) * 64
    x = torch.tensor([t + [pad] * (width - len(t)) for t in texts])
    w = torch.tensor([[0.0] * n + [1.0] * (len(t) - n) + [0.0] * (width - len(t)) for t, n in zip(texts, lengths)])
    return x.to(device), w.to(device)


@torch.no_grad()
def acceptance(model, mtp, texts, lengths, pad, num_drafts=4):
    """The fraction of rows for which drafts 1 to k all equal the model's own tokens, for k = 1 to `num_drafts`."""
    right_counts, rows = torch.zeros(num_drafts), 0
    for begin in range(0, len(texts), 64):
        x, w = padded(texts[begin : begin + 64], lengths[begin : begin + 64], pad, next(model.parameters()).device)
        hidden = model.model(input_ids=x, use_cache=False).last_hidden_state
        outputs = mtp.drafts(hidden, model.model.embed_tokens(x), model.model.rotary_emb, num_drafts)
        end = x.shape[1] - num_drafts - 1
        counted = (w[:, 2 : end + 2] > 0) & (w[:, num_drafts + 1 : num_drafts + 1 + end] > 0)
        right = counted.clone()
        for j, output in enumerate(outputs):
            right &= model.lm_head(output[:, :end]).argmax(-1) == x[:, j + 2 : j + 2 + end]
            right_counts[j] += right.sum().item()
        rows += counted.sum().item()
    return [round(float(c) / max(1, rows), 3) for c in right_counts]
