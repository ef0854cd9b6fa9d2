"""Fixtures of the chat page's tests: headless Chromium with the page open, and the user's actions."""
import json
import os
import shutil

import pytest
from playwright.sync_api import expect, sync_playwright

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
PATIENCE = 120_000  # other stages run at the same time
expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="module")
def browser():
    if not CHROMIUM:
        if os.environ.get("CI") == "true":
            pytest.fail("chromium is not installed (Tools/setup.sh --dev)")
        pytest.skip("chromium is not installed (Tools/setup.sh --dev)")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture
def refusals():
    """Error statuses that a test expects the page to receive; the browser reports each as an error."""
    return {400}


@pytest.fixture
def page(browser, server, refusals):
    context = browser.new_context(viewport={"width": 1100, "height": 760})
    context.set_default_timeout(PATIENCE)
    tab = context.new_page()
    problems, urls = [], []
    tab.on("pageerror", lambda error: problems.append(str(error)))
    tab.on("console", lambda line: problems.append(line.text) if line.type == "error" else None)
    tab.on("request", lambda request: urls.append(request.url))
    tab.goto(server.url)
    yield tab
    shots = os.environ.get("SCREENSHOTS")
    if shots:
        tab.screenshot(path=os.path.join(shots, os.environ["PYTEST_CURRENT_TEST"].split("::")[1].split(" ")[0] + ".png"))
    context.close()
    allowed = [f"status of {status}" for status in refusals] + (["net::ERR_FAILED"] if "0" in refusals else [])
    assert [line for line in problems if not any(part in line for part in allowed)] == []
    assert all(url.startswith(server.url) for url in urls), urls


def ask(page, text):
    count = page.locator(".assistant").count()
    page.fill("#input", text)
    page.keyboard.press("Enter")
    done = page.locator(".assistant").nth(count).locator(".stats")
    expect(done).to_contain_text("tok")


MARKDOWN = """1. one
   - nested
     1. deep
2. two

| left | right |
|:--|--:|
| a \\| b | `1` |

Inline $x^2$ and $5, $6.

$$\\frac{1}{2}$$

```python
def f(): return 1  # one
```
"""


def show(page, text):
    chunk = json.dumps({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": "stop"}]})
    page.route("**/v1/chat/completions", lambda route: route.fulfill(
        content_type="text/event-stream", body=f"data: {chunk}\n\ndata: [DONE]\n\n"))
    page.fill("#input", "Show me")
    page.keyboard.press("Enter")
    expect(page.locator("[title='Answer again']")).to_be_visible()
