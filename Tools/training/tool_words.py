"""Unfamiliar tools: names, descriptions and parameters combined at random, and the requests that call them."""

import more_data as D
from corpus_data import CAP
from question_words import R, city, fix, made_up, name, pick

ENTITIES = """house car school garden company bridge tower road train ship rocket court prison church temple camera lamp window door roof wall printer screen router server folder
message report exam student professor university river lake beach harbor airport runway hotel room table shelf box tank pump oven fridge heater fan motor engine boiler pipe sensor
device robot drone truck van taxi bike scooter tractor crane elevator escalator machine press mill farm barn stable cow horse sheep pig dog cat bird snake shark whale forest tree bush
flower field meadow park zoo museum gallery theater cinema stadium pool gym club bar cafe bakery butcher library bookshop market mall store depot factory warehouse office desk mine
quarry dam canal well spring volcano crater island cave valley hill ridge cliff planet star comet moon satellite telescope antenna tower cable wire fuse battery meter gauge clock bell
song album movie series episode novel poem article paper page chapter recipe dish soup cake bread wine beer tea patient nurse driver pilot captain player team coach band singer
artist customer client supplier invoice contract ticket parcel letter container pallet shipment order task job event meeting lesson course class project branch commit file disk job
queue alarm light curtain blind gate fence trap net boat canoe kayak yacht anchor buoy tunnel street square district village county province region colony tribe stock bond fund coin
stamp painting statue vase ring necklace watch shoe shirt coat helmet tire wheel brake lens filter probe reactor turbine furnace silo greenhouse orchard vineyard apiary""".split()
QUALITIES = """length depth height weight speed price size age color owner status level capacity pressure temperature humidity voltage balance rating score rank distance area volume width
density brightness quality range position location address schedule history forecast population salary budget cost fee fine toll rent tax quota load delay duration frequency power
usage stock supply demand yield output input yaw pitch angle slope altitude latitude radius diameter mass force torque current charge flow rate risk alert warning error version model brand
maker author title genre language origin breed species diet habitat lifespan birthday menu route timetable opening_hours phone_number email website contact members crew cargo fuel
water_level oil_level air_pressure wait_time queue_time arrival_time departure_time boarding_gate seat_count room_count visitor_count traffic noise smell taste texture hardness purity""".split()
ACTIONS = """open|opens close|closes start|starts stop|stops cancel|cancels book|books delete|deletes send|sends play|plays order|orders print|prints lock|locks unlock|unlocks call|calls clean|cleans paint|paints
feed|feeds move|moves check|checks restart|restarts find|finds show|shows scan|scans test|tests repair|repairs charge|charges empty|empties fill|fills pause|pauses resume|resumes track|tracks rename|renames
archive|archives download|downloads upload|uploads update|updates remove|removes add|adds buy|buys sell|sells rent|rents mute|mutes dim|dims heat|heats cool|cools launch|launches land|lands ship|ships
inspect|inspects calibrate|calibrates reset|resets copy|copies share|shares invite|invites hire|hires greet|greets wake|wakes read|reads load|loads park|parks wash|washes weigh|weighs count|counts""".split()
HOW = """long|length deep|depth tall|height high|height heavy|weight warm|temperature cold|temperature old|age fast|speed big|size far|distance expensive|price wide|width bright|brightness full|level clean|quality
busy|load hot|temperature crowded|visitor_count loud|noise strong|power late|delay hard|hardness steep|slope dry|humidity thick|width dirty|quality noisy|noise slow|speed good|rating popular|rating""".split()
GETS = "get fetch look_up find lookup check query read show retrieve measure compute search list request tell give report determine load obtain".split()
STATES = "open closed free running ready full empty broken busy available working online safe clean locked finished".split()
SUFFIXES = ["", "", "", "_id", "_name", "_code", "_number", "_no", "_key", "_title", "_label"]
HELD_NAMES, HELD_PARAMETERS = set(), set()


def camel(s):
    p = s.split("_")
    return p[0] + "".join(x.capitalize() for x in p[1:])


def value():
    r = R.random()
    if r < 0.25:
        return city()
    if r < 0.45:
        return made_up().capitalize()
    if r < 0.53:
        return name()
    if r < 0.6:
        return pick(made_up(), R.choice(D.NOUNS), R.choice(D.FOODS), R.choice(D.COLORS))
    if r < 0.75:
        return pick(made_up(), R.choice(D.NOUNS), pick(*"abcdefghkmnprstvwxz")) + str(R.randrange(1, 100))
    if r < 0.85:
        return pick(pick(*"ABCDEFGHKLMNPRSTVWXZ"), made_up().upper()[:2], made_up().upper()[:3]) + pick("", "", "-") + str(R.randrange(1, 1000))
    if r < 0.94:
        return str(pick(R.randrange(1, 20), R.randrange(10, 100), R.randrange(100, 10000), R.randrange(1000, 100000)))
    return pick(f"{made_up().capitalize()} {made_up().capitalize()}", f"{name()} {made_up().capitalize()}", R.choice(CAP)[0], f"{made_up()}@{made_up()}.com", f"{made_up()}.txt")


def parameter(e):
    r = R.random()
    p = e + R.choice(SUFFIXES) if r < 0.7 else R.choice(ENTITIES) + R.choice(SUFFIXES) if r < 0.82 else made_up() + R.choice(SUFFIXES) if r < 0.92 else pick("name", "id", "query", "target", "item", "text", "place", "key", "value", "location", "subject", "arg", "input", "which", "what")
    return camel(p) if R.random() < 0.12 else p


def tool(v):
    """Name, description, parameter, question with `v` in it, and the words for the requested value."""
    e = R.choice(ENTITIES) if R.random() < 0.85 else made_up()
    w = pick(e, e, f"the {e}")
    kind = R.choices(range(4), [5, 4, 2, 2])[0]
    if kind == 0:  # a quality of something
        x = R.choice(QUALITIES) if R.random() < 0.8 else made_up() if R.random() < 0.5 else R.choice(D.NOUNS)
        t = x.replace("_", " ")
        fn = pick(f"{R.choice(GETS)}_{x}", f"{R.choice(GETS)}_{e}_{x}", f"{e}_{x}", f"{x}_of", f"{x}_of_{e}", x, f"{R.choice(GETS)}_{x}", f"{made_up()}_{x}", f"{e}_{x}")
        desc = pick(f"Get the {t} of a {e}.", f"{t.capitalize()} of a {e}.", f"Returns the {t} of a {e}", f"Look up the {t} of one {e}.", f"The {t} of the given {e}", f"Get the {t}.", f"Find the {t} of a {e} by its name.", f"{t.capitalize()} at a {e}.", f"Tells the {t} of a {e}.", f"Get {e} {t}")
        q = pick(f"What is the {t} of {v}?", f"What is the {t} of {w} {v}?", f"What's the {t} of {v}?", f"what is the {t} at {v}?", f"What is the {t} in {v}?", f"Show me the {t} of {v}", f"{t} of {v}?", f"{t} of {e} {v}", f"{t} {v}", f"Tell me the {t} of {w} {v}.", f"I need the {t} of {v}.", f"Do you know the {t} of {v}?", f"Can you get the {t} of {v}?",
            f"How is the {t} at {v}?", f"give me the {t} for {v}", f"Please check the {t} of {w} {v}", f"Look up the {t} of {v}.", f"How much is the {t} of {v}?", f"What {t} does {v} have?", f"{v} {t}?", f"the {t} of {w} {v} please", f"What does the {t} of {v} look like?", f"which {t} has {w} {v}?")
        how = [h.split("|")[0] for h in HOW if h.split("|")[1] == x]
        if how and R.random() < 0.6:
            h = R.choice(how)
            q = pick(f"How {h} is {v}?", f"How {h} is {w} {v}?", f"How {h} is it at {v}?", f"how {h} is it in {v}?", f"Is {w} {v} {h}?", f"Is {v} {h}?", f"Tell me how {h} {v} is.")
        return fn, desc, q, t
    if kind == 1:  # something that is done
        a, does = R.choice(ACTIONS).split("|")
        fn = pick(f"{a}_{e}", f"{a}_{e}", f"{a}_{e}", f"{e}_{a}", a, f"{a}_one_{e}", f"do_{a}_{e}", f"{a}_the_{e}")
        desc = pick(f"{a.capitalize()} a {e}.", f"{does.capitalize()} a {e}.", f"{a.capitalize()} one {e}", f"{does.capitalize()} the given {e}.", f"{a.capitalize()} an item of the kind {e}.", f"Use this to {a} a {e}.")
        q = pick(f"{a.capitalize()} {v}", f"{a} {v}", f"{a.capitalize()} {w} {v}.", f"{a.capitalize()} {w} {v}.", f"Please {a} {w} {v}", f"Please {a} {v}.", f"{a} {w} {v} please", f"{a.capitalize()} {v} please.", f"Can you {a} {v}?", f"Could you {a} {w} {v}?", f"I want to {a} {w} {v}", f"can you {a} the {e} called {v}?", f"I want you to {a} {v}.", f"Now {a} {w} {v}",
            f"You should {a} {w} {v}", f"Would you {a} {v} for me?", f"{a} my {e} {v}", f"Let us {a} {w} {v}")
        return fn, desc, q, a
    if kind == 2:  # things in a place
        es = e + "s"
        fn = pick(f"list_{es}", f"find_{e}", f"search_{es}", f"{es}_in", f"nearby_{es}", f"{e}_finder", f"{R.choice(GETS)}_{es}", f"{e}_search")
        desc = pick(f"Find a {e} in a city.", f"List the {es} of a place.", f"{es.capitalize()} near a place.", f"Lists {es}.", f"Search for {es} in a town.", f"All {es} at a given place.", f"{es.capitalize()} in a district")
        q = pick(f"Which {es} are in {v}?", f"Find a {e} in {v}", f"I need a {e} in {v}", f"I am looking for a {e} in {v}.", f"Is there a {e} in {v}?", f"List the {es} of {v}.", f"{es} in {v}", f"{es} near {v}?", f"Show me {es} in {v}", f"What {es} are there in {v}?", f"Where is a {e} in {v}?", f"Are there any {es} at {v}?", f"which {es} leave from {v}?", f"Which {es} are on in {v} today?",
            f"How many {es} are in {v}?", f"search {es} in {v}", f"Please list all {es} at {v}")
        return fn, desc, q, es
    s = R.choice(STATES)  # whether something is open, free, running
    fn = pick(f"{e}_status", f"get_{e}_status", f"is_{e}_{s}", f"{e}_{s}", f"check_{e}", f"{e}_hours", f"{e}_state", f"{R.choice(GETS)}_{e}_state", f"{R.choice(GETS)}_{e}_hours")
    desc = pick(f"Status of a {e}.", f"Whether a {e} is {s}.", f"Tells if a {e} is {s}.", f"Opening hours of a {e}.", f"Get the state of a {e}.", f"State of one {e}", f"Check a {e}.")
    q = pick(f"Is {w} {v} {s}?", f"Is {v} {s}?", f"is {v} {s} today?", f"Is {w} {v} {s} now?", f"When is {v} {s}?", f"When does {v} open?", f"when does {w} {v} close?", f"Tell me if {w} {v} is {s}.", f"Check if {v} is {s}", f"What is the status of {w} {v}?", f"How is {w} {v} doing?", f"Check {w} {v}", f"status of {v}?", f"Until when is {v} open?")
    return fn, desc, q, "status"


def make():
    while True:
        v = value()
        fn, desc, q, asked = tool(v)
        first = next((e for e in ENTITIES if f" {e}" in desc), None)
        p = parameter(first or R.choice(ENTITIES))
        if R.random() < 0.15:
            fn = camel(fn)
        if fn not in HELD_NAMES and p not in HELD_PARAMETERS:
            return dict(fn=fn, plain=asked, p=p, desc=fix(desc), what=asked.replace(" ", "_"), value=v, question=fix(q))
