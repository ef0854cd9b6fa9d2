#!/usr/bin/env python3
"""Measures the delay that a router adds to the first chunk of a stream: requests alternate between addresses, medians are compared.
Usage: front_latency.py URL_OF_A_REPLICA URL_OF_A_ROUTER... [--requests N]. Needs only Python's own library."""
import argparse
import http.client
import json
import statistics
import time
import urllib.parse


def first_chunk(address, prompt):
    """Milliseconds from the request to the first event of the stream, on a connection that is already open."""
    body = json.dumps({"messages": [{"role": "user", "content": prompt}], "max_tokens": 2, "stream": True, "temperature": 0})
    begin = time.perf_counter()
    address.request("POST", "/v1/chat/completions", body, {"Content-Type": "application/json"})
    response = address.getresponse()
    line = response.readline()
    seconds = time.perf_counter() - begin
    response.read()
    if response.status != 200 or not line.startswith(b"data:"):
        raise SystemExit(f"status {response.status}: {line[:200]!r}")
    return seconds * 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("urls", nargs="+")
    parser.add_argument("--requests", type=int, default=200)
    options = parser.parse_args()
    connections = [http.client.HTTPConnection(urllib.parse.urlsplit(url).netloc, timeout=60) for url in options.urls]
    times = [[] for _ in connections]
    for i in range(options.requests + 5):
        for index, connection in enumerate(connections):
            milliseconds = first_chunk(connection, "Hello!")
            if i >= 5:  # the first requests warm up caches
                times[index].append(milliseconds)
    direct = statistics.median(times[0])
    for url, row in zip(options.urls, times):
        row.sort()
        print(f"{url}: median {statistics.median(row):.2f} ms, p90 {row[len(row) * 9 // 10]:.2f} ms, "
              f"{statistics.median(row) - direct:+.2f} ms")


if __name__ == "__main__":
    main()
