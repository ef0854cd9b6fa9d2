"""Requests of a hostile client for soak.py: each tries to take time, memory or turns from the others.

attack(rng) returns a name, a path and a body. The server may refuse or answer each, but not with a status of 5xx other than 503,
which it sends when it is full.
"""

import json

WORDS = "alpha beta gamma delta epsilon zeta eta theta iota kappa".split()


def _chat(**fields):
    return "/v1/chat/completions", {"model": "mini", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 8, **fields}


def _schema(schema):
    return _chat(response_format={"type": "json_schema", "json_schema": {"name": "s", "schema": schema, "strict": True}})


def all_of(rng):
    """A thousand objects to merge, 268 KB."""
    parts = [{"type": "object", "properties": {f"key_{i}_{j}_{rng.randrange(100)}": {"type": "string", "minLength": j} for j in range(4)}}
             for i in range(1000)]
    return _schema({"allOf": parts})


def nested(rng):
    schema = {"type": "string"}
    for _ in range(rng.randint(50, 400)):
        schema = {"anyOf": [schema, {"type": "array", "items": schema}]} if rng.random() < 0.02 else {"type": "array", "items": schema}
    return _schema(schema)


def regex(rng):
    """Tens of seconds of CPU without a deadline."""
    ideographs = "|".join(chr(0x4E00 + rng.randrange(20000)) for _ in range(300))
    return _chat(structured_outputs={"regex": rf"^(?:(?:{ideographs}|a)*|[\s\S]*a[\s\S]{{{rng.randint(9, 13)}}})$"})


def choices(rng):
    return _chat(structured_outputs={"choice": [f"{rng.choice(WORDS)} {i} {rng.randrange(1000)}" for i in range(2000)]})


def priority(rng):
    path, body = _chat(priority=-1 - rng.randrange(1000))
    return path, {**body, "max_tokens": 200}


def scores(rng):
    text = " ".join(rng.choice(WORDS) for _ in range(300))
    return "/v1/completions", {"model": "mini", "prompt": text, "max_tokens": 1, "prompt_logprobs": 20}


def sampling(rng):
    bias = {str(rng.randrange(4000)): rng.choice([-100, 100]) for _ in range(1000)}
    return _chat(logit_bias=bias, presence_penalty=2, top_logprobs=20, logprobs=True, n=16, max_tokens=60)


def many_answers(rng):
    return _chat(n=128, max_tokens=40, temperature=1)


def broken(rng):
    path, body = _chat()
    return path, json.dumps(body)[:rng.randrange(60)]


def deep_json(rng):
    return "/v1/chat/completions", "[" * rng.randint(1000, 200_000)


ATTACKS = [all_of, nested, regex, choices, priority, scores, sampling, many_answers, broken, deep_json]


def attack(rng):
    chosen = rng.choice(ATTACKS)
    path, body = chosen(rng)
    return chosen.__name__, path, body if isinstance(body, str) else json.dumps(body)
