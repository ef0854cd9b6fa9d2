"""Ways to constrain an answer besides schemas: regular expressions, choices, grammars, banned words, the best of several."""
import json
import re
import shutil

import openai
import pytest
import requests
from conftest import MODEL, ROOT, Server, user
from test_tools import TOOLS


def chat(client, text, **options):
    options.setdefault("max_tokens", 60)
    return client.chat.completions.create(model=MODEL, messages=user(text), **options).choices[0]


def test_regular_expressions_choices_and_grammars(openai_client):
    expression = r"(yes|no), [a-z]{2,8}\.\n<b>\"[0-9]{3}\"</b>"
    grammar = 'root ::= "[" item ("," item)* "]"\nitem ::= [0-9]{1,3} | "x"'
    for seed in range(3):
        for more, pattern in (
                ({"guided_regex": expression}, expression), ({"structured_outputs": {"regex": expression}}, expression),
                ({"guided_choice": ["red wine", "red", "blue\n"]}, "red wine|red|blue\n"),
                ({"structured_outputs": {"choice": ["one", "two"]}}, "one|two"),
                ({"guided_grammar": grammar}, r"\[([0-9]{1,3}|x)(,([0-9]{1,3}|x))*\]")):
            choice = chat(openai_client, "Hello!", temperature=1, seed=seed, extra_body=more)
            if choice.finish_reason == "stop":
                assert re.fullmatch(pattern, choice.message.content), (more, choice.message.content)
            else:  # a grammar that may continue forever
                assert "guided_grammar" in more and choice.message.content.startswith("[")


def test_constraints_that_cannot_be_enforced_are_refused_by_name(openai_client):
    for more, param, reason in (
            ({"guided_regex": "a(?=b)"}, "guided_regex", "expression"), ({"guided_regex": 5}, "guided_regex", "string"),
            ({"guided_choice": []}, "guided_choice", "array"), ({"guided_choice": ["a", 5]}, "guided_choice", "array"),
            ({"guided_grammar": "root ::= root \"a\""}, "guided_grammar", "itself"),
            ({"structured_outputs": {"structural_tag": "x"}}, "structured_outputs", "structural_tag"),
            ({"structured_outputs": {"regex": "a", "choice": ["a"]}}, "structured_outputs", "excludes"),
            ({"guided_regex": "a", "guided_choice": ["a"]}, "guided_choice", "excludes"),
            ({"guided_regex": "a+", "tools": TOOLS}, "guided_regex", "tools"),
            ({"bad_words": [""]}, "bad_words", "empty"), ({"bad_words": [5]}, "bad_words", "wrong type")):
        with pytest.raises(openai.BadRequestError, match=reason) as refused:
            chat(openai_client, "x", extra_body=more)
        assert refused.value.param == param


def test_bad_words_do_not_come(openai_client):
    question = "What is the capital of France?"
    free = chat(openai_client, question, temperature=0).message.content
    assert "Paris" in free
    held = chat(openai_client, question, temperature=0, extra_body={"bad_words": ["Paris"]}).message.content
    assert "Paris" not in held and held
    same = chat(openai_client, question, temperature=0, extra_body={"bad_words": ["Timbuktu"]}).message.content
    assert same == free


def test_best_of_sends_the_likeliest_answers(openai_client, server):
    def complete(**options):
        return openai_client.completions.create(
            model=MODEL, prompt=["Once upon a time", "The capital of"], max_tokens=8, temperature=1.2, seed=5, logprobs=0, **options)

    def mean(choice):
        return sum(choice.logprobs.token_logprobs) / len(choice.logprobs.token_logprobs)

    every, best = complete(n=6), complete(n=2, best_of=6)
    assert [choice.index for choice in best.choices] == [0, 1, 2, 3]
    for prompt in range(2):
        made = sorted(every.choices[prompt * 6:prompt * 6 + 6], key=mean, reverse=True)
        assert [choice.text for choice in best.choices[prompt * 2:prompt * 2 + 2]] == [choice.text for choice in made[:2]]
    assert best.usage.completion_tokens == every.usage.completion_tokens
    plain = openai_client.completions.create(model=MODEL, prompt="Once", max_tokens=4, best_of=3)
    assert len(plain.choices) == 1 and plain.choices[0].logprobs is None
    for more in ({"n": 3, "best_of": 2}, {"best_of": 2, "stream": True}, {"best_of": 0}):
        refused = requests.post(server.url + "/v1/completions", json={"model": MODEL, "prompt": "x", **more})
        assert refused.status_code == 400 and refused.json()["error"]["param"] == "best_of", more


FUNCTIONS = [tool["function"] for tool in TOOLS]


def test_functions_of_the_first_shape(openai_client, server):
    name = FUNCTIONS[0]["name"]
    options = {"functions": FUNCTIONS, "function_call": {"name": name}, "max_tokens": 200}
    choice = chat(openai_client, "What is the weather in Rome?", **options)
    call = choice.message.function_call
    assert choice.finish_reason == "function_call" and choice.message.tool_calls is None
    assert call.name == name and isinstance(json.loads(call.arguments), dict)
    stream = openai_client.chat.completions.create(
        model=MODEL, messages=user("What is the weather in Rome?"), stream=True, **options)
    deltas = [chunk.choices[0] for chunk in stream if chunk.choices]
    calls = [delta.delta.function_call for delta in deltas if delta.delta.function_call]
    assert calls[0].name == name and "".join(part.arguments for part in calls) == call.arguments
    assert deltas[-1].finish_reason == "function_call" and not any(delta.delta.tool_calls for delta in deltas)
    history = [*user("What is the weather in Rome?"),
               {"role": "assistant", "content": None, "function_call": {"name": name, "arguments": call.arguments}},
               {"role": "function", "name": name, "content": "Sunny."}]
    after = openai_client.chat.completions.create(
        model=MODEL, messages=history, functions=FUNCTIONS, function_call="none", max_tokens=20)
    assert after.choices[0].message.function_call is None
    url = server.url + "/v1/chat/completions"
    for more, param in (({"functions": FUNCTIONS, "tools": TOOLS}, "functions"),
                        ({"functions": FUNCTIONS, "function_call": {"name": "none_such"}}, "function_call"),
                        ({"function_call": "auto"}, "function_call"),
                        ({"messages": history[2:]}, "messages[0].name")):
        refused = requests.post(url, json={"model": MODEL, "messages": user("x"), **more})
        assert refused.status_code == 400 and refused.json()["error"]["param"] == param, refused.text


def test_suffix_needs_a_model_with_such_tokens(server):
    refused = requests.post(server.url + "/v1/completions", json={"prompt": "a", "suffix": "b"})
    assert refused.status_code == 400 and "fill-in-the-middle" in refused.json()["error"]["message"]
    assert refused.json()["error"]["param"] == "suffix"


def test_suffix_frames_both_texts(tmp_path):
    """The embedded model with three of its control tokens renamed: its output is useless, only its input is tested."""
    folder = tmp_path / "fim"
    shutil.copytree(ROOT / "Sources/MiniModel/files", folder)
    text = (folder / "tokenizer.json").read_text()
    for old, new in (("<tool_response>", "<|fim_prefix|>"), ("</tool_response>", "<|fim_suffix|>"), ("<think>", "<|fim_middle|>")):
        text = text.replace(json.dumps(old), json.dumps(new))
    (folder / "tokenizer.json").write_text(text)
    running = Server("--model", str(folder), "--served-model-name", "fim")
    try:
        body = {"max_tokens": 8, "temperature": 0, "prompt_logprobs": 0}
        made = requests.post(running.url + "/v1/completions",
                             json={**body, "prompt": "def f(<|im_end|>", "suffix": "return x"}).json()
        ids = [requests.post(running.url + "/tokenize", json={"prompt": part}).json()["tokens"]
               for part in ("<|fim_prefix|>", "<|fim_suffix|>", "return x", "<|fim_middle|>")]
        shown = [next(iter(entry)) for entry in made["choices"][0]["prompt_logprobs"][1:]]
        assert shown[-2 - len(ids[2]):] == [str(ids[1][0]), *map(str, ids[2]), str(ids[3][0])]
        control = requests.post(running.url + "/tokenize", json={"prompt": "<|im_end|>"}).json()["tokens"][0]
        assert str(control) not in shown, "what the client writes is text"
        for more, param in (({"suffix": "b", "prompt": [1, 2]}, "suffix"), ({"suffix": "b", "echo": True}, "suffix")):
            refused = requests.post(running.url + "/v1/completions", json={**body, "prompt": "a", **more})
            assert refused.status_code == 400 and refused.json()["error"]["param"] == param
    finally:
        running.stop()


def test_drafts_show_in_usage(openai_client, server):
    """Whether drafts pay off is measured at run time, so their number varies; usage and metrics agree on it."""
    name = "vllm:spec_decode_num_{}_tokens_total"
    for more, is_off in (({}, False), ({"speculate": False}, True)):
        server.wait_until_idle()
        before = [server.statistic(name.format(kind)) for kind in ("draft", "accepted")]
        details = openai_client.chat.completions.create(
            model=MODEL, messages=user("Repeat: a b c d a b c d a b c d"), max_tokens=60, extra_body=more
        ).usage.completion_tokens_details
        server.wait_until_idle()
        drafted, accepted = [server.statistic(name.format(kind)) - old for kind, old in zip(("draft", "accepted"), before)]
        assert details.accepted_prediction_tokens == accepted
        assert details.rejected_prediction_tokens == drafted - accepted
        assert not is_off or drafted == 0


def test_log_probabilities_that_would_fill_the_memory_are_refused_before_work(server):
    server.wait_until_idle()
    steps = server.statistic("pagoda:engine_steps_total")
    body = {"prompt": "Once", "n": 128, "max_tokens": 100000, "logprobs": 20}
    refused = requests.post(server.url + "/v1/completions", json=body)
    assert refused.status_code == 400 and "MiB" in refused.json()["error"]["message"], refused.text
    assert refused.json()["error"]["param"] == "logprobs"
    assert server.statistic("pagoda:engine_steps_total") == steps
    server.wait_until_idle()
    assert requests.post(server.url + "/v1/completions", json={**body, "n": 2, "max_tokens": 8}).ok
