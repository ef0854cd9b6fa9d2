#!/usr/bin/env python3
"""Time to the first token of a long prompt that another server has computed: fetched from that server or computed, interleaved.

Usage: peer_prefix.py PROGRAM [--shape qwen3.5-0.8b] [--quantize 8bit] [--tokens 4000] [--rounds 5]. Two servers on loopback, each with all
threads; only one works at a time. A round is one prompt read by the first server, the same prompt at the second (fetched), and
another prompt at the second (computed). Prints both medians, their ratio, and whether the answers of a prompt agree. For an idle
machine.
"""
import argparse
import json
import random
import re
import statistics
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path


class Server:
    def __init__(self, arguments, folder, *options):
        command = [arguments.program, "serve", "--port", "0", "--shape", arguments.shape, "--quantize", arguments.quantize,
                   "--max-num-seqs", "2", "--prefix-cache-dir", str(folder), *options]
        self.folder = folder
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.url = re.search(r"http://\S+:\d+", self.process.stdout.readline()).group(0)

    def ask(self, prompt):
        """Seconds to the first token, the answer with its log probabilities, and the number of cached tokens."""
        body = {"prompt": prompt, "max_tokens": 8, "temperature": 0, "stream": True, "logprobs": 1, "ignore_eos": True,
                "stream_options": {"include_usage": True}}
        request = urllib.request.Request(self.url + "/v1/completions", json.dumps(body).encode(), {"Content-Type": "application/json"})
        begin, first, answer, cached = time.monotonic(), None, [], 0
        with urllib.request.urlopen(request) as response:
            for line in response:
                if not line.startswith(b"data: {"):
                    continue
                first = first or time.monotonic() - begin
                chunk = json.loads(line[6:])
                answer += [(choice["text"], choice["logprobs"]) for choice in chunk["choices"]]
                if chunk.get("usage"):
                    cached = chunk["usage"]["prompt_tokens_details"]["cached_tokens"]
        return first, json.dumps(answer), cached

    def settle(self):
        """Waits until the files of the last answer are written."""
        size = -1
        while size != (now := sum(f.stat().st_size for f in self.folder.glob("*.pagoda-prefix"))):
            size = now
            time.sleep(1)
        return size


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--shape", default="qwen3.5-0.8b")
    parser.add_argument("--quantize", default="8bit")
    parser.add_argument("--tokens", type=int, default=4000)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    draw = random.Random(1)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "secret").write_bytes(bytes(range(32)))
        giver = Server(arguments, folder / "giver", "--prefix-secret", str(folder / "secret"))
        taker = Server(arguments, folder / "taker", "--prefix-secret", str(folder / "secret"), "--prefix-peers", giver.url)
        fetched, computed = [], []
        try:
            for _ in range(arguments.rounds):
                prompt, other = ([draw.randrange(1000, 90000) for _ in range(arguments.tokens)] for _ in range(2))
                _, expected, _ = giver.ask(prompt)
                stored = giver.settle()
                seconds, answer, cached = taker.ask(prompt)
                assert answer == expected, "the answers differ"
                fetched.append(seconds)
                taker.settle()
                computed.append(taker.ask(other)[0])
                taker.settle()
                print(f"fetched {fetched[-1]:.3f} s ({cached} of {arguments.tokens} tokens cached), computed {computed[-1]:.3f} s, "
                      f"{stored >> 20} MiB at the first server", flush=True)
        finally:
            giver.process.terminate()
            taker.process.terminate()
            giver.process.wait()
            taker.process.wait()
    ratio = statistics.median(computed) / statistics.median(fetched)
    print(f"first token {statistics.median(fetched):.3f} s fetched, {statistics.median(computed):.3f} s computed: {ratio:.1f}x sooner")


if __name__ == "__main__":
    main()
