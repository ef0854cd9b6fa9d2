"""The chat page in headless Chromium: markdown, text that stays text, sizes, themes, accessibility, and the status page."""
import json
import os
import re

import pytest
from playwright.sync_api import expect

from chat_page import MARKDOWN, ask, browser, page, refusals, show  # noqa: F401

EVIL = '<img src=x onerror="document.title=1"> [x](javascript:alert(1)) ![i](https://evil.example/x.png) <script>1</script>'


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
    expect(page.locator("body")).not_to_have_css("background-color", before)


def test_fits_a_phone(page):
    page.set_viewport_size({"width": 360, "height": 700})
    ask(page, "write a quicksort in python")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.click("#menu")
    expect(page.locator("#new-chat")).to_be_in_viewport()


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
    """Runs axe on the current page."""
    from axe_playwright_python.sync_playwright import Axe
    page.emulate_media(color_scheme=request.param, reduced_motion="reduce")  # no colours between two others

    def run(state):
        shots = os.environ.get("SCREENSHOTS")
        if shots:
            page.screenshot(path=os.path.join(shots, f"{state}-{request.param}-{page.viewport_size['width']}.png"))
        found = Axe().run(page).response["violations"]
        assert found == [], state + json.dumps([(item["id"], [node["html"][:200] for node in item["nodes"]]) for item in found], indent=1)

    return run


def test_axe_finds_nothing(page, server, size, check, refusals):
    refusals |= {"0"}
    expect(page.locator("#model")).to_contain_text("pagoda-mini")
    check("welcome")
    show(page, MARKDOWN)
    check("answer")
    page.click("#open-settings")
    check("settings")
    page.fill("[name=temperature]", "9")
    expect(page.locator("[name=temperature]:invalid")).to_be_visible()
    check("refused")
    page.keyboard.press("Escape")
    if size[0] < 700:
        page.click("#menu")
        check("menu")
        page.click("#shade", position={"x": size[0] - 20, "y": 400})
    page.locator("#messages").click(position={"x": 5, "y": 5})
    page.keyboard.press("?")
    check("keys")
    page.goto(server.url + "/status")
    expect(page.locator("#state")).to_have_text("live")
    check("idle")
    with server.endless():
        expect(page.locator("#lanes li")).to_have_count(1)
        check("status")
    page.route("**/status/events", lambda route: route.abort())
    page.reload()
    expect(page.locator("#state")).to_contain_text("cannot be reached")
    check("lost")


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
    page.set_input_files("#import-file", str(note))
    expect(page.locator(".toast")).to_contain_text("holds no chats")
    check("toast")
    page.unroute("**/v1/chat/completions")
    refused = [("away", lambda route: route.abort()), ("key", lambda route: route.fulfill(status=401, body="{}"))]
    for count, (name, answer) in enumerate(refused, 1):
        page.route("**/v1/chat/completions", answer, times=1)
        page.fill("#input", "Hello!")
        page.keyboard.press("Enter")
        expect(page.locator(".error button")).to_have_count(count)
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


# An answer that the test controls: `say` takes the delta of the next event of the stream.
HELD_ANSWER = """() => {
  const original = window.fetch, encoder = new TextEncoder();
  window.fetch = (path, options) => {
    if (!String(path).includes("chat/completions")) return original(path, options);
    const body = new ReadableStream({ start(stream) {
      window.say = (delta) => stream.enqueue(encoder.encode("data: " + JSON.stringify({ choices: [{ index: 0, delta }] }) + "\\n\\n"));
      options.signal.addEventListener("abort", () => stream.error(new DOMException("stopped", "AbortError")));
    } });
    return Promise.resolve(new Response(body));
  };
}"""


def test_axe_finds_nothing_while_a_model_loads_thinks_and_answers(page, size, check, refusals):
    refusals.add(503)
    loading = json.dumps({"error": {"message": "the model is still loading"}})
    page.route("**/v1/models", lambda route: route.fulfill(status=503, body=loading))
    page.reload()
    expect(page.locator("#model")).to_have_text("the model is still loading")
    check("loading")
    page.unroute("**/v1/models")
    expect(page.locator("#model")).to_contain_text("pagoda-mini")
    page.evaluate(HELD_ANSWER)
    page.fill("#input", "What is 12 plus 30?")
    page.keyboard.press("Enter")
    expect(page.locator(".assistant .waiting")).to_be_visible()
    check("waiting")
    page.evaluate("say({ reasoning_content: '12 and 30: ' })")
    expect(page.locator(".thinking summary")).to_have_text("Thinking…")
    check("thinking")
    page.click(".thinking summary")
    expect(page.locator(".thinking div")).to_be_visible()
    check("thoughts")
    page.evaluate("say({ content: 'It is **42**, as\\n```python\\nprint(12 +' })")
    expect(page.locator(".assistant code")).to_contain_text("print")
    check("answering")
    page.keyboard.press("Escape")
    expect(page.locator(".stats")).to_contain_text("stopped")
    page.locator(".user").hover()
    page.click("[title='Edit and send again']")
    expect(page.locator(".editor textarea")).to_be_focused()
    check("editing")


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
    expect(page.locator("#n-requests")).to_contain_text("idle: no request is running or waiting")
    expect(page.locator("#n-speed")).to_contain_text("generated")
    expect(page.locator("#n-prefix")).to_have_text(re.compile(r"of [1-9][\d,]* tokens"))
