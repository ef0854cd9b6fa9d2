"""Words of questions: names, cities, words that do not exist, and how people type."""

import random
import re

from corpus_data import CAP, NAMES, SYL

R = random.Random(0)


def pick(*a):
    return R.choice(a)


def fix(s):
    """a -> an before a vowel"""
    return re.sub(r"\b([Aa]) (?=[aeiouAEIOU])", r"\1n ", s)


ONSETS = "b c d f g h j k l m n p r s t v w y z br cr dr fr gr kr pr tr bl cl fl gl pl sl st sk sp sm sn sh ch th qu x".split()
VOWELS = "a e i o u a e i o u ai ea ee ei ie oo ou au io y".split()
CODAS = "n r s t l m k d ck x z ng nd rt st ll ss th sh p b g v nn tz rk ld".split()


def made_up():
    """An unseen word, so that it has to be copied from the chat."""
    if R.random() < 0.25:
        return "".join(R.choices(SYL, k=R.randrange(2, 4)))
    w = "".join(R.choice(ONSETS) + R.choice(VOWELS) for _ in range(R.randrange(1, 4)))
    if R.random() < 0.2:
        w = R.choice(VOWELS)[:1] + w
    return w + (R.choice(CODAS) if R.random() < 0.6 or len(w) < 4 else "")


def name():
    return R.choice(NAMES) if R.random() < 0.45 else made_up().capitalize()


def city():
    return R.choice(CAP)[1] if R.random() < 0.5 else pick("Bergen", "Lagos", "Munich", "Boston", "Osaka", "Milan", "Kyoto",
        "Seville", "Leeds", "Toronto", "Lyon", "Porto", "Mumbai", "Chicago", "Krakow", "New York", "Los Angeles", "London",
        made_up().capitalize(), made_up().capitalize(), made_up().capitalize(), made_up().capitalize() + "ville")


def typo(q):
    w = q.split(" ")
    i = R.randrange(len(w))
    if len(w[i]) < 4:
        return q
    j = R.randrange(1, len(w[i]) - 1)
    s = w[i]
    w[i] = pick(s[:j] + s[j + 1 :], s[:j] + s[j] + s[j:], s[:j] + s[j + 1] + s[j] + s[j + 2 :])
    return " ".join(w)


LEADS = ["please ", "Please tell me: ", "hey, ", "Hey ", "Quick question: ", "Can you tell me ", "Hi! ", "ok, ", "So, ",
         "and ", "now, ", "Tell me, ", "I want to know: ", "Could you please tell me ", "hmm, ", "well, ", "Hello, ", "just tell me "]
TAILS = [" please", " please?", ", please.", " thanks", "??", "!", " :)", "...", " pls", " ?", " then?", " exactly?", " again?", " now"]


def typed(q, keep=(), plain=False):
    """The text as people type it: lower case, missing punctuation, a word before or after, a typo. Keeps the words of `keep`."""
    if not plain and R.random() < 0.3:
        q = re.sub(r"^What is ", pick("What's ", "what's ", "whats ", "What’s "), q)
    if R.random() < 0.3:
        q = q.rstrip("?.!") or q
    if not plain:
        if R.random() < 0.12:
            q = R.choice(LEADS) + (q[0].lower() + q[1:] if not q.startswith(tuple(keep) or "\0") else q)
        if R.random() < 0.08:
            q = q.rstrip("?.!") + R.choice(TAILS)
        if R.random() < 0.05 and not keep:
            q = typo(q)
    r = R.random()
    if r < 0.3 or r > 0.97:
        low = q.lower() if r < 0.3 else q.upper()
        if keep and r > 0.97:
            return q
        for k in keep:
            low = re.sub(r"(?<![a-z])" + re.escape(k.lower()) + r"(?![a-z])", lambda _: k, low)
        q = low
    return q


def the(c):
    return "the " + c if c in ("Netherlands", "Philippines") else c


def up(s):
    return s[0].upper() + s[1:]
