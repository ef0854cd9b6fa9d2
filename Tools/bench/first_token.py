#!/usr/bin/env python3
"""Measures the time from a chat request to the first byte and to the first token of its stream, by phase, on a warm server.
Usage: first_token.py PROGRAM [--requests 200] [OPTION OF pagoda serve...]. Needs only Python's own library.

Each round sends, on one open connection, requests that go one phase further than the previous one, so that differences of
medians are phases. The prompt has about 20 tokens; all but its end is in the prefix cache. `lowest tenth` shows what a busy
machine hides."""
import argparse
import http.client
import json
import re
import subprocess
import time
import urllib.parse

MESSAGES = [{"role": "user", "content": "Tell me a story about a dog and a cat."}]


class Server:
    def __init__(self, program, options):
        command = [program, "serve", "--port", "0", *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        address = urllib.parse.urlsplit(re.search(r"http://\S+", self.process.stdout.readline()).group()).netloc
        self.connection = http.client.HTTPConnection(address, timeout=120)

    def send(self, method, path, body=None):
        """The response, and the time at which it was sent."""
        text = json.dumps(body) if body is not None else None
        begin = time.perf_counter()
        self.connection.request(method, path, text, {"Content-Type": "application/json"})
        return self.connection.getresponse(), begin

    def whole(self, method, path, body=None, status=200):
        """Milliseconds until the whole answer has arrived."""
        response, begin = self.send(method, path, body)
        text = response.read()
        if response.status != status:
            raise SystemExit(f"{path}: status {response.status}: {text[:200]!r}")
        return 1000 * (time.perf_counter() - begin)

    def chat(self):
        """Milliseconds until the first byte and the first text of a stream, and those that the prompt's steps took."""
        response, begin = self.send("POST", "/v1/chat/completions", {
            "messages": MESSAGES, "max_tokens": 2, "temperature": 0, "stream": True})
        first_byte = first_token = prompt = cached = None
        while line := response.readline():
            now = 1000 * (time.perf_counter() - begin)
            if not line.startswith(b"data: {"):
                continue
            first_byte = first_byte or now
            chunk = json.loads(line[6:])
            if first_token is None and any(choice["delta"].get("content") for choice in chunk.get("choices", [])):
                first_token = now
            if timings := chunk.get("timings"):
                prompt, cached = timings["prompt_ms"], timings["cache_n"]
        return first_byte, first_token, prompt, cached


def measure(server, count):
    rows = {name: [] for name in ("loop", "worker", "prompt text", "first byte", "first token", "prompt step")}
    cached = 0
    for i in range(count + 10):
        round = {
            "loop": server.whole("GET", "/livez"),
            "worker": server.whole("POST", "/v1/chat/completions", {"messages": []}, status=400),
            "prompt text": server.whole("POST", "/tokenize", {"messages": MESSAGES}),
        }
        round["first byte"], round["first token"], round["prompt step"], cached = server.chat()
        for name, value in round.items() if i >= 10 else ():  # the first ones warm up caches
            rows[name].append(value)
    return {name: sorted(values) for name, values in rows.items()}, cached


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--requests", type=int, default=200)
    options, others = parser.parse_known_args()
    server = Server(options.program, others)
    try:
        rows, cached = measure(server, options.requests)
    finally:
        server.process.terminate()
        server.process.wait(timeout=60)

    def print_row(name, value):
        shown = [value(lambda phase: rows[phase][len(rows[phase]) * tenth // 10]) for tenth in (5, 1)]
        print(f"| {name} | {shown[0]:.2f} ms | {shown[1]:.2f} ms |")

    print(f"{cached} tokens of the prompt cached\n\n| phase | median | lowest tenth |\n|---|---|---|")
    print_row("connection, event loop, small answer", lambda at: at("loop"))
    print_row("worker, JSON of the request", lambda at: at("worker") - at("loop"))
    print_row("chat template, tokens", lambda at: at("prompt text") - at("worker"))
    print_row("the prompt's steps", lambda at: at("prompt step"))
    print_row("submission, wake-ups, first event", lambda at: at("first token") - at("prompt step") - at("prompt text"))
    print_row("**to the first byte**, which comes before the prompt's steps", lambda at: at("first byte"))
    print_row("**to the first token**", lambda at: at("first token"))


if __name__ == "__main__":
    main()
