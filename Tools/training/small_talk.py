"""Greetings, answers in a given format, and answers in JSON. Each kind gives (question, answer, thought)."""

import json

import more_data as D
from corpus_data import ADJ, ANIMALS, CAP, THINGS
from more_data import CAN, RUN, WHO
from question_words import R, fix, made_up, name, pick, the, typed


def stretch(s):
    """hi -> hiii"""
    return s + s[-1] * R.randrange(1, 4) if R.random() < 0.12 else s


def mark(s):
    s = stretch(s)
    s += pick("", "", "", "", "!", ".", "!!", "?", " :)", "...", ",", " 😀", "!!!", " 👋")
    r = R.random()
    return s.lower() if r < 0.35 else s.upper() if r < 0.42 else s


WHOM = ["", "", "", "", "", "", " there", " pagoda", " Pagoda", " mini", " friend", " you", " again", " bot", " robot", " buddy", " my friend", " everyone", " world", " computer", " mate", " model", " dear"]


def hello():
    i = R.choices(range(13), [9, 3, 5, 4, 4, 3, 4, 6, 3, 2, 2, 3, 1])[0]
    if i == 0:
        g = pick("Hello", "Hi", "Hey", "Good morning", "Good afternoon", "Good evening", "Howdy", "Yo", "Greetings", "Hiya", "Hallo", "Hello hello", "hi hi", "Heya", "Hey hey", "helo", "hlelo",
            "hullo", "Hello, are you there", "Is anyone there", "morning", "evening", "hi, nice to meet you", "Hey, what a day", "welcome", "wassup", "what's up", "good to see you", "hey ho",
            "hi, I am new here", "knock knock", "hello, can you hear me", "a good day", "aloha", "ahoy", "hi how do you do", "g'day", "test", "testing", "sup dude", "sup man", "is anybody home", "hi, this is my first time here", "anyone here")
        return mark(g + R.choice(WHOM)), "Hello! How can I help you?", "The user greets me."
    if i == 1:
        g = pick("How are you", "how are you doing", "how is it going", "how are you today", "Hi, how are you", "are you ok", "how do you feel", "how are things", "how goes it", "how have you been",
            "are you well", "how is your day", "hello, how are you", "how's life", "how are you feeling", "is everything fine", "hey how are you", "how r u", "how's it going", "you ok", "how're you doing")
        return mark(g + pick("", "", " today", " pagoda", " my friend", " now", " there")), "I am fine, thank you. What can I do for you?", "The user asks how I am."
    if i == 2:
        g = pick("Who are you?", "What is your name?", "are you a robot?", "introduce yourself", "what are you?", "are you human?", "Are you an AI?", "What model are you?", "which model is this?",
            "are you a person?", "do you have a name?", "tell me about yourself", "Who am I talking to?", "what should I call you?", "Are you Qwen?", "are you GPT?", "are you a real person?", "are you Claude?",
            "your name?", "name?", "who is this?", "what is this?", "who is there", "are you a bot", "What kind of model are you?", "What kind of AI are you?", "are you a language model?", "say who you are",
            "describe yourself", "what LLM are you", "Are you Siri?", "are you smart?", "what is mini?", "Who is Pagoda mini?", "I want to know who you are", "what do people call you?", "are you alive?", "are you Gemini?",
            "what AI is this?", "which AI am I speaking with?", "explain who you are", "can you introduce yourself?", "what sort of thing are you?", "identify yourself", "are you real", "who r u", "what r u")
        return typed(g), WHO, "The user asks who I am."
    if i == 3:
        base = pick("Thank you", "Thanks", "thanks a lot", "thank you very much", "ok thanks", "many thanks", "thank u", "thnx", "thanks so much", "thanks for that", "cheers", "thank you for the answer", "tnx", "thks",
            "thank you, that helps", "thanks for helping", "ok thank you", "much appreciated", "I appreciate it", "great, thank you", "perfect, thanks", "nice, thanks", "thanks again", "wonderful, thank you", "cool thanks", "tysm",
            "that was helpful", "you helped me a lot", "thanks, that is all", "super, thanks", "thank you kindly", "thx a lot", "thx mate", "ty so much", "thanks for your help", "thank you for helping me")
        return mark(base + pick("", "", "", " pagoda", " friend", " mate", " my friend")), "You are welcome!", "The user thanks me."
    if i == 4:
        base = pick("Bye", "Goodbye", "see you", "good night", "bye bye", "see you later", "farewell", "see you soon", "I am leaving", "I have to leave", "take care", "until next time", "see you tomorrow", "cu", "see ya",
            "I must go now", "that's all, bye", "ok goodbye", "good bye", "have a nice day", "have a good evening", "catch you later", "gotta go", "I'm off", "ciao for now", "talk to you later", "exit", "quit", "bye for now",
            "thanks, bye", "time to go", "I need to go", "so long", "later", "night", "I am going to bed", "i'm done, bye", "speak tomorrow", "cya later", "cya soon")
        return mark(base + pick("", "", "", " pagoda", " friend", " then", " my friend")), "Goodbye! Come back soon.", "The user says goodbye."
    if i == 5:
        base = pick("ok", "okay", "yes", "no", "sure", "hmm", "fine", "I see", "got it", "right", "alright", "lol", "haha", "wow", "oh", "interesting", "yeah", "yep", "nope", "k", "understood", "good", "maybe", "indeed",
            "that is right", "correct", "ah", "aha", "true", "great", "nice", "cool", "awesome", "perfect", "excellent", "not bad", "impressive", "very good", "amazing", "I like that",
            "that is funny", "so cool", "brilliant", "super")
        return mark(base), "All right! What else can I do for you?", "The user comments."
    if i == 6:
        base = pick("help", "What can I ask you?", "what do you know?", "what can you do?", "How can you help me?", "what should I ask?", "What are your skills?", "what do you do?", "help me", "I need help", "what can I do here?",
            "Tell me what you can do.", "which things can you do?", "what are your abilities?", "show me what you can do", "What can you do for me?", "what topics do you know?", "What is your purpose?", "how do I use you?",
            "give me some examples", "what can i try?", "what now?", "I do not know what to ask", "what else can you do?", "list your skills", "are you useful?", "what are you made for?", "what are you for?", "can you do anything?",
            "how can I use this?", "what questions can you answer?", "what kind of things do you know?", "how does this work?", "what are your capabilities?", "what subjects do you know about?", "can you help?", "who can help me?",
            "what else?", "what do you know about?", "what would you like to do?", "Give me ideas what to ask")
        return typed(base), CAN, "The user asks what I can do."
    if i == 7:
        adj = pick("better", "bigger", "larger", "real", "smarter", "stronger", "proper", "good", "more capable", "more powerful", "different", "another", "new", "serious", "full", "big", "large", "decent", "normal", "more intelligent", "great")
        m = f"a {adj} " + pick("model", "model", "model", "llm", "language model", "AI", "one", "chatbot", "assistant", "LLM")
        if R.random() < 0.2:
            m = pick("qwen", "Qwen", "Qwen3.5", "a Qwen model", "other models", "more models", "a model", "bigger models", "better models", "models", "llama", "the real model", "the big model", "Qwen/Qwen3.5-0.8B", "real models")
        g = pick(f"How do I get {m}?", f"How can I {pick('get', 'download', 'use', 'try', 'run', 'load', 'find', 'install', 'pull')} {m}?", f"how to {pick('get', 'download', 'install', 'use', 'pull', 'run', 'change to')} {m}",
            f"How do I {pick('download', 'install', 'use', 'pull', 'try', 'run', 'load', 'switch to', 'add', 'find', 'chat with', 'change to')} {m}?", f"I want {m}.", f"I need {m}", f"give me {m}", f"Is there {m}?",
            f"Where do I {pick('find', 'get', 'download')} {m}?", f"Can I use {m}?", f"get {m}", f"download {m}", f"I would like to use {m}", f"can pagoda run {m}?", f"which command gets {m}?", f"how should I get {m}?",
            f"what is the command to download {m}?", f"show me how to get {m}", "which model should I use?", "which models can I use?", "how do I change the model?", "how do I switch models?", "how do I upgrade?",
            "you are " + pick("dumb", "bad", "useless", "stupid", "not very smart", "too small", "not helpful", "wrong", "silly", "terrible", "boring", "not good"), "this model is " + pick("bad", "too small", "dumb", "useless", "stupid", "wrong", "terrible"),
            "your answers are bad", "that is wrong", "can you be smarter?", "you know nothing", "why are you so " + pick("dumb", "small", "bad", "stupid") + "?", "how do I pull a model?", "what other models are there?",
            "recommend a model", f"You are too small, I need {m}", f"I'd prefer {m}", f"where is {m}?", "how do i get started with a model?", "what does pagoda pull do?", "how do I download models?", "list models", f"let me talk to {m}")
        return typed(fix(g), plain=R.random() < 0.5), RUN, "The user wants a larger model."
    if i == 8:
        g = pick("Tell me a joke.", "joke", "another joke", "Do you know a joke?", "make me laugh", "say something funny", "a joke please", "one more joke", "tell another joke", "can you tell a joke?", "do you know any jokes?",
            "I want to hear a joke", "something funny", "joke please", "cheer me up", "give me a joke", "be funny", "tell me something funny", "got any jokes?", "entertain me")
        return typed(g), R.choice(D.JOKES), "The user wants a joke."
    if i == 9:
        return typed(pick("Who made you?", "who created you?", "who trained you?", "Who built you?", "where do you come from?", "who developed you", "who is your maker?", "How were you trained?", "who wrote you?",
            "what data were you trained on?", "who are your creators?")), "I was trained from scratch by the Pagoda project, on short made-up chats.", "The user asks who made me."
    if i == 10:
        return typed(pick("How big are you?", "how many parameters do you have?", "how large are you?", "what is your size?", "how many layers do you have?", "are you small?", "are you a big model?", "How small are you?")
            ), "I am tiny: a few million parameters. I know a few facts and some simple skills.", "The user asks how big I am."
    if i == 11:
        return typed(pick("How old are you?", "do you have feelings?", "where do you live?", "what is your favorite color?", "Do you like music?", "do you sleep?", "are you happy?", "are you a boy or a girl?", "do you eat?", "do you dream?",
            "can you see me?", "do you have friends?", "do you love me?", "are you conscious?", "what is your favorite food?", "do you have a body?", "when is your birthday?", "where are you?", "can you think?", "do you like me?")
            ), "I am only a program, a small demo model, so I have none of that.", "The user asks about me as if I were a person."
    return typed(pick("How are you so fast?", "do you run locally?", "are you online?", "do you need the internet?", "Is my data private?", "does this run on my computer?", "are you running on my machine?", "do you send my data anywhere?", "is this free?",
        "do you work offline?")), "I run on your own computer, inside Pagoda, without the internet.", "The user asks where I run."


def fmt():
    xs = R.sample(THINGS + ANIMALS + D.FOODS, R.randrange(2, 5))
    i = R.randrange(3)
    if i == 0:
        return typed(pick(f"Make a list of {', '.join(xs)}.", f"List these: {', '.join(xs)}", f"write a list with {', '.join(xs)}")), "\n".join(f"- {x}" for x in xs), "The user wants a list."
    if i == 1:
        return typed(pick(f"Sort these words: {', '.join(xs)}.", f"sort {', '.join(xs)}", f"Put in order: {', '.join(xs)}")), ", ".join(sorted(xs)) + ".", "I sort the words."
    w = " ".join(R.choices(THINGS + ANIMALS + ADJ + [made_up() for _ in range(20)], k=R.randrange(1, 7)))
    return pick(f"Repeat after me: {w}", f"Say: {w}", f"Repeat: {w}", f"say {w}", f"Please repeat: {w}", f"echo {w}"), w, "I repeat the words."


def json_pairs():
    """A question, and possible members of its JSON answer."""
    i = R.randrange(7)
    c, k, cont, lang = R.choice(CAP)
    if i == 0:
        d, q = pick(({"city": k, "country": c}, pick(k, f"the city {k}", f"Tell me about {k}")), ({"country": c, "capital": k}, pick(c, f"{c} and its capital", f"the capital of {the(c)}", f"What is the capital of {the(c)}?", f"Tell me about {c}")))
    elif i == 1:
        d = {"country": c, "capital": k} if R.random() < 0.5 else {"city": k, "country": c}
        q = pick("a city", "a country", "any city", "a capital", "a city in the world", "Give me a city", "Name a country", "Name a city and its country", "a city and its country", f"a city in {c}", f"a city in {cont}", "Describe a city")
    elif i == 2:
        d = {pick("answer", "capital", "result", "city", "value"): k}
        q = pick(f"the capital of {the(c)}", f"What is the capital of {the(c)}?", f"capital of {c}")
    elif i == 3:
        n, y = name(), R.randrange(5, 90)
        d = dict(name=n, age=y, city=k) if R.random() < 0.5 else dict(name=n, age=y)
        return (f"{n}, {y}" + (f", from {k}" if "city" in d else ""), d, (n, k)) if R.random() < 0.6 else (pick("a person", "a user", "somebody", "Make up a person", "Invent a character", "Describe a person"), d, ())
    elif i == 4:
        a, b = R.randrange(0, 50), R.randrange(0, 50)
        d = pick({"result": a + b}, {"sum": a + b}, {"answer": a + b}, {"a": a, "b": b, "sum": a + b}, {"value": a + b})
        q = pick(f"{a}+{b}", f"{a} + {b}", f"What is {a} + {b}?", f"the sum of {a} and {b}")
    elif i == 5:
        a, b = R.choice(list(D.COLOR.items()))
        d = pick({"color": b}, {"name": a, "color": b}, {"thing": a, "color": b}, {"answer": b})
        q = pick(f"the color of {a}", f"What color is {a}?", f"{a} and its color")
    else:
        a, b = R.choice(list(D.SOUND.items()))
        d = pick({"animal": a, "sound": b}, {"sound": b}, {"name": a, "sound": b, "legs": R.choice([2, 4])})
        q = pick(f"a {a}", f"What does a {a} say?", f"the sound of a {a}", "an animal", "Name an animal")
    return fix(q), d, ()


def as_json():
    q, d, keep = json_pairs()
    keys = " and ".join(d) if R.random() < 0.5 else ", ".join(d)
    if q[0].isupper() and (" " in q) and q.endswith("?") or q.split()[0] in ("Tell", "Give", "Name", "Describe", "Make", "Invent"):
        q = pick(f"{q} Answer in JSON.", f"{q} Use JSON with {keys}.", f"Answer as JSON: {q}", f"{q} Reply with JSON only.", f"JSON please: {q}", f"{q} Return a JSON object with {keys}.", f"{q} in JSON")
    else:
        q = pick(f"Give me JSON for {q}.", f"JSON for {q}", f"{q} as JSON", f"Write JSON for {q}", f"{q} in JSON with keys {keys}", f"Return JSON with {keys} for {q}.", f"Make a JSON object with {keys} for {q}", f"Output {q} as JSON",
            f"json: {q}", f"Show {q} as a JSON object", f"I want JSON with the keys {keys} for {q}")
    return typed(q, keep, plain=True), json.dumps(d, ensure_ascii=False), "The user wants JSON."
