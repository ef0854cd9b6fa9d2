#!/usr/bin/env python3
"""Asks the program the prompts of held_out*.jsonl and scores its answers: held_out.py PROGRAM [FORM ...] [--markdown].

FORM is none (the weights as stored), 8bit or 4bit; all three by default. Answers are greedy, without thinking, through
/v1/chat/completions. The first file was written after the second edition was trained, the others before the third, fourth and fifth
edition's chats; no turn of them is in a training chat.

A row has the turns of a user; the model answers each, and the last answer counts. It is right when
- `accept`, a regular expression, is found in it, whatever the case, and it ends by itself;
- `json`: the first JSON object in it has these members, whatever the case, with these values at their beginning;
- `tool` (name, description, parameter, value): it calls that tool once, and the parameter has the value, whatever the case.
  `others` are offered along with it (name, description, parameter).
"""
import json
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

FILES = ("held_out.jsonl", "held_out_third.jsonl", "held_out_fourth.jsonl", "held_out_fifth.jsonl")
LIMIT = 120  # tokens of an answer


def all_rows():
    """The rows of all files, in order."""
    here = Path(__file__).resolve().parent
    return [json.loads(line) for file in FILES for line in (here / file).read_text().splitlines()]


def post(url, body):
    request = urllib.request.Request(url + "/v1/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"})
    return json.loads(urllib.request.urlopen(request, timeout=600).read())["choices"][0]


def tools_of(row):
    if "tool" not in row:
        return {}
    tools = []
    for name, description, parameter in [row["tool"][:3], *row.get("others", [])]:
        schema = {"type": "object", "properties": {parameter: {"type": "string"}}, "required": [parameter]}
        tools.append({"type": "function", "function": {"name": name, "description": description, "parameters": schema}})
    return {"tools": tools}


def ask(url, row):
    """The last choice, after the model's own answers to the previous turns."""
    messages = []
    for turn in row["turns"]:
        messages.append({"role": "user", "content": turn})
        choice = post(url, {"messages": messages, "temperature": 0, "enable_thinking": False, "max_tokens": LIMIT, **tools_of(row)})
        messages.append({"role": "assistant", "content": choice["message"].get("content") or ""})
    return choice


def first_object(text):
    for at in (match.start() for match in re.finditer(r"\{", text)):
        try:
            return json.JSONDecoder().raw_decode(text, at)[0]
        except ValueError:
            continue
    return None


def is_right(row, choice):
    text = choice["message"].get("content") or ""
    if "tool" in row:
        name, _, parameter, value = row["tool"]
        calls = choice["message"].get("tool_calls") or []
        if len(calls) != 1 or calls[0]["function"]["name"] != name:
            return False
        return str(json.loads(calls[0]["function"]["arguments"]).get(parameter, "")).strip().lower() == value.lower()
    if "json" in row:
        found = first_object(text)
        members = {str(key).lower(): str(value).lower() for key, value in found.items()} if isinstance(found, dict) else {}
        return all(key in members and members[key].startswith(value) for key, value in row["json"].items())
    return choice["finish_reason"] == "stop" and re.search(row["accept"], text, re.IGNORECASE) is not None


def score(program, form, rows):
    command = [program, "serve", "--port", "0", "--quantize", form]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        url = re.search(r"http:\/\/\S+", server.stdout.readline()).group().rstrip("/")
        while True:
            try:
                urllib.request.urlopen(url + "/v1/models", timeout=60).read()
                break
            except urllib.error.HTTPError:
                time.sleep(0.2)
        return [(row, choice, is_right(row, choice)) for row in rows for choice in [ask(url, row)]]
    finally:
        server.terminate()
        server.wait()


def main(arguments):
    is_markdown = "--markdown" in arguments
    program, *forms = [argument for argument in arguments if not argument.startswith("--")]
    rows = all_rows()
    results = {form: score(program, form, rows) for form in forms or ["none", "8bit", "4bit"]}
    if not is_markdown:
        for form, result in results.items():
            for row, choice, right in result:
                said = choice["message"].get("tool_calls") or choice["message"].get("content")
                print(f"{form:5} {'right' if right else 'WRONG'}  {row['kind']}: {' | '.join(row['turns'])} -> {said!r}")
    print("| prompts | " + " | ".join({"none": "bfloat16"}.get(form, form) for form in results) + " |")
    print("|---|" + "---|" * len(results))
    for kind in [*dict.fromkeys(row["kind"] for row in rows), "all"]:
        counts = []
        for result in results.values():
            own = [right for row, _, right in result if kind in (row["kind"], "all")]
            counts.append(f"{sum(own)} of {len(own)}")
        print(f"| {kind} | " + " | ".join(counts) + " |")


if __name__ == "__main__":
    main(sys.argv[1:])
