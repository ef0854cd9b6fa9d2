"""The chat page in headless Chromium: send, stream, stop, again, edit, reload, and text that stays text."""
import json
import os
import re
import shutil

import pytest
from playwright.sync_api import expect, sync_playwright

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
EVIL = '<img src=x onerror="document.title=1"> [x](javascript:alert(1)) ![i](https://evil.example/x.png) <script>1</script>'
expect.set_options(timeout=30_000)  # other stages run beside these tests


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
    """Statuses that a test lets the page meet; the browser reports each as an error."""
    return {400}


@pytest.fixture
def page(browser, server, refusals):
    context = browser.new_context(viewport={"width": 1100, "height": 760})
    tab = context.new_page()
    problems, requests = [], []
    tab.on("pageerror", lambda error: problems.append(str(error)))
    tab.on("console", lambda line: problems.append(line.text) if line.type == "error" else None)
    tab.on("request", lambda request: requests.append(request.url))
    tab.goto(server.url)
    yield tab
    shots = os.environ.get("SCREENSHOTS")
    if shots:
        tab.screenshot(path=os.path.join(shots, os.environ["PYTEST_CURRENT_TEST"].split("::")[1].split(" ")[0] + ".png"))
    context.close()
    assert [line for line in problems if not any(f"status of {status}" in line for status in refusals)] == []
    assert all(url.startswith(server.url) for url in requests), requests


def ask(page, text):
    count = page.locator(".assistant").count()
    page.fill("#input", text)
    page.keyboard.press("Enter")
    done = page.locator(".assistant").nth(count).locator(".stats")
    expect(done).to_contain_text("tok")


def test_names_the_model_when_it_has_loaded(page, refusals):
    refusals.add(503)
    answers = [503, 503]
    error = json.dumps({"error": {"message": "the model is still loading"}})
    page.route("**/v1/models", lambda route: route.fulfill(status=answers.pop(), body=error) if answers else route.continue_())
    page.reload()
    expect(page.locator("#model")).to_have_text("the model is still loading")
    expect(page.locator("#model")).to_contain_text("pagoda-mini", timeout=30_000)
    assert not answers


def test_sends_and_shows_the_answer(page):
    ask(page, "What is the capital of France?")
    expect(page.locator(".assistant .body")).to_contain_text("Paris")
    expect(page.locator(".stats")).to_contain_text("prompt tokens from cache")
    ask(page, "write a quicksort in python")
    expect(page.locator(".codeblock code")).to_contain_text("def quicksort")
    expect(page.locator(".codeblock button")).to_contain_text("Copy")


def test_reload_keeps_history(page):
    ask(page, "What is the capital of Japan?")
    text = page.locator(".assistant .body").inner_text()
    page.reload()
    expect(page.locator(".assistant .body")).to_have_text(text)
    expect(page.locator(".conversation")).to_have_count(1)
    page.click("#new-chat")
    expect(page.locator(".welcome")).to_be_visible()
    page.click(".conversation .open")
    expect(page.locator(".assistant .body")).to_have_text(text)


def test_stop_keeps_the_part_that_came(page, server):
    page.route("**/v1/chat/completions", lambda route: route.continue_(
        post_data=route.request.post_data.replace("{", '{"ignore_eos":true,"max_tokens":8000,', 1)))
    page.fill("#input", "Write a 2-sentence apple story.")
    page.keyboard.press("Enter")
    expect(page.locator(".assistant .body")).to_contain_text(re.compile(r"\w"))
    expect(page.locator("#send")).to_have_attribute("aria-label", "Stop")
    page.keyboard.press("Escape")
    expect(page.locator(".stats")).to_contain_text("stopped")
    assert page.locator(".assistant .body").inner_text()
    server.wait_until_idle()


def test_regenerate_and_edit(page):
    ask(page, "What is the capital of France?")
    page.click("[title='Answer again']")
    # No rate: what was computed before may come all at once.
    expect(page.locator(".stats")).to_contain_text("prompt tokens from cache")
    expect(page.locator(".assistant .body")).to_contain_text("Paris")
    expect(page.locator(".assistant")).to_have_count(1)
    page.locator(".user").hover()
    page.click("[title='Edit and send again']")
    page.fill(".editor textarea", "What is the capital of Peru?")
    page.keyboard.press("Enter")
    expect(page.locator(".assistant .body")).to_contain_text("Lima")
    expect(page.locator(".message")).to_have_count(2)


def test_model_output_stays_text(page, server):
    chunk = '{"choices":[{"index":0,"delta":{"content":%s},"finish_reason":"stop"}]}' % json.dumps(EVIL)
    page.route("**/v1/chat/completions", lambda route: route.fulfill(
        content_type="text/event-stream", body=f"data: {chunk}\n\ndata: [DONE]\n\n"))
    page.fill("#input", "Show me")
    page.keyboard.press("Enter")
    expect(page.locator(".assistant .body")).to_contain_text('<img src=x onerror="document.title=1">')
    assert page.locator(".assistant .body img, .assistant .body script, a[href^=javascript]").count() == 0
    assert page.locator(".assistant .body").inner_text().count("<script>") == 1
    assert "Pagoda" in page.title()


def test_a_question_in_the_address_is_not_sent(page, server):
    page.goto(server.url + "/?q=What+is+the+capital+of+France")
    expect(page.locator(".welcome")).to_be_visible()
    page.wait_for_timeout(300)
    assert page.locator(".message").count() == 0


def test_thinking_settings_and_theme(page):
    page.click("#open-settings")
    page.select_option("[name=thinking]", "on")
    page.fill("[name=max_tokens]", "300")
    page.click("#settings .primary")
    ask(page, "What is 12 plus 30?")
    expect(page.locator(".thinking summary")).to_have_text("Thoughts")
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.click("#theme")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != before
    page.reload()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != before


def test_fits_a_phone(page):
    page.set_viewport_size({"width": 360, "height": 700})
    ask(page, "write a quicksort in python")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.click("#menu")
    expect(page.locator("#new-chat")).to_be_in_viewport()


def test_settings_hold_before_the_next_key(page):
    page.click("#open-settings")
    page.fill("[name=max_tokens]", "9000")
    kept = page.evaluate("""() => {
      document.querySelector("#settings .primary").click();
      return JSON.parse(localStorage["pagoda.settings"] ?? "{}");
    }""")
    assert kept.get("max_tokens") == "9000"


def test_errors_of_the_server_are_shown(page):
    page.click("#open-settings")
    page.fill("[name=max_tokens]", "9000")
    page.click("#settings .primary")
    page.fill("#input", "Hello!")
    page.keyboard.press("Enter")
    expect(page.locator(".error")).to_contain_text("maximum context length")
