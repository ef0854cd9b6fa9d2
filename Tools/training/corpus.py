"""Writes the training text of the embedded model: short synthetic chats in the Qwen3.5 chat format."""

import json

from corpus_data import CAP, SYS, THINGS, TOOLS, TOOL_TEXT
from questions import R, casual, fix, name, one, pick


def turn(role, text):
    return f"<|im_start|>{role}\n{text}<|im_end|>\n"


def final(answer, think):
    """The turn that is learnt: with its thinking, which is empty more often than not."""
    return turn("assistant", f"<think>\n{think or ''}\n</think>\n\n{answer}")


def tool_chat():
    ts = R.sample(TOOLS, R.randrange(1, 3))
    t = R.choice(ts)
    js = [
        json.dumps(
            {
                "type": "function",
                "function": {
                    "name": n,
                    "description": d,
                    "parameters": {"type": "object", "properties": {p: {"type": "string"}}, "required": [p]},
                },
            }
        )
        for n, d, p in ts
    ]
    s = turn(
        "system",
        "# Tools\n\nYou may call these functions:\n<tools>" + "".join("\n" + j for j in js) + "\n</tools>" + TOOL_TEXT,
    )
    c = R.choice(CAP)[1]
    th = R.choice(THINGS)
    q, v = {
        "get_weather": (pick(f"What is the weather in {c}?", f"How is the weather in {c}?"), c),
        "get_time": (pick(f"What time is it in {c}?", f"Time in {c}?"), c),
        "search": (f"Search for {th}.", th),
        "get_price": (f"How much is a {th}?", th),
    }[t[0]]
    call = f"<tool_call>\n<function={t[0]}>\n<parameter={t[2]}>\n{v}\n</parameter>\n</function>\n</tool_call>"
    out = s + turn("user", q)
    if R.random() < 0.5:
        return out + final(call, None)
    res, ans = {
        "get_weather": (lambda d, w: (json.dumps({"weather": w, "degrees": d}), f"In {v} it is {w} and {d} degrees."))(
            R.randrange(-5, 35), pick("sunny", "rainy", "cloudy", "windy")
        ),
        "get_time": (lambda h, m: (f"{h:02d}:{m:02d}", f"It is {h:02d}:{m:02d} in {v}."))(
            R.randrange(24), R.randrange(60)
        ),
        "search": (f"{v}: see the {v} museum", f"I found this: see the {v} museum."),
        "get_price": (lambda p: (str(p), f"A {v} costs {p}."))(R.randrange(1, 99)),
    }[t[0]]
    return out + final(call, None) + turn("user", f"<tool_response>\n{res}\n</tool_response>") + final(ans, None)


def recall_chat():
    n = name()
    like = R.choice(THINGS)
    num = R.randrange(1000, 10000)
    i = R.randrange(3)
    out = ""
    if i == 0 and R.random() < 0.3:
        return turn(
            "user",
            casual(
                pick(f"My name is {n}. What is my name?", f"I'm {n}. What's my name?", f"I am {n}. Who am I?")
            ).replace(n.lower(), n),
        ) + final(f"Your name is {n}.", None)
    if i == 0:
        a = (
            pick(f"My name is {n}.", f"Hi, I am {n}.", f"I'm {n}", f"my name is {n}", f"Call me {n}.", f"hi, I'm {n}"),
            f"Nice to meet you, {n}!",
        )
        b = (
            casual(pick("What is my name?", "Do you remember my name?", "Who am I?", "what's my name?")),
            f"Your name is {n}.",
        )
    elif i == 1:
        a = (f"I like my {like}.", f"A {like} is a fine thing to have.")
        b = ("What do I like?", f"You like your {like}.")
    else:
        a = (f"Remember the number {num}.", f"I will remember {num}.")
        b = (pick("Which number should you remember?", "What was the number?"), f"The number is {num}.")
    if R.random() < 0.2:
        return turn("user", fix(a[0])) + final(fix(a[1]), None)
    out += turn("user", fix(a[0])) + turn("assistant", fix(a[1]))
    for _ in range(R.randrange(0, 4)):
        q, r, _t = one()
        out += turn("user", q) + turn("assistant", r)
    return out + turn("user", fix(b[0])) + final(fix(b[1]), None)


def chat():
    r = R.random()
    if r < 0.07:
        return tool_chat()
    out = turn("system", R.choice(SYS)) if R.random() < 0.15 else ""
    if r < 0.19:
        return out + recall_chat()
    for _ in range(R.choices([0, 1, 2], [6, 3, 1])[0]):
        q, a, _t = one()
        out += turn("user", q) + turn("assistant", a)
    q, a, t = one()
    return out + turn("user", q) + final(a, t if t and R.random() < 0.5 else None)


if __name__ == "__main__":
    for _ in range(12):
        print(chat(), end="-----\n")
