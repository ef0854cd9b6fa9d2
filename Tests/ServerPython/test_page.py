"""The chat page in headless Chromium: send, stream, stop, branches, tabs, settings, files, and text that stays text."""
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
    expect(page.locator(".stats")).to_contain_text("tokens")  # branches wait for the answer in flight
    # Nothing was deleted: both wordings, and both answers to the first, are a click away.
    expect(page.locator(".user .branches")).to_contain_text("2/2")
    page.locator(".user").hover()
    page.click(".user [title='Previous version']")
    expect(page.locator(".assistant .body")).to_contain_text("Paris")
    expect(page.locator(".assistant .branches")).to_contain_text("2/2")
    page.reload()
    expect(page.locator(".assistant .body")).to_contain_text("Paris")


def test_answering_again_keeps_later_turns(page):
    ask(page, "What is the capital of France?")
    ask(page, "What is the capital of Japan?")
    page.locator("[title='Answer again']").first.click()
    expect(page.locator(".message")).to_have_count(2)
    expect(page.locator(".assistant .branches")).to_contain_text("2/2")
    expect(page.locator(".stats")).to_contain_text("tokens")
    page.click("[title='Previous version']")
    expect(page.locator(".message")).to_have_count(4)
    expect(page.locator(".assistant .body").last).to_contain_text("Tokyo")


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
    page.fill("#input", "word " * 12_000)
    page.keyboard.press("Enter")
    expect(page.locator(".error")).to_contain_text("maximum context length")


def test_two_tabs_keep_each_others_chats(page, server):
    ask(page, "What is the capital of France?")
    other = page.context.new_page()
    other.goto(server.url)
    other.click("#new-chat")
    ask(other, "What is the capital of Japan?")
    # The first tab hears of it, and adds to its own chat without losing the other.
    expect(page.locator(".conversation")).to_have_count(2)
    ask(page, "What is 12 plus 30?")
    expect(page.locator(".message")).to_have_count(4)
    other.reload()
    expect(other.locator(".conversation")).to_have_count(2)
    titles = other.locator(".conversation .open").all_inner_texts()
    assert sorted(titles) == ["What is the capital of France?", "What is the capital of Japan?"]
    other.locator(".conversation", has_text="France").locator(".open").click()
    expect(other.locator(".message")).to_have_count(4)
    other.locator(".conversation.current").hover()
    other.locator(".conversation.current [title^=Delete]").click()
    expect(page.locator(".conversation")).to_have_count(1)
    other.close()


def test_chats_of_the_old_page_are_kept(page):
    old = [{"id": "x", "title": "Old chat", "time": 1, "messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello there"}]}]
    page.evaluate("old => localStorage.setItem('pagoda.chats', JSON.stringify(old))", old)
    page.reload()
    expect(page.locator(".assistant .body")).to_have_text("Hello there")
    expect(page.locator(".message")).to_have_count(2)


def test_deleting_can_be_undone(page):
    ask(page, "What is the capital of France?")
    page.locator(".conversation").hover()
    page.click("[title^='Delete What']")
    expect(page.locator(".conversation")).to_have_count(0)
    expect(page.locator(".welcome")).to_be_visible()
    page.click(".toast button")
    expect(page.locator(".assistant .body")).to_contain_text("Paris")
    page.reload()
    expect(page.locator(".conversation")).to_have_count(1)


def test_a_chat_is_renamed_in_place(page):
    ask(page, "What is the capital of France?")
    page.locator(".conversation").hover()
    page.click("[title^='Rename']")
    top = "selector => document.querySelector(selector).getBoundingClientRect().top"
    assert page.evaluate(top, ".rename") - page.evaluate(top, "#conversations") >= 4  # the ring around it is not cut off
    page.fill(".rename", "Cities")
    page.keyboard.press("Enter")
    expect(page.locator(".conversation .open")).to_have_text("Cities")
    page.reload()
    expect(page.locator("#title")).to_have_text("Cities")


def test_values_that_a_field_refuses_are_not_used(page):
    sent = []
    page.on("request", lambda request: sent.append(request.post_data_json) if "chat/completions" in request.url else None)
    page.click("#open-settings")
    page.fill("[name=temperature]", "9")
    page.fill("[name=max_tokens]", "40")
    page.click("#settings .primary")
    ask(page, "What is the capital of France?")
    assert "temperature" not in sent[0] and sent[0]["max_tokens"] == 40


def test_settings_of_one_chat(page):
    sent = []
    page.on("request", lambda request: sent.append(request.post_data_json) if "chat/completions" in request.url else None)
    ask(page, "What is the capital of France?")
    page.click("#open-settings")
    page.select_option("[name=scope]", "chat")
    page.fill("[name=system]", "Answer briefly.")
    page.click("#settings .primary")
    ask(page, "What is the capital of Japan?")
    page.click("#new-chat")
    ask(page, "What is the capital of Peru?")
    roles = [[message["role"] for message in body["messages"]] for body in sent]
    assert roles == [["user"], ["system", "user", "assistant", "user"], ["user"]]


def test_a_server_that_is_away_has_a_button(page, refusals):
    page.route("**/v1/chat/completions", lambda route: route.abort(), times=1)
    refusals.add("0")
    page.fill("#input", "What is the capital of France?")
    page.keyboard.press("Enter")
    expect(page.locator(".error")).to_contain_text("cannot be reached")
    page.click(".error button")
    expect(page.locator(".assistant .body")).to_contain_text("Paris")
    expect(page.locator(".error")).to_have_count(0)


def test_a_missing_key_has_a_button(page, refusals):
    refusals.add(401)
    page.route("**/v1/chat/completions", lambda route: route.fulfill(status=401, body="{}"), times=1)
    page.fill("#input", "Hello!")
    page.keyboard.press("Enter")
    expect(page.locator(".error")).to_contain_text("asks for an API key")
    page.click(".error button")
    expect(page.locator("[name=key]")).to_be_focused()


def test_drafts_files_and_exports(page, tmp_path):
    ask(page, "What is the capital of France?")
    page.fill("#input", "half a thought")
    page.reload()
    expect(page.locator("#input")).to_have_value("half a thought")
    note = tmp_path / "note.txt"
    note.write_text("seven\n")
    page.set_input_files("#files", str(note))
    expect(page.locator(".chip")).to_contain_text("note.txt")
    page.keyboard.press("Enter")
    expect(page.locator(".user .body").last).to_contain_text("note.txt:\n```\nseven\n```")
    expect(page.locator(".stats").last).to_contain_text("tokens")
    page.click("#open-settings")
    with page.expect_download() as saved:
        page.click("#export-json")
    file = tmp_path / "chats.json"
    saved.value.save_as(file)
    with page.expect_download() as saved:
        page.click("#export-markdown")
    assert "Paris" in (saved.value.path()).read_text()
    page.click("#delete-all")
    expect(page.locator(".conversation")).to_have_count(0)
    page.click("#open-settings")
    page.set_input_files("#import-file", str(file))
    expect(page.locator(".message")).to_have_count(4)


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


def test_markdown_of_answers(page):
    show(page, MARKDOWN)
    body = page.locator(".assistant .body")
    assert body.locator("ol > li > ul > li > ol > li").inner_text() == "deep"
    assert body.locator("td").all_inner_texts() == ["a | b", "1"]
    assert body.locator("td").last.evaluate("cell => getComputedStyle(cell).textAlign") == "right"
    assert body.locator("math").count() == 2 and body.locator("math mfrac").count() == 1
    expect(body).to_contain_text("and $5, $6.")
    assert body.locator(".c-keyword").all_inner_texts() == ["def", "return"]
    assert body.locator(".c-comment").inner_text() == "# one"


@pytest.fixture(params=[(1100, 760), (390, 800)], ids=["desktop", "phone"])
def size(page, request):
    page.set_viewport_size({"width": request.param[0], "height": request.param[1]})
    return request.param


@pytest.fixture(params=["light", "dark"])
def check(page, request):
    """Runs axe on the page as it is."""
    from axe_playwright_python.sync_playwright import Axe
    page.emulate_media(color_scheme=request.param)

    def run(state):
        page.wait_for_timeout(300)  # transitions of colours end
        shots = os.environ.get("SCREENSHOTS")
        if shots:
            page.screenshot(path=os.path.join(shots, f"{state}-{request.param}-{page.viewport_size['width']}.png"))
        found = Axe().run(page).response["violations"]
        assert found == [], state + json.dumps([(item["id"], [node["html"][:200] for node in item["nodes"]]) for item in found], indent=1)

    return run


def test_axe_finds_nothing(page, server, size, check):
    expect(page.locator("#model")).to_contain_text("pagoda-mini")
    check("welcome")
    show(page, MARKDOWN)
    check("answer")
    page.click("#open-settings")
    check("settings")
    page.keyboard.press("Escape")
    if size[0] < 700:
        page.click("#menu")
        check("menu")
        page.click("#shade", position={"x": size[0] - 20, "y": 400})
    page.locator("#messages").click(position={"x": 5, "y": 5})
    page.keyboard.press("?")
    check("keys")
    with server.endless():
        page.goto(server.url + "/status")
        expect(page.locator("#lanes li")).to_have_count(1)
        check("status")


def test_axe_finds_nothing_where_something_went_wrong_or_changed(page, size, check, refusals, tmp_path):
    refusals |= {"0", 401}
    show(page, "An answer.")
    page.locator("[title='Answer again']").click()
    expect(page.locator(".assistant .branches")).to_contain_text("2/2")
    note = tmp_path / "note.txt"
    note.write_text("seven\n")
    page.set_input_files("#files", str(note))
    expect(page.locator(".chip")).to_contain_text("note.txt")
    check("branches")
    page.unroute("**/v1/chat/completions")
    for name, answer in (("away", lambda route: route.abort()), ("key", lambda route: route.fulfill(status=401, body="{}"))):
        page.route("**/v1/chat/completions", answer, times=1)
        page.fill("#input", "Hello!")
        page.keyboard.press("Enter")
        expect(page.locator(".error button").last).to_be_visible()
        check(name)
    if size[0] < 700:
        page.click("#menu")
    page.locator(".conversation").hover()
    page.click("[title^='Rename']")
    check("rename")
    page.keyboard.press("Escape")
    page.locator(".conversation").hover()
    page.click("[title^='Delete Show']")
    expect(page.locator(".toast button")).to_be_visible()
    check("undo")


def test_status_has_a_lane_for_each_request(page, server):
    page.goto(server.url + "/status")
    expect(page.locator("#state")).to_have_text("live")
    with server.endless(2):
        lanes = page.locator("#lanes li.answering")
        expect(lanes).to_have_count(2)
        expect(lanes.first).to_contain_text(re.compile(r"#\d+answering[1-9]\d* tokens"))
        expect(page.locator("#n-requests")).to_contain_text("2 answering")
        expect(page.locator("#n-memory")).to_have_text(re.compile(r"[1-9]\d* of"))
        expect(page.locator("#n-steps")).to_contain_text("answers continued: 2")
    expect(page.locator("#lanes li")).to_have_count(0)


def test_status_shows_what_the_engine_does(page, server):
    ask(page, "What is the capital of France?")
    page.goto(server.url + "/status")
    expect(page.locator("#n-requests")).to_contain_text("0 answering, 0 reading, 0 waiting, 0 preempted")
    expect(page.locator("#n-speed")).to_contain_text("generated")
    expect(page.locator("#n-prefix")).to_have_text(re.compile(r"of [1-9][\d,]* tokens"))
