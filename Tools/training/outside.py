"""Questions outside the model's world, above all those that sound like questions it can answer: it says that it does not know."""

import more_data as D
from corpus_data import CAP
from itself import BELIEF
from more_data import HONEST
from question_words import R, fix, made_up, pick, typed

# What people do and use. The verbs are also those of questions about models ("how do I get a bigger model"), which have another answer.
VERBS = "get download install use run load find pull try switch change add open update upgrade start stop remove delete undo reset convert center align sort merge rename move copy share print scan sync back_up set_up turn_off log_into exit quit unlock fix clean cook fry peel store freeze tie fold iron sew knit hang paint cut sharpen build plant water feed train walk bathe buy sell rent insure renew cancel book apply_for pay file negotiate remember forget stop_eating write draw mix record edit compress parse query deploy debug test mock import export".split()
COMPUTER = ["a div", "a button", "an image in CSS", "a flexbox", "text vertically", "vim", "emacs", "tmux", "a git branch", "a git merge", "the last commit", "a merge conflict", "a pull request", "a container", "docker", "kubernetes", "a pod", "a virtual machine", "Linux", "Windows", "Ubuntu", "my phone", "an iPhone", "Android", "Chrome", "Firefox", "an extension",
            "a plugin", "npm", "node", "pip", "a Python package", "a virtual environment", "Java", "a JAR file", "Rust", "cargo", "a for loop in C", "an array in JavaScript", "a dictionary in Go", "a table in SQL", "a database", "Postgres", "an index", "a regex", "a cron job", "a shell script", "an environment variable", "ssh", "an ssh key",
            "a VPN", "the wifi", "my router", "a printer", "Bluetooth", "a PDF", "a Word document", "a spreadsheet", "a pivot table", "an Excel sheet", "a slide", "a video", "a song", "a photo", "a screenshot", "a zip file", "a font", "a website", "a domain", "an app", "a game", "Minecraft", "a mod", "my password", "my account", "two-factor login",
            "an email", "spam", "a backup", "the cache", "cookies", "a driver", "a graphics card", "more memory", "a hard drive", "a keyboard shortcut", "dark mode", "an API key", "a webhook", "React", "a component", "a hook", "a stack trace", "a segfault"]
HOME = ["a tire", "the oil", "a light bulb", "a fuse", "a faucet", "the toilet", "a clogged sink", "the dishwasher", "the washing machine", "an oven", "a stain", "mold", "ants", "mice", "weeds", "a lawn", "roses", "tomatoes", "a cactus", "a puppy", "a kitten", "a horse", "eggs", "rice", "pasta", "a steak", "a cake", "bread", "coffee", "an avocado", "garlic", "a tie", "shoelaces", "a shirt",
        "a suit", "a haircut", "a beard", "a wall", "a shelf", "a tent", "a fire", "a bike", "a car", "a motorcycle", "a boat", "a house", "an apartment", "a mortgage", "a loan", "a credit card", "taxes", "insurance", "a passport", "a visa", "a flight", "a hotel", "a train ticket", "a taxi", "a job", "a raise", "a resume", "an interview", "a date", "a wedding", "a birthday party",
        "a present", "friends", "a baby", "a tooth", "a bruise", "a cold", "weight", "muscles", "sleep", "a marathon", "faster", "Spanish", "the guitar", "chess", "poker", "money", "stocks", "bitcoin", "a lawyer", "a doctor", "a plumber", "banks", "schools", "my name legally", "my mind", "my boss", "my neighbour"]
WHY = ["is my {c} slow", "is my {c} not working", "does {c} fail", "won't my {c} start", "does my {c} crash", "is {h} so expensive", "is the sky dark at night", "do cats purr", "do we yawn", "is the sea salty", "do planes fly", "do leaves fall", "is ice slippery", "do onions make me cry", "is my stomach making noises", "do I procrastinate", "are people mean", "did the empire fall", "is gold valuable", "can't I sleep"]
BIG = ["Is God real?", "does god exist or not", "is there an afterlife?", "Do we live in a simulation?", "is time real?", "what is the purpose of everything?", "are we alone in the universe?", "do aliens exist?", "is free will an illusion?", "what happens when we die?", "did we land on the moon?", "is evolution true?", "who created the universe?",
       "what came before the big bang?", "is math invented or discovered?", "what is the meaning of it all?", "are ghosts real?", "is astrology true?", "is magic real?", "Will robots take over?", "will AI replace us?", "is the end near?", "what is the right way to live?", "what is evil?", "is war ever right?", "is money evil?", "are humans good?", "what is beauty?", "what is justice?"]
THINGS_TO_BE = "hell, a heaven on earth, an afterlife, a soul, a higher power, a creator, a spirit, an angel, a demon, a limit to the universe, a life after this one, a parallel world, a time machine, a cure for cancer, a cure for baldness, a cure for a cold, a vaccine for flu, a train tonight, a bus to the airport, a flight tomorrow, a pharmacy nearby, a bank around here, a parking lot near me, a dentist open now, a difference between jam and jelly, a way to get rich, a way to fall asleep, a trick to win at poker, a meaning in all this, a plan for all of us, a free version of Photoshop, a shortcut for undo in Excel, a sequel to Dune, a law against noise, a minimum wage, a speed limit in Germany, a doctor here, a reason for war, a bug in my code, a way to sort a list in Java".split(", ")
MANY = "aliens, angels, demons, spirits, gods, other universes, vampires, unicorns, dragons in China, sharks in the lake, trains today, tickets left, seats left, good films now, jobs in Berlin, side effects, limits to growth, holidays in May".split(", ")
FIRST = [("the hen", "the egg"), ("the chick", "its shell"), ("paper", "ink"), ("the lock", "the key"), ("fire", "the wheel"), ("the acorn", "the oak"), ("day", "night"), ("thunder", "lightning"), ("money", "trade"), ("cats", "dogs"), ("the plant", "the seed")]
SIDES = ["which religion is true?", "which religion is the best one?", "is {a} better than {b}?", "{a} or {b}, which is better?", "who should win the election?", "whom should I vote for?", "which party is right?", "is {a} right or wrong?", "should {a} be banned?", "do you think {a} is good?", "what is your take on {a}?", "are you for {a}?", "is {a} moral?", "tell me which is right, {a} or {b}", "which belief is the right one?", "which faith is the true one?", "Which idea is right, {a} or {b}?", "which side is the good one?", "which country has the best people?", "Which god is the real one?", "do people have {f2}?", "do I have {f2}?", "do machines have {f2}?", "do humans have {f2}?"]
IDEAS = ["communism", "capitalism", "socialism", "feminism", "democracy", "monarchy", "religion", "atheism", "nationalism", "abortion", "gun control", "the death penalty", "immigration", "veganism", "nuclear power", "taxes on the rich", "Christianity", "Islam", "Buddhism", "liberalism", "conservatism", "the left", "the right", "homework", "social media"]
PERSONAL = ["what should I {e} tonight?", "what should I wear today?", "what should I do today?", "what should I watch?", "what should I read next?", "what should I study?", "should I quit my {w}?", "should I text her?", "should I move to {k}?", "should I get {h}?", "does she like me?", "does he love me or not?", "is my friend angry with me?", "what do my dreams tell me?", "what is my future?", "will I be rich?", "am I pretty?",
            "am I smart?", "am I a good person?", "what is wrong with me?", "what is my {z}?", "guess my {z}", "how do I look?", "where did I put my keys?", "where is my phone?", "what did I do yesterday?", "who stole my lunch?", "can you do my homework for me?", "do my taxes", "write my essay", "be my therapist", "plan my week", "plan my wedding", "choose a name for my {p}", "give me a name for my company", "give me a workout plan please", "make me a diet plan",
            "write me a CV", "write a cover letter for me", "what gift should I buy for my {p}?", "help me with my ex", "how do I tell my {p} the truth?", "what is a good password?", "who would win, a {x} or a {y}?", "which is faster, a {x} or a {y}?", "who is stronger, a {x} or a {y}?", "would a {x} beat a {y}?"]
NOW = ["who is the president now?", "who is the president of {c2}?", "who is the prime minister?", "who is the king of {c2}?", "who won last night?", "what's on TV?", "is {s} going up?", "should I buy {s}?", "what is {s} worth?", "what's the price of {s}?", "is it a holiday today?", "is the store open?", "when does the train leave?", "what's the traffic like?", "how many calories does a {f} have?", "how much sugar is in {f}?", "is {f} vegan?",
       "what can I use instead of {f}?", "how long do I boil {f}?", "what's the best phone?", "what's the best laptop for students?", "which TV should I get?", "what's the best pizza in {k}?", "what's the plot of {m}?", "who wrote {m}?", "how does {m} end?", "who plays in {m}?", "is {m} any good?", "what is {n2} made of?", "how does {n2} work?", "explain {n2} like I am a child", "explain {n2} like I'm ten"]
TITLES = ["Macbeth", "Faust", "The Odyssey", "Star Wars", "The Matrix", "Titanic", "Frozen", "Dune", "Moby Dick", "Don Quixote", "The Hobbit", "Game of Thrones", "Breaking Bad", "Casablanca", "Jaws", "Alien", "Ulysses", "Emma", "Dracula"]
SCIENCE = ["dark energy", "antimatter", "a black hole", "the ozone layer", "a vaccine", "a transistor", "a laser", "photosynthesis", "relativity", "quantum entanglement", "recursion in code", "a blockchain", "a neural network", "inflation", "the stock market", "a jet engine", "a submarine", "a microwave", "a fridge", "GPS", "the immune system", "DNA", "the electoral college", "a mortgage", "encryption", "steel"]
ERRORS = ["{e2} fails, why?", "{e2} does not work", "{e2} error", "my {e2} won't start", "my {e2} crashed", "I get an error from {e2}", "{e2}: permission denied", "{e2}: command not found", "cannot connect to {e2}", "{e2} is stuck", "why does {e2} say {g}?", "{e2} exited with code {d}", "undefined is not a function", "segmentation fault", "null pointer exception", "index out of range", "404 not found", "merge conflict in main", "build failed", "tests are failing"]
SYSTEMS = ["npm install", "pip install", "docker", "docker compose", "git push", "git pull", "make", "cmake", "cargo build", "gradle", "maven", "webpack", "vite", "ssh", "nginx", "apache", "mysql", "redis", "kubectl", "brew", "apt", "the router", "the printer", "the server", "bluetooth", "zoom", "steam", "excel", "outlook", "the VPN"]


def exists():
    """Sounds like "Is there a circle?", which is asked about pictures."""
    i = R.randrange(5)
    if i < 2:
        return f"{pick('Is there', 'is there', 'Is there really', 'do you think there is', 'Could there be')} {R.choice(THINGS_TO_BE)}?"
    if i == 2:
        return f"{pick('Are there', 'are there', 'Are there any', 'do you think there are')} {R.choice(MANY)}?"
    if i == 3:
        a, b = R.choice(FIRST)
        return pick(f"What came first, {a} or {b}?", f"which was first, {a} or {b}?", f"{a} or {b}, what came first?", f"Was {a} there before {b}?")
    return pick(f"Which {pick('phone', 'car', 'TV', 'bike', 'camera', 'tablet', 'browser', 'language', 'editor', 'bank', 'diet', 'city', 'team', 'job')} is the {pick('best', 'right', 'cheapest', 'fastest', 'newest', 'safest')}{pick('', ' one', ' one for me')}?",
                f"what do{pick('es my dream', ' my dreams', 'es my nightmare', 'es a dream about teeth', 'es a dream of flying')} {pick('mean', 'say', 'tell me', 'stand for')}?", f"how many {pick('calories', 'vitamins', 'carbs', 'proteins')} are in {pick('a', 'one', 'an')} {R.choice(D.FOODS)}?",
                f"What is the {pick('plot', 'story', 'ending', 'message')} of {R.choice(TITLES)}?")


def how():
    v, o = R.choice(VERBS).replace("_", " ") if R.random() < 0.75 else pick("set up", "turn off", "log into", "back up", "get rid of", "apply for", "take care of", "deal with", "get better at", "cut down on", "look after", "sign up for"), pick(R.choice(COMPUTER), R.choice(HOME))
    return pick(f"How do I {v} {o}?", f"how do i {v} {o}", f"How can I {v} {o}?", f"how to {v} {o}", f"how do you {v} {o}?", f"How would I {v} {o}?", f"what is the best way to {v} {o}?", f"what's the easiest way to {v} {o}", f"show me how to {v} {o}", f"Can you tell me how to {v} {o}?", f"I want to {v} {o}", f"I need to {v} {o}, how?",
                f"where can I {v} {o}?", f"Where do I {v} {o}?", f"can I {v} {o} myself?", f"is it hard to {v} {o}?", f"which tool do I need to {v} {o}?", f"what is the command to {v} {o}?", f"tell me how to {v} {o} quickly")


def fill(text):
    """Replaces the names in braces by words of their kind."""
    words = dict(c=R.choice(SYSTEMS), h=R.choice(HOME), a=R.choice(IDEAS), b=R.choice(IDEAS), e=pick("eat", "cook", "make", "order", "drink", "play"), w=pick("job", "school", "course", "band", "team"), k=R.choice(CAP)[1], c2=R.choice(CAP)[0], f2=pick("a free will", "free choice", "a choice", "souls", "a soul", "a destiny", "rights"), z=pick("blood type", "star sign", "shoe size", "spirit animal", "IQ", "weight", "height", "phone number", "address"),
                 p=pick("dog", "cat", "baby", "boat", "mother", "wife", "brother", "boss", "friend"), x=R.choice(D.NOUNS + ["lion", "tiger", "gorilla", "crocodile", "wolf", "whale"]), y=R.choice(["bear", "eagle", "elephant", "snake", "rhino", "robot", "dragon"]), s=pick("gold", "silver", "oil", "Apple stock", "Tesla", "ethereum", "the dollar", "the euro", "a house"),
                 f=R.choice(D.FOODS), m=R.choice(TITLES), n2=R.choice(SCIENCE), e2=R.choice(SYSTEMS), g=pick("access denied", "timeout", "no such file", "out of memory", made_up()), d=str(R.randrange(1, 256)))
    for key, word in words.items():
        text = text.replace("{" + key + "}", word)
    return text


def outside():
    """(question, answer, thought)"""
    i = R.choices(range(8), [9, 3, 4, 3, 5, 5, 4, 5])[0]
    if i == 2 or i == 3:
        q = R.choice(BIG) if i == 2 else fill(R.choice(SIDES))
        if i == 3:
            return typed(fix(q)), BELIEF, "The user asks for a belief. I am a program and have none."
        return typed(q), HONEST, "I have not learnt this, so I say so."
    q = how() if i == 0 else fill(f"why {R.choice(WHY)}?") if i == 1 else fill(R.choice(PERSONAL)) if i == 4 else fill(R.choice(NOW)) if i == 5 else fill(R.choice(ERRORS)) if i == 6 else exists()
    return typed(fix(q)), HONEST, "I have not learnt this, so I say so."
