"""Chats of the page beside each other: their own answers, files and models; what happens when the storage is full or a file is damaged."""
import json
import re

import pytest
from chat_page import ask, browser, expect, page, refusals, show  # noqa: F401: fixtures

CUT = {"choices": [{"index": 0, "delta": {"content": "One, two,"}, "finish_reason": "length"}]}


def stream(*chunks):
    return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"


def test_a_second_chat_answers_while_the_first_does(page):
    held = []
    page.route("**/v1/chat/completions", lambda route: held.append(route), times=1)
    page.fill("#input", "Wait for me")
    page.keyboard.press("Enter")
    expect(page.locator("#send")).to_have_attribute("aria-label", "Stop")
    page.click("#new-chat")
    expect(page.locator("#send")).to_have_attribute("aria-label", "Send")
    ask(page, "What is the capital of France?")
    expect(page.locator(".assistant .body")).to_contain_text("Paris")
    page.fill("#input", "a thought")
    page.locator(".conversation .open", has_text="Wait for me").click()
    expect(page.locator("#input")).to_have_value("")
    expect(page.locator("#send")).to_have_attribute("aria-label", "Stop")
    held[0].fulfill(content_type="text/event-stream", body=stream(CUT))
    expect(page.locator(".assistant .body")).to_have_text("One, two,")
    page.locator(".conversation .open", has_text="capital").click()
    expect(page.locator("#input")).to_have_value("a thought")
    expect(page.locator(".assistant .body")).to_contain_text("Paris")


def test_files_belong_to_their_chat_and_need_no_text(page, tmp_path):
    ask(page, "Hello!")
    note = tmp_path / "note.txt"
    note.write_text("seven\n")
    page.click("#new-chat")
    page.set_input_files("#files", str(note))
    expect(page.locator(".chip")).to_contain_text("note.txt")
    page.locator(".conversation .open", has_text="Hello").click()
    expect(page.locator(".chip")).to_have_count(0)
    page.click("#new-chat")
    expect(page.locator(".chip")).to_contain_text("note.txt")
    expect(page.locator("#send")).to_be_enabled()
    page.click("#send")
    expect(page.locator(".user .body")).to_contain_text("seven")
    expect(page.locator("#title")).to_have_text("note.txt")
    expect(page.locator(".stats")).to_contain_text("tok")


def test_a_cut_answer_is_continued(page):
    sent = []

    def reply(route):
        sent.append(json.loads(route.request.post_data))
        end = {"choices": [{"index": 0, "delta": {"content": " three."}, "finish_reason": "stop"}]}
        route.fulfill(content_type="text/event-stream", body=stream(CUT if len(sent) == 1 else end))

    page.route("**/v1/chat/completions", reply)
    page.fill("#input", "Count")
    page.keyboard.press("Enter")
    page.click(".continue")
    expect(page.locator(".assistant .body")).to_have_text("One, two, three.")
    expect(page.locator(".continue")).to_have_count(0)
    assert "continue_final_message" not in sent[0]
    assert sent[1]["continue_final_message"] is True and sent[1]["messages"][-1] == {"role": "assistant", "content": "One, two,"}
    page.unroute("**/v1/chat/completions")
    page.click("#open-settings")
    page.fill("[name=max_tokens]", "3")
    page.keyboard.press("Escape")
    page.click("#new-chat")
    ask(page, "write a quicksort in python")
    before = page.locator(".assistant .body").inner_text()
    page.click("#open-settings")
    page.fill("[name=max_tokens]", "")
    page.keyboard.press("Escape")
    page.click(".continue")
    expect(page.locator(".stats")).not_to_contain_text("cut")
    expect(page.locator(".stats")).to_contain_text("tok")
    assert len(page.locator(".assistant .body").inner_text()) > len(before), "the server continues it"


def test_the_model_of_a_chat_is_picked(page, server):
    sent = []
    models = [{"id": name, "max_model_len": size, "input_modalities": ["text"]} for name, size in [("small", 100), ("large", 2000)]]
    page.route("**/v1/models", lambda route: route.fulfill(json={"data": models}))

    def reply(route):
        sent.append(json.loads(route.request.post_data)["model"])
        route.fulfill(content_type="text/event-stream", body=stream(CUT))

    page.route("**/v1/chat/completions", reply)
    page.reload()
    expect(page.locator("#models")).to_have_value("small")
    page.fill("#input", "one")
    page.keyboard.press("Enter")
    expect(page.locator(".assistant .stats")).to_contain_text("cut")
    page.select_option("#models", "large")
    expect(page.locator("#model")).to_contain_text("2,000")
    page.click("#new-chat")
    page.select_option("#models", "small")
    page.fill("#input", "two")
    page.keyboard.press("Enter")
    expect(page.locator(".assistant .stats")).to_contain_text("cut")
    page.locator(".conversation .open", has_text="one").click()
    expect(page.locator("#models")).to_have_value("large")
    page.reload()
    page.locator(".conversation .open", has_text="one").click()
    page.fill("#input", "three")
    page.keyboard.press("Enter")
    expect(page.locator(".assistant .stats")).to_have_count(2)
    assert sent == ["small", "small", "large"]


def test_full_storage_warns_and_keeps_everything(page):
    page.evaluate("""() => {
      let size = 1 << 22;
      for (let count = 0; size > 0; count++) {
        try { localStorage.setItem(`filler${count}`, "x".repeat(size)); } catch { size >>= 1; }
      }
    }""")
    ask(page, "What is the capital of France?")
    expect(page.locator(".toast")).to_contain_text("storage is full")
    expect(page.locator(".toast button")).to_have_text("Export all")
    ask(page, "What is the capital of Japan?")
    page.reload()
    expect(page.locator(".message")).to_have_count(4)
    expect(page.locator(".assistant .body").first).to_contain_text("Paris")
    page.evaluate("() => Object.keys(localStorage).filter((key) => key.startsWith('filler')).forEach((key) => localStorage.removeItem(key))")
    ask(page, "Hello!")
    page.reload()
    expect(page.locator(".message")).to_have_count(6)
    left = page.evaluate("async () => (await (await import('/overflow.js')).spilled()).length")
    assert left == 0, "there is room again: the chat is in one place"


GOOD = {"id": "c", "title": "t", "messages": [{"id": "a", "parent": None, "role": "user", "content": "x"},
                                              {"id": "b", "parent": "a", "role": "assistant", "content": "y"}], "leaf": "b"}


@pytest.mark.parametrize("change", [
    {"messages": [{"id": "a", "parent": "a", "role": "user", "content": "x"}], "leaf": "a"},
    {"messages": [{"id": "a", "parent": None, "role": "user", "content": 5}], "leaf": "a"},
    {"messages": [{"id": "a", "parent": None, "role": "root", "content": "x"}], "leaf": "a"},
    {"messages": [None], "leaf": "a"}, {"messages": "x"}, {"leaf": "z"}, {"title": {}}, {"id": 5},
    {"messages": [{"id": "b", "parent": "a", "role": "user", "content": "x"}, {"id": "a", "parent": "b", "role": "user", "content": "x"}], "leaf": "a"},
], ids=str)
def test_a_damaged_import_is_refused_as_a_whole(page, tmp_path, change):
    file = tmp_path / "chats.json"
    file.write_text(json.dumps({"format": "pagoda-chats", "version": 1, "chats": [GOOD, {**GOOD, "id": "d", **change}]}))
    page.click("#open-settings")
    page.set_input_files("#import-file", str(file))
    expect(page.locator(".toast")).to_contain_text(re.compile("damaged|holds no chats"))
    expect(page.locator(".conversation")).to_have_count(0)
    file.write_text(json.dumps({"format": "pagoda-chats", "version": 1, "chats": [GOOD]}))
    page.set_input_files("#import-file", str(file))
    expect(page.locator(".message")).to_have_count(2)


def test_long_titles_use_the_space(page):
    question = "What is the capital of " + "a very long country name and " * 8
    show(page, "Paris")
    page.unroute("**/v1/chat/completions")
    page.click("#new-chat")
    page.set_viewport_size({"width": 1600, "height": 760})
    ask(page, question)
    assert len(page.locator("#title").inner_text()) > 150
    row = page.locator(".conversation").first
    title, whole = row.locator(".open").bounding_box(), row.bounding_box()
    page.mouse.move(1200, 400)
    page.locator("#input").focus()
    title = row.locator(".open").bounding_box()
    assert title["width"] > whole["width"] - 8, "the buttons take no room until they are shown"
