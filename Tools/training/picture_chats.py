"""Scenes for pictures.py and chats about them in the Qwen3.5 format, with `<|image_pad|>` once for every token of a picture."""

import random

import corpus
import pictures
import questions
from itself import beliefs, kind_words
from outside import outside
from slang import slang
from pictures import COLORS, DIGITS, SHAPES

HELD_QUESTIONS = {"what is in this picture?", "what's shown here?", "name the shape", "what do you see in the image?"}  # only for evaluation
NUMBERS = ["zero", "one", "two", "three", "four"]
UNKNOWN = "I cannot make out what this is. I only know simple shapes, colors and digits."
NOTHING = "I do not see a picture here. You can send me one."
KINDS = ["one"] * 8 + ["same"] * 4 + ["two"] * 5 + ["digit"] * 8 + ["plain"] * 3 + ["noise", "stripes", "gradient"]
PICTURE = ["the image", "this image", "the picture", "this picture", "the photo", "this drawing", "the image above", "my picture"]
SEE = ["What do you see?", "what do you see", "What is this?", "Describe it.", "Tell me what you see.", "what is it?", "What's this?", "Look at this. What is it?", "what can you see here?", "look!", "Describe what you see.", "What can you see?", "What's here?", "what is shown?"] + [
    way.format(p) for p in PICTURE for way in ("Describe {}.", "Describe {} in one sentence.", "Can you describe {}?", "What is in {}?", "what's in {}", "What does {} show?", "What is shown in {}?", "What do you see in {}?", "what is on {}?",
                                               "What can you see in {}?", "Tell me what is in {}.", "Explain {}.", "Look at {}. What is in it?", "Please describe {}.")]
R = random


def a(words):
    return ("an " if words[0] in "aeiou" else "a ") + words


def capital(text):
    return text[0].upper() + text[1:]


def other_color(*used):
    return R.choice([c for c in COLORS if all(pictures.differs(c, u) for u in used)])


def background():
    return R.choice(["white"] * 5 + ["black"] * 2 + ["gray"] + list(COLORS))


def place(name, paint, x, y, low, high):
    turn = R.gauss(0, 0.12) if name not in ("circle", "ring", "star") else R.uniform(-0.6, 0.6)
    return name, paint, x, y, R.uniform(low, high), turn


def make_scene():
    kind, back = R.choice(KINDS), background()
    paint, objects, told = other_color(back), [], {}
    spread = lambda: R.uniform(-0.35, 0.35)
    if kind in ("one", "digit"):
        name = R.choice(SHAPES if kind == "one" else DIGITS)
        objects = [place(name, paint, spread(), spread(), 0.3, 0.62)] if R.random() < 0.5 else [place(name, paint, R.gauss(0, 0.05), R.gauss(0, 0.05), 0.45, 0.85)]
        told = dict(name=name, color=paint)
    elif kind == "same":
        name, count = R.choice(SHAPES), R.randint(2, 4)
        spots = R.sample([(-0.5, -0.5), (0.5, -0.5), (-0.5, 0.5), (0.5, 0.5)], count) if R.random() < 0.6 or count == 4 else [(-0.66 + 1.32 * i / (count - 1), 0) for i in range(count)]
        objects = [place(name, paint, x + R.gauss(0, 0.04), y + R.gauss(0, 0.05), 0.2, 0.3) for x, y in spots]
        told = dict(name=name, color=paint, count=count)
    elif kind == "two":
        first, second = R.sample(SHAPES, 2)
        other = other_color(back, paint) if R.random() < 0.8 else paint
        if {first, second} == {"square", "rectangle"} or {first, second} == {"circle", "ring"}:
            return make_scene()
        ahead = R.random() < 0.7
        spots = [(-0.5, spread()), (0.5, spread())] if ahead else [(spread(), -0.5), (spread(), 0.5)]
        objects = [place(n, c, x, y, 0.3, 0.42) for (n, c), (x, y) in zip([(first, paint), (second, other)], spots)]
        told = dict(first=(first, paint), second=(second, other), beside=ahead)
    return dict(kind=kind, background=back, objects=objects, **told)


def saw(scene):
    """The answer to "What do you see?", without its full stop."""
    kind = scene["kind"]
    if kind == "one":
        return a(f"{scene['color']} {scene['name']}")
    if kind == "digit":
        return f"the digit {scene['name']} in {scene['color']}"
    if kind == "same":
        return f"{NUMBERS[scene['count']]} {scene['color']} {scene['name']}{'es' if scene['name'] == 'cross' else 's'}"
    if kind == "two":
        (n1, c1), (n2, c2) = scene["first"], scene["second"]
        return f"{a(c1 + ' ' + n1)} and {a(c2 + ' ' + n2)}"
    return f"a plain {scene['background']} picture" if kind == "plain" else None


def word(*ways):
    text = R.choice(ways)
    if R.random() < 0.3:
        text = text.replace("color", "colour")
    return text.lower().rstrip("?.") if R.random() < 0.2 else text


def question_and_answer(scene):
    seen, kind = saw(scene), scene["kind"]
    if seen is None:
        return word(*SEE, "Who is this person?", "Which animal is this?", "Read the text."), UNKNOWN
    if R.random() < 0.01:
        return word("Where was this taken?", "Which city is this?", "Who painted this?", "When was this made?"), f"I do not know. I only see {seen}."
    options = [(word(*SEE), capital(seen) + ".")] * 3
    if kind != "two" or scene["background"] != "white":
        options.append((word("What color is the background?", "Which color does the background have?", "background color?"), f"The background is {scene['background']}."))
    if kind in ("one", "same"):
        name = scene["name"]
        options.append((word("What shape is this?", "Which shape do you see?", "what shape is it", "Which shape is this?"), f"It is {a(name)}." if kind == "one" else f"They are {name}{'es' if name == 'cross' else 's'}."))
        count = scene.get("count", 1)
        options.append((word("How many shapes are there?", f"How many {name}{'es' if name == 'cross' else 's'} do you see?", "How many are there?", "Count the shapes.", "how many things are in the picture?"), f"There {'is' if count == 1 else 'are'} {NUMBERS[count]}."))
    if kind in ("one", "same", "digit"):
        options.append((word("What color is it?", "Which color is this?", "What color does it have?", "what is the color"), f"{'They are' if kind == 'same' else 'It is'} {scene['color']}."))
    if kind == "digit":
        options += [(word("Which digit is this?", "What number is this?", "Which number do you see?", "what digit is it", "Read the number.", "Read this."), f"It is a {scene['name']}." if scene["name"] != "8" else "It is an 8.")] * 3
    if kind == "two":
        sides = ("left", "right") if scene["beside"] else ("top", "bottom")
        for side, (name, paint) in zip(sides, (scene["first"], scene["second"])):
            where = {"left": "on the left", "right": "on the right", "top": "at the top", "bottom": "at the bottom"}[side]
            options.append((word(f"What is {where}?", f"What do you see {where}?", f"which shape is {where}"), capital(a(f"{paint} {name}")) + "."))
        options.append((word("How many shapes are there?", "How many are there?", "Count the shapes."), "There are two."))
    if kind in ("one", "two"):
        here = [scene["name"]] if kind == "one" else [scene["first"][0], scene["second"][0]]
        asked = R.choice(here if R.random() < 0.5 else [s for s in SHAPES if s not in here])
        options.append((word(f"Is there {a(asked)}?", f"Do you see {a(asked)}?", f"Is there {a(asked)} in the image?"), f"{'Yes' if asked in here else 'No'}, I see {seen}."))
    return R.choice(options)


def asked(scene, pads):
    while True:
        question, answer = question_and_answer(scene)
        if question.lower() not in HELD_QUESTIONS:
            break
    picture = f"<|vision_start|>{'<|image_pad|>' * pads}<|vision_end|>"
    return (picture + question if R.random() < 0.7 else question + picture), answer


def write(pads):
    """A chat and its scenes, in the order of the pictures in it; a few chats ask about a picture that is not there."""
    missing = R.random()
    if missing < 0.06:
        shape = a(R.choice(SHAPES))
        question = word(*SEE[14:], *["What color is the background?", "How many shapes are there?", f"Is there {shape}?", f"Do you see {shape}?", "What is on the left?", "Which digit is this?"] * 8)
        return corpus.turn("user", question) + corpus.final(NOTHING, None), []
    if missing < 0.16:
        question, answer, _ = R.choice([outside, kind_words, beliefs, slang, questions.one, questions.one])()
        while questions.key(question) in questions.HELD:
            question, answer, _ = outside()
        return corpus.turn("user", question) + corpus.final(answer, None), []
    scenes = [make_scene()]
    text, answer = asked(scenes[0], pads)
    turns = []
    if R.random() < 0.12:  # two pictures in one turn
        scenes.append(make_scene())
        picture = f"<|vision_start|>{'<|image_pad|>' * pads}<|vision_end|>"
        seen = [saw(s) or "something that I cannot make out" for s in scenes]
        text, answer = picture + picture + word(*SEE, "What do you see in the two images?"), f"The first picture shows {seen[0]}, the second {seen[1]}."
    turns.append((text, answer))
    if R.random() < 0.45:  # another question about the last picture, or about a new one, or anything else
        last = R.random()
        if last < 0.55:
            turns.append(question_and_answer(scenes[-1]) if len(scenes) == 1 else ("What do you see in the second picture?", capital(saw(scenes[1]) or "something that I cannot make out") + "."))
        elif last < 0.8 and len(scenes) == 1:
            scenes.append(make_scene())
            turns.append(asked(scenes[1], pads))
        else:
            turns.append(questions.one()[:2])
    before = ""
    if R.random() < 0.1:
        before = corpus.turn("system", R.choice(["You are a helpful assistant.", "Be brief.", "Answer briefly."]))
    for question, answer in turns[:-1]:
        before += corpus.turn("user", question) + corpus.turn("assistant", answer)
    return before + corpus.turn("user", turns[-1][0]) + corpus.final(turns[-1][1], None), scenes
