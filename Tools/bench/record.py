#!/usr/bin/env python3
"""Runs `pagoda bench` in each weight format and appends the rows to Tools/bench/results/<machine>.csv.

Run it on an idle machine, from a clean tree: the commit in the table should be the one that ran. Example:
  swift build -c release && Tools/bench/record.py --tests pp512,tg128,b8
"""
import argparse
import csv
import datetime
import json
import os
import platform
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COLUMNS = (
    "date commit cpu threads model format test tok_s gb_per_token pct_bandwidth pct_compute read_gb_s peak_tops".split()
)


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True).stdout.strip()


def cpu_name():
    if platform.system() == "Darwin":
        return output("sysctl", "-n", "machdep.cpu.brand_string")
    text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    name = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    if name:
        return name[1].strip()
    part = re.search(r"^CPU part\s*:\s*(\S+)$", text, re.MULTILINE)  # aarch64 only has numbers
    return f"{platform.machine()} part {part[1]}" if part else platform.machine()


def commit_name():
    """The commit; ends with + if the tree has uncommitted changes."""
    changed = output("git", "status", "--porcelain", "--untracked-files=no", "--", ":!Tools/bench/results")
    return output("git", "rev-parse", "--short", "HEAD") + ("+" if changed else "")


def bench_rows(options, format_name, common):
    command = [str(options.pagoda), "bench", "--json", "--tests", options.tests, "--threads", str(options.threads)]
    command += ["--repetitions", str(options.repetitions), "--shape", options.shape]
    command += ["--quantize", format_name] if options.has_quantize else []
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}\nfailed with {done.returncode}:\n{done.stderr}")
    report = json.loads(done.stdout)
    for row in report["rows"]:
        numbers = {key: f"{value:.6g}" for key, value in row.items() if key in COLUMNS and key != "test"}
        format_used = report["model"]["format"]
        yield {**common, "threads": report["limits"]["threads"], "model": report["model"]["name"],
               "format": format_used, "test": row["test"], **numbers}


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pagoda", type=Path, default=ROOT / ".build/release/pagoda")
    parser.add_argument("--shape", default="qwen3.5-0.8b")
    parser.add_argument("--formats", default="8bit,4bit,bf16")
    parser.add_argument("--tests", default="pp512,pp2048,tg128,b1,b4,b8,b16,b32")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--machine", help="name of the table (default: from the processor)")
    options = parser.parse_args()
    help_text = subprocess.run([str(options.pagoda), "bench", "--help"], capture_output=True, text=True, check=True)
    options.has_quantize = "--quantize" in help_text.stdout
    if not options.has_quantize and options.formats != "bf16":
        parser.error("this pagoda has no --quantize; only --formats bf16 can be recorded")
    return options


def main():
    options = parse_options()
    cpu = cpu_name()
    machine = options.machine or re.sub(r"[^a-z0-9]+", "-", f"{cpu}-{options.threads}-threads".lower()).strip("-")
    table = ROOT / "Tools/bench/results" / f"{machine}.csv"
    table.parent.mkdir(exist_ok=True)
    common = {"date": datetime.date.today().isoformat(), "commit": commit_name(), "cpu": cpu}
    is_new = not table.exists()
    with table.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if is_new:
            writer.writeheader()
        for format_name in options.formats.split(","):
            for row in bench_rows(options, format_name, common):
                writer.writerow(row)
                file.flush()
                print(f"{row['format']:>9} {row['test']:>12} {row['tok_s']:>8} tok/s, {row['pct_bandwidth']} % of read")
    print(table.relative_to(ROOT))


if __name__ == "__main__":
    main()
