"""The OpenAPI description in the repository: requests generated from it get answers that it allows."""
import json

import pytest
import requests
import schemathesis
from conftest import ROOT, Server
from hypothesis import HealthCheck, Phase, settings

DESCRIPTION = ROOT / "Sources/ServerPage/files/openapi.json"
schema = schemathesis.openapi.from_path(str(DESCRIPTION))
schema.config.checks.negative_data_rejection.expected_statuses.append("412")  # another version: also a refusal
ENDLESS = "/status/events"  # a stream that ends with its reader
ALIKE = ["/rerank", "/ping"]  # aliases of routes that are tested


@pytest.fixture(scope="module")
def small():
    """A server with a context so short that 128 answers without a limit, which a generated request may ask for, are done quickly."""
    running = Server("--max-model-len", "128")
    yield running
    assert running.stop() == 0


def test_the_server_serves_the_description(server):
    assert requests.get(server.url + "/openapi.json").json() == json.loads(DESCRIPTION.read_text())


@schema.exclude(path=[ENDLESS, *ALIKE]).parametrize()
@settings(max_examples=25, deadline=None, derandomize=True, phases=[Phase.explicit, Phase.generate],
          suppress_health_check=list(HealthCheck))
def test_answers_follow_the_description(case, small):
    case.call_and_validate(base_url=small.url, timeout=300, excluded_checks=EXCLUDED)


# Some requests follow the schema and are still refused: ids beyond the vocabulary, a response that is not stored, mutually
# exclusive fields. The reverse, a request that violates the schema but is accepted, is an error in the description.
EXCLUDED = [schemathesis.checks.positive_data_acceptance] if hasattr(schemathesis.checks, "positive_data_acceptance") else []


def test_every_route_is_described(server):
    described = set(schema.raw_schema["paths"])
    for path in described - {ENDLESS}:
        method = next(iter(schema.raw_schema["paths"][path]))
        answer = requests.request(method, server.url + path, json={} if method == "post" else None)
        assert answer.status_code != 404 or ("{" in path and "there is nothing" not in answer.text), path


def test_the_stream_of_the_status_is_as_described(server):
    with requests.get(server.url + ENDLESS, stream=True, timeout=300) as answer:
        assert answer.status_code == 200 and answer.headers["content-type"].startswith("text/event-stream")
        lines = answer.iter_lines(decode_unicode=True)
        assert next(lines) == "event: step"
        assert {"lanes", "steps", "running", "free_blocks"} <= set(json.loads(next(lines).removeprefix("data: ")))
