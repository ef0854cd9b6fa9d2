"""Images on the chat page: picked, dropped and pasted, shown as thumbnails, sent, and still there after a reload."""
import base64
import json

import pytest
from chat_page import ask, browser, expect, page, refusals  # noqa: F401: fixtures
from served import ROOT, Server

IMAGES = ROOT / "Tests/Fixtures/images"


@pytest.fixture(scope="module")
def server():
    running = Server("--model", str(ROOT / "Tests/Fixtures/vision/chat"), "--device", "cpu", "--max-model-len", "512")
    yield running
    running.stop()


def give(page, kind, *names):
    """Drops or pastes files, as a browser delivers them."""
    files = [[name, base64.b64encode((IMAGES / name).read_bytes()).decode()] for name in names]
    page.evaluate("""([kind, files]) => {
      const carrier = new DataTransfer();
      for (const [name, text] of files) {
        const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
        carrier.items.add(new File([bytes], name, { type: name.endsWith("jpg") ? "image/jpeg" : "image/png" }));
      }
      const options = { bubbles: true, cancelable: true };
      if (kind === "paste") document.querySelector("#input").dispatchEvent(new ClipboardEvent("paste", { ...options, clipboardData: carrier }));
      else document.querySelector("#composer").dispatchEvent(new DragEvent("drop", { ...options, dataTransfer: carrier }));
    }""", [kind, files])


def shown(page, where):
    """The thumbnails that have loaded."""
    page.wait_for_function("where => [...document.querySelectorAll(where)].every((image) => image.naturalWidth > 0)", arg=where)
    return page.locator(where)


def test_picked_dropped_and_pasted_images_are_sent_and_survive_a_reload(page):
    sent = []
    page.on("request", lambda request: sent.append(json.loads(request.post_data)) if request.url.endswith("completions") else None)
    expect(page.locator("#model")).to_contain_text("tokens")
    page.set_input_files("#files", [str(IMAGES / "plain.jpg"), str(IMAGES / "rgb.png")])
    expect(page.locator("#attached .thumbnail")).to_have_count(2)
    give(page, "drop", "gray.png")
    expect(page.locator("#attached .thumbnail")).to_have_count(3)
    give(page, "paste", "palette.png")
    expect(page.locator("#attached .thumbnail")).to_have_count(4)
    page.click("#attached .chip >> nth=0 >> button")
    expect(shown(page, "#attached .thumbnail")).to_have_count(3)
    ask(page, "What is this?")
    parts = sent[0]["messages"][0]["content"]
    assert [part["type"] for part in parts] == ["image_url"] * 3 + ["text"]
    assert all(part["image_url"]["url"].startswith("data:image/png;base64,") for part in parts[:3])
    expect(page.locator(".assistant .stats").last).to_contain_text("18 tokens of images")
    page.reload()
    expect(shown(page, ".user .thumbnail")).to_have_count(3)
    ask(page, "And now?")
    assert sent[1]["messages"][0]["content"] == parts


def test_an_image_needs_no_text_and_a_large_one_is_made_smaller(page, tmp_path):
    sent = []
    page.on("request", lambda request: sent.append(json.loads(request.post_data)) if request.url.endswith("completions") else None)
    expect(page.locator("#model")).to_contain_text("tokens")
    url = page.evaluate("""() => {
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [4000, 1000];
      canvas.getContext("2d").fillRect(0, 0, 2000, 1000);
      return canvas.toDataURL("image/png");
    }""")
    large = tmp_path / "wide.png"
    large.write_bytes(base64.b64decode(url.split(",")[1]))
    page.set_input_files("#files", str(large))
    expect(shown(page, "#attached .thumbnail")).to_have_attribute("title", "wide.png, 2048 × 512")
    page.click("#send")
    expect(page.locator(".assistant .stats")).to_contain_text("tokens of images")
    assert sent[0]["messages"][0]["content"][0]["image_url"]["url"].startswith("data:image/jpeg")
    expect(page.locator(".conversation.current")).to_contain_text("wide.png")


def test_files_that_are_no_images_are_named(page, tmp_path):
    expect(page.locator("#model")).to_contain_text("tokens")
    broken = tmp_path / "broken.png"
    broken.write_bytes(b"not a picture")
    page.set_input_files("#files", str(broken))
    expect(page.locator(".toast")).to_contain_text("broken.png is not an image")
    expect(page.locator("#attached .chip")).to_have_count(0)


def test_chats_with_images_are_exported_and_imported(page, tmp_path):
    expect(page.locator("#model")).to_contain_text("tokens")
    page.set_input_files("#files", str(IMAGES / "rgb.png"))
    ask(page, "What is this?")
    page.click("#open-settings")
    with page.expect_download() as saved:
        page.click("#export-json")
    file = tmp_path / "chats.json"
    saved.value.save_as(file)
    page.click("#delete-all")
    page.reload()  # now the image is forgotten
    page.click("#open-settings")
    page.set_input_files("#import-file", str(file))
    expect(shown(page, ".user .thumbnail")).to_have_count(1)
