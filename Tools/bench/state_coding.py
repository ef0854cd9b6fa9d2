#!/usr/bin/env python3
"""Measures lossless compression of recurrent states: how much smaller the files of the prefix cache become, and at what speed.

Usage: state_coding.py FOLDER     (a --prefix-cache-dir)
For each coder, prints the size relative to the original and the speed in both directions on one core. Byte planes: byte 0 of all
numbers, then byte 1, ..., so that signs and exponents, which repeat, are next to each other.
"""

import sys
import time
import zlib
from collections import Counter
from math import log2
from pathlib import Path


def planes(data):
    return b"".join(data[i::4] for i in range(4))


def entropy_bits(data):
    counts = Counter(data)
    return -sum(n / len(data) * log2(n / len(data)) for n in counts.values())


def measure(name, data, encode, decode):
    begin = time.perf_counter()
    coded = [encode(part) for part in data]
    middle = time.perf_counter()
    for part in coded:
        decode(part)
    end = time.perf_counter()
    total = sum(map(len, data))
    print(f"{name}: {sum(map(len, coded)) / total:.3f} of the size, {total / 1e6 / (middle - begin):.0f} MB/s there, "
          f"{total / 1e6 / (end - middle):.0f} MB/s back")


def main():
    files = [path for path in sorted(Path(sys.argv[1]).rglob("*")) if path.is_file() and path.stat().st_size > 4096]
    data = [path.read_bytes() for path in files]
    data = [part[:len(part) // 4 * 4] for part in data]
    print(f"{len(data)} files, {sum(map(len, data)) / 1e6:.1f} MB")
    everything = b"".join(data)
    print("entropy of bytes 0 to 3 of each 4:", ", ".join(f"{entropy_bits(everything[i::4]):.2f}" for i in range(4)), "bits")
    measure("zlib 1", data, lambda part: zlib.compress(part, 1), zlib.decompress)
    measure("planes, zlib 1", data, lambda part: zlib.compress(planes(part), 1), zlib.decompress)
    measure("planes, Huffman only", data, huffman, zlib.decompress)


def huffman(part):
    coder = zlib.compressobj(1, zlib.DEFLATED, 15, 9, zlib.Z_HUFFMAN_ONLY)
    return coder.compress(planes(part)) + coder.flush()


main()
