#!/usr/bin/env python3
"""Checks that a Mach-O program needs no library that a fresh Mac does not have, by reading its load commands.

Usage: load_commands.py FILE... | --self-test. Allowed are /usr/lib and /System/Library, and @rpath, @executable_path and
@loader_path where the file is in one of the folders given by --bundle FOLDER. Runs on any machine.
"""
import os
import struct
import sys
import tempfile

THIN = {0xFEEDFACF: "<", 0xCFFAEDFE: ">"}  # 64-bit magic numbers, read as little endian
FAT = {0xCAFEBABE: ">IIIII", 0xCAFEBABF: ">IIQQII"}  # 32-bit and 64-bit offsets, always big endian
DYLIBS = {0xC, 0x80000018, 0x8000001F, 0x80000023, 0x20}  # load, weak, re-exported, upward, lazy
SYSTEM = ("/usr/lib/", "/System/Library/")


def slices(data):
    """The programs of a file: one per architecture."""
    if len(data) < 8:
        raise ValueError("too short for a Mach-O file")
    magic, count = struct.unpack_from(">II", data)
    if magic not in FAT:
        return [data]
    form = FAT[magic]
    entries = [struct.unpack_from(form, data, 8 + i * struct.calcsize(form)) for i in range(count)]
    return [data[entry[2] : entry[2] + entry[3]] for entry in entries]


def libraries(data):
    """Names of the libraries that one program loads."""
    order = THIN.get(struct.unpack_from("<I", data)[0])
    if order is None:
        raise ValueError("not a 64-bit Mach-O file")
    count, size = struct.unpack_from(order + "II", data, 16)
    names, offset = [], 32
    for _ in range(count):
        kind, length = struct.unpack_from(order + "II", data, offset)
        if length < 8 or offset + length > 32 + size:
            raise ValueError("a load command reaches beyond the others")
        if kind in DYLIBS:
            start = struct.unpack_from(order + "I", data, offset + 8)[0]
            names.append(data[offset + start : offset + length].split(b"\0")[0].decode())
        offset += length
    return names


def foreign(data, bundled=()):
    """Libraries that neither the system nor the bundle has."""
    found = set()
    for program in slices(data):
        for name in libraries(program):
            base = os.path.basename(name)
            inside = name.startswith(("@rpath/", "@executable_path/", "@loader_path/")) and base in bundled
            # Swift's own libraries are part of the system since macOS 10.14.4.
            swift = name.startswith("@rpath/libswift")
            if not (name.startswith(SYSTEM) or inside or swift):
                found.add(name)
    return sorted(found)


def planted(names, order="<"):
    """A Mach-O file that contains only load commands for these libraries."""
    commands = b""
    for name in names:
        text = name.encode() + b"\0"
        text += b"\0" * (-len(text) % 8)
        commands += struct.pack(order + "IIIIII", 0xC, 24 + len(text), 24, 0, 0, 0) + text
    return struct.pack(order + "IIIIIIII", 0xFEEDFACF, 0x0100000C, 0, 2, len(names), len(commands), 0, 0) + commands


def self_test():
    system = ["/usr/lib/libc++.1.dylib", "/System/Library/Frameworks/Metal.framework/Metal", "@rpath/libswiftCore.dylib"]
    brew = "/opt/homebrew/opt/libmicrohttpd/lib/libmicrohttpd.12.dylib"
    good, bad = planted(system), planted(system + [brew])
    fat = struct.pack(">II", 0xCAFEBABE, 2)
    fat += struct.pack(">IIIII", 0, 0, 48, len(good), 0) + struct.pack(">IIIII", 0, 0, 48 + len(good), len(bad), 0)
    fat += good + bad
    assert foreign(good) == [] and foreign(bad) == [brew] and foreign(fat) == [brew]
    assert foreign(planted(["@rpath/libown.dylib"])) == ["@rpath/libown.dylib"]
    assert foreign(planted(["@rpath/libown.dylib"]), {"libown.dylib"}) == []
    for broken in (b"", b"\x7fELF\0\0\0\0", bad[:20], bad[:40]):
        try:
            foreign(broken)
        except (ValueError, struct.error):
            continue
        raise AssertionError("a broken file passed")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "program")
        with open(path, "wb") as file:
            file.write(bad)
        assert check([path]) == 1
    print("load_commands: a planted library outside the system is found, in thin and in fat files")
    return 0


def check(paths):
    bundled = set()
    while "--bundle" in paths:
        offset = paths.index("--bundle")
        bundled.update(os.listdir(paths[offset + 1]))
        del paths[offset : offset + 2]
    status = 0
    for path in paths:
        try:
            with open(path, "rb") as file:
                names = foreign(file.read(), bundled)
        except (OSError, ValueError, struct.error) as error:
            names = [str(error)]
        for name in names:
            print(f"{path}: {name}", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(self_test() if sys.argv[1:] == ["--self-test"] else check(sys.argv[1:]))
