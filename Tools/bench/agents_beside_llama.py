#!/usr/bin/env python3
"""The table of agents: `pagoda serve` and llama.cpp's server, the same GGUF file, the same agents, one after the other, several rounds.

  Tools/bench/mini_gguf.py mini.gguf Q8_0 && Tools/bench/make_gguf.py qwen3.5-0.8b shape.gguf Q8_0
  Tools/bench/agents_beside_llama.py --llama llama.cpp/build/bin/llama-server --gguf mini.gguf --agents 100 --rounds 3
  Tools/bench/agents_beside_llama.py --llama ... --gguf shape.gguf --turns 2 --agent-options "--forks 0 --system-words 1400" --duration 200

Each round starts both servers afresh, so that the shared prompt is not cached, and drives them with `pagoda bench agents` over OpenAI's API.
Both have the same number of threads, of sequences (--slots) and of tokens per sequence (--context), and the same cores if --cores names
them; the clients then run on --load-cores. llama.cpp gets a thread for each client's connection. The file needs a tokenizer and a chat
template. Prints a table as Markdown, with a row for each run and the medians; --json FILE keeps everything. A server that ends during
its load is an error, with the end of its log. Needs no package. The machine should be idle otherwise."""
import argparse
import contextlib
import json
import os
import statistics
import subprocess
from pathlib import Path

from serve_beside_llama import ROOT, Server, free_port

COLUMNS = {"turns per minute": "turns_per_minute", "first token of turn 1, p50 s": "first_p50", "p95 s": "first_p95",
           "of later turns, p50 s": "later_p50", "p95 s ": "later_p95", "Jain": "fairness", "cached %": "cached_percent", "turns": "completed",
           "failed": "failed"}


def commands(options):
    """Names, commands and ports of the servers."""
    ports = free_port(), free_port()
    pagoda = [options.pagoda, "serve", "--port", ports[0], "--model", options.model or options.gguf, "--threads", options.threads,
              "--max-num-seqs", options.slots, "--max-model-len", options.context, *options.pagoda_options.split()]
    llama = [options.llama, "-m", options.gguf, "--host", "127.0.0.1", "--port", ports[1], "-t", options.threads, "-tb", options.threads,
             "-np", options.slots, "-c", options.slots * options.context, "--threads-http", options.agents + 8, "--jinja", "--no-webui",
             *options.llama_options.split()]
    both = {"Pagoda": (pagoda, ports[0]), "llama.cpp": (llama, ports[1])}
    return {options.only: both[options.only]} if options.only else both


def cores(text):
    """`0-5,8` as a set."""
    spans = (part.split("-") for part in text.split(","))
    return {core for span in spans for core in range(int(span[0]), int(span[-1]) + 1)}


@contextlib.contextmanager
def pinned(text):
    """Programs that are started inside run on these cores only; on all if there is no text."""
    before = os.sched_getaffinity(0) if text else None
    if text:
        os.sched_setaffinity(0, cores(text))
    yield
    if text:
        os.sched_setaffinity(0, before)


def load(options, port):
    """What `pagoda bench agents` measures; turns that fail are part of it."""
    command = [options.pagoda, "bench", "agents", "--json", "--base-url", f"http://127.0.0.1:{port}", "--agents", options.agents,
               "--turns", options.turns, "--seed", options.seed, *options.agent_options.split()]
    if options.duration:
        command += ["--duration", options.duration]
    with pinned(options.load_cores):
        done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
    try:
        return json.loads(done.stdout)
    except ValueError:
        raise SystemExit(f"the load failed: {done.stderr[-1000:]}{done.stdout[-1000:]}") from None


def seconds(rows, key):
    """The median over turns of one of their times, in seconds; None if no token came."""
    times = [row[key] for row in rows if row[key] is not None]
    return statistics.median(times) / 1000 if times else None


def measured(result):
    turns = result["by_turn"]
    times = {f"{name}_{short}": seconds(rows, f"{key}_ttft_ms") for name, rows in (("first", turns[:1]), ("later", turns[1:]))
             for short, key in (("p50", "median"), ("p95", "p95"))}
    return {**result, **times}


def cell(value):
    if value is None:
        return "-"
    return str(value) if isinstance(value, int) else f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"


def line(name, row):
    print(f"| {name} | " + " | ".join(cell(row[key]) for key in COLUMNS.values()) + (" (cut off) |" if row.get("interrupted") else " |"), flush=True)


def medians(rows):
    found = {key: [row[key] for row in rows if row[key] is not None] for key in COLUMNS.values()}
    return {key: statistics.median(values) if values else None for key, values in found.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--llama", type=Path, required=True, help="llama-server")
    parser.add_argument("--gguf", type=Path, required=True)
    parser.add_argument("--pagoda", type=Path, default=ROOT / ".build/release/pagoda")
    parser.add_argument("--model", help="what Pagoda serves instead of the file, such as mini")
    parser.add_argument("--only", choices=["Pagoda", "llama.cpp"], help="leaves the other one out")
    parser.add_argument("--agents", type=int, default=100)
    parser.add_argument("--turns", type=int, default=6)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--slots", type=int, default=32, help="sequences at once")
    parser.add_argument("--context", type=int, default=8192, help="tokens of a sequence")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--cores", default="", help="of both servers, such as 0-13 (Linux; default: all)")
    parser.add_argument("--load-cores", default="", help="of the clients, such as 14,15")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--duration", type=int, help="end each run after this many seconds")
    parser.add_argument("--agent-options", default="", help="further options of pagoda bench agents")
    parser.add_argument("--pagoda-options", default="", help="further options of pagoda serve")
    parser.add_argument("--llama-options", default="", help="further options of llama-server")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows = {"Pagoda": [], "llama.cpp": []}
    print(f"| {options.agents} agents, {options.turns} turns | " + " | ".join(name.strip() for name in COLUMNS) + " |")
    print("|---" * (len(COLUMNS) + 1) + "|", flush=True)
    for number in range(1, options.rounds + 1):
        for name, (command, port) in commands(options).items():
            with pinned(options.cores):
                server = Server(command, port)
            try:
                rows[name].append(measured(load(options, port)))
                server.check()
            finally:
                server.stop()
            line(f"{name}, round {number}", rows[name][-1])
    if options.rounds > 1:
        for name, found in rows.items():
            if found:
                line(f"**{name}, median**", medians(found))
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
