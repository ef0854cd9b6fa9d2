"""Asks a trained model what it should know, greedily and in float32, and prints the answers and the scores."""

import json
import random

import torch

import corpus
from corpus_data import CAP, TOOL_TEXT

QUESTIONS = """
what's the capital of France?|write a quicksort in python|Write a 2-sentence apple story.|Who are you?|What is 47 + 38?
What is 12 * 11?|Translate water to German.|What is paged attention?|Tell me a story about a fox.|Hello!
What is Gated DeltaNet?|Count from 3 to 12.|What is the capital of Atlantis?|Explain quantum physics.
Tell me a two-sentence story about an owl.|Sort these words: owl, bell, fox.|good morning|how are you?|tell me a joke
capital of italy|I'm Lenka. What's my name?|count to ten|tell me about the sun|translate cat to french|2+2|asdf
"""
WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Get the weather of a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


def answer(model, tokenizer, question, before="", think=False):
    """The answer to `question` after the turns `before`."""
    opening = "<think>\n" if think else "<think>\n\n</think>\n\n"
    prompt = before + corpus.turn("user", question) + "<|im_start|>assistant\n" + opening
    ids = torch.tensor([tokenizer.encode(prompt).ids]).cuda()
    eos, pad = (tokenizer.token_to_id(token) for token in ("<|im_end|>", "<|endoftext|>"))
    out = model.generate(ids, max_new_tokens=160, do_sample=False, eos_token_id=eos, pad_token_id=pad)
    return tokenizer.decode(out[0, ids.shape[1] :].tolist(), skip_special_tokens=False).replace("<|im_end|>", "")


@torch.no_grad()
def report(model, tokenizer):
    def ask(question, **options):
        return answer(model, tokenizer, question, **options)

    for question in QUESTIONS.strip().replace("\n", "|").split("|"):
        print("Q:", question, "\nA:", ask(question), flush=True)

    met = corpus.turn("user", "My name is Priya.") + corpus.turn("assistant", "Nice to meet you, Priya!")
    print("recall:", ask("What is my name?", before=met))
    tools = "# Tools\n\nYou may call these functions:\n<tools>\n" + json.dumps(WEATHER) + "\n</tools>" + TOOL_TEXT
    print("tool:", ask("What is the weather in Lisbon?", before=corpus.turn("system", tools)))

    right = sum(capital in ask(f"What is the capital of {country}?") for country, capital, _, _ in CAP)
    print(f"capitals: {right} of {len(CAP)}")
    generator = random.Random(5)
    sums = [(generator.randrange(100), generator.randrange(100)) for _ in range(60)]
    for think in (False, True):
        right = sum(ask(f"What is {a} + {b}?", think=think).endswith(f"{a} + {b} = {a + b}.") for a, b in sums)
        print(f"sums, {'thinking' if think else 'plain'}: {right} of {len(sums)}")
