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
CORE = APP.parents[1] / "Sources/PagodaChatCore"
SANDBOX = ["app-sandbox", "network.client", "network.server", "files.user-selected.read-write", "files.bookmarks.app-scope"]


LANGUAGES = ["de", "fr", "ja", "zh-Hans"]
# Before a literal that SwiftUI looks up in the catalog itself: views and modifiers. It must have no values in it, whose types would be in
# the key.
VIEW = re.compile(r'(?:\b(?:Text|Button|Label|Toggle|TextField|SecureField|Section|Picker|Menu|ShareLink|DisclosureGroup|'
                  r'ContentUnavailableView|CommandMenu|WindowGroup|Window|MenuBarExtra|Stepper|IntentDescription)\(|'
                  r'\.(?:help|accessibilityLabel|accessibilityHint|navigationTitle|alert|confirmationDialog)\(|'
                  r'prompt: |@Parameter\(title: |LocalizedStringResource = |shortTitle: )\s*$')
# Before a literal that becomes an InterfaceText.
INTERFACE = re.compile(r'(?:\b(?:localized|ChatFailure|StoreError|attempt|ChatShortcut|InterfaceText)\(|cause: |advice: |'
                       r'\bitem\((?:[^"]|"[^"]*")*,)\s*$')
# Literals that nobody reads: names of symbols, of windows, of files.
UNSEEN = re.compile(r'(?:systemImage(?:Name)?: (?:[\w.]+ == nil \? (?:"[^"]*" : )?)?|systemName: |[wW]indowID = |environment\[|\bid\(|scrollTo\(|'
                    r'separator: |nameFieldStringValue = |phrases: \[(?:"[^"]*", )?)\s*$')
# Text of the core that only models or programs read, by file.
FOR_PROGRAMS = {"ToolModel.swift": "Error: ", "TranscriptModel+Title.swift": "", "Activities.swift": "", "Attachment.swift": ("\0:", "[image"), "Documents.swift": "[page",
                "ServerModel.swift": "Serving a model to other programs", "HubModels.swift": "'", "ModelDownloader+Hub.swift": "HF_HUB_OFFLINE",
                "CodeLanguage.swift": "", "FormulaSymbols.swift": "", "WebPage.swift": "", "Chip.swift": "", "Formula.swift": "",
                "FormulaLine.swift": ""}


def literals(source):
    """The string literals of a Swift file, those within interpolations too: line, the text before, and the text with NUL for each value."""
    found, at = [], 0

    def literal(start):
        end = '"""' if source.startswith('"""', start) else '"'
        text, at = "", start + len(end)
        while not source.startswith(end, at):
            if source.startswith("\\(", at):
                depth, at, text = 1, at + 2, text + "\0"
                while depth:
                    if source[at] == '"':
                        at = literal(at)
                        continue
                    depth += {"(": 1, ")": -1}.get(source[at], 0)
                    at += 1
            else:
                size = 2 if source[at] == "\\" else 1
                text, at = text + source[at:at + size], at + size
        found.append((source.count("\n", 0, start) + 1, source[max(0, start - 200):start], text))
        return at + len(end)

    while at < len(source):
        if source.startswith("//", at):
            at = (source + "\n").index("\n", at)
        elif source.startswith('#"', at):
            at = source.index('"#', at + 2) + 2
        else:
            at = literal(at) if source[at] == '"' else at + 1
    return found


def key_of(text):
    """The catalog's key of a literal: as `InterfaceText` forms it."""
    return text.replace("%", "%%").replace("\0", "%@") if "\0" in text or "%" in text else text


def shown_texts(folder, is_core, faults):
    """The keys of all texts that people read; literals that could be such texts and are not looked up are faults."""
    shown = set()
    for path in sorted(folder.rglob("*.swift")):
        for line, before, text in literals(path.read_text(encoding="utf-8")):
            if not re.search("[A-Za-z]", text.replace("\\n", "")) or UNSEEN.search(before):
                continue
            if INTERFACE.search(before):
                shown.add(key_of(text))
            elif is_core:
                exempt = FOR_PROGRAMS.get(path.name)
                if re.search("[A-Za-z,:\0] [A-Za-z\0]", text) and not (exempt is not None and text.startswith(exempt)):
                    faults.append(f"{path.name}:{line}: {text!r} is not looked up in the catalog")
            elif VIEW.search(before) and "\0" not in text:
                shown.add(text)
            else:
                faults.append(f"{path.name}:{line}: {text!r} is not looked up in the catalog: it needs localized()")
    return shown


def text_faults(app, core):
    """Texts that the catalog lacks, translations that are missing, empty or without their values, and entries that nothing shows."""
    strings = json.loads((app / "Localizable.xcstrings").read_text(encoding="utf-8"))["strings"]
    faults = []
    shown = shown_texts(app, False, faults) | shown_texts(core, True, faults)
    faults += [f"the catalog lacks {text!r}" for text in sorted(shown - set(strings))]
    faults += [f"nothing shows {text!r} of the catalog" for text in sorted(set(strings) - shown)]
    for text, entry in strings.items():
        for language in LANGUAGES:
            value = entry.get("localizations", {}).get(language, {}).get("stringUnit", {}).get("value")
            if not value:
                faults.append(f"{text!r} is not translated to {language}")
            elif sorted(values_in(value)) != sorted(values_in(text)):
                faults.append(f"{text!r} has other values in {language}: {value!r}")
    return faults


def values_in(text):
    """The indices of the values in a text: `%@` is the next one, `%2$@` the second."""
    marks = re.findall(r"%(?:(\d+)\$)?@", text.replace("%%", ""))
    return [int(mark) if mark else index + 1 for index, mark in enumerate(marks)]


def habit_faults(app, core):
    """Shortcuts of the keyboard map that no menu or button has, failures that no window shows, and a composer that writes line breaks
    itself: at the end of the text and not at the cursor."""
    map_text = (core / "Models/KeyboardMap.swift").read_text(encoding="utf-8")
    views = {path.name: path.read_text(encoding="utf-8") for path in app.rglob("*.swift")}
    faults = []
    for name in re.findall(r"static let (\w+) = ChatShortcut", map_text):
        if name != "quickPanel" and not any(f".keyboardShortcut(KeyboardMap.{name})" in text for text in views.values()):
            faults.append(f"no menu or button has the shortcut {name}")
    if "app.failure(in: window)" not in views["ContentView.swift"]:
        faults.append("no window shows that chats or settings cannot be saved")
    if r'"\n"' in views["ComposerView.swift"]:
        faults.append("the composer writes line breaks: that is the text field's, at its cursor")
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


def faults_of(app, core=CORE):
    faults = icon_faults(app / "Assets.xcassets/AppIcon.appiconset") + text_faults(app, core) + habit_faults(app, core)
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
              ("Localizable.xcstrings", '"value": "%@ von %@"', '"value": "%@ von"'),
              ("Localizable.xcstrings", '"Speed": {', '"Haste": {'),
              ("ChatCommands.swift", ".keyboardShortcut(KeyboardMap.newWindow)", ""),
              ("Views/ComposerView.swift", "composer.send(in: transcript) }  //", 'composer.text += "\\n" }  //'),
              ("Views/MessageView.swift", 'localized("Stopped")', '"Stopped"'),
              ("Views/ContentView.swift", "app.failure(in: window)", "window.failure"),
              ("Models/FindModel.swift", 'localized("Not found")', '"Not found here"'),
              ("Views/MessageView.swift", r'localized("Failed: \(reason)")', r'"Failed: \(reason)"'),
              ("Views/ComposerView.swift", 'Button("Cancel")', 'Button("Forget")'),
              ("AskIntent.swift", r'"Ask \(.applicationName) a question"', '"Ask a question"'),
              ("Assets.xcassets/AppIcon.appiconset/Contents.json", '"icon-64.png"', '"icon-128.png"')]
    for name, before, after in plants:
        with tempfile.TemporaryDirectory() as folder:
            copy, core = shutil.copytree(APP, Path(folder, "app")), shutil.copytree(CORE, Path(folder, "core"))
            file = (core if name.startswith("Models/") else copy) / name
            text = file.read_text(encoding="utf-8")
            file.write_text(text.replace(before, after, 1), encoding="utf-8")
            if before not in text or len(faults_of(copy, core)) <= len(faults_of(APP)):
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
