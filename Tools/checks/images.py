#!/usr/bin/env python3
"""Base images of the container files come from one list, and images in registries are named by digest.

Usage: images.py [--release | --pin] [FOLDER]
Without an option: the container files' defaults are those of Deploy/container/images.txt, and no manifest names an image in a
registry by its tag alone. --release: also, every image in the list has a digest. --pin: asks the registries for the digests
(needs skopeo and a network) and writes them into the list. FOLDER is the repository by default.
"""
import re
import subprocess
import sys
from pathlib import Path

DIGEST = re.compile(r"@sha256:[0-9a-f]{64}$")


def read_list(folder):
    """The list by name of the build argument."""
    lines = (folder / "Deploy/container/images.txt").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def without_digest(image):
    return DIGEST.sub("", image)


def problems(folder):
    listed, used = read_list(folder), set()
    for path in sorted((folder / "Deploy/container").glob("Containerfile*")):
        for name, image in re.findall(r"^ARG (\w+_IMAGE)=(\S+)$", path.read_text(), re.MULTILINE):
            if image.startswith("localhost/"):
                continue  # built here
            used.add(name)
            if name not in listed:
                yield f"{path.name}: {name} is not in images.txt"
            elif image != without_digest(listed[name]):
                yield f"{path.name}: {name} is {image}, but {without_digest(listed[name])} in images.txt"
    for name in sorted(set(listed) - used):
        yield f"images.txt: no container file uses {name}"
    for path in sorted((folder / "Deploy/kubernetes").glob("*.yaml")):
        for image in re.findall(r"^\s*(?:- )?image: *(\S+)", path.read_text(), re.MULTILINE):
            if "/" in image and not DIGEST.search(image):
                yield f"{path.name}: the image {image} is in a registry; name it by its digest"


def not_pinned(folder):
    for name, image in read_list(folder).items():
        if not DIGEST.search(image):
            yield f"images.txt: {name} has no digest; run Tools/checks/images.py --pin"


def pin(folder):
    path = folder / "Deploy/container/images.txt"
    text = path.read_text()
    for name, image in read_list(folder).items():
        plain = without_digest(image)
        digest = subprocess.run(["skopeo", "inspect", "--format", "{{.Digest}}", f"docker://{plain}"], check=True,
                                capture_output=True, text=True).stdout.strip()
        if not DIGEST.search("@" + digest):
            sys.exit(f"images: the registry's digest of {plain} is {digest!r}")
        text = text.replace(f"{name}={image}", f"{name}={plain}@{digest}")
    path.write_text(text)


def main():
    options = [word for word in sys.argv[1:] if word.startswith("-")]
    folders = [Path(word) for word in sys.argv[1:] if not word.startswith("-")]
    folder = folders[0] if folders else Path(__file__).resolve().parents[2]
    if len(folders) > 1 or options not in ([], ["--release"], ["--pin"]):
        sys.exit(__doc__)
    if options == ["--pin"]:
        pin(folder)
    found = list(problems(folder)) + (list(not_pinned(folder)) if options == ["--release"] else [])
    for problem in found:
        print(f"images: {problem}", file=sys.stderr)
    return 1 if found else 0


sys.exit(main())
