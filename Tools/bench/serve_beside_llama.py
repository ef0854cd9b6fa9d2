#!/usr/bin/env python3
"""Sends the same load to `pagoda serve` and to llama.cpp's server, interleaved, several times: concurrent clients, throughput, TTFT; and
agents with tool loops if the model has a tokenizer. The machine should be idle otherwise.

  Tools/bench/serve_beside_llama.py --llama llama.cpp/build/bin --shape qwen3.5-0.8b --format 8bit --clients 8,32 --rounds 3
  Tools/bench/serve_beside_llama.py --llama llama.cpp/build/bin --model DIR --gguf FILE.gguf --agents 8

Without --gguf a file of the shape is written by make_gguf.py and quantised with llama-quantize. Prints a line for each measurement and
the ratios of the medians; --json FILE keeps everything."""
import argparse
import json
import os
import socket
import statistics
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TYPES = {"8bit": "Q8_0", "4bit": "Q4_K_M", "bf16": "BF16"}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A server that answers /health, and its log."""

    def __init__(self, command, port):
        self.name = str(command[0])
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen([str(word) for word in command], stdout=self.log, stderr=self.log)
        for _ in range(3000):
            self.check()
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5) as answer:
                    if answer.status == 200:
                        return
            except OSError:
                time.sleep(0.1)
        self.stop()
        raise SystemExit(f"{self.name} did not become ready")

    def check(self):
        """Ends the program with the server's last words if it has ended."""
        code = self.process.poll()
        if code is not None:
            self.log.seek(0)
            raise SystemExit(f"{self.name} ended with {code}:\n{self.log.read()[-2000:]}")

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:  # it drains
            self.process.kill()
            self.process.wait()


def servers(options, gguf, slots):
    """Names and commands; both have `slots` sequences and the same number of threads."""
    length = options.input_len + options.output_len + 64 if not options.agents else options.context
    pagoda_port, llama_port = free_port(), free_port()
    pagoda = [options.pagoda, "serve", "--port", pagoda_port, "--threads", options.threads, "--max-num-seqs", slots,
              "--max-model-len", length, "--quantize", options.format]
    pagoda += ["--model", options.model] if options.model else ["--shape", options.shape]
    llama = [options.llama / "llama-server", "-m", gguf, "--host", "127.0.0.1", "--port", llama_port, "-t", options.threads,
             "-tb", options.threads, "-np", slots, "-c", slots * length, "--no-webui", *options.llama_options.split()]
    if options.agents:
        llama.append("--jinja")
    return {"pagoda": (pagoda, pagoda_port), "llama.cpp": (llama, llama_port)}


def load(options, port, clients):
    url = f"http://127.0.0.1:{port}"
    if options.agents:
        command = [options.pagoda, "bench", "agents", "--base-url", url, "--agents", options.agents, "--turns", options.turns]
    else:
        command = [options.pagoda, "bench", "serve", "--base-url", url, "--num-prompts", clients * options.per_client,
                   "--max-concurrency", clients, "--random-input-len", options.input_len, "--random-output-len", options.output_len]
    done = subprocess.run([*map(str, command), "--json", "--model", options.served], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"the load failed: {done.stderr[-1000:]}{done.stdout[-1000:]}")
    return json.loads(done.stdout)


def make_gguf(options, folder):
    import make_gguf as maker
    plain = folder / f"{options.shape}-bf16.gguf"
    if not plain.exists():
        maker.make_gguf(options.shape, plain)
    if options.format == "bf16":
        return plain
    quantized = folder / f"{options.shape}-{options.format}.gguf"
    if not quantized.exists():
        subprocess.run([options.llama / "llama-quantize", plain, quantized, TYPES[options.format]], check=True, capture_output=True)
    return quantized


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--llama", type=Path, required=True, help="folder of llama-server and llama-quantize")
    parser.add_argument("--pagoda", type=Path, default=ROOT / ".build/release/pagoda")
    parser.add_argument("--shape", default="qwen3.5-0.8b")
    parser.add_argument("--model", help="a model's folder instead of a shape; needs --gguf")
    parser.add_argument("--gguf", type=Path)
    parser.add_argument("--format", choices=list(TYPES), default="8bit")
    parser.add_argument("--clients", default="8,32")
    parser.add_argument("--per-client", type=int, default=2, help="requests of each client")
    parser.add_argument("--input-len", type=int, default=256)
    parser.add_argument("--output-len", type=int, default=64)
    parser.add_argument("--agents", type=int, default=0, help="agents with tool loops instead of single requests")
    parser.add_argument("--turns", type=int, default=6)
    parser.add_argument("--context", type=int, default=8192, help="tokens of a sequence, for agents")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--served", default="model", help=argparse.SUPPRESS)
    parser.add_argument("--llama-options", default="", help="further options of llama-server")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()), help="where GGUF files are made")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if options.model and not options.gguf:
        parser.error("--model needs --gguf")
    gguf = options.gguf or make_gguf(options, options.folder)
    rows = []
    for clients in [options.agents] if options.agents else map(int, options.clients.split(",")):
        for round_number in range(options.rounds):
            commands = servers(options, gguf, 2 * clients if options.agents else clients)
            commands["pagoda"][0].extend(["--served-model-name", options.served])
            for name, (command, port) in commands.items():
                server = Server(command, port)
                try:
                    result = load(options, port, clients)
                    server.check()
                finally:
                    server.stop()
                rows.append({"server": name, "clients": clients, "round": round_number, **result})
                speed = result.get("output_throughput") or result.get("turns_per_minute")
                first = result.get("median_ttft_ms") or statistics.median(
                    row["median_ttft_ms"] for row in result["by_turn"] if row["median_ttft_ms"] is not None)
                print(f"{name:10} {clients:3} clients, round {round_number + 1}: {speed:8.1f} "
                      f"{'turns/min' if options.agents else 'tok/s'}, TTFT median {first:8.1f} ms"
                      + (f", Jain {result['fairness']:.2f}" if options.agents else ""), flush=True)
        both = {name: [row for row in rows if row["server"] == name and row["clients"] == clients] for name in ("pagoda", "llama.cpp")}
        key = "turns_per_minute" if options.agents else "output_throughput"
        speeds = {name: statistics.median(row[key] for row in found) for name, found in both.items()}
        line = f"{clients} clients: {speeds['pagoda'] / speeds['llama.cpp']:.2f} times llama.cpp's throughput"
        if not options.agents:
            times = {name: statistics.median(row["median_ttft_ms"] for row in found) for name, found in both.items()}
            line += f", TTFT {times['pagoda'] / times['llama.cpp']:.2f} of llama.cpp's"
        print(line, flush=True)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
