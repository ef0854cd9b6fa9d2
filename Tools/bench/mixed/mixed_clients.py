#!/usr/bin/env python3
"""A day's worth of mixed clients: many kinds of requests at once, each answer compared with the one that a quiet server gave.

Usage: mixed_clients.py [--requests 10000] [--seed 0] [--program .build/release/pagoda] [--clients 8]
Every kind of client in kinds.py has six requests. Each is first sent alone; under load its answer must be the same. Prints the number of
requests, the wrong ones and the times for each kind, and the server's resident memory after the first fifth of the load and at its end; with
5000 requests or more the prefix cache is filled first, because its memory is used on demand. The exit status is 1 if an answer was wrong,
if something still runs at the end, or, from 5000 requests on, if memory has grown by more than 1 %.
"""
import argparse
import collections
import random
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

from kinds import KINDS, Client

ROOT = Path(__file__).resolve().parents[3]
VARIANTS = 6
FILLED = 5000  # requests from which on the caches are filled first, and memory is checked
# Caches small enough to be full soon, so that memory is flat from then on.
SIZES = ["--max-num-seqs", "8", "--num-kv-blocks", "512"]


class Server:
    def __init__(self, program):
        self.process = subprocess.Popen([program, "serve", "--port", "0", *SIZES], stdout=subprocess.PIPE, text=True)
        match = re.search(r"http://([^:/ ]+):(\d+)/", self.process.stdout.readline())
        if not match:
            raise SystemExit("mixed_clients: the server did not start")
        self.client = Client(match.group(1), int(match.group(2)))

    def resident_bytes(self):
        """0 where the system does not tell."""
        path = Path(f"/proc/{self.process.pid}/status")
        found = re.search(r"^VmRSS:\s+(\d+)", path.read_text(), re.MULTILINE) if path.exists() else None
        return 1024 * int(found.group(1)) if found else 0

    def evictions(self):
        return float(re.search(rb"^pagoda:block_evictions_total\S* (\S+)$", self.client.call("GET", "/metrics"), re.MULTILINE).group(1))

    def fill(self):
        """Sends different prompts until cached blocks are evicted."""
        for number in range(10_000):
            if number % 8 == 0 and self.evictions() > 64:
                return
            rng = random.Random(number)
            prompt = " ".join(f"{rng.randrange(10**9)}" for _ in range(60))
            self.client.post("/v1/completions", {"prompt": prompt, "max_tokens": 1})
        raise SystemExit("mixed_clients: the prefix cache does not fill")

    def is_idle(self):
        return b'"running":0,"waiting":0' in self.client.call("GET", "/health").replace(b" ", b"")

    def wait_until_idle(self):
        end = time.monotonic() + 120
        while not self.is_idle():
            if time.monotonic() > end:
                return False
            time.sleep(0.05)
        return True


class Load:
    def __init__(self, server, requests, seed):
        self.server, self.expected, self.faults = server, {}, []
        rng = random.Random(seed)
        # Each kind equally often, in random order.
        self.todo = [(KINDS[i % len(KINDS)], rng.randrange(VARIANTS)) for i in range(requests)]
        rng.shuffle(self.todo)
        self.lock = threading.Lock()
        self.seconds = collections.defaultdict(list)  # by kind
        self.wrong = collections.Counter()
        self.early = 0  # resident bytes after the first fifth
        self.mark = len(self.todo) - len(self.todo) // 5

    def alone(self):
        for kind in KINDS:
            for number in range(VARIANTS):
                self.expected[kind, number] = kind(self.server.client, number)

    def work(self):
        while True:
            with self.lock:
                if not self.todo:
                    return
                kind, number = self.todo.pop()
                if len(self.todo) <= self.mark and not self.early:
                    self.early = self.server.resident_bytes()
            start = time.monotonic()
            try:
                found = kind(self.server.client, number)
                fault = None if found == self.expected[kind, number] else f"{found!r:.300} instead of {self.expected[kind, number]!r:.300}"
            except Exception as error:  # a lost answer is a wrong one
                fault = repr(error)
            with self.lock:
                self.seconds[kind].append(time.monotonic() - start)
                if fault:
                    self.wrong[kind] += 1
                    self.faults.append(f"{kind.__name__} {number}: {fault}")

    def run(self, clients):
        threads = [threading.Thread(target=self.work) for _ in range(clients)]
        for thread in threads:
            thread.start()
        total, shown = len(self.todo), time.monotonic()
        while any(thread.is_alive() for thread in threads):
            time.sleep(0.05)
            if time.monotonic() - shown > 60:
                shown = time.monotonic()
                print(f"{len(self.todo)} of {total} requests left, {len(self.faults)} wrong", file=sys.stderr, flush=True)


def share(values, part):
    return 1000 * sorted(values)[min(len(values) - 1, int(part * len(values)))]


def report(load, seconds):
    print(f"{'client':20} {'requests':>8} {'wrong':>5} {'p50 ms':>8} {'p99 ms':>8}")
    for kind in KINDS:
        times = load.seconds[kind]
        if times:
            print(f"{kind.__name__:20} {len(times):8} {load.wrong[kind]:5} {share(times, 0.5):8.1f} {share(times, 0.99):8.1f}")
    times = [value for values in load.seconds.values() for value in values]
    print(f"{'all ' + str(len(load.seconds)) + ' kinds':20} {len(times):8} {len(load.faults):5} {share(times, 0.5):8.1f} {share(times, 0.99):8.1f}"
          f"   in {seconds:.0f} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=10000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--program", type=Path, default=ROOT / ".build/release/pagoda")
    parser.add_argument("--clients", type=int, default=8)
    options = parser.parse_args()
    server = Server(options.program)
    load = Load(server, options.requests, options.seed)
    if options.requests >= FILLED:
        server.fill()
    load.alone()
    begin = time.monotonic()
    load.run(options.clients)
    report(load, time.monotonic() - begin)
    if not server.wait_until_idle():
        load.faults.append("requests are still there at the end")
    late = server.resident_bytes()
    growth = late / load.early - 1 if load.early else 0
    print(f"seed {options.seed}; resident memory {load.early / 1e6:.1f} MB after a fifth, {late / 1e6:.1f} MB at the end ({100 * growth:+.2f} %)")
    if options.requests >= FILLED and growth > 0.01:
        load.faults.append("memory has grown")
    server.process.terminate()
    if server.process.wait(timeout=120) != 0:
        load.faults.append(f"the server ended with status {server.process.returncode}")
    for fault in load.faults[:20]:
        print("fault:", fault)
    return 1 if load.faults else 0


if __name__ == "__main__":
    sys.exit(main())
