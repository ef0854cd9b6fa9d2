"""The embedded model's vision tower: its sizes, a forward pass over pictures of one size, tokens and positions around pictures."""

import numpy as np
import torch
import torch.nn.functional as F
from transformers.models.qwen3_5.configuration_qwen3_5 import Qwen3_5VisionConfig
from transformers.models.qwen3_5.modeling_qwen3_5 import Qwen3_5VisionModel

import picture_chats
import pictures
import questions

FEWEST_PIXELS, MOST_PIXELS = 128 * 128, 256 * 256
SIZES = [(4, 4), (4, 4), (8, 8), (8, 8), (8, 8), (4, 6), (6, 4), (6, 6), (7, 7), (5, 8), (8, 5), (6, 10), (10, 6), (7, 9), (9, 7), (5, 5), (4, 8)]  # in tokens
PICTURES_PER_BATCH = 256 if torch.cuda.is_available() else 6


def make_config(out_hidden_size):
    return Qwen3_5VisionConfig(depth=4, hidden_size=64, intermediate_size=256, num_heads=2, in_channels=3, patch_size=16, spatial_merge_size=2, temporal_patch_size=2,
                               out_hidden_size=out_hidden_size, num_position_embeddings=256, hidden_act="gelu_pytorch_tanh")


def patches_of(images):
    """[number, patches, 1536] in the order of the image processor: by blocks of 2 x 2 patches; both frames are the same picture."""
    n, c, height, width = images.shape
    x = ((images - 0.5) / 0.5).view(n, c, height // 32, 2, 16, width // 32, 2, 16)
    x = x.permute(0, 2, 5, 3, 6, 1, 4, 7)  # block row, block column, row, column, channel, y, x
    x = x[:, :, :, :, :, :, None].expand(-1, -1, -1, -1, -1, -1, 2, -1, -1)
    return x.reshape(n, (height // 16) * (width // 16), c * 2 * 256)


def places_of(rows, columns, device):
    """Row and column of every patch, in the order of patches_of."""
    grid = torch.stack(torch.meshgrid(torch.arange(rows, device=device), torch.arange(columns, device=device), indexing="ij"), -1)
    return grid.view(rows // 2, 2, columns // 2, 2, 2).permute(0, 2, 1, 3, 4).reshape(-1, 2)


def look(visual, patches, rows, columns):
    """What the tower makes of pictures of one size, [number, tokens, size]; the same as calling it for each."""
    config, device = visual.config, patches.device
    size, heads, dim = config.hidden_size, config.num_heads, config.hidden_size // config.num_heads
    places = places_of(rows, columns, device).float()
    side = int(config.num_position_embeddings**0.5)
    spot = places * torch.tensor([(side - 1) / max(1, rows - 1), (side - 1) / max(1, columns - 1)], device=device)
    low = spot.floor().long()
    high, part = (low + 1).clamp(max=side - 1), spot - low
    at = lambda y, x: visual.pos_embed.weight[y * side + x]
    (y0, x0), (y1, x1), (dy, dx) = low.unbind(-1), high.unbind(-1), part[..., None].unbind(-2)
    learned = (1 - dy) * ((1 - dx) * at(y0, x0) + dx * at(y0, x1)) + dy * ((1 - dx) * at(y1, x0) + dx * at(y1, x1))
    weight = visual.patch_embed.proj.weight.view(size, -1)
    x = F.linear(patches, weight, visual.patch_embed.proj.bias) + learned
    frequencies = 10000 ** (-torch.arange(0, dim // 2, 2, device=device).float() / (dim // 2))
    angles = (places[:, :, None] * frequencies).flatten(1)
    angles = torch.cat([angles, angles], -1)
    cos, sin = angles.cos(), angles.sin()

    def rotated(v):  # [number, heads, patches, dim]
        left, right = v.chunk(2, -1)
        return v * cos + torch.cat([-right, left], -1) * sin

    for block in visual.blocks:
        q, k, v = block.attn.qkv(block.norm1(x)).view(*x.shape[:2], 3, heads, dim).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(rotated(q.float()), rotated(k.float()), v.float())
        x = x + block.attn.proj(mixed.transpose(1, 2).reshape(x.shape))
        x = x + block.mlp(block.norm2(x))
    merger = visual.merger
    merged = merger.norm(x).reshape(x.shape[0], -1, 4 * size)
    return merger.linear_fc2(F.gelu(merger.linear_fc1(merged)))


@torch.no_grad()
def check(visual, device):
    """The largest difference between look() and the tower itself, and the largest value."""
    images = torch.rand(3, 3, 128, 192, device=device)
    patches = patches_of(images)
    ours = look(visual, patches, 8, 12)
    out = visual(patches.flatten(0, 1), grid_thw=torch.tensor([[1, 8, 12]] * 3, device=device))
    theirs = getattr(out, "pooler_output", out)
    return (ours.flatten(0, 1) - theirs).abs().max().item(), theirs.abs().max().item()


def positions_of(ids, pad_id, rows, columns):
    """Positions [3, tokens] of rotary embeddings: a picture of rows x columns tokens counts as max(rows, columns)."""
    out, position, i = np.zeros((3, len(ids)), np.int64), 0, 0
    while i < len(ids):
        if ids[i] != pad_id:
            out[:, i] = position
            position, i = position + 1, i + 1
            continue
        number = np.arange(rows * columns)
        out[:, i : i + len(number)] = position + np.stack([number * 0, number // columns, number % columns])
        position, i = position + max(rows, columns), i + len(number)
    return out


def write_batch(seed, encode):
    """Chats about pictures of one size: tokens and whose they are, and the scenes. Runs in a separate process."""
    picture_chats.R.seed(seed)
    questions.R.seed(seed)
    rows, columns = picture_chats.R.choice(SIZES)
    chats, scenes = [], []
    while len(scenes) < PICTURES_PER_BATCH:
        text, shown = picture_chats.write(rows * columns)
        chats.append(encode(text))
        scenes += shown
    return rows, columns, chats, scenes


class Pictures:
    """Batches for training: embeddings, positions, labels and weights."""

    def __init__(self, tokenizer, device):
        self.pad_id, self.device = tokenizer.token_to_id("<|image_pad|>"), device
        self.masks, self.index = pictures.make_masks(device)

    def batch(self, made, pad):
        rows, columns, chats, scenes = made
        images = pictures.draw(scenes, self.masks, self.index, rows * 32, columns * 32)
        width = -(-max(len(ids) for ids, _ in chats) // 64) * 64
        x, y, w = np.full((len(chats), width), pad, np.int64), np.full((len(chats), width), -100, np.int64), np.zeros((len(chats), width), np.float32)
        positions = np.zeros((3, len(chats), width), np.int64)
        for row, (ids, said) in enumerate(chats):
            x[row, : len(ids)] = ids
            y[row, : len(ids)] = np.where(said, ids, -100)
            w[row, : len(ids)] = said
            positions[:, row, : len(ids)] = positions_of(ids, self.pad_id, rows, columns)
        tensors = [torch.from_numpy(t).to(self.device) for t in (x, y, w, positions)]
        return patches_of(images), (2 * rows, 2 * columns), *tensors

    def embeddings(self, model, visual, patches, grid, x):
        seen = look(visual, patches, *grid).flatten(0, 1)
        embedded = model.model.embed_tokens(x)
        return embedded.masked_scatter((x == self.pad_id)[..., None], seen.to(embedded.dtype))


def make(text_config, device):
    torch.manual_seed(1)
    return Qwen3_5VisionModel(make_config(text_config.hidden_size)).to(device)
