#!/usr/bin/env python3
"""Checks the files that make the app a bundle: property lists, entitlements, the icon's catalog, the Xcode project's description,
the errors in App Intents that only Xcode's own tools report, and the string catalog: every text of a view in every language.

Usage: app_files.py | --self-test
"""
import json
import plistlib
import re
import shutil
import struct
import sys
import tempfile
from pathlib import Path

APP = Path(__file__).resolve().parents[2] / "Apps/PagodaChat"
SANDBOX = ["app-sandbox", "network.client", "network.server", "files.user-selected.read-write", "files.bookmarks.app-scope"]


LANGUAGES = ["de", "fr", "ja", "zh-Hans"]
# Texts that SwiftUI looks up in the catalog: literals of these views and modifiers.
SHOWN = re.compile(r'(?:\b(?:Text|Button|Label|Toggle|TextField|SecureField|Section|Picker|Menu|ShareLink|DisclosureGroup|'
                   r'ContentUnavailableView|CommandMenu|WindowGroup|Window|Stepper)\(|\.(?:help|accessibilityLabel|accessibilityHint|'
                   r'navigationTitle|alert|confirmationDialog)\(|prompt: )\s*"((?:[^"\\]|\\.)*)"')


def text_faults(app):
    """Texts of views that the catalog lacks, translations that are missing or empty, and entries that no view shows. Texts with values in
    them are English in every language."""
    strings = json.loads((app / "Localizable.xcstrings").read_text(encoding="utf-8"))["strings"]
    shown = {text for path in app.rglob("*.swift") for text in SHOWN.findall(path.read_text(encoding="utf-8")) if "\\(" not in text}
    faults = [f"the catalog lacks {text!r}" for text in sorted(shown - set(strings))]
    faults += [f"no view shows {text!r} of the catalog" for text in sorted(set(strings) - shown)]
    for text, entry in strings.items():
        for language in LANGUAGES:
            if not entry.get("localizations", {}).get(language, {}).get("stringUnit", {}).get("value"):
                faults.append(f"{text!r} is not translated to {language}")
    return faults


def icon_faults(folder):
    """Images that the catalog names but that are missing or have another size, and sizes that a Mac or an iPhone needs but the catalog lacks."""
    faults, seen = [], set()
    for image in json.loads((folder / "Contents.json").read_text())["images"]:
        points, scale = int(image["size"].split("x")[0]), int(image.get("scale", "1x")[0])
        seen.add((image["idiom"], points, scale))
        data = (folder / image["filename"]).read_bytes() if (folder / image["filename"]).exists() else b""
        if data[:8] != b"\x89PNG\r\n\x1a\n" or struct.unpack(">II", data[16:24]) != (points * scale,) * 2:
            faults.append(f"{image['filename']} is no PNG of {points * scale} pixels")
    wanted = {("mac", size, scale) for size in (16, 32, 128, 256, 512) for scale in (1, 2)} | {("universal", 1024, 1)}
    return faults + [f"the icon lacks {idiom} {size}@{scale}x" for idiom, size, scale in sorted(wanted - seen)]


def plist(path):
    with open(path, "rb") as file:
        return plistlib.load(file)


def faults_of(app):
    faults = icon_faults(app / "Assets.xcassets/AppIcon.appiconset") + text_faults(app)
    project = (app / "project.yml").read_text()
    if re.search(r"^\s*info:", project, re.MULTILINE):
        faults.append("project.yml has `info`, which overwrites an Info.plist")
    for setting in re.findall(r"\b(?:INFOPLIST_FILE|CODE_SIGN_ENTITLEMENTS): (\S+)", project):
        if not (app / setting).exists():
            faults.append(f"project.yml names {setting}, which is not there")
    for platform in ("macOS", "iOS"):
        if f"platform: {platform}" not in project:
            faults.append(f"project.yml has no target for {platform}")
    if "ASSETCATALOG_COMPILER_APPICON_NAME: AppIcon" not in project:
        faults.append("project.yml does not name the icon")
    versions = set()
    for name in ("Info.plist", "Info-iOS.plist"):
        info = plist(app / name)
        faults += [f"{name} lacks {key}" for key in ("CFBundleIdentifier", "CFBundleExecutable") if key not in info]
        versions.add((info.get("CFBundleShortVersionString"), info.get("CFBundleVersion")))
    if len(versions) != 1:
        faults.append("the versions of the property lists differ")
    granted = plist(app / "Pagoda.entitlements")
    faults += [f"the sandbox lacks {key}" for key in SANDBOX if granted.get(f"com.apple.security.{key}") is not True]
    if plist(app / "Pagoda-iOS.entitlements").get("com.apple.developer.kernel.increased-memory-limit") is not True:
        faults.append("the app on iOS does not ask for more memory")
    phrases = re.search(r"phrases: \[(.*?)\]", (app / "AskIntent.swift").read_text(), re.DOTALL)
    faults += [f"Siri refuses the phrase {phrase}, which lacks the app's name"
               for phrase in re.findall(r'"(?:[^"\\]|\\.)*"', phrases[1]) if r"\(.applicationName)" not in phrase]
    return faults


def self_test():
    """Each planted fault must be found."""
    plants = [("project.yml", "INFOPLIST_FILE: Info.plist", "info: {path: Info.plist}"),
              ("project.yml", "platform: iOS", "platform: tvOS"),
              ("Pagoda.entitlements", "bookmarks.app-scope", "bookmarks.document-scope"),
              ("Info-iOS.plist", "<string>0.1.0</string>", "<string>0.0.9</string>"),
              ("Localizable.xcstrings", '"value": "Abbrechen"', '"value": ""'),
              ("Views/ComposerView.swift", 'Button("Cancel")', 'Button("Forget")'),
              ("AskIntent.swift", r'"Ask \(.applicationName) a question"', '"Ask a question"'),
              ("Assets.xcassets/AppIcon.appiconset/Contents.json", '"icon-64.png"', '"icon-128.png"')]
    for name, before, after in plants:
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder, "app")
            shutil.copytree(APP, copy)
            text = (copy / name).read_text()
            (copy / name).write_text(text.replace(before, after, 1))
            if before not in text or len(faults_of(copy)) <= len(faults_of(APP)):
                print(f"not found: {after} in {name}")
                return False
    return True


def main(arguments):
    if arguments == ["--self-test"]:
        return 0 if self_test() else 1
    faults = faults_of(APP)
    print("\n".join(faults) or "the app's files: property lists, entitlements, icon and project agree")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
