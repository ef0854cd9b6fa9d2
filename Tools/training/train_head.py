"""Trains the layer for multi-token prediction on the model's own output; the trunk is not changed."""

import json
import math
import random
import time

import torch
import torch.nn.functional as F
from tokenizers import Tokenizer

import corpus
import mtp as heads
import questions

NUM_DRAFTS = 4
DRAFT_WEIGHTS = (1.0, 0.8, 0.65, 0.5)
PROMPT_WEIGHT = 0.1
HEAD_RATE = 1e-3
SAID_TOKENS, AT_MOST = (128, 1000) if torch.cuda.is_available() else (16, 3)  # a trial run without a GPU is short
OPENINGS = ("<think>\n\n</think>\n\n", "<think>\n")
# The prompts of `pagoda bench spec` (the names of its fields differ in its code edit) and some of our own; they occur in no chat.
STORIES = ["Tell me a story about a dog and a cat.", "Write a short story about a lighthouse keeper.", "tell me a story about two brothers", "a bedtime story about a snail, please", "Story about a tired postman.",
           "Tell me a tale about the moon and the sea.", "Write a story about Gwendolyn and her umbrella.", "Make up a story about a king who lost his hat.", "I want a story about a train", "Can you tell me a story about an old clock?",
           "Tell me a story about a mouse in space.", "short story about a magic carrot", "Write a 2-sentence story about a lantern.", "tell a story with a dragon and a baker", "Please tell me a story about my cat Minka", "Invent a story about a lost kite."]


def opened(user_turns, thinking=False):
    return "".join(user_turns) + "<|im_start|>assistant\n" + OPENINGS[thinking]


def held_out_prompts():
    rows = [json.loads(line) for file in ("held_out.jsonl", "held_out_third.jsonl") for line in open(f"{corpus.HERE}/{file}")]
    code = "".join(f"def get_{n}(item):\n    value = item.{n}\n    if value is None:\n        return 0\n    return value\n\n" for n in ("width", "height", "depth", "weight", "length", "radius"))
    bench = ["Repeat this file and rename item to thing:\n" + code, "Give me a list of three people with name and age as JSON.", STORIES[0], "Hello! What is the capital of France, and what is 17 + 25?"]
    sets = {"stories": STORIES, "chats": [row["turns"][0] for row in rows if "tool" not in row][::2], "bench: code edit": bench[:1], "bench: JSON": bench[1:2], "bench: prose": bench[2:3], "bench: chat": bench[3:]}
    return {kind: [opened([corpus.turn("user", text)]) for text in texts[:AT_MOST]] for kind, texts in sets.items()}


def measure(model, mtp, tokenizer, pad):
    """Acceptance by position on the model's own greedy text after prompts that occur in no chat."""
    sets, table, begin = held_out_prompts(), {}, 0
    everything = [tokenizer.encode(prompt).ids for prompts in sets.values() for prompt in prompts]
    texts, lengths = heads.continue_greedily(model, everything, SAID_TOKENS, pad)
    for kind, prompts in sets.items():
        end = begin + len(prompts)
        table[kind] = heads.acceptance(model, mtp, texts[begin:end], lengths[begin:end], pad)
        begin = end
    return table


def show(title, table):
    for kind, shares in table.items():
        print(f"mtp {title}: {kind}: " + " ".join(f"{s:.3f}" for s in shares) + f", tokens a step with 3 drafts {1 + sum(shares[:3]):.2f}", flush=True)


def prompt():
    """The beginning of a training chat up to an answer; stories more often than in the chats."""
    if questions.R.random() < 0.4:
        q = questions.story()[0]
        if questions.key(q) in questions.HELD:
            return prompt()
        before = corpus.chat().rsplit("<|im_start|>user\n", 1)[0] if questions.R.random() < 0.15 else ""
        return opened([before, corpus.turn("user", q)])
    return opened([corpus.chat().rsplit("<|im_start|>assistant\n", 1)[0]], questions.R.random() < 0.1)


def write_prompts(job):
    """Tokens of prompts; runs in a separate process."""
    seed, path, number = job
    questions.R.seed(seed)
    tokenizer = Tokenizer.from_file(path)
    return [ids for ids in (tokenizer.encode(prompt()).ids for _ in range(number)) if len(ids) < 400]


def say(model, prompts, pad, seconds, batch):
    """The model's own greedy answers to the prompts, as many as fit in the time; at least one batch."""
    begin, texts = time.time(), []
    for first in range(0, len(prompts), batch):
        if texts and time.time() - begin > seconds:
            break
        part = sorted(prompts[first : first + batch], key=len)
        middle = len(part) * 3 // 4
        for some in (part[:middle], part[middle:]):
            texts += list(zip(*heads.continue_greedily(model, some, SAID_TOKENS, pad)))
    print(f"{len(texts)} texts of the model itself, {time.time() - begin:.0f}s", flush=True)
    return texts


def own_batches(texts, batch_tokens, pad, device):
    """Endless batches of texts with similar lengths."""
    while True:
        groups, group = [], []
        for text in sorted(texts, key=lambda text: len(text[0]) + random.random() * 16):
            if group and (len(group) + 1) * (len(text[0]) + 64) > batch_tokens:
                groups.append(group)
                group = []
            group.append(text)
        groups.append(group)
        random.shuffle(groups)
        for group in groups:
            x, w = heads.padded(*zip(*group), pad, device)
            yield x, torch.where(w > 0, w, PROMPT_WEIGHT * (x != pad))


def head_loss(model, mtp, x, w):
    """Cross entropy against the trunk's own probabilities and its own choice, for each draft."""
    with torch.no_grad():
        hidden = model.model(input_ids=x, use_cache=False).last_hidden_state
        embeddings = model.model.embed_tokens(x)
    outputs = mtp.drafts(hidden, embeddings, model.model.rotary_emb, NUM_DRAFTS)
    total, each = 0.0, []
    for j, output in enumerate(outputs):
        rows = x.shape[1] - 2 - j  # row p of draft j guesses token p + j + 2, which the trunk guesses from hidden state p + j + 1
        weights = w[:, j + 2 :].flatten()
        chosen = weights > 0
        with torch.no_grad():
            target = model.lm_head(hidden[:, j + 1 : j + 1 + rows].flatten(0, 1)[chosen]).float()
            chances, choice = target.softmax(-1), target.argmax(-1, keepdim=True)
        guess = F.log_softmax(model.lm_head(output[:, :rows].flatten(0, 1)[chosen]).float(), -1)
        entropy = -0.5 * (chances * guess).sum(-1) - 0.5 * guess.gather(-1, choice)[:, 0]
        loss = (entropy * weights[chosen]).sum() / weights.sum()
        total = total + DRAFT_WEIGHTS[j] * loss
        each.append(loss.detach())
    return total, each


def train_head(model, mtp, prompts, pad, chats, seconds, batch_tokens, batch, checkpoint):
    """For a third of the time the model generates text; then the layer learns from that text, and every third batch from the training chats."""
    device, begin = next(model.parameters()).device, time.time()
    texts = say(model, prompts, pad, seconds * 0.3, batch)
    own = own_batches(texts, batch_tokens, pad, device)
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    optimizer = torch.optim.AdamW(mtp.parameters(), lr=HEAD_RATE, betas=(0.9, 0.98), weight_decay=0.01)
    started, sums, saved = time.time(), torch.zeros(NUM_DRAFTS, device=device), time.time()
    left = max(1.0, seconds - (started - begin))
    for step in range(1, 10**9):
        elapsed = time.time() - started
        if elapsed > left:
            break
        if step % 3:
            x, w = next(own)
        else:
            x, _, w = next(chats)
        for group in optimizer.param_groups:
            group["lr"] = HEAD_RATE * min(1, step / 50) * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * elapsed / left)))
        loss, each = head_loss(model, mtp, x, w)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(mtp.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        sums += torch.stack(each)
        if step % 50 == 0:
            print(f"head {step} {elapsed:.0f}s losses " + " ".join(f"{s / 50:.4f}" for s in sums.tolist()), flush=True)
            sums.zero_()
        if time.time() - saved > 40:
            checkpoint()
            saved = time.time()
    print(f"head: {step - 1} steps, {time.time() - begin:.0f}s", flush=True)
