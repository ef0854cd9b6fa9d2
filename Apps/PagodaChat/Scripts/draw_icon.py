#!/usr/bin/env python3
"""Draws the app's icon, a pagoda of four roofs on a dark ground, as a PNG of any size. Usage: draw_icon.py SIZE FILE

Needs only Python: shapes are polygons, sampled 3 x 3 times a pixel, and the PNG is written by hand.
"""
import struct
import sys
import zlib

SAMPLES = 3
GROUND_TOP, GROUND_BOTTOM = (38, 52, 84), (16, 22, 40)
ROOF, WALL, LIGHT = (230, 92, 70), (244, 226, 200), (255, 196, 92)


def roof(y, half, height):
    """A roof whose eaves turn up; (0, 0) is the top left corner and (1, 1) the bottom right one."""
    return [(0.5 - half * 0.35, y), (0.5 + half * 0.35, y), (0.5 + half * 0.72, y + height * 0.62),
            (0.5 + half, y + height * 0.55), (0.5 + half * 0.92, y + height), (0.5 - half * 0.92, y + height),
            (0.5 - half, y + height * 0.55), (0.5 - half * 0.72, y + height * 0.62)]


def box(left, top, right, bottom):
    return [(left, top), (right, top), (right, bottom), (left, bottom)]


def shapes():
    """(colour, polygon), those in front last."""
    found = [(LIGHT, box(0.49, 0.13, 0.51, 0.24))]
    for level in range(4):
        y, half = 0.235 + 0.145 * level, 0.15 + 0.055 * level
        found.append((WALL, box(0.5 - half * 0.58, y + 0.07, 0.5 + half * 0.58, y + 0.16)))
        found.append((LIGHT, box(0.475, y + 0.095, 0.525, y + 0.16)))
        found.append((ROOF, roof(y, half, 0.085)))
    found.append((WALL, box(0.2, 0.83, 0.8, 0.865)))
    return found


def inside(polygon, x, y):
    odd = False
    for (x1, y1), (x2, y2) in zip(polygon, polygon[1:] + polygon[:1]):
        if (y1 > y) != (y2 > y) and x < x1 + (y - y1) * (x2 - x1) / (y2 - y1):
            odd = not odd
    return odd


def in_ground(x, y, margin=0.06, radius=0.2):
    """A square with round corners, as macOS draws icons."""
    dx = max(margin + radius - x, x - (1 - margin - radius), 0)
    dy = max(margin + radius - y, y - (1 - margin - radius), 0)
    return margin <= x <= 1 - margin and margin <= y <= 1 - margin and dx * dx + dy * dy <= radius * radius


def colour(x, y, layers):
    if not in_ground(x, y):
        return None
    for shade, polygon, (left, top, right, bottom) in layers:
        if left <= x <= right and top <= y <= bottom and inside(polygon, x, y):
            return shade
    return tuple(a + (b - a) * y for a, b in zip(GROUND_TOP, GROUND_BOTTOM))


def pixels(size):
    layers = [(shade, polygon, (min(p[0] for p in polygon), min(p[1] for p in polygon),
                                max(p[0] for p in polygon), max(p[1] for p in polygon)))
              for shade, polygon in reversed(shapes())]
    steps = [(i + 0.5) / SAMPLES for i in range(SAMPLES)]
    for row in range(size):
        yield 0  # the PNG filter of the row: none
        for column in range(size):
            hits = [c for sy in steps for sx in steps if (c := colour((column + sx) / size, (row + sy) / size, layers))]
            count = max(len(hits), 1)
            yield from (round(sum(hit[channel] for hit in hits) / count) for channel in range(3))
            yield round(255 * len(hits) / SAMPLES ** 2)


def png(size):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", size, size, 8, 6, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(pixels(size)), 9))
            + chunk(b"IEND", b""))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: draw_icon.py SIZE FILE")
    with open(sys.argv[2], "wb") as file:
        file.write(png(int(sys.argv[1])))
