#!/usr/bin/env python3
"""Draws the architecture as SVG, from the programs down to the devices. Usage: architecture_picture.py FILE"""
import sys
from html import escape

WIDTH = 820
LAYERS = [  # title, fill, modules as (name, purpose)
    ("Apps", "#fde8e4", [("pagoda", "chat, serve, batch, bench"), ("PagodaChat", "SwiftUI app"), ("your program", "import PagodaKit")]),
    ("Swift", "#fdf1dc", [("PagodaServer", "OpenAI, Anthropic, page"), ("PagodaChatCore", "the app's logic and store"),
                          ("PagodaKit", "Engine, ChatSession, events")]),
    ("C++ core: one engine thread", "#e6eefb", [("engine", "a step: plan, run, sample"), ("scheduler", "continuous batching"),
                                                 ("cache", "KV blocks, states, prefixes"), ("text, grammar", "tokens, templates, schemas")]),
    ("Model as operations", "#e4f4e8", [("model", "Gated DeltaNet, attention"), ("ops", "checked entries"),
                                        ("io", "safetensors, GGUF"), ("sampler", "seeds, penalties, masks")]),
    ("Devices, one table of operations", "#efe7fa", [("cpu", "AVX2, AVX-512, AMX, NEON"), ("reference", "double precision oracle"),
                                                     ("gpu", "kernels in Metal's language")]),
]
LAYER_HEIGHT, GAP, PAD = 104, 22, 16


def draw():
    height = len(LAYERS) * (LAYER_HEIGHT + GAP) + 10
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
           'font-family="system-ui, -apple-system, Segoe UI, sans-serif">',
           f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>']
    for level, (title, fill, modules) in enumerate(LAYERS):
        y = 8 + level * (LAYER_HEIGHT + GAP)
        out.append(f'<rect x="8" y="{y}" width="{WIDTH - 16}" height="{LAYER_HEIGHT}" rx="10" fill="{fill}"/>')
        out.append(f'<text x="24" y="{y + 24}" font-size="14" font-weight="600" fill="#334">{escape(title)}</text>')
        width = (WIDTH - 16 - PAD * (len(modules) + 1)) / len(modules)
        for index, (name, work) in enumerate(modules):
            x = 8 + PAD + index * (width + PAD)
            middle = x + width / 2
            out.append(f'<rect x="{x:.0f}" y="{y + 36}" width="{width:.0f}" height="54" rx="6" fill="#fff" stroke="#99a"/>')
            out.append(f'<text x="{middle:.0f}" y="{y + 59}" font-size="14" font-weight="600" text-anchor="middle" '
                       f'fill="#223">{escape(name)}</text>')
            out.append(f'<text x="{middle:.0f}" y="{y + 78}" font-size="11.5" text-anchor="middle" fill="#556">{escape(work)}</text>')
        if level + 1 < len(LAYERS):
            foot, x = y + LAYER_HEIGHT, WIDTH / 2
            out.append(f'<path d="M{x} {foot + 2} v{GAP - 8} m-6 -6 l6 6 l6 -6" stroke="#667" stroke-width="2" fill="none"/>')
    return "\n".join(out + ["</svg>"]) + "\n"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write(draw())
