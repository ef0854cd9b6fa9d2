#!/usr/bin/env python3
"""Writes a tokenizer.json with the given number of tokens, to measure grammars over large vocabularies without a download.

Usage: make_vocabulary.py 248000 > tokenizer.json

Tokens are the 256 bytes, then words drawn from syllables with the lengths, capitals, spaces, digits, punctuation and scripts that
large vocabularies have. They have no merges: the file is for masks, not for text. The same number gives the same file.
"""

import json
import random
import sys


def byte_letters():
    """The letter that represents each byte in byte-level vocabularies."""
    kept = list(range(33, 127)) + list(range(161, 173)) + list(range(174, 256))
    letters, spare = {}, 0
    for byte in range(256):
        if byte in kept:
            letters[byte] = chr(byte)
        else:
            letters[byte] = chr(256 + spare)
            spare += 1
    return letters


def word(rng):
    starts, vowels = "b c d f g h j k l m n p r s t v w z st tr ch sh th pr".split(), "a e i o u ea ou".split()
    text = "".join(rng.choice(starts) + rng.choice(vowels) for _ in range(rng.choices((1, 2, 3, 4, 5), (3, 9, 7, 3, 1))[0]))
    return text + rng.choice(["", "", "n", "r", "s", "ing", "ed", "er", "tion"])


def token(rng):
    kind = rng.random()
    if kind < 0.70:
        text = word(rng)
        case = rng.random()
        text = text.capitalize() if case < 0.2 else text.upper() if case < 0.24 else text
        return (" " if rng.random() < 0.55 else "") + text
    if kind < 0.78:  # code
        return rng.choice(["_", ".", "->", "::", "(", "/", "-", "\t", " ", "#", "$"]) + word(rng) + rng.choice(["", "(", "_", ";", "=", '"'])
    if kind < 0.81:
        return "".join(rng.choice("0123456789") for _ in range(rng.randint(1, 3)))
    if kind < 0.84:  # punctuation and white space
        return "".join(rng.choice(" \n\t{}[]()<>,.:;=+-*/\\\"'|&!?#") for _ in range(rng.randint(1, 6)))
    low, high = rng.choice([(0x400, 0x450), (0x4E00, 0x9FA0), (0x600, 0x650), (0x3040, 0x30FF), (0xAC00, 0xD7A0), (0xE0, 0xFF)])
    return "".join(chr(rng.randint(low, high)) for _ in range(rng.randint(1, 5)))


def main():
    count = int(sys.argv[1])
    rng, letters = random.Random(count), byte_letters()
    vocabulary = {letters[byte]: byte for byte in range(256)}
    while len(vocabulary) < count:
        spelling = "".join(letters[byte] for byte in token(rng).encode())
        vocabulary.setdefault(spelling, len(vocabulary))
    split = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    json.dump({"version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None,
               "pre_tokenizer": split, "post_processor": None, "decoder": split,
               "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                         "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "vocab": vocabulary, "merges": []}},
              sys.stdout, ensure_ascii=False)


main()
