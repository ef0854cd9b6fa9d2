#!/usr/bin/env python3
"""How long other clients wait while one occupies all connections of a `pagoda serve`: idle, with half of the headers, with half
a body, with half of a large body. Usage: lockout.py PROGRAM [--connections 256] [--seconds 10]. Prints one line of JSON: requests,
errors, and the maximum and 99th percentile of their times, for each kind of attack and without one. Runs the embedded model on a
free port."""
import argparse
import http.client
import json
import re
import socket
import subprocess
import threading
import time
from urllib.parse import urlsplit

ATTACKS = {
    "none": None,
    "idle": b"GET /version HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "silent": b"",
    "half a head": b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Ty",
    "half a body": b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 90\r\n\r\n{",
    "half of a large body": b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                            b"Content-Length: 16000000\r\n\r\n" + b" " * 8_000_000,
}


def attack(address, data, count, ending):
    """Opens connections as fast as they are closed, four times as many as the server accepts."""
    held = []
    while not ending.is_set():
        try:
            connection = socket.create_connection(address, timeout=5)
            connection.sendall(data)
            held.append(connection)
        except OSError:
            time.sleep(0.01)
        if len(held) > 4 * count:
            held.pop(0).close()
        time.sleep(0.0005)
    for connection in held:
        connection.close()


def victim(address):
    """Sends a request on a new connection; returns the seconds it took, or None on an error."""
    begin = time.perf_counter()
    try:
        connection = http.client.HTTPConnection(*address, timeout=60)
        connection.request("POST", "/v1/chat/completions", json.dumps(
            {"messages": [{"role": "user", "content": "Hello!"}], "max_tokens": 1}), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        answer.read()
        connection.close()
        return time.perf_counter() - begin if answer.status == 200 else None
    except (OSError, http.client.HTTPException):
        return None


def measure(program, data, options):
    command = [program, "serve", "--port", "0", "--max-connections", str(options.connections)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    ending = threading.Event()
    try:
        parts = urlsplit(re.search(r"http://\S+", server.stdout.readline()).group())
        address = (parts.hostname, parts.port)
        attacker = threading.Thread(target=attack, args=(address, data, options.connections, ending)) if data is not None else None
        if attacker:
            attacker.start()
            time.sleep(2)  # until all connections are taken
        times, end = [], time.monotonic() + options.seconds
        while time.monotonic() < end:
            times.append(victim(address))
            time.sleep(0.02)
        ending.set()
        if attacker:
            attacker.join()
    finally:
        ending.set()
        server.terminate()
        server.wait(timeout=60)
    good = sorted(value for value in times if value is not None)
    if not good:
        return {"requests": len(times), "errors": len(times)}
    return {"requests": len(times), "errors": times.count(None), "p50_ms": round(good[len(good) // 2] * 1000, 1),
            "p99_ms": round(good[len(good) * 99 // 100] * 1000, 1), "longest_ms": round(good[-1] * 1000, 1)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--connections", type=int, default=256)
    parser.add_argument("--seconds", type=float, default=10)
    options = parser.parse_args()
    print(json.dumps({name: measure(options.program, data, options) for name, data in ATTACKS.items()}))


if __name__ == "__main__":
    main()
