#!/usr/bin/env python3
"""Renders a `pagoda chat` session for the README as an SVG terminal, with real answers of the program.

Usage: cli_picture.py PAGODA cli.svg. The rows of speeds and drafts are omitted, since they depend on the machine.
"""
import subprocess
import sys
from html import escape

QUESTIONS = ["What is the capital of France?", "Hi, my name is Priya.", "What is my name?", "write a quicksort in python"]
WIDTH, LINE, LEFT, TOP = 800, 20, 22, 58
COLOURS = {"prompt": "#7ee787", "typed": "#f0f6fc", "answer": "#c9d1d9", "dim": "#8b949e"}


def screen(pagoda):
    """(colour, text) spans of each line, as shown in a terminal."""
    lines = [[("prompt", "$ "), ("typed", "swift run -c release pagoda chat")]]
    for number, question in enumerate(QUESTIONS):
        # Every round repeats the previous messages: through a pipe each line is one message.
        said = "\n".join(QUESTIONS[:number + 1]) + "\n"
        output = subprocess.run([pagoda, "chat"], input=said, capture_output=True, text=True, check=True).stdout
        earlier = "" if number == 0 else before
        lines.append([("prompt", "> "), ("typed", question)])
        lines += [[("answer", line)] for line in output[len(earlier):].rstrip("\n").split("\n")]
        before = output
    said = "\n".join(QUESTIONS) + "\n/stats\n"
    output = subprocess.run([pagoda, "chat"], input=said, capture_output=True, text=True, check=True).stdout
    lines.append([("prompt", "> "), ("typed", "/stats")])
    rows = output[len(before):].rstrip("\n").split("\n")
    lines += [[("dim", row)] for row in rows if not row.strip().startswith(("speed", "time to first token", "drafted"))]
    return lines


def svg(lines):
    height = TOP + LINE * len(lines) + 14
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}">',
             f'<rect width="{WIDTH}" height="{height}" rx="10" fill="#0d1117"/>']
    parts += [f'<circle cx="{LEFT + 20 * i}" cy="24" r="6" fill="{fill}"/>'
              for i, fill in enumerate(["#ff5f57", "#febc2e", "#28c840"])]
    parts.append('<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="13.5">')
    for row, spans in enumerate(lines):
        text = "".join(f'<tspan fill="{COLOURS[kind]}">{escape(span)}</tspan>' for kind, span in spans)
        parts.append(f'<text x="{LEFT}" y="{TOP + LINE * row}" xml:space="preserve">{text}</text>')
    return "\n".join(parts + ["</g>", "</svg>"]) + "\n"


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write(svg(screen(sys.argv[1])))
