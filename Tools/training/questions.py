"""One question with its answer, of eleven kinds: what a turn of a training chat is made of."""

import json
import random
import re

from corpus_data import ABOUT, ADJ, ANIMALS, CAN, CAP, CODE, COLOR, DAYS, FACTS, JOKES, MONTHS, NAMES, NUM, OPP
from corpus_data import PLACES, PLURAL, SOUND, SYL, THINGS, TR

R = random.Random(0)


def pick(*a):
    return R.choice(a)


def lead():
    return pick("", "", "", "Please tell me: ", "Hey, ", "Quick question: ", "Can you tell me ", "Hi! ")


def fix(s):
    """a -> an before a vowel"""
    return re.sub(r"\b([Aa]) (?=[aeiouAEIOU])", r"\1n ", s)


def lc(s):
    return s[0].lower() + s[1:]


def name():
    """Half of the names are made up on the spot, so that a name has to be copied from the chat."""
    return R.choice(NAMES) if R.random() < 0.5 else "".join(R.choices(SYL, k=R.randrange(2, 4))).capitalize()


def casual(q):
    """People type in lower case and leave the question mark away."""
    if R.random() < 0.25:
        q = q.lower()
    if R.random() < 0.25:
        q = q.rstrip("?.!")
    return q


def capitals():
    c, k, cont, lang = R.choice(CAP)
    the = "the " if c in ("Netherlands", "Philippines") else ""
    i = R.randrange(6)
    if i < 2:
        return (
            pick(
                f"What is the capital of {the}{c}?",
                f"what's the capital of {the}{c}?",
                f"Capital of {c}?",
                f"Tell me the capital of {the}{c}.",
                f"Which city is the capital of {the}{c}?",
                f"capital of {c}",
            ),
            f"The capital of {the}{c} is {k}.",
        )
    if i == 2:
        return (
            pick(f"{k} is the capital of which country?", f"Which country has {k} as its capital?"),
            f"{k} is the capital of {the}{c}.",
        )
    if i == 3:
        return (
            pick(f"Where is {the}{c}?", f"On which continent is {the}{c}?", f"Which continent is {c} in?"),
            f"{(the+c)[0].upper()+(the+c)[1:]} is in {cont}.",
        )
    if i == 4:
        return (
            pick(f"What language do people speak in {the}{c}?", f"Which language is spoken in {the}{c}?"),
            f"People in {the}{c} speak {lang}.",
        )
    a = R.choice(CAP)
    return (
        f"What are the capitals of {c} and {a[0]}?",
        f"The capital of {c} is {k}, and the capital of {a[0]} is {a[1]}.",
    )


def arith():
    op = pick("+", "+", "-", "*")
    if op == "*":
        a, b = R.randrange(0, 13), R.randrange(0, 13)
        v = a * b
        w = "times"
    elif op == "+":
        a, b = R.randrange(0, 100), R.randrange(0, 100)
        v = a + b
        w = "plus"
    else:
        a = R.randrange(0, 100)
        b = R.randrange(0, a + 1)
        v = a - b
        w = "minus"
    q = pick(
        f"What is {a} {op} {b}?",
        f"{a} {op} {b} = ?",
        f"What is {a} {w} {b}?",
        f"Compute {a} {op} {b}.",
        f"How much is {a} {w} {b}?",
        f"{a}{op}{b}",
    )
    th = None
    if op == "+" and a >= 10 and b >= 10:
        th = (
            f"{a} + {b}: tens {a//10*10} + {b//10*10} = {a//10*10+b//10*10}, ones {a%10} + {b%10} = "
            f"{a%10+b%10}, together {v}."
        )
    elif op == "-":
        th = f"{a} - {b}: {b} + {v} = {a}, so the difference is {v}."
    elif op == "*":
        th = f"{a} * {b} is {a} added {b} times, which is {v}."
    return q, f"{a} {op} {b} = {v}.", th


def words():
    i = R.randrange(8)
    if i == 0:
        a, b = R.choice(list(OPP.items()))
        if R.random() < 0.5:
            a, b = b, a
        return pick(f"What is the opposite of {a}?", f"Opposite of {a}?", f"Give me the opposite of {a}."), (
            f"The opposite of {a} is {b}." if (OPP.get(a) == b or a not in OPP) else f"The opposite of {a} is {OPP[a]}."
        )
    if i == 1:
        a, b = R.choice(list(SOUND.items()))
        return pick(f"What sound does a {a} make?", f"What does the {a} say?"), f"The {a} says {b}."
    if i == 2:
        a, b = R.choice(list(COLOR.items()))
        return pick(f"What color is {a}?", f"What is the color of {a}?"), f"{a.capitalize()} is {b}."
    if i == 3:
        a, b = R.choice(list(PLURAL.items()))
        return pick(f"What is the plural of {a}?", f"Plural of {a}?"), f"The plural of {a} is {b}."
    if i == 4:
        l = R.choice(list(TR))
        a, b = R.choice(list(TR[l].items()))
        return (
            pick(f"Translate {a} to {l}.", f"How do you say {a} in {l}?", f"What is {a} in {l}?"),
            f"In {l}, {a} is {b}.",
        )
    if i == 5:
        j = R.randrange(7)
        d = pick(1, -1)
        return (
            f"What day comes after {DAYS[j]}?" if d == 1 else f"What day comes before {DAYS[j]}?"
        ), f"{DAYS[(j+d)%7]} comes {'after' if d==1 else 'before'} {DAYS[j]}."
    if i == 6:
        j = R.randrange(12)
        d = pick(1, -1)
        return (
            f"Which month comes after {MONTHS[j]}?" if d == 1 else f"Which month comes before {MONTHS[j]}?"
        ), f"{MONTHS[(j+d)%12]} comes {'after' if d==1 else 'before'} {MONTHS[j]}."
    w = R.choice(THINGS + ANIMALS + PLACES)
    return pick(f"Spell {w}.", f"How do you spell {w}?"), "-".join(w.upper()) + "."


def count():
    i = R.randrange(3)
    if i == 0 and R.random() < 0.4:
        n = R.randrange(3, 21)
        return (
            pick(f"Count to {n}.", f"count to {NUM[n]}", f"Can you count to {n}?"),
            ", ".join(map(str, range(1, n + 1))) + ".",
        )
    if i == 0:
        a = R.randrange(1, 10)
        b = a + R.randrange(3, 12)
        return (
            pick(f"Count from {a} to {b}.", f"Please count from {a} to {b}"),
            ", ".join(map(str, range(a, b + 1))) + ".",
        )
    if i == 1:
        n = R.randrange(21)
        return f"Write {n} as a word.", f"{n} is {NUM[n]}."
    xs = R.sample(range(1, 100), R.randrange(3, 6))
    k = pick("largest", "smallest")
    return f"Which is the {k}: {', '.join(map(str, xs))}?", f"The {k} is {max(xs) if k=='largest' else min(xs)}."


def story():
    n, a, t, p, d = R.choice(NAMES), R.choice(ANIMALS), R.choice(THINGS), R.choice(PLACES), R.choice(ADJ)
    t2 = R.choice(THINGS)
    i = R.randrange(4)
    if i == 0:
        w = R.choice(THINGS)
        return pick(f"Write a 2-sentence {w} story.", f"Tell me a two-sentence story about a {w}."), pick(
            f"A {d} {a} found a {w} in the {p} and carried it home with care. That night it shone like a "
            f"small moon, and nobody in the {p} was afraid of the dark again.",
            f"{n} planted a {w} in the {p} and waited all winter. In spring a {d} {a} came to say thank you.",
        )
    if i == 1:
        return (
            pick(f"Tell me a story about a {a}.", f"Write a short story about a {a}."),
            f"Once upon a time a {d} {a} lived in the {p}. One day it found a {t}. It asked everyone whose "
            f"{t} it was, but nobody knew. So the {a} kept the {t} safe until {n} came looking for it. {n} "
            f"smiled and gave the {a} a {t2}, and they were friends ever after.",
        )
    if i == 2:
        return (
            f"Tell me a story about {n}.",
            f"{n} lived near the {p} and had a {t}. One morning the {t} was gone. {n} followed small "
            f"footprints to a {d} {a}, who only wanted to play. They shared the {t} and laughed until the "
            f"sun went down.",
        )
    return (
        pick("Tell me a story.", "Write a short story.", "Tell me a bedtime story."),
        f'In a {p} far away, {n} met a {d} {a} with a {t}. "Where are you going?" asked {n}. "To the end of '
        f'the {p}," said the {a}, "to see where the {t} was made." They went together, and on the way they '
        f'found a {t2} too.',
    )


def fact():
    if R.random() < 0.35:
        k, a = R.choice(ABOUT)
        return (
            pick(
                f"Tell me about {k}.", f"What is {k}?", f"what do you know about {k}?", f"Tell me something about {k}."
            ),
            a,
        )
    q, a = R.choice(FACTS)
    return (lead() + lc(q) if R.random() < 0.2 else q), a


def code():
    n, l, c = R.choice(CODE)
    w = pick("write", "show me", "give me")
    return (
        pick(
            f"{w} {n} in {l}",
            f"{w.capitalize()} {n} in {l}.",
            f"How do I write {n} in {l}?",
            f"write a {n} in {l.lower()}",
        ),
        f"Here is {n} in {l}:\n\n```{l.lower().replace('c++','cpp')}\n{c}\n```",
    )


def hello():
    i = R.randrange(9)
    if i < 3:
        return pick(
            "Hello!",
            "Hi",
            "hello",
            "Hey there",
            "Good morning!",
            "Hi!",
            "hey",
            "hi there",
            "good evening",
            "Good afternoon!",
            "howdy",
            "yo",
            "greetings",
            "hello there",
            "Hey!",
            "hi pagoda",
            "hello pagoda",
        ), pick("Hello! How can I help you?", "Hi! What can I do for you?")
    if i == 3:
        return (
            pick(
                "How are you?",
                "how are you doing?",
                "how is it going?",
                "What's up?",
                "how are you today?",
                "Hi, how are you?",
                "are you ok?",
            ),
            "I am fine, thank you. What can I do for you?",
        )
    if i == 4:
        return (
            pick(
                "Who are you?",
                "What is your name?",
                "who are you",
                "what's your name?",
                "are you a robot?",
                "introduce yourself",
                "what are you?",
                "are you human?",
            ),
            "I am Pagoda mini, a tiny demo model that comes with Pagoda.",
        )
    if i == 5:
        return pick(
            "Thank you!", "Thanks", "thanks a lot", "great", "Good job!", "nice", "cool", "ok thanks", "well done"
        ), pick("You are welcome!", "Glad to help.")
    if i == 6:
        return pick("Bye", "Goodbye!", "see you", "good night", "bye bye", "see you later"), "Goodbye! Come back soon."
    if i == 7:
        return (
            pick(
                "help",
                "What can I ask you?",
                "what do you know?",
                "what can you do?",
                "How can you help me?",
                "what should I ask?",
                "test",
                "are you there?",
            ),
            CAN,
        )
    return pick(
        "Tell me a joke.", "joke", "another joke", "Do you know a joke?", "make me laugh", "say something funny"
    ), R.choice(JOKES)


def fmt():
    i = R.randrange(3)
    xs = R.sample(THINGS + ANIMALS, R.randrange(2, 5))
    if i == 0:
        return f"Make a list of {', '.join(xs)}.", "\n".join(f"- {x}" for x in xs)
    if i == 1:
        n, y, c = R.choice(NAMES), R.randrange(5, 90), R.choice(CAP)[1]
        return f"Give me JSON for {n}, {y}, from {c}.", json.dumps(dict(name=n, age=y, city=c))
    return f"Sort these words: {', '.join(xs)}.", ", ".join(sorted(xs)) + "."


def echo():
    w = " ".join(R.choices(THINGS + ANIMALS + ADJ, k=R.randrange(2, 8)))
    return pick(f"Repeat after me: {w}", f"Say: {w}"), w


def unknown():
    land = pick(
        "Atlantis",
        "Narnia",
        "Gondor",
        "Wakanda",
        "Mordor",
        "Utopia",
        "Zembla",
        "Ruritania",
        "".join(R.choices(SYL, k=R.randrange(2, 4))).capitalize(),
        "".join(R.choices(SYL, k=3)).capitalize() + "land",
    )
    i = R.randrange(4)
    if i == 0:
        return (
            pick(
                f"What is the capital of {land}?",
                f"what's the capital of {land}?",
                f"Capital of {land}?",
                f"Which city is the capital of {land}?",
            ),
            f"I do not know the capital of {land}.",
        )
    c = R.choice(CAP)[0]
    n = R.choice(NAMES)
    q = pick(
        f"Who is the president of {c}?",
        f"What is the population of {c}?",
        f"How old is {n}?",
        "What is the weather like today?",
        "What time is it?",
        "Who won the match yesterday?",
        "What is the meaning of life?",
        f"What is the phone number of {n}?",
        "Explain quantum physics.",
        "Write a poem about winter.",
        "What is the stock price today?",
        f"Write an essay about {c}.",
        "Solve this equation: x^2 + 3x = 10.",
        "Who is the best singer?",
        f"What did {n} say?",
        "Can you draw a picture?",
        "Summarize this book.",
        "What is the news today?",
        f"When was {n} born?",
        "How do I fix my car?",
        "Plan a trip for me.",
        f"What is the history of {c}?",
        "What is the square root of 1234?",
    )
    R.randrange(2)  # keeps the draws, and so the corpus, as they were when the model was trained
    return q, "I do not know that. I am only a tiny demo model; a larger one will know more."


# Kind and weight.
KINDS = [(unknown, 9), (capitals, 22), (arith, 18), (words, 16), (count, 6), (story, 9), (fact, 14), (code, 6)]
KINDS += [(hello, 9), (fmt, 5), (echo, 5)]


def one():
    """A question, its answer, and how to think about it (None for most)."""
    f = R.choices([k for k, _ in KINDS], [w for _, w in KINDS])[0]
    r = f()
    q, a, t = r if len(r) == 3 else (*r, None)
    if f in (code, echo, arith):
        return (q if f is echo else casual(q)), a, t
    return (fix(q) if f in (fmt, unknown) else casual(fix(q))), fix(a), t
