#!/usr/bin/env python3
"""Writes 200 JSON schemas of the kinds that JSONSchemaBench has: function arguments, records, configuration, resources of
orchestrators, recursive documents, tagged alternatives, numbers with limits, long enumerations, patterns and formats. The same ones
each time.

Usage: make_schemas.py > schemas.json     a list of {"name": ..., "schema": ...}
"""

import json
import random

NAMES = ("id name title kind status email url path owner labels tags count size limit offset price currency created updated "
         "start end host port region zone version image command args env volume secret user role group token score rating "
         "comment body subject address city street code country phone lat lng width height color level message").split()
FORMATS = ["date-time", "date", "time", "email", "uuid", "ipv4", "uri"]
PATTERNS = ["^[a-z]+$", "^[A-Z]{2,3}$", "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", r"^\d{3}-\d{4}$", "^#[0-9a-fA-F]{6}$",
            r"^v?\d+\.\d+\.\d+$", "^[A-Za-z_][A-Za-z0-9_]{0,30}$", r"^[^\s@]+@[^\s@]+\.[a-z]{2,}$", "^(yes|no|maybe)$",
            "^[0-9]+(ms|s|m|h)$", "^/[a-z/]*$", r"^\+?[0-9 ]{7,15}$"]


def string(rng):
    kind = rng.randrange(8)
    if kind < 3:
        return {"type": "string"}
    if kind == 3:
        return {"type": "string", "maxLength": rng.choice([8, 16, 40, 64, 255])}
    if kind == 4:
        return {"type": "string", "minLength": 1, "maxLength": rng.choice([3, 10, 100])}
    if kind == 5:
        return {"type": "string", "pattern": rng.choice(PATTERNS)}
    if kind == 6:
        return {"type": "string", "format": rng.choice(FORMATS)}
    return {"enum": rng.sample(NAMES, rng.randint(2, 12))}


def scalar(rng):
    kind = rng.randrange(10)
    if kind < 5:
        return string(rng)
    if kind < 7:
        low = rng.choice([0, 1, -100])
        return rng.choice([{"type": "integer"}, {"type": "integer", "minimum": low, "maximum": low + rng.choice([9, 100, 65535])}])
    if kind == 7:
        return rng.choice([{"type": "number"}, {"type": "number", "minimum": 0, "maximum": 1}, {"type": "number", "exclusiveMinimum": 0},
                           {"type": "integer", "multipleOf": rng.choice([2, 5, 10])}])
    if kind == 8:
        return {"type": "boolean"}
    return {"anyOf": [string(rng), {"type": "null"}]}


def value(rng, depth):
    kind = rng.random()
    if depth == 0 or kind < 0.65:
        return scalar(rng)
    if kind < 0.8:
        array = {"type": "array", "items": value(rng, depth - 1)}
        if rng.random() < 0.4:
            array["maxItems"] = rng.randint(1, 8)
            array["minItems"] = rng.choice([0, 1])
        return array
    if kind < 0.9:
        return record(rng, depth - 1, rng.randint(1, 5))
    return {"anyOf": [value(rng, depth - 1) for _ in range(rng.randint(2, 4))]}


def record(rng, depth, count):
    names = rng.sample(NAMES, count)
    schema = {"type": "object", "properties": {name: value(rng, depth) for name in names},
              "required": [name for name in names if rng.random() < 0.6]}
    if rng.random() < 0.15:
        schema["additionalProperties"] = rng.choice([True, {"type": "string"}])
    elif rng.random() < 0.5:
        schema["additionalProperties"] = False
    return schema


def choice(rng):
    """One of several variants, distinguished by a constant."""
    kinds = []
    for name in rng.sample(NAMES, rng.randint(2, 6)):
        kind = record(rng, 1, rng.randint(1, 5))
        kind["properties"] = {"type": {"const": name}, **kind["properties"]}
        kind["required"] = ["type"] + kind["required"]
        kinds.append(kind)
    return {rng.choice(["anyOf", "oneOf"]): kinds}


def tree(rng):
    node = record(rng, 1, rng.randint(1, 4))
    node["properties"]["children"] = {"type": "array", "items": {"$ref": "#/$defs/node"}}
    return {"$defs": {"node": node}, "$ref": "#/$defs/node"}


def main():
    rng = random.Random(200)
    schemas = []
    for i in range(60):
        schemas.append((f"function_{i}", record(rng, 1, rng.randint(1, 6))))
    for i in range(50):
        schemas.append((f"record_{i}", record(rng, 2, rng.randint(4, 12))))
    for i in range(30):
        schemas.append((f"resource_{i}", record(rng, 3, rng.randint(8, 25))))
    for i in range(20):
        schemas.append((f"choice_{i}", choice(rng)))
    for i in range(15):
        schemas.append((f"tree_{i}", tree(rng)))
    for i in range(15):
        schemas.append((f"enumeration_{i}", {"enum": sorted({f"{a}-{b}-{rng.randrange(99)}" for a in rng.sample(NAMES, 12) for b in rng.sample(NAMES, 12)})}))
    for i in range(10):
        schemas.append((f"patterns_{i}", {"anyOf": [{"type": "string", "pattern": p} for p in rng.sample(PATTERNS, rng.randint(2, 5))]}))
    print("[")
    print(",\n".join(json.dumps({"name": name, "schema": schema}, separators=(",", ":")) for name, schema in schemas))
    print("]")


main()
