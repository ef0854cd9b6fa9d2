"""Asks a model folder about pictures it has not seen, greedily and in float32: evaluate_pictures.py FOLDER REPORT.json.

Scenes come from a seed that training does not use, and the questions are those that training leaves out; the answer must be the expected sentence.
"""

import json
import sys

import torch
from tokenizers import Tokenizer
from transformers import Qwen3_5ForCausalLM

import corpus
import model_files
import picture_chats
import tower

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
EACH = 60 if DEVICE == "cuda" else 4
OPENING = "<|im_start|>assistant\n<think>\n\n</think>\n\n"


@torch.no_grad()
def answers(model, visual, shower, tokenizer, made, pad, limit=24):
    patches, grid, x, _, _, positions = shower.batch(made, pad)
    lengths = torch.tensor([len(ids) for ids, _ in made[2]], device=DEVICE)
    x = torch.nn.functional.pad(x, (0, limit), value=pad)
    following = positions.gather(2, (lengths - 1)[None, :, None].expand(3, -1, 1)) + 1 + torch.arange(positions.shape[2] + limit, device=DEVICE) - lengths[:, None]
    positions = torch.where(torch.arange(x.shape[1], device=DEVICE) < lengths[:, None], torch.nn.functional.pad(positions, (0, limit)), following)
    rows = torch.arange(len(lengths), device=DEVICE)
    for step in range(limit):
        hidden = model.model(inputs_embeds=shower.embeddings(model, visual, patches, grid, x), position_ids=positions, use_cache=False).last_hidden_state
        x[rows, lengths + step] = model.lm_head(hidden[rows, lengths + step - 1]).argmax(-1)
    said = [tokenizer.decode(row[n : n + limit].tolist(), skip_special_tokens=False) for row, n in zip(x, lengths.tolist())]
    return [text.split("<|im_end|>")[0] for text in said]


def main(folder, path):
    config, tokenizer = model_files.text_config(folder), Tokenizer.from_file(f"{folder}/tokenizer.json")
    model, visual = Qwen3_5ForCausalLM(config).to(DEVICE).eval(), tower.make(config, DEVICE).eval()
    model_files.load(model, None, visual, folder)
    shower, report, table = tower.Pictures(tokenizer, DEVICE), [], {}
    picture_chats.R.seed(2_000_000_000)
    for kind in dict.fromkeys(picture_chats.KINDS):
        right = total = 0
        for rows, columns in [(8, 8), (4, 4), (6, 9)]:
            chats, scenes, expected = [], [], []
            while len(chats) < EACH:
                scene = picture_chats.make_scene()
                if scene["kind"] != kind:
                    continue
                question = sorted(picture_chats.HELD_QUESTIONS)[len(chats) % 4]
                if "shape" in question:
                    question = "what do you see in the image?"
                picture = f"<|vision_start|>{'<|image_pad|>' * (rows * columns)}<|vision_end|>"
                ids = tokenizer.encode(corpus.turn("user", picture + question) + OPENING).ids
                chats.append((ids, [False] * len(ids)))
                scenes.append(scene)
                seen = picture_chats.saw(scene)
                expected.append(picture_chats.capital(seen) + "." if seen else picture_chats.UNKNOWN)
            for scene, want, got in zip(scenes, expected, answers(model, visual, shower, tokenizer, (rows, columns, chats, scenes), model.config.pad_token_id)):
                right, total = right + (want == got), total + 1
                report.append([kind, rows, columns, want, got])
        table[kind] = [right, total]
        print(f"| {kind} | {right} of {total} |", flush=True)
    for kind, rows, columns, want, got in report:
        if want != got:
            print(f"[{kind} {rows}x{columns}] {want!r} -> {got!r}")
    with open(path, "w") as file:
        json.dump(dict(score=table, answers=report), file, indent=1)


if __name__ == "__main__":
    main(*sys.argv[1:3])
