#!/usr/bin/env python3
"""The cost of watching: tokens per second of `pagoda serve` under 32 clients, with and without /status open, interleaved.

Usage: watch_cost.py PROGRAM [--rounds 10] [--watchers 1] [--clients 32] [--prompts 96] [--shape NAME] [--limit 1]. A round
is without, with, with, without. A watcher reads /status/events and, every two seconds, /metrics, as the page and `pagoda top`
do. Prints a line per round and the mean of the ratios with its standard error; exits with status 1 if the cost exceeds
--limit per cent by more than two standard errors. For an idle machine. On a busy one the ratios scatter; the second line of the
result is still valid there (Linux only): the extra CPU time, with watchers, of the server's threads other than the engine's, per
second and core.
"""
import argparse
import json
import os
import re
import socket
import statistics
import subprocess
import sys
import threading
import time
import urllib.request
from urllib.parse import urlsplit


class Watcher:
    """Reads and discards, on two threads, so that it takes little time from the server."""

    def __init__(self, url):
        parts = urlsplit(url)
        self.url = url
        self.events = 0
        self.ending = threading.Event()
        self.connection = socket.create_connection((parts.hostname, parts.port), timeout=120)
        self.connection.sendall(f"GET /status/events HTTP/1.1\r\nHost: {parts.netloc}\r\n\r\n".encode())
        self.threads = [threading.Thread(target=self.read), threading.Thread(target=self.poll)]
        for thread in self.threads:
            thread.start()

    def read(self):
        while data := self.connection.recv(1 << 16):
            self.events += data.count(b"event: step")

    def poll(self):
        while not self.ending.wait(2):
            urllib.request.urlopen(self.url + "/metrics").read()

    def stop(self):
        self.ending.set()
        self.connection.shutdown(socket.SHUT_RDWR)
        for thread in self.threads:
            thread.join()
        self.connection.close()


def beside_engine(pid, before=None):
    """CPU seconds by thread; or, given an earlier reading, the sum used since then by all threads but the busiest, one
    for each core, which are the engine's."""
    now = {}
    for task in os.listdir(f"/proc/{pid}/task") if os.path.isdir(f"/proc/{pid}/task") else []:
        try:
            with open(f"/proc/{pid}/task/{task}/schedstat") as file:
                now[task] = int(file.read().split()[0]) / 1e9
        except OSError:  # the thread has ended
            pass
    if before is None:
        return now
    return sum(sorted(seconds - before.get(task, 0) for task, seconds in now.items())[: -os.cpu_count()])


def measure(arguments, url, watchers):
    running = [Watcher(url) for _ in range(watchers)]
    time.sleep(0.3)
    command = [arguments.program, "bench", "serve", "--base-url", url, "--num-prompts", str(arguments.prompts), "--max-concurrency",
               str(arguments.clients), "--random-input-len", "64", "--random-output-len", "128", "--json"]
    before, start = beside_engine(arguments.pid), time.monotonic()
    result = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    used = beside_engine(arguments.pid, before) / (time.monotonic() - start)
    for watcher in running:
        watcher.stop()
        assert watcher.events > 0, "the watcher saw no event"
    assert result["completed"] == arguments.prompts, result
    return result["output_throughput"], sum(watcher.events for watcher in running), used


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    for name, default in [("rounds", 10), ("watchers", 1), ("clients", 32), ("prompts", 96)]:
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--shape")
    parser.add_argument("--limit", type=float, default=1.0)
    arguments = parser.parse_args()
    model = ["--shape", arguments.shape, "--quantize", "8bit"] if arguments.shape else []
    command = [arguments.program, "serve", "--port", "0", "--max-num-seqs", str(arguments.clients), *model]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    arguments.pid = server.pid
    try:
        url = re.search(r"http:\/\/\S+", server.stdout.readline()).group().rstrip("/")
        while True:
            try:
                urllib.request.urlopen(url + "/v1/models").read()
                break
            except OSError:
                time.sleep(0.2)
        measure(arguments, url, 0)  # warms up
        ratios, extra = [], []
        for index in range(arguments.rounds):
            speeds = [measure(arguments, url, watchers) for watchers in (0, arguments.watchers, arguments.watchers, 0)]
            without, watched = speeds[0][0] + speeds[3][0], speeds[1][0] + speeds[2][0]
            ratios.append(watched / without)
            extra.append((speeds[1][2] + speeds[2][2] - speeds[0][2] - speeds[3][2]) / 2 / os.cpu_count() * 100)
            print(f"round {index + 1}: {without / 2:.0f} tokens/s without, {watched / 2:.0f} with "
                  f"({speeds[1][1] + speeds[2][1]} events), ratio {ratios[-1]:.4f}, "
                  f"{extra[-1]:.3f} % of the processor", flush=True)
    finally:
        server.terminate()
        server.wait()
    cost = (1 - statistics.mean(ratios)) * 100
    error = statistics.stdev(ratios) / len(ratios) ** 0.5 * 100 if len(ratios) > 1 else float("inf")
    print(f"cost of watching: {cost:.2f} % +- {error:.2f} % of {arguments.clients} clients' throughput")
    print(f"processor time of the server beside the engine: {statistics.mean(extra):.3f} % of {os.cpu_count()} cores more")
    return 1 if cost - 2 * error > arguments.limit else 0


if __name__ == "__main__":
    sys.exit(main())
