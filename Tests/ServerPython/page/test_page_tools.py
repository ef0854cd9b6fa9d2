"""Tools in the chat page: turned on per chat, consent to each call, results that the model reads, faults, and the bound on rounds."""
import json
import sys
from pathlib import Path

import pytest
from chat_page import browser, expect, page, refusals  # noqa: F401: fixtures

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from mcp_tools import calls, write_tools  # noqa: E402
from served import Server  # noqa: E402


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tools")


@pytest.fixture(scope="module")
def server(folder):
    running = Server("--mcp", str(write_tools(folder)))
    yield running
    assert running.stop() == 0


def turn_on(page, *names):
    page.click("#open-tools")
    for name in names:
        page.get_by_label(name).check()
    page.locator("#tools .primary").click()
    expect(page.locator("#open-tools")).to_have_attribute("title", f"Tools ({len(names)} on)")


def ask(page, text):
    page.fill("#input", text)
    page.keyboard.press("Enter")


def script(page, *turns):
    """Replaces the model: each turn is a text, or the calls of tools; the last is repeated. Returns the requests."""
    sent = []

    def reply(route):
        sent.append(json.loads(route.request.post_data))
        turn = turns[min(len(sent), len(turns)) - 1]
        if isinstance(turn, str):
            chunks = [{"choices": [{"index": 0, "delta": {"content": turn}, "finish_reason": "stop"}]}]
        else:
            parts = [{"index": at, "id": f"call_{len(sent)}_{at}", "type": "function", "function": {"name": name, "arguments": values}}
                     for at, (name, values) in enumerate(turn)]
            chunks = [{"choices": [{"index": 0, "delta": {"content": "Let me look."}}]},
                      {"choices": [{"index": 0, "delta": {"tool_calls": parts}, "finish_reason": "tool_calls"}]}]
        body = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
        route.fulfill(content_type="text/event-stream", body=body)

    page.route("**/v1/chat/completions", reply)
    return sent


def done(page):
    expect(page.locator("[title='Answer again']")).to_be_visible()


def test_the_model_calls_a_tool_of_a_real_server(page, folder):
    turn_on(page, "get_weather")
    ask(page, "What is the weather in Paris?")
    question = page.locator(".question")
    expect(question).to_contain_text("Run get_weather of weather?")
    expect(question).to_contain_text("Paris")
    assert "Paris" not in calls(folder), "a call before the consent"
    page.click("text=Allow once")
    done(page)
    assert calls(folder) == ["Paris"]
    expect(page.locator(".call summary")).to_have_text("get_weather · done")
    page.click(".call summary")
    expect(page.locator(".call .result")).to_have_text("18 degrees in Paris")
    assert page.locator(".assistant .body").inner_text()
    page.reload()
    expect(page.locator(".call summary")).to_have_text("get_weather · done")
    page.click("#new-chat")  # tools are a chat's own
    expect(page.locator("#open-tools")).to_have_attribute("title", "Tools")


def test_results_go_back_and_the_loop_goes_on(page, folder):
    turn_on(page, "get_weather", "fail")
    sent = script(page, [("get_weather", '{"city": "Rome"}'), ("fail", '{"reason": "no luck"}')], [("get_weather", '{"city": "Bern"}')], "Mild.")
    ask(page, "Compare")
    page.click("text=Always in this chat")  # of get_weather
    expect(page.locator(".question")).to_contain_text("Run fail")
    page.click("text=Allow once")
    done(page)
    expect(page.locator(".call")).to_have_count(3)
    assert calls(folder)[-2:] == ["Rome", "Bern"], "the second call needs no question"
    expect(page.locator(".call.failed")).to_have_count(1)
    expect(page.locator(".assistant .body")).to_contain_text("Mild.")
    assert [tool["function"]["name"] for tool in sent[0]["tools"]] == ["get_weather", "fail"]
    roles = [(message["role"], len(message.get("tool_calls", []))) for message in sent[2]["messages"]]
    assert roles == [("user", 0), ("assistant", 2), ("tool", 0), ("tool", 0), ("assistant", 1), ("tool", 0)]
    results = [message["content"] for message in sent[2]["messages"] if message["role"] == "tool"]
    assert results[0] == "18 degrees in Rome" and results[1].startswith("Error: ") and results[2] == "18 degrees in Bern"
    assert sent[2]["messages"][1]["content"] == "Let me look." == sent[2]["messages"][4]["content"]
    assert sent[2]["messages"][1]["tool_calls"][0]["id"] == sent[2]["messages"][2]["tool_call_id"]
    ask(page, "And now?")  # the next turn repeats the calls, and the consent holds
    expect(page.locator(".assistant")).to_have_count(2)
    done_count = len(sent[2]["messages"])
    expect(page.locator("#send")).to_have_attribute("aria-label", "Send")
    assert [message["role"] for message in sent[3]["messages"]][done_count:] == ["assistant", "user"]


def test_a_refused_call_is_not_made(page, folder):
    before = calls(folder)
    turn_on(page, "get_weather")
    sent = script(page, [("get_weather", '{"city": "Rome"}')], "As you like.")
    ask(page, "Weather?")
    page.click("text=Refuse")
    expect(page.locator(".assistant .body")).to_contain_text("As you like.")
    expect(page.locator(".call summary")).to_have_text("get_weather · refused")
    assert calls(folder) == before and "refused" in sent[1]["messages"][-1]["content"]


def test_calls_that_cannot_be_made_are_told_to_the_model(page, folder):
    before = calls(folder)
    turn_on(page, "get_weather")
    sent = script(page, [("other", "{}"), ("get_weather", "[1]"), ("fail", "{}")], "Sorry.")
    ask(page, "Weather?")
    expect(page.locator(".assistant .body")).to_contain_text("Sorry.")
    results = [message["content"] for message in sent[1]["messages"] if message["role"] == "tool"]
    assert "no tool named other" in results[0] and "not a JSON object" in results[1] and "no tool named fail" in results[2]
    assert calls(folder) == before, "a tool that is off was called"


def test_rounds_are_bounded(page):
    turn_on(page, "get_weather")
    sent = script(page, *[[("get_weather", '{"city": "Rome"}')]] * 10, "Enough.")
    ask(page, "Weather?")
    page.click("text=Always in this chat")
    expect(page.locator(".assistant .body")).to_contain_text("Enough.")
    assert [request.get("tool_choice") for request in sent] == [None] * 10 + ["none"]


def test_a_model_without_end_is_stopped(page):
    turn_on(page, "get_weather")
    sent = script(page, [("get_weather", '{"city": "Rome"}')])
    ask(page, "Weather?")
    page.click("text=Always in this chat")
    expect(page.locator(".error")).to_contain_text("called tools 10 times")
    assert len(sent) == 11


def test_stopping_ends_a_question_and_continuing_goes_on(page, folder):
    before = calls(folder)
    turn_on(page, "get_weather")
    sent = script(page, [("get_weather", '{"city": "Rome"}')], "Fine.")
    ask(page, "Weather?")
    expect(page.locator(".question")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".question")).to_have_count(0)
    expect(page.locator(".stats")).to_contain_text("stopped")
    assert calls(folder) == before and len(sent) == 1
    page.click("text=Continue")
    expect(page.locator(".assistant .body")).to_contain_text("Fine.")
    assert sent[1]["messages"][-1]["role"] == "tool" and not sent[1].get("continue_final_message")


def test_an_imported_chat_allows_nothing(page, tmp_path):
    message = {"role": "user", "content": "Hi", "id": "m", "parent": None}
    chat = {"id": "c", "title": "Planted", "messages": [message], "leaf": "m", "tools": ["weather/get_weather"], "consents": ["weather/get_weather"]}
    path = tmp_path / "chats.json"
    path.write_text(json.dumps({"format": "pagoda-chats", "version": 1, "chats": [chat]}))
    page.click("#open-settings")
    page.set_input_files("#import-file", str(path))
    expect(page.locator("#title")).to_have_text("Planted")
    expect(page.locator("#open-tools")).to_have_attribute("title", "Tools")
    assert page.evaluate("""() => Object.keys(localStorage).filter((key) => key.startsWith("pagoda.chat."))
        .map((key) => localStorage[key]).some((text) => text.includes("consents"))""") is False


def test_without_servers_there_is_no_button(page):
    page.route("**/tools", lambda route: route.fulfill(json={"servers": []}))
    page.reload()
    expect(page.locator("#model")).to_contain_text("pagoda-mini")
    expect(page.locator("#open-tools")).to_be_hidden()
