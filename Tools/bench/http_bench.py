#!/usr/bin/env python3
"""The cost of HTTP in `pagoda serve`: requests per second, CPU share of its threads with many streams, idle connections.

Usage: http_bench.py PROGRAM [--streams 500] [--idle 3000] [--seconds 5]. Runs the embedded model on a free port and prints one
line of JSON. Times on a busy machine mean little; `cpu_us` (the server's CPU time per request) and shares are more stable.
"""
import argparse
import json
import os
import re
import resource
import selectors
import socket
import subprocess
import sys
import threading
import time
from urllib.parse import urlsplit

TICK = os.sysconf("SC_CLK_TCK")


class Server:
    def __init__(self, program, *options):
        command = [program, "serve", "--port", "0", *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        parts = urlsplit(re.search(r"http://\S+", self.process.stdout.readline()).group())
        self.address = (parts.hostname, parts.port)
        self.http_threads = set()  # the threads that short requests keep busy

    def connect(self):
        connection = socket.create_connection(self.address, timeout=120)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def threads(self):
        """CPU seconds of each thread."""
        found = {}
        folder = f"/proc/{self.process.pid}/task"
        for thread in os.listdir(folder):
            try:
                text = open(f"{folder}/{thread}/stat").read()
            except OSError:
                continue
            found[thread] = sum(map(int, text.rpartition(")")[2].split()[11:13])) / TICK
        return found

    def cpu(self):
        """CPU seconds of all threads, and of the HTTP threads."""
        found = self.threads()
        return sum(found.values()), sum(found.get(thread, 0) for thread in self.http_threads)

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=60)


def read_answer(file):
    length = 0
    while (line := file.readline().strip()):
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    return file.read(length)


def chat(tokens, **more):
    body = json.dumps({"messages": [{"role": "user", "content": "Hello!"}], "stream": True, "ignore_eos": True,
                       "max_tokens": tokens, **more}).encode()
    head = b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    return head % len(body) + body


def requests_a_second(server, seconds, batch=4):
    """16 connections with a few requests in flight on each. Only HTTP works for them, which identifies its threads."""
    request = b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n"
    connections = [server.connect() for _ in range(16)]
    files = [connection.makefile("rb") for connection in connections]
    count, start, before = 0, time.monotonic(), server.threads()
    while time.monotonic() - start < seconds:
        for connection in connections:
            connection.sendall(request * batch)
        for file in files:
            for _ in range(batch):
                read_answer(file)
        count += batch * len(files)
    spent = time.monotonic() - start
    used = {thread: after - before.get(thread, 0) for thread, after in server.threads().items()}
    total = sum(used.values())
    server.http_threads = {thread for thread, cpu in used.items() if cpu > 0.03 * total}
    return {"requests_per_second": round(count / spent), "cpu_us": round(total * 1e6 / count, 1),
            "http_threads": len(server.http_threads)}


def latency(server, path, count=200):
    request = f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    times = []
    for _ in range(count):
        start = time.monotonic()
        connection = server.connect()
        connection.sendall(request)
        read_answer(connection.makefile("rb"))
        times.append(time.monotonic() - start)
        connection.close()
        time.sleep(0.01)
    return sorted(times)


def streams(server, count, tokens=64):
    """`count` concurrent streaming clients, and the response time of /health meanwhile."""
    selector = selectors.DefaultSelector()
    before, start = server.cpu(), time.monotonic()
    received = {}
    for _ in range(count):
        connection = server.connect()
        connection.sendall(chat(tokens))
        connection.setblocking(False)
        received[connection] = bytearray()
        selector.register(connection, selectors.EVENT_READ)
    health = []
    watcher = threading.Thread(target=lambda: health.extend(latency(server, "/health")))
    watcher.start()
    good = left = 0
    left = count
    while left:
        for key, _ in selector.select(timeout=120):
            try:
                data = key.fileobj.recv(1 << 16)
            except OSError:
                data = b""
            received[key.fileobj] += data
            if not data or received[key.fileobj].endswith(b"0\r\n\r\n"):
                good += b"data: [DONE]" in received[key.fileobj]
                selector.unregister(key.fileobj)
                key.fileobj.close()
                left -= 1
    spent, after = time.monotonic() - start, server.cpu()
    watcher.join()
    everything, http = (b - a for a, b in zip(before, after))
    return {"streams": count, "errors": count - good, "tokens_per_second": round(count * tokens / spent),
            "http_cpu_share": round(http / everything, 4), "health_p99_ms": round(health[int(len(health) * 0.99) - 1] * 1e3, 1)}


def single_stream(server, tokens=1000):
    connection = server.connect()
    start = time.monotonic()
    connection.sendall(chat(tokens))
    data = b""
    while not data.endswith(b"0\r\n\r\n"):
        data = (data + connection.recv(1 << 16))[-64:]
    connection.close()
    return tokens / (time.monotonic() - start)


def idle(server, count, rounds=5):
    """Tokens per second of one stream, with and without idle connections, interleaved."""
    without, beside = [], []
    for _ in range(rounds):
        without.append(single_stream(server))
        connections = []
        for _ in range(count):
            connection = server.connect()
            connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            read_answer(connection.makefile("rb"))
            connections.append(connection)
        beside.append(single_stream(server))
        descriptors = len(os.listdir(f"/proc/{server.process.pid}/fd"))
        for connection in connections:
            connection.close()
    return {"idle": count, "descriptors": descriptors, "tokens_per_second": round(max(without)),
            "with_idle": round(max(beside)), "ratio": round(max(beside) / max(without), 3)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--streams", type=int, default=500)
    parser.add_argument("--idle", type=int, default=3000)
    parser.add_argument("--seconds", type=float, default=5)
    options = parser.parse_args()
    need = 2 * options.idle + 1000
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(max(soft, need), hard), hard))
    limit = str(options.idle + options.streams + 100)
    server = Server(options.program, "--max-connections", limit, "--max-queue", str(options.streams + 100))
    result = requests_a_second(server, options.seconds)
    if options.streams:
        result.update(streams(server, options.streams))
    if options.idle:
        result.update(idle(server, options.idle))
    server.stop()
    print(json.dumps(result))


if __name__ == "__main__":
    sys.exit(main())
