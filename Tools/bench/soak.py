#!/usr/bin/env python3
"""Keeps two servers on one prefix folder busy for some minutes, with aborts, schemas and long prompts, and checks them.

Usage: soak.py [--minutes 30] [--program .build/release/pagoda] [--clients 8] [--attackers 0] [--default-caches]
The exit status is 1 unless all of this holds: every request is answered or was aborted here; answers to the same request are the same
each time and on both servers; an answer under a schema matches it; nothing runs or waits at the end; memory is flat once caches are full.
One line per minute shows the progress and each server's memory.
Memory is judged by its trend: the slope of a line through the resident sizes, one every two seconds, after the warm-up (--warm-up, by default
a third of the time), times what is left of the run, may be 1 % of the size at most. A level that rises in steps because a cache fills up has a
slope, too: then the warm-up was too short.
With --attackers, so many clients with another key send the requests of soak_attacks.py meanwhile: none may be answered with 5xx other
than 503, and the response times of the other clients are printed. Each server's cache of grammars is filled before: it takes an hour
otherwise. The trend may then be 5 %: attackers' grammars, each of a size of its own, replace each other there.
With --default-caches the caches have their default sizes. Memory is used on demand, so they are filled first,
with different prompts, until each server has evicted cached KV blocks.
"""

import argparse
import collections
import http.client
import json
import random
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from soak_attacks import all_of, attack

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = {"type": "object", "properties": {"name": {"type": "string", "maxLength": 12}, "age": {"type": "integer", "minimum": 0,
          "maximum": 150}, "tags": {"type": "array", "items": {"enum": ["a", "b", "c"]}, "maxItems": 3}},
          "required": ["name", "age", "tags"], "additionalProperties": False}
KEYS = {"client": "soak-client-key", "attacker": "soak-attacker-key"}
WORDS = "the river bends and a bridge of stone stands over it while boats pass below in the morning light".split()


class Server:
    def __init__(self, program, folder, log, sizes):
        self.memory = []  # (seconds, resident bytes)
        command = [str(program), "serve", "--port", "0", "--model", "mini", "--prefix-cache-dir", folder, *sizes,
                   "--api-key", KEYS["client"], "--api-key", KEYS["attacker"]]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
        line = self.process.stdout.readline()
        match = re.search(r"http://([^:/ ]+):(\d+)/", line)
        if not match:
            raise SystemExit(f"soak: no address in {line!r}")
        self.host, self.port = match.group(1), int(match.group(2))

    def get(self, path):
        connection = http.client.HTTPConnection(self.host, self.port, timeout=600)
        connection.request("GET", path, headers=headers())
        return connection.getresponse().read().decode()

    def resident_bytes(self):
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return 1024 * int(re.search(r"^VmRSS:\s+(\d+)", status, re.MULTILINE).group(1))

    def watch_memory(self, begin):
        self.memory.append((time.monotonic() - begin, self.resident_bytes()))

    def trend(self, warm_up):
        """Memory at the end of the warm-up and of the run, on a line through the sizes between."""
        points = [point for point in self.memory if point[0] >= warm_up]
        line = statistics.linear_regression([seconds for seconds, _ in points], [size for _, size in points])
        return [line.intercept + line.slope * seconds for seconds in (points[0][0], points[-1][0])]

    def metric(self, name):
        return float(re.search(rf"^{re.escape(name)}(?:\{{[^}}]*\}})? (\S+)$", self.get("/metrics"), re.MULTILINE).group(1))


def headers(who="client"):
    return {"Content-Type": "application/json", "Authorization": f"Bearer {KEYS[who]}"}


def make_request(kind, number):
    """The body of request `number` of a kind; deterministic."""
    rng = random.Random(f"{kind} {number}")
    length = rng.randint(300, 700) if kind == "long" else rng.randint(5, 60)
    text = " ".join(rng.choice(WORDS) for _ in range(length))
    body = {"model": "mini", "messages": [{"role": "user", "content": text}], "seed": number, "temperature": rng.choice([0, 1]),
            "max_tokens": 200 if kind == "schema" else rng.randint(1, 40)}
    if kind == "schema":
        body["response_format"] = {"type": "json_schema", "json_schema": {"name": "person", "schema": SCHEMA, "strict": True}}
    return body


def fits_schema(text):
    value = json.loads(text)
    return (set(value) == {"name", "age", "tags"} and len(value["name"]) <= 12 and isinstance(value["age"], int)
            and 0 <= value["age"] <= 150 and len(value["tags"]) <= 3 and set(value["tags"]) <= {"a", "b", "c"})


def fill(server):
    """Sends different prompts until the KV cache is full."""
    for number in range(10_000):
        if server.metric("pagoda:block_evictions_total") > 0:
            return
        rng = random.Random(number)
        prompt = " ".join(rng.choice(WORDS) + str(i) for i in range(400))
        connection = http.client.HTTPConnection(server.host, server.port, timeout=600)
        connection.request("POST", "/v1/completions", json.dumps({"model": "mini", "prompt": prompt, "max_tokens": 1}),
                           headers())
        if connection.getresponse().status != 200:
            raise SystemExit("soak: a prompt that fills the cache was refused")
        connection.close()
    raise SystemExit("soak: the KV cache does not fill")


def fill_grammars(server):
    """Sends more of the largest schemas than the server keeps."""
    rng = random.Random(server.port)
    for _ in range(70):
        path, body = all_of(rng)
        connection = http.client.HTTPConnection(server.host, server.port, timeout=600)
        connection.request("POST", path, json.dumps(body), headers("attacker"))
        connection.getresponse().read()
        connection.close()


class Soak:
    def __init__(self, servers, end):
        self.servers, self.end = servers, end
        self.lock = threading.Lock()
        self.counts = collections.Counter()
        self.answers = {}  # answers by request
        self.seconds = []  # response times of clients, by order of their ends
        self.faults = []

    def note(self, fault):
        with self.lock:
            self.faults.append(fault)

    def abort(self, server, body, rng):
        """Reads part of a stream, or nothing, and closes the connection."""
        connection = http.client.HTTPConnection(server.host, server.port, timeout=600)
        connection.request("POST", "/v1/chat/completions", json.dumps({**body, "stream": True}), headers())
        if rng.random() < 0.7:
            response = connection.getresponse()
            response.read(rng.randint(1, 600))
        connection.close()

    def ask(self, server, key, body):
        connection = http.client.HTTPConnection(server.host, server.port, timeout=600)
        connection.request("POST", "/v1/chat/completions", json.dumps(body), headers())
        response = connection.getresponse()
        answer = json.loads(response.read())
        connection.close()
        if response.status != 200:
            return self.note(f"{key}: status {response.status}: {answer}")
        choice = answer["choices"][0]
        found = (choice["message"]["content"], choice["finish_reason"])
        if key[0] == "schema" and found[1] == "stop" and not fits_schema(found[0]):
            self.note(f"{key}: not of the schema: {found[0]}")
        with self.lock:
            earlier = self.answers.setdefault(key, found)
        if earlier != found:
            self.note(f"{key}: {found} after {earlier}")

    def client(self, seed):
        rng = random.Random(seed)
        while time.monotonic() < self.end:
            kind, number, server = rng.choice(["plain", "plain", "schema", "long", "abort"]), rng.randrange(60), rng.choice(self.servers)
            try:
                if kind == "abort":
                    self.abort(server, make_request(rng.choice(["plain", "schema", "long"]), number), rng)
                else:
                    begin = time.monotonic()
                    self.ask(server, (kind, number), make_request(kind, number))
                    with self.lock:
                        self.seconds.append(time.monotonic() - begin)
                with self.lock:
                    self.counts[kind] += 1
            except Exception as error:  # a lost answer
                self.note(f"{kind} {number}: {error!r}")

    def attacker(self, seed):
        rng = random.Random(f"attacker {seed}")
        while time.monotonic() < self.end:
            name, path, body = attack(rng)
            server = rng.choice(self.servers)
            try:
                connection = http.client.HTTPConnection(server.host, server.port, timeout=600)
                connection.request("POST", path, body.encode(), headers("attacker"))
                response = connection.getresponse()
                text = response.read()
                connection.close()
                if response.status >= 500 and response.status != 503:
                    self.note(f"{name}: status {response.status}: {text[:200]}")
                with self.lock:
                    self.counts[f"{name} {response.status}"] += 1
            except OSError as error:  # the server may close the connection of a body that it refuses
                with self.lock:
                    self.counts[f"{name} {type(error).__name__}"] += 1
                if any(server.process.poll() is not None for server in self.servers):
                    return self.note(f"a server ended after {name}")

    def response_times(self):
        ordered = sorted(self.seconds)
        parts = {name: ordered[min(len(ordered) - 1, int(share * len(ordered)))] for name, share in
                 {"median": 0.5, "p95": 0.95, "p99": 0.99, "longest": 1.0}.items()} if ordered else {}
        return ", ".join(f"{name} {seconds:.3f} s" for name, seconds in parts.items())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--program", type=Path, default=ROOT / ".build/release/pagoda")
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--attackers", type=int, default=0)
    parser.add_argument("--default-caches", action="store_true")
    parser.add_argument("--warm-up", type=float, help="minutes that do not count for the memory's trend")
    options = parser.parse_args()
    folder, log = tempfile.TemporaryDirectory(), tempfile.TemporaryFile(mode="w+")
    small = ["--max-num-seqs", "8", "--num-kv-blocks", "512", "--prefix-cache-disk", "100MB"]  # small enough to fill up soon
    servers = [Server(options.program, folder.name, log, [] if options.default_caches else small) for _ in range(2)]
    if options.default_caches:
        for server in servers:
            fill(server)
        print("the caches are full", flush=True)
    if options.attackers:
        fillers = [threading.Thread(target=fill_grammars, args=(server,)) for server in servers]
        for filler in fillers:
            filler.start()
        for filler in fillers:
            filler.join()
        print("grammars fill their caches; memory", ", ".join(f"{server.resident_bytes() / 1e6:.1f} MB" for server in servers), flush=True)
    begin = time.monotonic()
    soak = Soak(servers, begin + 60 * options.minutes)
    threads = [threading.Thread(target=soak.client, args=(i,)) for i in range(options.clients)]
    threads += [threading.Thread(target=soak.attacker, args=(i,)) for i in range(options.attackers)]
    for thread in threads:
        thread.start()
    warm_up = 60 * (options.minutes / 3 if options.warm_up is None else options.warm_up)
    next_report = begin + 60
    while any(thread.is_alive() for thread in threads):
        time.sleep(2)
        for server in servers:
            server.watch_memory(begin)
        if time.monotonic() > next_report:
            next_report += 60
            memory = ", ".join(f"{server.memory[-1][1] / 1e6:.1f}" for server in servers)
            print(f"{time.monotonic() - begin:.0f} s: {memory} MB, {dict(soak.counts)}, {len(soak.faults)} faults", flush=True)
    for server in servers:
        for _ in range(600):
            if server.metric("vllm:num_requests_running") + server.metric("vllm:num_requests_waiting") == 0:
                break
            time.sleep(0.1)
        else:
            soak.note("requests are still there at the end")
        before, after = server.trend(warm_up)
        print(f"memory {before / 1e6:.1f} MB after the warm-up, at the end {after / 1e6:.1f} MB ({100 * (after / before - 1):+.2f} %), "
              f"at most {max(size for _, size in server.memory) / 1e6:.1f} MB; "
              f"masks {server.metric('pagoda:grammar_masks_total'):.0f}, late {server.metric('pagoda:grammar_late_masks_total'):.0f}; "
              f"prefix files read {server.metric('pagoda:prefix_disk_reads_total'):.0f}, written {server.metric('pagoda:prefix_disk_writes_total'):.0f}")
        if after / before - 1 > (0.05 if options.attackers else 0.01):
            soak.note(f"memory grew from {before:.0f} to {after:.0f} bytes")
        server.process.terminate()
        if server.process.wait(timeout=120) != 0:
            soak.note(f"a server ended with status {server.process.returncode}")
    print(f"{sum(soak.counts.values())} requests: {dict(soak.counts)}; {len(soak.answers)} different ones")
    print(f"response times of clients: {soak.response_times()}")
    for fault in soak.faults[:20]:
        print("fault:", fault)
    return 1 if soak.faults else 0


if __name__ == "__main__":
    sys.exit(main())
