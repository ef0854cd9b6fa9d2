"""Answers in JSON with the keys the user asks for: about a named city, known or not, and with values the user gives."""

import json

import more_data as D
from corpus_data import CAP
from question_words import R, made_up, name, pick, typed

# Cities that are no capitals, with their countries.
CITIES = dict(row.split(":") for row in """Munich:Germany Hamburg:Germany Cologne:Germany Frankfurt:Germany Milan:Italy Naples:Italy Venice:Italy Turin:Italy Barcelona:Spain Seville:Spain Valencia:Spain
Porto:Portugal Lyon:France Marseille:France Nice:France Toulouse:France Bergen:Norway Gothenburg:Sweden Krakow:Poland Gdansk:Poland Graz:Austria Osaka:Japan Kyoto:Japan Nagoya:Japan Shanghai:China
Shenzhen:China Mumbai:India Chennai:India Kolkata:India Sydney:Australia Melbourne:Australia Perth:Australia Auckland:New_Zealand Toronto:Canada Montreal:Canada Vancouver:Canada Lagos:Nigeria
Mombasa:Kenya Alexandria:Egypt Casablanca:Morocco Guadalajara:Mexico Cusco:Peru Medellin:Colombia Utrecht:Netherlands Ghent:Belgium Cork:Ireland Izmir:Turkey Istanbul:Turkey Busan:South_Korea""".replace("\n", " ").split())
SAME = {"city": ["city", "city", "city", "city", "name", "town", "place", "city_name"], "country": ["country", "country", "country", "country", "nation", "land", "state"], "capital": ["capital"], "continent": ["continent", "continent", "part_of_the_world"],
        "language": ["language", "language", "spoken_language"]}


def known(v, country, row):
    return {"city": v, "country": country, "continent": row[2], "language": row[3], "capital": row[1]}


def place():
    """A city and what is known about it."""
    r = R.random()
    if r < 0.5:
        row = R.choice(CAP)
        return row[1], known(row[1], row[0], row)
    if r < 0.7:
        v = R.choice(list(CITIES))
        country = CITIES[v].replace("_", " ")
        return v, known(v, country, next(row for row in CAP if row[0] == country))
    v = pick(made_up(), made_up(), made_up() + pick("ville", "burg", "ton", "berg", "ford", "stad", "by", "ham")).capitalize()
    return v, {"city": v}


def listed(keys):
    return pick(" and ".join(keys), ", ".join(keys), ", ".join(keys[:-1]) + " and " + keys[-1] if len(keys) > 1 else keys[0])


def city_json():
    v, facts = place()
    if R.random() < 0.3:  # no keys are named
        q = pick(f"Write JSON for the city of {v}.", f"JSON for the city {v}", f"Describe {v} in JSON.", f"Give me JSON for {v}.", f"{v} as JSON", f"Describe the city of {v} as JSON", f"A JSON object for {v} please", f"Write a JSON object about {v}.", f"the city {v} in JSON", f"json {v}", f"Show {v} as a JSON object", f"Output JSON for {v}", f"I want {v} as JSON")
        return typed(q, (v,), plain=True), json.dumps({"city": v, "country": facts.get("country", "unknown")}, ensure_ascii=False), "The user wants JSON."
    kinds = ["city"] + R.sample(["country", "country", "continent", "language", "capital"], R.choices([0, 1, 2, 3], [2, 6, 3, 1])[0])
    kinds = list(dict.fromkeys(kinds if R.random() < 0.8 else R.sample(kinds, len(kinds))))
    if R.random() < 0.05:
        kinds = [k for k in kinds if k != "city"] or kinds
    keys = {R.choice(SAME[k]) if R.random() < 0.5 else k: k for k in kinds}
    k, word = listed(list(keys)), pick("the keys ", "the fields ", "keys ", "fields ", "", "", "", "the members ")
    c = pick(v, v, v, f"the city {v}", f"the city of {v}", f"the town {v}", f"the town of {v}")
    q = pick(f"Give me JSON with {word}{k} for {c}.", f"Give me a JSON object with {word}{k} for {c}.", f"JSON with {word}{k} for {c}", f"JSON object for {c} with {word}{k}", f"Return JSON with {word}{k} for {c}.", f"Write a JSON object describing {c} ({k}).", f"{v} as JSON with {word}{k}",
        f"Describe {c} as JSON with {word}{k}.", f"Describe {c} as a JSON object with {word}{k}", f"Answer in JSON with {word}{k}: {v}", f"Return a JSON object about {c}: {k}.", f"JSON for {c}: {k}", f"Answer with JSON. Keys: {k}. City: {v}", f"I need {c} as JSON with {word}{k}", f"json for {c} with {word}{k} please",
        f"Make JSON with {word}{k} for {c}", f"Return JSON only: {k} of {c}", f"Tell me about {c}. Answer in JSON with {word}{k}.", f"Produce JSON for {c} with {word}{k}.", f"I want a JSON object with {word}{k} for {c}", f"What is {v}? Use JSON with {word}{k}.", f"Where is {v}? Answer in JSON with {word}{k}.",
        f"Create a JSON record for {c} with {word}{k}", f"Output a JSON object for {c} having {word}{k}.", f"Use {word}{k} and write JSON for {c}.", f"{c}, JSON, {k}")
    return typed(q, (v, *keys), plain=True), json.dumps({key: facts.get(kind, "unknown") for key, kind in keys.items()}, ensure_ascii=False), "The user wants JSON with these keys."


def given_json():
    """The values are in the question."""
    def pair():
        k = pick("name", "age", "city", "country", "color", "price", "size", "id", "title", "year", "count", "email", "job", "food", "weight", "population", "town", "author", "speed", "owner", R.choice(D.NOUNS), made_up())
        number = k in ("age", "price", "size", "id", "year", "count", "weight", "population", "speed") or R.random() < 0.15
        return k, R.randrange(1, 10 ** R.randrange(1, 7)) if number else pick(name(), made_up(), R.choice(CAP)[0], R.choice(CAP)[1], R.choice(D.COLORS), R.choice(D.FOODS), made_up().capitalize())
    d = dict(pair() for _ in range(R.randrange(1, 4)))
    each = [f"{k} {v}" for k, v in d.items()]
    values, keys = ", ".join(str(v) for v in d.values()), listed(list(d))
    q = pick(f"JSON with {listed(each)}", f"Give me JSON with {listed(each)}.", f"Write a JSON object with {listed(each)}", f"Put this in JSON with {keys}: {values}", f"Make JSON with {keys} of this: {values}", f"Convert to JSON: {', '.join(f'{k}: {v}' for k, v in d.items())}", f"{', '.join(f'{k}={v}' for k, v in d.items())} as JSON",
        f"Turn this into JSON with the keys {keys}: {values}", f"JSON object: {listed(each)}", f"As JSON: {', '.join(f'{k} is {v}' for k, v in d.items())}", f"Write {values} as JSON with {keys}")
    return q, json.dumps(d, ensure_ascii=False), "The user wants JSON with these values."


def asked_json():
    return city_json() if R.random() < 0.7 else given_json()
