#!/usr/bin/env python3
"""Sends broken images in every API's fields to a server with a tiny vision model, for a while.

Usage: python3 Tools/fuzz/api_images.py [SECONDS] [SEED]      (60 seconds; the seed is printed)

Every answer must be a JSON object with status 200 or 4xx, and the server must still answer a correct request at the end. Inputs are
the files of Tests/Fixtures/images with bits, lengths and base64 changed, and fields with values of other types. A failure prints the
request, which goes to Tests/PagodaServerTests/ImageRequestTests.swift together with the fix. The program is $PAGODA, or the debug build's.
"""
import base64
import http.client
import json
import os
import random
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("PAGODA", str(ROOT / ".build/debug/pagoda"))
FILES = [path.read_bytes() for path in sorted((ROOT / "Tests/Fixtures/images").rglob("*.*"))
         if path.suffix in (".png", ".jpg", ".webp", ".gif", ".bmp") and path.stat().st_size < 1 << 16]
GOOD = (ROOT / "Tests/Fixtures/images/rgb.png").read_bytes()
ODD = [None, True, 0, -1, 1e300, "", [], {}, [[]], "\u0000", "data:", "data:,", "http://localhost/x.png", "file:///etc/hostname",
       "data:image/png;base64", "DATA:image/png;BASE64,AAAA", "x" * 5000]
TYPES = ["image/png", "image/jpeg", "text/html", "", "image/" + "p" * 300, "image/png;charset=utf-8"]


def file_bytes(draw):
    data = bytearray(draw.choice(FILES))
    for _ in range(draw.choice([0, 0, 1, 3, 20]) if data else 0):
        data[draw.randrange(len(data))] = draw.randrange(256)
    if draw.random() < 0.3:
        data = data[:draw.randrange(len(data) + 1)]
    if draw.random() < 0.1:
        data += draw.randbytes(draw.randrange(2000))
    return bytes(data)


def encoded(draw):
    text = base64.b64encode(file_bytes(draw)).decode()
    kind = draw.random()
    if kind < 0.1:
        text = text.rstrip("=")
    elif kind < 0.2:
        at = draw.randrange(len(text) + 1)
        text = text[:at] + draw.choice(["\n", " ", "é", "=", "%", "\u0000", "😀"]) + text[at:]
    elif kind < 0.25:
        text = base64.urlsafe_b64encode(file_bytes(draw)).decode()
    return text


def odd_or(draw, value):
    return draw.choice(ODD) if draw.random() < 0.1 else value


def data_url(draw):
    return f"data:{draw.choice(TYPES)}{draw.choice([';base64', ';base64', ';base64', ';BASE64', ''])},{encoded(draw)}"


def request(draw):
    """A path and a body; one value in ten is of another type."""
    detail = odd_or(draw, draw.choice(["low", "high", "auto"]))
    text = {"type": "text", "text": "What is this?"}
    api = draw.randrange(4)
    if api == 0:
        part = {"type": "image_url", "image_url": odd_or(draw, {"url": odd_or(draw, data_url(draw)), "detail": detail})}
        return "/v1/chat/completions", {"messages": [{"role": "user", "content": odd_or(draw, [part, text])}], "max_tokens": 1}
    if api == 1:
        part = {"type": "input_image", "image_url": odd_or(draw, data_url(draw)), "detail": detail}
        content = odd_or(draw, [part, {"type": "input_text", "text": "What?"}])
        return "/v1/responses", {"input": [{"role": "user", "content": content}], "max_output_tokens": 16}
    if api == 2:
        source = {"type": odd_or(draw, "base64"), "media_type": draw.choice(TYPES), "data": odd_or(draw, encoded(draw))}
        part = {"type": "image", "source": odd_or(draw, source)}
        return "/v1/messages", {"messages": [{"role": "user", "content": odd_or(draw, [part, text])}], "max_tokens": 1}
    images = odd_or(draw, [odd_or(draw, encoded(draw)) for _ in range(draw.randrange(3))])
    return "/api/chat", {"model": "chat", "stream": False, "options": {"num_predict": 1},
                         "messages": [{"role": "user", "content": "What is this?", "images": images}]}


def send(address, path, body):
    connection = http.client.HTTPConnection(*address, timeout=120)
    connection.request("POST", path, json.dumps(body), {"content-type": "application/json"})
    response = connection.getresponse()
    return response.status, json.loads(response.read())


def run(address, seconds, draw):
    counts, end = {}, time.monotonic() + seconds
    while time.monotonic() < end:
        path, body = request(draw)
        try:
            status, answer = send(address, path, body)
            is_right = isinstance(answer, dict) and (status == 200 or 400 <= status < 500)
        except (OSError, http.client.HTTPException, ValueError) as error:
            status, is_right = repr(error), False
        if not is_right:
            sys.exit(f"{path}: {status} for {json.dumps(body)}")
        counts[status] = counts.get(status, 0) + 1
    return counts


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(1 << 32)
    print("seed", seed, flush=True)
    model = ROOT / "Tests/Fixtures/vision/chat"
    command = [PROGRAM, "serve", "--port", "0", "--model", str(model), "--device", "cpu", "--max-model-len", "512"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        found = re.search(r"http://([^:/ ]+):(\d+)/", server.stdout.readline())
        try:
            address = (found.group(1), int(found.group(2)))
            counts = run(address, seconds, random.Random(seed))
            url = "data:image/png;base64," + base64.b64encode(GOOD).decode()
            part = {"type": "image_url", "image_url": {"url": url}}
            status, answer = send(address, "/v1/chat/completions",
                                  {"messages": [{"role": "user", "content": [part]}], "max_tokens": 1})
            if status != 200 or min(counts.get(200, 0), counts.get(400, 0)) == 0:
                sys.exit(f"{counts}, and at the end {status}: {answer}")
            print(sum(counts.values()), "requests:", counts)
        finally:
            server.terminate()


if __name__ == "__main__":
    main()
