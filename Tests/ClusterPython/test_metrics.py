"""/metrics as dashboards read it: ours and vLLM's use only names and labels that exist, and Prometheus' text is well formed."""
import json
import re
import urllib.request

import pytest
from replicas import MODEL, ROOT, Replica, free_port

DASHBOARD = ROOT / "Deploy/grafana/pagoda.json"
# The metrics in vLLM's dashboards (grafana.json, performance_statistics.json, query_statistics.json of vLLM 0.12).
VLLM = """e2e_request_latency_seconds_bucket e2e_request_latency_seconds_count e2e_request_latency_seconds_sum
    generation_tokens_total inter_token_latency_seconds_bucket inter_token_latency_seconds_count inter_token_latency_seconds_sum
    iteration_tokens_total_count kv_cache_usage_perc num_requests_running num_requests_waiting prompt_tokens_total
    request_decode_time_seconds_sum request_generation_tokens_bucket request_max_num_generation_tokens_sum
    request_prefill_time_seconds_sum request_prompt_tokens_bucket request_queue_time_seconds_sum request_success_total
    time_to_first_token_seconds_bucket time_to_first_token_seconds_count time_to_first_token_seconds_sum""".split()


@pytest.fixture(scope="module")
def samples():
    """Names with the labels of each of their samples, of a replica with keys that has answered; read without a key."""
    port = free_port()
    replica = Replica("replica-1", "--api-key", "key", "--metrics-port", str(port))
    try:
        body = {"model": MODEL, "messages": [{"role": "user", "content": "Hello!"}], "max_tokens": 8, "n": 2, "ignore_eos": True}
        request = urllib.request.Request(replica.url + "/v1/chat/completions", json.dumps(body).encode(),
                                         {"Content-Type": "application/json", "Authorization": "Bearer key"})
        urllib.request.urlopen(request).read()
        text = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics").read().decode()
    finally:
        replica.stop()
    found, families, described = {}, [], set()
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            families.append(line.split()[2])
        elif line.startswith("# HELP "):
            described.add(line.split()[2])
        else:
            name, labels, value = re.fullmatch(r"([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)", line).groups()
            float(value)
            found.setdefault(name, []).append((dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels or "")), float(value)))
    assert len(set(families)) == len(families) and set(families) == described, "each family once, with type and help"
    return found


def test_the_metrics_of_vllms_dashboards_exist_with_the_models_name(samples):
    for name in VLLM:
        rows = samples.get(f"vllm:{name}")
        assert rows and all(labels.get("model_name") == MODEL for labels, _ in rows), name


def test_the_dashboard_uses_names_and_labels_that_exist(samples):
    dashboard = json.loads(DASHBOARD.read_text())
    expressions = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    queries = [variable["query"]["query"] for variable in dashboard["templating"]["list"]]
    assert len(expressions) >= 20
    seen = set()
    for text in expressions + queries:
        names = re.findall(r"(?:vllm|pagoda):\w+", text)
        assert names, text
        seen.update(names)
        for name in names:
            assert name in samples, name
            labels = {label for row, _ in samples[name] for label in row} | {"instance", "job", "le"}
            used = re.findall(r"(\w+)=~?\"", text) + re.findall(r"by \(([^)]*)\)", text) + re.findall(r", (\w+)\)$", text)
            for label in {part.strip() for group in used for part in group.split(",")}:
                assert label in labels, f"{label} of {name} in {text}"
    assert {"vllm:prefix_cache_hits_total", "vllm:inter_token_latency_seconds_bucket", "pagoda:engine_failed"} <= seen


def test_counts_are_those_of_the_request(samples):
    def value(name):
        return sum(value for _, value in samples[name])
    assert value("vllm:request_generation_tokens_sum") == value("vllm:generation_tokens_total") == 16
    assert value("vllm:request_max_num_generation_tokens_sum") == 8 and value("vllm:request_generation_tokens_count") == 2
    assert value("vllm:inter_token_latency_seconds_count") == 14, "two answers of eight tokens have seven gaps each"
    assert value("vllm:request_prefill_time_seconds_count") == value("vllm:request_decode_time_seconds_count") == 2
