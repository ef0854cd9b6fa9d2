"""Spans at a collector: one trace from the client to the server, its phases in order, and no text of the conversation."""
import json
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from replicas import MODEL, Replica, wait_until

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = "00f067aa0ba902b7"
TOOL = {"type": "function", "function": {"name": "look_up", "parameters": {
    "type": "object", "properties": {"level": {"type": "integer", "minimum": 3, "maximum": 7}}, "required": ["level"]}}}


class Collector:
    """Takes OTLP/HTTP in JSON and keeps the spans; `status` is what it answers with."""

    def __init__(self):
        self.spans, self.resources, self.status = [], [], 200
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if self.path == "/v1/traces" and self.headers["Content-Type"] == "application/json" and outer.status == 200:
                    for resource in body["resourceSpans"]:
                        outer.resources.append(attributes(resource["resource"]))
                        outer.spans += [span for scope in resource["scopeSpans"] for span in scope["spans"]]
                self.send_response(outer.status)
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *_):
                pass
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_address[1]}"


def attributes(holder):
    return {entry["key"]: next(iter(entry["value"].values())) for entry in holder["attributes"]}


@pytest.fixture(scope="module")
def collector():
    collector = Collector()
    yield collector
    collector.server.shutdown()


@pytest.fixture(scope="module")
def replica(collector):
    replica = Replica("replica-1", "--otlp-endpoint", collector.url)
    yield replica
    replica.stop()


def ask(replica, headers=None, **fields):
    body = {"model": MODEL, "messages": [{"role": "user", "content": "A question about zebras"}], "max_tokens": 6, **fields}
    request = urllib.request.Request(replica.url + "/v1/chat/completions", json.dumps(body).encode(),
                                     {"Content-Type": "application/json", **(headers or {})})
    with urllib.request.urlopen(request, timeout=600) as response:
        return response.headers, json.loads(response.read())


def spans_of(collector, trace):
    return [span for span in collector.spans if span["traceId"] == trace]


def test_a_request_continues_its_clients_trace(replica, collector):
    headers, answer = ask(replica, {"traceparent": f"00-{TRACE}-{PARENT}-01", "tracestate": "vendor=1"})
    wait_until(lambda: len(spans_of(collector, TRACE)) == 4, "the spans")
    spans = {span["name"]: span for span in spans_of(collector, TRACE)}
    request = spans["POST /v1/chat/completions"]
    assert request["parentSpanId"] == PARENT and request["kind"] == 2 and request["traceState"] == "vendor=1"
    assert headers["traceresponse"] == f"00-{TRACE}-{request['spanId']}-01"
    found = attributes(request)
    assert found["http.response.status_code"] == "200" and found["gen_ai.request.model"] == MODEL
    assert found["gen_ai.usage.input_tokens"] == str(answer["usage"]["prompt_tokens"])
    assert found["gen_ai.usage.output_tokens"] == str(answer["usage"]["completion_tokens"])
    ends = int(request["startTimeUnixNano"])
    for name in ("queue", "prefill", "decode"):
        span = spans[name]
        assert span["parentSpanId"] == request["spanId"]
        assert ends - 1000 <= int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"])
        ends = int(span["endTimeUnixNano"])
    assert ends <= int(request["endTimeUnixNano"]) + 1_000_000
    assert "zebras" not in json.dumps(collector.spans)
    assert collector.resources[0]["service.name"] == "pagoda" and collector.resources[0]["service.instance.id"] == "replica-1"


def test_tool_calls_have_spans(replica, collector):
    trace = "a" * 32
    ask(replica, {"traceparent": f"00-{trace}-{PARENT}-01"}, tools=[TOOL], max_tokens=60, tool_choice="required")
    wait_until(lambda: len(spans_of(collector, trace)) == 5, "the spans")
    call = next(span for span in spans_of(collector, trace) if span["name"] == "tool_call")
    assert attributes(call)["gen_ai.tool.name"] == "look_up"


def test_a_client_that_records_nothing_gets_no_spans(replica, collector):
    ask(replica, {"traceparent": f"00-{'b' * 32}-{PARENT}-00"})
    ask(replica, {"traceparent": f"00-{'c' * 32}-{PARENT}-01"})
    wait_until(lambda: spans_of(collector, "c" * 32), "the later spans")
    assert not spans_of(collector, "b" * 32)


def test_spans_that_are_refused_are_counted_and_dropped(replica, collector):
    def metric(name):
        text = urllib.request.urlopen(replica.url + "/metrics").read().decode()
        return int(text.split(f"\npagoda:spans_{name}_total ")[1].split()[0])
    assert metric("sent") > 0
    before = metric("dropped")
    collector.status = 503
    try:
        ask(replica)
        wait_until(lambda: metric("dropped") > before, "the count")
    finally:
        collector.status = 200
