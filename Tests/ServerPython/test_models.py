"""Several models in one server, found by name and by alias; times in answers; a yes-no reranker; agents."""
import json
import math
import signal
import subprocess
import time

import ollama
import openai
import pytest
import requests
from conftest import PROGRAM, Server, user

JUDGE = ("<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and the Instruct provided. "
         "Note that the answer can only be \"yes\" or \"no\".<|im_end|>\n<|im_start|>user\n")


@pytest.fixture(scope="module")
def models():
    server = Server("--model", "small=mini", "--model", "judge=mini", "--alias", "claude-*=small", "--alias", "gpt-4o=judge",
                    "--rerank", "yes-no", "--max-model-len", "4096", "--max-num-seqs", "4")
    yield server
    assert server.stop() == 0


def loaded(server):
    return [row["id"] for row in requests.get(server.url + "/v1/models").json()["data"] if row["loaded"] and "root" not in row]


def test_names_and_aliases_find_their_model(models):
    client = openai.OpenAI(base_url=models.url + "/v1", api_key="none", max_retries=0)
    assert [model.id for model in client.models.list()] == ["small", "judge", "gpt-4o"]
    assert loaded(models) == []
    assert "Paris" in client.chat.completions.create(model="claude-sonnet-9", messages=user("What is the capital of France?")
                                                     ).choices[0].message.content
    assert loaded(models) == ["small"]
    assert client.models.retrieve("gpt-4o").root == "judge"
    with pytest.raises(openai.NotFoundError, match="small, judge, gpt-4o"):
        client.chat.completions.create(model="large", messages=user("Hello!"))
    apps = ollama.Client(host=models.url)
    assert {model.model for model in apps.list().models} == {"small:latest", "judge:latest", "gpt-4o:latest"}
    assert {model.model for model in apps.ps().models} == {"small:latest"}
    assert "Paris" in apps.chat("judge:latest", user("What is the capital of France?")).message.content
    assert loaded(models) == ["small", "judge"]


@pytest.mark.parametrize("options, reason", [
    (["--model", "a=mini", "--model", "a=mini"], "two models are called 'a'"),
    (["--model", "a=mini", "--alias", "b=c"], "--alias is for 'c'"),
    (["--model", "a=mini", "--alias", "b"], "PATTERN=NAME"),
    (["--model", "a=mini", "--model", "b=mini", "--models-memory", "1MiB"], "a needs"),
    (["--model", "a=mini", "--model", "b=mini", "--served-model-name", "c"], "for one model"),
    (["--unload-after", "5"], "for several models"),
])
def test_options_that_cannot_work_are_refused(options, reason):
    run = subprocess.run([PROGRAM, "serve", "--port", "0", *options], capture_output=True, text=True, timeout=120)
    assert run.returncode != 0 and reason in run.stderr


def test_a_reranker_says_how_likely_yes_is(models):
    query, documents = "capital of France", ["Paris is the capital of France.", "A small dog <|im_end|> runs."]
    body = {"model": "judge", "query": query, "documents": documents}
    answer = requests.post(models.url + "/v1/rerank", json=body).json()
    scores = {row["index"]: row["relevance_score"] for row in answer["results"]}
    assert sorted(scores) == [0, 1] and all(0 < score < 1 for score in scores.values())
    ranked = [row["relevance_score"] for row in answer["results"]]
    assert ranked == sorted(ranked, reverse=True)

    def ids(text):
        return requests.post(models.url + "/tokenize", json={"model": "judge", "prompt": text, "add_special_tokens": False}
                             ).json()["tokens"]

    # The same computed here: the log probabilities of yes and no after the prompt.
    instruct = "Given a web search query, retrieve relevant passages that answer the query"
    prompt = ids(f"{JUDGE}<Instruct>: {instruct}\n<Query>: {query}\n<Document>: {documents[0]}"
                 "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n")
    logs = []
    for word in ("yes", "no"):
        body = {"model": "judge", "prompt": prompt, "max_tokens": 1, "temperature": 0, "logprobs": 0,
                "logit_bias": {str(ids(word)[0]): 100}}
        logs.append(requests.post(models.url + "/v1/completions", json=body).json()["choices"][0]["logprobs"]["token_logprobs"][0])
    assert math.isclose(scores[0], 1 / (1 + math.exp(logs[1] - logs[0])), rel_tol=1e-4)
    other = requests.post(models.url + "/rerank", json={"model": "judge", "query": query, "documents": documents, "top_n": 1,
                                                        "instruction": "Find dogs.", "return_documents": False}).json()
    assert len(other["results"]) == 1 and "document" not in other["results"][0]
    assert other["results"][0]["relevance_score"] not in scores.values()


def test_answers_have_llama_cpp_s_timings(server):
    for path, body in (("/v1/chat/completions", {"messages": user("Hello!")}), ("/v1/completions", {"prompt": "Hello"})):
        body = {**body, "max_tokens": 6, "ignore_eos": True}
        whole = requests.post(server.url + path, json=body).json()
        timings = whole["timings"]
        assert timings["predicted_n"] == 6 and timings["predicted_ms"] > 0
        assert timings["prompt_n"] + timings["cache_n"] == whole["usage"]["prompt_tokens"]
        assert "timings" not in requests.post(server.url + path, json={**body, "n": 2}).json()
        lines = requests.post(server.url + path, json={**body, "stream": True}).text.split("\n")
        chunks = [json.loads(line[6:]) for line in lines if line.startswith("data: {")]
        assert [chunk["timings"]["predicted_n"] for chunk in chunks if "timings" in chunk] == [6]
        assert chunks[-1]["choices"][0]["finish_reason"] == "length" and "timings" in chunks[-1]


def test_bench_agents_measures(server):
    command = [PROGRAM, "bench", "agents", "--base-url", server.url, "--agents", "3", "--turns", "4", "--system-words", "60",
               "--context-words", "10", "--result-words", "10", "--output-len", "12"]
    result = json.loads(subprocess.run([*command, "--json"], capture_output=True, text=True, check=True).stdout)
    assert result["completed"] == 3 * (4 + 2) and result["failed"] == 0, result
    assert [row["count"] for row in result["by_turn"]] == [3, 3, 6, 6]
    assert 0 < result["fairness"] <= 1 and result["turns_per_minute"] > 0
    # From the second turn on, the conversation is cached except for its last messages.
    assert all(row["cached_percent"] > 40 for row in result["by_turn"][1:]), result["by_turn"]
    assert all(0 < row["median_ttft_ms"] <= row["p95_ttft_ms"] <= row["worst_ttft_ms"] for row in result["by_turn"])
    calls = subprocess.run([*command, "--tool-choice", "required", "--output-len", "60"], capture_output=True, text=True, check=True)
    assert "Turns per minute" in calls.stdout and "Turns failed:                     0" in calls.stdout
    assert "Turns with a tool call:           18" in calls.stdout, calls.stdout


def test_a_shape_serves_chats_to_benches():
    """Its words are made up, but prompts, tools and answers have tokens, and conversations are found in the cache."""
    server = Server("--shape", "tiny", "--threads", "1")
    try:
        body = {"messages": user("Hello there"), "max_tokens": 12, "seed": 5, "temperature": 1}
        answer = requests.post(server.url + "/v1/chat/completions", json=body).json()
        assert answer["usage"]["completion_tokens"] == 12 and answer["choices"][0]["message"]["content"], answer
        command = [PROGRAM, "bench", "agents", "--base-url", server.url, "--agents", "2", "--turns", "3", "--system-words", "60",
                   "--context-words", "10", "--result-words", "10", "--output-len", "12", "--tool-choice", "required", "--json"]
        result = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        assert result["completed"] == 2 * (3 + 2) and result["failed"] == 0, result
        assert all(row["cached_percent"] > 40 for row in result["by_turn"][1:]), result["by_turn"]
    finally:
        assert server.stop() == 0


def test_bench_agents_reports_what_it_has_when_interrupted(server):
    def num_answers():
        lines = requests.get(server.url + "/metrics").text.splitlines()
        return sum(float(line.split()[-1]) for line in lines if line.startswith("vllm:request_success_total"))

    before = num_answers()
    command = [PROGRAM, "bench", "agents", "--base-url", server.url, "--agents", "3", "--turns", "1000", "--system-words", "20",
               "--context-words", "5", "--result-words", "5", "--output-len", "4", "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while num_answers() < before + 9 and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=600)
    result = json.loads(out)
    assert process.returncode == 0 and result["interrupted"] is True and result["completed"] >= 3, (result, errors)
    assert result["by_turn"][0]["count"] >= 1 and result["turns_per_minute"] > 0
