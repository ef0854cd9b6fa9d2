"""`pagoda replay`: receipts of 1,000 answers are checked in one pass each, and a planted change is found."""
import concurrent.futures
import json
import subprocess

import pytest
import requests
from conftest import MODEL, PROGRAM, Server, user
from test_tools import PERSON, TOOLS

COUNT = 1000


def replay(path, *options):
    return subprocess.run([PROGRAM, "replay", str(path), *options], capture_output=True, text=True, timeout=300)


def body(index):
    """A mix of everything that determines an answer: greedy, sampled with and without a seed, penalties, grammars, calls, thinking."""
    request = {"model": MODEL, "messages": user(f"Write a 2-sentence story about the number {index}."), "max_tokens": 12}
    extra = [
        {}, {"temperature": 1.3}, {"temperature": 0.9, "top_k": 40, "top_p": 0.9, "seed": index},
        {"temperature": 1, "repetition_penalty": 1.2, "presence_penalty": 0.5, "frequency_penalty": 0.4},
        {"temperature": 1, "response_format": {"type": "json_schema", "json_schema": {"schema": PERSON}}},
        {"temperature": 1, "tools": TOOLS, "tool_choice": "required"},
        {"temperature": 1, "enable_thinking": True, "thinking_budget": 5},
        {"temperature": 1, "min_tokens": 6, "logit_bias": {"5": 3, "300": -100}},
    ]
    return {**request, **extra[index % len(extra)]}


@pytest.fixture(scope="module")
def receipts(tmp_path_factory):
    path = tmp_path_factory.mktemp("receipts") / "receipts.jsonl"
    server = Server("--receipts", str(path), "--receipts-prompts")

    def ask(index):
        return requests.post(server.url + "/v1/chat/completions", json=body(index)).status_code

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        assert set(pool.map(ask, range(COUNT))) == {200}
    assert server.stop() == 0
    return path


def test_a_thousand_answers_are_the_same_again(receipts):
    lines = receipts.read_text().splitlines()
    assert len(lines) == COUNT
    assert len({json.loads(line)["model"] for line in lines}) == 1
    run = replay(receipts)
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.startswith(f"{COUNT} answers are the same, 0 differ, 0 cannot be checked") and not run.stderr


def test_a_planted_change_is_found(receipts, tmp_path):
    lines = receipts.read_text().splitlines()
    receipt = json.loads(lines[700])
    index = len(receipt["answer"]) // 2
    receipt["answer"][index] += 1 if receipt["answer"][index] < 100 else -1
    lines[700] = json.dumps(receipt)
    changed = tmp_path / "changed.jsonl"
    changed.write_text("\n".join(lines) + "\n")
    run = replay(changed)
    assert run.returncode == 1
    first, last = run.stdout.splitlines()
    assert first.startswith(f"line 701: token {index} was {receipt['answer'][index]} ")
    assert last.startswith(f"{COUNT - 1} answers are the same, 1 differ")


def test_a_changed_seed_and_a_changed_model_show(receipts, tmp_path):
    lines = [json.loads(line) for line in receipts.read_text().splitlines()]
    sampled = [line for line in lines if line["temperature"] == 1.2999999523162842][:20]
    assert len(sampled) == 20
    for line in sampled:
        line["seed"] = str(int(line["seed"]) ^ 1)
    path = tmp_path / "seeds.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in sampled) + "\n")
    run = replay(path)
    assert run.returncode == 1 and " was " in run.stdout
    run = replay(path, "--quantize", "8bit")
    assert "another model" in run.stderr


def test_receipts_hold_prompts_only_when_asked(tmp_path):
    path = tmp_path / "one.jsonl"
    command = [PROGRAM, "generate", "-p", "What is the capital of France?", "--receipts", str(path)]
    assert "Paris" in subprocess.run(command, capture_output=True, text=True, timeout=300).stdout
    (line,) = path.read_text().splitlines()
    assert "prompt" not in json.loads(line)
    run = replay(path)
    assert run.returncode == 1 and "give --prompts" in run.stdout
    assert subprocess.run([*command, "--receipts-prompts"], capture_output=True, timeout=300).returncode == 0
    prompts = tmp_path / "prompts.jsonl"
    second = json.loads(path.read_text().splitlines()[1])
    prompts.write_text(json.dumps(second["prompt"]) + "\n")
    run = replay(path, "--prompts", str(prompts))
    assert run.returncode == 0 and run.stdout.startswith("2 answers are the same")
