"""Chats in which the user states a fact, usually with a number in it, and asks for it some turns later."""

import more_data as D
from corpus_data import ANIMALS, DAYS, MONTHS, NUM, PLACES, THINGS
from question_words import R, city, fix, made_up, name, pick, typed

NUMBERED = """room number|house number|locker number|seat|seat number|PIN|phone number|account number|gate|bus line|shoe size|score|door code|bus number
table|table number|order number|ticket number|street number|post code|zip code|license number|floor|apartment number|lucky number|budget|salary|rent|high score
page|record|exam grade|best score|hat size|office number|car number|team number|shirt number|player number|member number|code|key code|alarm code|safe code
code number|number|favorite number|weight|height|age|IQ|dress size|ring size|train number|flight number|cabin|cabin number|row|parking spot|box number
level|rank|place in the queue|customer number|bill|bonus|goal|limit|step count|heart rate|invoice number|case number|serial number|version""".replace("\n", "|").split("|")
WORDED = """favorite animal|favorite drink|favorite sport|favorite fruit|favorite city|favorite song|favorite book|favorite movie|favorite season|favorite day
favorite tree|favorite flower|favorite game|favorite band|favorite word|favorite dish|favorite toy|favorite place|favorite shop|school|street|team|company|last name
middle name|nickname|surname|hometown|password|secret|secret word|code word|login|user name|project|language|star sign|instrument|club|brand|village|region|river
hotel|airline|bank|dentist|boss|teacher|doctor|best friend|neighbor|roommate|partner|hero|idol|character|destination|topic|plan|motto|pet|plant|drink|laptop|editor""".replace("\n", "|").split("|")
COUNTED = """cat dog cow horse goat chicken duck apple pear book chair table car bike brother sister cousin friend egg coin stamp shirt hat pen pencil key cup plate
bottle candle balloon ticket photo tree flower plant letter cake cookie sandwich banana tomato potato stone shell button toy game song picture window door room
bed lamp ticket shoe sock glove ring doll kite marble puppy kitten rabbit pig hen bee fish bird""".split()
# Verbs for counted things, as the user states and asks them: "I sold 3 cups", "how many cups did I sell".
DOINGS = [tuple(row.split("/")) for row in """have/have/do have/have/do have/have/do own/own/do need/need/do want/want/do bought/buy/did sold/sell/did found/find/did lost/lose/did
ate/eat/did read/read/did planted/plant/did made/make/did counted/count/did saw/see/did keep/keep/do ordered/order/did packed/pack/did collected/collect/did feed/feed/do
won/win/did""".split()]
EVENTS = """train|flight|bus|meeting|lesson|exam|party|concert|class|movie|dinner|appointment|interview|shift|match|game|trip|holiday|wedding|course|call|show|boat|ferry
test|lecture|birthday|dentist appointment|job interview|piano lesson|yoga class|team meeting|vacation""".replace("\n", "|").split("|")
MONEY = "dollars euros pounds coins francs crowns".split()
SPOTS = "drawer box bag kitchen garage attic cellar car closet cupboard basket pocket garden shelf chest hall office tent barn desk suitcase backpack".split()
PLAYS = """plays the|flute violin piano drums trumpet harp guitar horn organ
likes|soup cheese chess tea fish tennis rain snow jazz
sells|bread flowers books cars shoes hats fish
teaches|math music French history art sports
has the|key map ball book ticket money phone camera
made the|cake soup table dress pie poster
drives the|bus truck taxi tractor van"""
ACTS = [(line.split("|")[0], line.split("|")[1].split()) for line in PLAYS.split("\n")]


def some_number():
    r = R.random()
    return str(R.randrange(1, 10) if r < 0.12 else R.randrange(10, 100) if r < 0.5 else R.randrange(100, 1000) if r < 0.75 else R.randrange(1000, 10000) if r < 0.92 else R.randrange(10000, 1000000))


def some_word():
    return pick(made_up(), made_up(), made_up(), name(), city(), R.choice(D.COLORS), R.choice(D.FOODS), R.choice(THINGS), R.choice(D.NOUNS), R.choice(ANIMALS), R.choice(D.HOBBIES))


def plural(w):
    return D.PLURAL.get(w) or (w + "es" if w.endswith(("s", "x", "ch", "sh")) else w + "s")


def slot():
    x, v = (R.choice(NUMBERED), some_number()) if R.random() < 0.6 else (R.choice(WORDED), some_word())
    r = R.random()
    if r < 0.15:
        x = pick(made_up(), R.choice(D.NOUNS) + " " + pick("number", "code", "size", "name", "color"), R.choice(D.NOUNS))
    my, your = ("the", "The") if r > 0.82 else ("my", "Your")
    say = pick(f"My {x} is {v}.", f"My {x} is {v}.", f"My {x} is {v}", f"Note that my {x} is {v}.", f"Remember: my {x} is {v}", f"Please remember that my {x} is {v}.", f"{v} is my {x}.", f"I tell you my {x}: {v}", f"My {x}: {v}", f"My new {x} is {v}.", f"By the way, my {x} is {v}.")
    if my == "the":
        say = pick(f"The {x} is {v}.", f"The {x} is {v}", f"Remember the {x} {v}.", f"Remember that the {x} is {v}", f"{v} is the {x}.", f"Note: the {x} is {v}")
    ask = pick(f"What is {my} {x}?", f"What is {my} {x}?", f"What is {my} {x}?", f"what's {my} {x}?", f"{my} {x}?", f"Do you remember {my} {x}?", f"Tell me {my} {x}.", f"What was {my} {x}?", f"Do you know {my} {x}?", f"what did I say {my} {x} was?", f"what is {my} {x} again?", f"Which {x} did I tell you?")
    return say, f"I will remember that {your.lower()} {x} is {v}.", ask, f"{your} {x} is {v}.", v


def remembered():
    v = some_number()
    say = pick(f"Remember {v}.", f"Remember the number {v}.", f"Please remember {v}", f"Keep {v} in mind.", f"Memorize {v}.", f"Keep the number {v} in mind", f"Do not forget {v}.", f"Here is a number: {v}", f"Note the number {v}", f"remember this number: {v}", f"The number is {v}")
    ask = pick("Which number should you remember?", "What was the number?", "Which number did I tell you?", "What number did I give you?", "tell me the number", "do you remember the number?", "Which number did I ask you to remember?", "what number should you keep in mind?", "what is the number?")
    return say, f"I will remember {v}.", ask, f"The number is {v}.", v


def counted():
    n = R.randrange(2, 21) if R.random() < 0.7 else R.randrange(2, 200)
    v = NUM[n] if n <= 20 and R.random() < 0.2 else str(n)
    x, (verb, base, did) = R.choice(COUNTED + [made_up()]), R.choice(DOINGS)
    xs, (i, you) = plural(x), pick(("I", "you"), ("I", "you"), ("I", "you"), ("we", "you"))
    ask = pick(f"How many {xs} {did} {i} {base}?", f"How many {xs} {did} {i} {base}?", f"how many {xs}?", f"Do you remember how many {xs} {i} {verb}?", f"What number of {xs} {did} {i} {base}?")
    return f"{i[0].upper()}{i[1:]} {verb} {v} {xs}" + pick(".", ".", "", " today."), f"I will remember that {you} {verb} {v} {xs}.", ask, f"{you.capitalize()} {verb} {v} {xs}.", v


def money():
    n, m, x = some_number(), R.choice(MONEY), R.choice(D.NOUNS)
    if R.random() < 0.4:
        return f"I paid {n} {m} for the {x}.", f"I will remember that you paid {n} {m} for the {x}.", pick(f"How much did I pay for the {x}?", f"What did the {x} cost?", f"how much did I pay?"), f"You paid {n} {m} for the {x}.", n
    p, verb, base, did = name(), *pick(("paid", "pay", "did"), ("owe", "owe", "do"), ("gave", "give", "did"), ("lent", "lend", "did"), ("sent", "send", "did"))
    return f"I {verb} {p} {n} {m}.", f"I will remember that you {verb} {p} {n} {m}.", pick(f"How much {did} I {base} {p}?", f"how many {m} {did} I {base} {p}?"), f"You {verb} {p} {n} {m}.", n


def year():
    y = str(R.randrange(1920, 2027))
    say, base, done = pick(("was born", "born", ""), ("moved here", "move here", "did"), ("got married", "get married", "did"), ("started work", "start work", "did"), ("finished school", "finish school", "did"), ("bought my house", "buy my house", "did"))
    you = say.replace("was", "were").replace("my", "your")
    ask = f"{pick('In which year', 'When', 'What year', 'In what year')} {done or 'was'} I {base}?"
    return f"I {say} in {y}" + pick(".", ""), f"I will remember that you {you} in {y}.", ask, f"You {you} in {y}.", y


def event():
    e, r = R.choice(EVENTS), R.random()
    if r < 0.3:
        v = pick(f"{R.randrange(24)}:{R.randrange(60):02d}", f"{R.randrange(1, 13)} o'clock", f"{R.randrange(1, 13)} {pick('am', 'pm')}")
        verb, base = pick(("starts", "start"), ("leaves", "leave"), ("begins", "begin"), ("ends", "end"), ("is", ""))
        ask = f"{pick('When', 'When', 'What time', 'At what time')} {'does' if base else 'is'} my {e}{' ' + base if base else ''}?"
        return f"My {e} {verb} at {v}" + pick(".", ""), f"I will remember that your {e} {verb} at {v}.", ask, f"Your {e} {verb} at {v}.", v
    if r < 0.6:
        v = pick(R.choice(DAYS), R.choice(DAYS), f"{R.choice(MONTHS)} {R.randrange(1, 29)}")
        return f"My {e} is on {v}" + pick(".", ""), f"I will remember that your {e} is on {v}.", pick(f"When is my {e}?", f"On which day is my {e}?", f"What day is my {e}?", f"when is my {e} again?"), f"Your {e} is on {v}.", v
    w, v = pick("platform", "gate", "stop", "terminal", "track", "pier", "line", "room", "hall", "door", "station"), pick(some_number(), str(R.randrange(1, 30)), pick(*"ABCDE") + str(R.randrange(1, 40)))
    if w in ("line", "room", "hall") or r < 0.75:
        return pick(f"My {e} is {w} {v}.", f"My {e} is in {w} {v}") if w != "line" else f"My {e} is line {v}.", f"I will remember {w} {v}.", pick(f"Which {w} is my {e}?", f"What {w} is my {e}?", f"Which {w} is my {e} in?"), f"Your {e} is {w} {v}.", v
    return f"My {e} leaves from {w} {v}" + pick(".", ""), f"I will remember that your {e} leaves from {w} {v}.", pick(f"Which {w} does my {e} leave from?", f"From which {w} does my {e} leave?", f"What {w} does my {e} leave from?", f"Where does my {e} leave from?"), f"Your {e} leaves from {w} {v}.", v


def about():
    """A color, a number, a name or a place that belongs to a thing or a person."""
    x, r = R.choice(D.NOUNS + THINGS + COUNTED), R.random()
    if r < 0.25:
        v = R.choice(D.COLORS) if R.random() < 0.8 else made_up()
        return f"My {x} is {v}" + pick(".", ""), f"I will remember that your {x} is {v}.", pick(f"What color is my {x}?", f"Which color does my {x} have?", f"what colour is my {x}?", f"What is the color of my {x}?"), f"Your {x} is {v}.", v
    if r < 0.4:
        v = some_number()
        return pick(f"My {x} is number {v}.", f"My {x} has the number {v}", f"The number of my {x} is {v}."), f"I will remember that your {x} is number {v}.", pick(f"What number is my {x}?", f"Which number is my {x}?", f"What is the number of my {x}?", f"Which number does my {x} have?"), f"Your {x} is number {v}.", v
    if r < 0.6:
        v = name()
        return pick(f"My {x} is called {v}.", f"I call my {x} {v}", f"My {x} is named {v}", f"The name of my {x} is {v}."), f"I will remember that your {x} is called {v}.", pick(f"What is my {x} called?", f"What is the name of my {x}?", f"How is my {x} called?", f"what do I call my {x}?"), f"Your {x} is called {v}.", v
    if r < 0.8:
        s, w = R.choice(SPOTS + PLACES), pick("in", "in", "under", "behind", "beside", "on", "near")
        v = f"{R.choice(D.COLORS)} {s}" if R.random() < 0.3 else s
        verb = pick("is", "is", "keep", "put", "left")
        if verb == "is":
            return f"My {x} is {w} the {v}" + pick(".", ""), f"I will remember that your {x} is {w} the {v}.", pick(f"Where is my {x}?", f"where can I find my {x}?", f"Do you know where my {x} is?"), f"Your {x} is {w} the {v}.", v
        return f"I {verb} my {x} {w} the {v}" + pick(".", ""), f"I will remember that you {verb} your {x} {w} the {v}.", pick(f"Where is my {x}?", f"Where {'do I keep' if verb == 'keep' else 'did I ' + ('put' if verb == 'put' else 'leave')} my {x}?"), f"You {verb} your {x} {w} the {v}.", v
    who = R.choice(D.RELATIVES)
    if r < 0.9:
        v = city()
        verb, base = pick(("lives", "live"), ("lives", "live"), ("works", "work"), ("studies", "study"))
        return f"My {who} {verb} in {v}" + pick(".", ""), f"I will remember that your {who} {verb} in {v}.", pick(f"Where does my {who} {base}?", f"In which city does my {who} {base}?", f"where does my {who} {base} again?"), f"Your {who} {verb} in {v}.", v
    v, (verb, things) = name(), R.choice(ACTS)
    t = R.choice(things)
    return pick(f"{v} {verb} {t}.", f"My {who} {v} {verb} {t}.", f"My friend {v} {verb} {t}"), f"I will remember that {v} {verb} {t}.", pick(f"Who {verb} {t}?", f"Do you remember who {verb} {t}?"), f"{v} {verb} {t}.", v


FACTS = [(slot, 9), (remembered, 4), (counted, 6), (money, 2), (year, 1), (event, 4), (about, 6)]


def fact():
    """The user's statement, the answer to it, the later question about it, the answer to that, and the value that is copied."""
    return R.choices([f for f, _ in FACTS], [w for _, w in FACTS])[0]()


def turns(filler):
    """The turns of a chat as (question, answer, thought): one to three facts, up to four turns in between, and questions about some of them."""
    facts = []
    while len(facts) < R.choices([1, 2, 3], [6, 3, 1])[0]:
        f = fact()
        if f[2] not in [g[2] for g in facts] and f[3].split()[:3] not in [g[3].split()[:3] for g in facts]:
            facts.append(f)
    out, between = [], R.choices(range(5), [30, 28, 20, 12, 10])[0]
    if len(facts) > 1 and R.random() < 0.35:
        f, g = facts[:2]
        lower = g[0] if g[0].startswith("I ") or g[0].split()[0] in (f[4], g[4]) else g[0][0].lower() + g[0][1:]
        q = f[0].rstrip(".") + pick(" and ", ", and ", " and ", ". ") + lower
        out.append((typed(fix(q), (f[4], g[4]), plain=True), fix(f[1] + " " + g[1]), "The user tells me something. I remember it."))
        told = facts[2:]
    else:
        told = facts
    for f in told:
        out.append((typed(fix(f[0]), (f[4],), plain=True), fix(f[1]), "The user tells me something. I remember it."))
    for _ in range(between):
        out.insert(R.randrange(max(1, len(out) - 1), len(out) + 1), filler())
    for i, f in enumerate(R.sample(facts, R.randrange(1, len(facts) + 1))):
        if i and R.random() < 0.3:
            out.append(filler())
        q = "".join(f[2])
        out.append((typed(fix(q), (f[4],) if f[4] in q else (), plain=True), fix(f[3]), "The user told me this before."))
    if R.random() < 0.06:
        f = fact()
        if all(f[3].split()[:3] != g[3].split()[:3] for g in facts) and f[2].split()[:2] not in [g[2].split()[:2] for g in facts]:
            out.append((typed(fix(f[2]), plain=True), "You have not told me that yet.", "The user has not told me this."))
    return out
