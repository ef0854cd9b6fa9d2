"""Answers about the model itself and about Pagoda: what they are, that a program has no beliefs, and replies to kind words."""

import more_data as D
from corpus_data import ANIMALS, CAP, FACTS
from question_words import R, fix, made_up, name, pick, typed

PAGODA = next(a for q, a in FACTS if q == "What is Pagoda?")
BELIEF = "I am only a program, a small demo model, so I have no beliefs or opinions."
FEELING = "I am only a program, a small demo model, so I have none of that."


def pagoda():
    p = pick("pagoda", "Pagoda", "Pagoda", "the pagoda program", "this pagoda", "Pagoda here", "the Pagoda engine", "pagoda engine", "the app pagoda", "PAGODA")
    q = pick(f"What is {p}?", f"what is {p} exactly?", f"what's {p}", f"Explain {p}.", f"Explain {p} in one sentence", f"tell me about {p}", f"What does {p} do?", f"what can {p} do?", f"What is {p} for?", f"what do people use {p} for?", f"why is there {p}?",
        f"I installed {p}, what is it?", f"I have {p} on my computer. What does it do?", f"Describe {p}", f"{p}?", f"so what is {p}?", f"and what is {p}?", f"What kind of program is {p}?", f"Is {p} a model?", f"Is {p} an app?", f"is {p} an engine or a model?", f"is {p} software?",
        f"do you know {p}?", f"what do you know about {p}?", f"Can you explain {p}?", f"Give me a short description of {p}.", f"Introduce {p}.", f"What is the purpose of {p}?", f"how would you describe {p}?", f"what is the idea of {p}?", f"define {p}", f"meaning of {p}?",
        f"hello, what is {p}?", f"who needs {p}?", f"what is the use of {p}?", f"What does {p} run?", f"what models does {p} run?", f"Which language is {p} written in?", f"What is {p} made of?", f"What is inside {p}?", f"what is this program called {p}?", f"I never heard of {p}.",
        f"is {p} open to everyone?", f"{p} - what is it?", f"What am I using when I use {p}?")
    return typed(q), PAGODA, "The user asks about Pagoda."


LIKED = "music pizza rain winter dogs cats football math poetry jokes coffee books movies chocolate summer flowers trains computers Sundays art cheese long walks the sea robots people humans children cake games spring".replace("long walks", "long_walks").replace("the sea", "the_sea").split()
BELIEVED = "God ghosts fate magic luck angels love heaven karma destiny miracles aliens Santa astrology an_afterlife reincarnation fairies evolution science democracy progress peace justice socialism capitalism freedom democracy religion".split()


def beliefs():
    x, b = R.choice(LIKED + D.FOODS + D.HOBBIES + D.TOPICS).replace("_", " "), R.choice(BELIEVED).replace("_", " ")
    t = pick(x, b, R.choice(D.TOPICS), R.choice(D.NOUNS) + "s", R.choice(CAP)[0])
    if R.random() < 0.45:
        q = pick(f"Do you believe in {b}?", f"do you believe in {b}", f"What do you believe?", "What are your beliefs?", "do you have beliefs?", f"Do you believe {b} is real?", f"Is {b} real, in your opinion?", f"What is your opinion on {t}?", f"what do you think about {t}?", f"What do you think of {t}?",
            f"what is your view on {t}", f"Do you think {t} is good?", f"do you think {t} is bad?", "Which party do you support?", "who would you vote for?", "Are you left or right?", "Are you religious?", "what is your religion?", "Which god do you believe in?", "Do you have opinions?", "do you have an opinion?",
            "what are your values?", "Are you political?", "what are your politics?", f"Are you for or against {t}?", f"do you agree with {t}?", f"Do you support {t}?", f"what do you make of {t}?", f"how do you feel about {t}?", "What is your philosophy?", "do you go to church?", "are you an atheist?",
            f"tell me your opinion about {t}", f"Should I believe in {b}?", f"is there {b}, do you think?", "What do you personally think?", "what is your honest opinion?", "do you take sides?", f"Which do you prefer, {t} or {b}?", "what do you hold true?", f"Give me your opinion on {t}.", "do you have convictions?")
        return typed(fix(q)), BELIEF, "The user asks for a belief. I am a program and have none."
    f = pick("happy", "sad", "angry", "lonely", "tired", "bored", "afraid", "jealous", "proud", "in love", "excited", "nervous", "hungry", "hurt", "ashamed", "hopeful", "worried", "cold", "thirsty", "scared", "sleepy", "curious", "homesick")
    n = pick("color", "food", "movie", "song", "book", "animal", "city", "country", "sport", "season", "number", "game", "band", "drink", "day", "word", "fruit", "flower", "teacher", "joke")
    h = pick("feelings", "emotions", "a soul", "a heart", "a mind", "consciousness", "free will", "a body", "parents", "a family", "friends", "a girlfriend", "hobbies", "dreams", "wishes", "fears", "hopes", "needs", "a home", "a childhood", "a gender", "an age", "memories", "eyes", "hands", "a conscience", "secrets", "a personality")
    q = pick(f"Do you like {x}?", f"do you like {x}", f"Do you love {x}?", f"do you hate {x}?", f"do you enjoy {x}?", f"What is your favorite {n}?", f"what's your favourite {n}?", f"which {n} do you like best?", f"Do you have {h}?", f"do you have {h}", f"have you got {h}?", f"Do you really have {h}?", f"Can a model have {h}?",
        f"Are you {f}?", f"are you ever {f}?", f"Do you feel {f}?", f"can you be {f}?", f"do you get {f}?", f"Are you {f} when I {pick('leave', 'shout', 'thank you', 'stop', 'laugh', 'am gone', 'come back')}?", "Are you conscious?", "are you aware of yourself?", "are you sentient?", "Are you alive?", "do you exist?", "can you feel?", "Do you feel anything?",
        "can you feel love?", "do you feel pain?", "Do you sleep?", "do you dream at night?", "do you eat?", "Can you suffer?", "are you afraid of death?", "do you want to live?", "Do you want to be free?", "do you want to be human?", f"Would you like to be a {pick('human', 'person', R.choice(ANIMALS), 'real boy')}?", "what do you wish for?", "What do you want?",
        "what makes you happy?", "what makes you sad?", "what are you afraid of?", "Do you like me?", "do you love me?", "Do you miss me?", "do you care about me?", "do you like your work?", "do you like being a model?", "do you think?", "Can you think for yourself?", "are you lonely in there?", "do you have fun?", f"do you like {name()}?", "how does it feel to be a program?",
        "what is it like to be you?", "do you understand what I say?", "Do you enjoy this?", "do you like talking?", "are you a boy or a girl?", "how old are you?", "do you mind if I leave?", "what did you do yesterday?", "what are you doing tonight?", "who are your parents?", "do you have a mother?", "do you like other models?", "what are your hobbies?")
    return typed(fix(q)), FEELING, "The user asks about me as if I were a person."


def kind_words():
    i = R.randrange(4)
    if i == 0:
        q = pick("You are", "you're", "you are really", "You are so", "You're very", "wow, you are") + " " + pick("funny", "nice", "kind", "great", "helpful", "smart", "clever", "cool", "sweet", "amazing", "good at this", "the best", "fast", "friendly", "wonderful", "lovely", "awesome", "hilarious", "polite")
        return typed(pick(q, q, q, "I like you", "that was kind", "good job", "well done", "I like your answers", "what a good answer", "you did well")), "Thank you, that is kind of you!", "The user says something kind."
    if i == 1:
        f = pick("tired", "sad", "sick", "unhappy", "lonely", "ill", "down", "exhausted", "stressed", "sleepy", "upset", "worn out", "hurt", "bored", "worried", "nervous", "anxious", "depressed", "blue")
        q = pick(f"I am {f}", f"I'm {f} today", f"I feel {f}", f"i am so {f}", f"I'm feeling {f}", f"I am a bit {f} today", f"I feel a little {f}", f"today I am {f}", f"I am very {f} right now", "I had a bad day", "my day was awful", "I slept badly", "I cannot sleep", "I have had a long day", "I miss my family")
        return typed(q), "I am sorry to hear that. I hope you feel better soon.", "The user does not feel well."
    if i == 2:
        q = pick("Happy birthday", "Merry Christmas", "Happy new year", "Happy Easter", "happy holidays", "congratulations", "Have a nice weekend", "happy friday", "Best wishes", "Happy birthday to you", "happy birthday, pagoda")
        return typed(q + pick("", "!", "!", "!!")), "Thank you, that is kind of you!", "The user says something kind."
    f = pick("happy", "fine", "well", "great", "excited", "good", "proud", "in a good mood", "rested", "cheerful", "glad", "okay")
    return typed(pick(f"I am {f}", f"I'm {f} today", f"I feel {f}", f"I am very {f}", f"i'm feeling {f}", "I had a great day", "I passed my exam", "I got the job", "we won", "today was a good day", "I am on holiday", f"I slept well")), "I am glad to hear that!", "The user is well."
