#!/usr/bin/env python3
"""Takes a screenshot of the chat page for the README: starts a server, chats in headless Chromium, saves a PNG.

Usage: page_picture.py PAGODA page.png. The speeds are omitted, since they depend on the machine.
Needs playwright and chromium, which the server tests and Tools/setup.sh --dev install.
"""
import re
import shutil
import subprocess
import sys

from playwright.sync_api import expect, sync_playwright

QUESTIONS = ["What is the capital of France?", "write a quicksort in python"]
# Removes the speeds from the line below an answer: "11 tok/s, first after 0.61 s, 8 tokens, ...".
WITHOUT_SPEEDS = """document.querySelectorAll(".stats").forEach((line) => {
  line.innerHTML = line.innerHTML.replace(/[0-9.,]+ tok\\/s · first after [0-9.,]+ m?s · /, "");
})"""


def main(pagoda, picture):
    server = subprocess.Popen([pagoda, "serve", "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        url = next(found[0] for line in server.stdout if (found := re.findall(r"http://[^\s]+", line)))
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 1000, "height": 780})
            page.goto(url)
            for number, question in enumerate(QUESTIONS):
                page.fill("#input", question)
                page.keyboard.press("Enter")
                expect(page.locator(".assistant").nth(number).locator(".stats")).to_contain_text("tok", timeout=120_000)
            page.evaluate(WITHOUT_SPEEDS)
            page.screenshot(path=picture)
            browser.close()
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
