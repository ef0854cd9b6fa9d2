"""The chat page in headless Chromium: send, stream, stop, branches, tabs, settings and files."""
import json
import re

from playwright.sync_api import expect

from chat_page import ask, browser, page, refusals  # noqa: F401
from conftest import LONG


def test_names_the_model_when_it_has_loaded(page, refusals):
    refusals.add(503)
    error = json.dumps({"error": {"message": "the model is still loading"}})
    page.route("**/v1/models", lambda route: route.fulfill(status=503, body=error))
    page.reload()
    expect(page.locator("#model")).to_have_text("the model is still loading")
    with page.expect_response(lambda response: response.status == 503):
        pass  # it asks again
    page.unroute("**/v1/models")
    expect(page.locator("#model")).to_contain_text("pagoda-mini")


def test_the_demo_names_real_models_that_fit(page, server):
    models = page.request.get(server.url + "/suggestions").json()["suggestions"]
    assert 1 <= len(models) <= 3
    expect(page.locator(".welcome")).to_contain_text("This is mini, a demo of 23 MB.")
    rows = page.locator(".welcome .models tr")
    expect(rows).to_have_count(len(models))
    for row, model in zip(rows.all_inner_texts(), models):
        assert re.fullmatch(r"pagoda serve --model qwen3\.5:\S+ --quantize 4bit", model["command"]) and model["command"] in row
        gibibytes = model["memory_bytes"] / 2**30
        assert 0 < model["memory_bytes"] < model["limit_bytes"] and f"{gibibytes:.{2 if gibibytes < 10 else 1}f} GiB of" in row
    plain = {"object": "list", "data": [{"id": "other", "max_model_len": 4096}]}
    page.route("**/v1/models", lambda route: route.fulfill(json=plain))
    page.reload()
    expect(page.locator("#model")).to_contain_text("other")
    expect(page.locator(".models")).to_have_count(0)


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
        post_data=route.request.post_data.replace("{", json.dumps(LONG)[:-1] + ",", 1)))
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
    # No rate: cached text may arrive all at once.
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


def test_a_question_in_the_address_is_not_sent(page, server):
    page.goto(server.url + "/?q=What+is+the+capital+of+France")
    expect(page.locator(".welcome")).to_be_visible()
    page.wait_for_timeout(300)
    assert page.locator(".message").count() == 0


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
    # The first tab is notified, and adds to its own chat without losing the other.
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
    expect(page.locator(".error")).to_contain_text("requires an API key")
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
    expect(page.locator(".stats")).to_have_count(2)
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


def test_a_full_context_and_a_long_prompt_are_explained(page):
    sent = []

    def reply(route):
        sent.append(json.loads(route.request.post_data))
        choice = {"index": 0, "delta": {"content": "Paris"}, "finish_reason": "stop"}
        events = [{"choices": [choice]}, {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 1}}]
        body = "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"
        route.fulfill(status=200, content_type="text/event-stream", headers={"x-pagoda-omitted-messages": "6"}, body=body)

    page.route("**/v1/chat/completions", reply)
    ask(page, "What is the capital of France?")
    expect(page.locator(".assistant .stats").last).to_contain_text("the oldest 6 messages were left out")
    assert sent[0]["truncation"] == "auto" and sent[0]["return_progress"] is True
    page.click("#open-settings")
    page.select_option("select[name=full]", "stop")
    page.keyboard.press("Escape")
    ask(page, "And of Peru?")
    assert sent[1]["truncation"] == "disabled"


def test_the_reading_of_a_long_prompt_is_shown(page):
    text = page.evaluate("""async () => {
      const { updateAnswer } = await import("/messages.js");
      const node = document.createElement("article");
      node.innerHTML = '<details class="thinking"><summary></summary><div></div></details><div class="calls"></div><div class="body"></div><div class="tools"></div>';
      const message = { id: "x", content: "", reasoning: "" };
      updateAnswer(node, message, { message, progress: { total: 1000, cache: 0, processed: 430, time_ms: 8800 } });
      return node.querySelector(".tools").textContent;
    }""")
    assert text == "reading 43 %, 12 s left"
