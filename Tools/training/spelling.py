"""Words spelled letter by letter. Each word of the vocabulary occurs in some word, so that the letters of every token are learnt."""

import json
import os

import more_data as D
from corpus_data import ANIMALS, CAP, NAMES, PLACES, THINGS
from question_words import R, made_up, pick, typed

VOCABULARY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../Sources/MiniModel/files/tokenizer.json")
WORD_PARTS = []
if os.path.exists(VOCABULARY):
    WORD_PARTS = sorted({t.lstrip("Ġ") for t in json.load(open(VOCABULARY))["model"]["vocab"] if t.lstrip("Ġ").isascii() and t.lstrip("Ġ").isalpha()})
KNOWN = sorted({w for w in THINGS + ANIMALS + PLACES + D.NOUNS + D.FOODS + D.COLORS + D.JOBS + list(D.PLURAL) + list(D.OPPOSITE) + list(D.COLOR) + [k for k, _ in D.DEFS]
                if w.isascii() and w.isalpha()})
PROPER = [w for w in NAMES + [c for c, *_ in CAP] + [k for _, k, *_ in CAP] if w.isascii() and w.isalpha()]
HELD_WORDS = set()


def word():
    while True:
        r = R.random()
        if r < 0.25:
            w = R.choice(KNOWN)
        elif r < 0.33:
            w = R.choice(PROPER)
        elif r < 0.8 and WORD_PARTS:
            w = "".join(R.choices(WORD_PARTS, k=R.choices([1, 2, 3], [4, 4, 1])[0]))
            w = w.lower() if R.random() < 0.85 else w.capitalize()
        else:
            w = made_up()
        if 2 <= len(w) <= 12 and w.lower() not in HELD_WORDS:
            return w


def spelling():
    w = word()
    if R.random() < 0.08:
        w = w.capitalize()
    x = pick(w, w, w, w, f'"{w}"', f"the word {w}", f"the word {w}", f"the word \"{w}\"", *([f"the name {w}"] if w[0].isupper() else []))
    q = pick(f"Spell {x}.", f"Spell {x}.", f"spell {x}", f"spell {x}", f"Spell {x}", f"How do you spell {x}?", f"How do you spell {x}?", f"how do I spell {x}?", f"Spell out {x}.", f"Can you spell {x}?", f"can you spell {x} for me?", f"please spell {x}", f"Please spell {x}.",
        f"Spell {x} letter by letter.", f"Spell {x}, letter by letter", f"What is the spelling of {x}?", f"spelling of {x}", f"How is {x} spelled?", f"how is {x} spelt?", f"Which letters are in {x}?", f"What are the letters of {x}?", f"letters in {x}?", f"How would you spell {x}?",
        f"Could you spell {x}?", f"I want you to spell {x}", f"Spell {x} for me.", f"How does one spell {x}?", f"how to spell {x}", f"Give me the letters of {x}.", f"spell this word: {w}", f"Write {x} letter by letter.", f"Tell me how to spell {x}.", f"How do people spell {x}?")
    return typed(q, (w,), plain=True), "-".join(w.upper()) + ".", "I spell the word letter by letter."
