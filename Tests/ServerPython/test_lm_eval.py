"""lm-eval itself, over HTTP: multiple choice and perplexity on small custom tasks."""
import json
import math

import requests
from conftest import MODEL

QUESTIONS = [
    ("The capital of France is", [" Paris", " banana", " seventeen"], 0),
    ("The capital of Japan is", [" purple", " Tokyo", " often"], 1),
]
TEXTS = ["The capital of France is Paris.", "Once upon a time there was a small dog."]


def test_lm_eval_runs_multiple_choice_and_perplexity(server, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_DATASETS_OFFLINE", "1")
    from lm_eval import simple_evaluate
    from lm_eval.tasks import TaskManager

    choice, text = tmp_path / "choice.jsonl", tmp_path / "text.jsonl"
    choice.write_text("\n".join(json.dumps({"q": q, "c": c, "a": a}) for q, c, a in QUESTIONS))
    text.write_text("\n".join(json.dumps({"page": page}) for page in TEXTS))
    (tmp_path / "choice.yaml").write_text(f"""
task: pagoda_choice
dataset_path: json
dataset_kwargs: {{data_files: {{test: {choice}}}}}
output_type: multiple_choice
test_split: test
doc_to_text: "{{{{q}}}}"
doc_to_choice: "{{{{c}}}}"
doc_to_target: a
target_delimiter: ""
metric_list: [{{metric: acc, aggregation: mean, higher_is_better: true}}]
""")
    (tmp_path / "text.yaml").write_text(f"""
task: pagoda_text
dataset_path: json
dataset_kwargs: {{data_files: {{test: {text}}}}}
output_type: loglikelihood_rolling
test_split: test
doc_to_text: ""
doc_to_target: "{{{{page}}}}"
metric_list: [{{metric: word_perplexity, aggregation: weighted_perplexity, higher_is_better: false}}]
""")
    results = simple_evaluate(
        model="local-completions", tasks=["pagoda_choice", "pagoda_text"], bootstrap_iters=0,
        task_manager=TaskManager(include_path=str(tmp_path), include_defaults=False),
        model_args={"model": MODEL, "base_url": server.url + "/v1/completions", "tokenizer_backend": "remote",
                    "num_concurrent": 2, "max_retries": 1, "max_length": 512})["results"]
    assert results["pagoda_choice"]["acc,none"] == 1.0
    perplexity = results["pagoda_text"]["word_perplexity,none"]
    assert 1 < perplexity < 1e6

    # The same from a request of our own.
    total = words = 0
    start = requests.get(server.url + "/tokenizer_info").json()["eos_token"]
    for page in TEXTS:
        answer = requests.post(server.url + "/v1/completions", json={
            "prompt": start + page, "max_tokens": 0, "echo": True, "logprobs": 0}).json()["choices"][0]
        total += sum(answer["logprobs"]["token_logprobs"][1:])
        words += len(page.split())
    assert math.isclose(perplexity, math.exp(-total / words), rel_tol=1e-5)
