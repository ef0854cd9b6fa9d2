"""The page's Markdown parser against the examples of CommonMark, which the source package of mistletoe contains."""
import json
import os
import subprocess
import sys
import tarfile
import zipfile

import pytest
from test_page import browser, page, refusals  # noqa: F401 (fixtures)

PACKAGE = "mistletoe==1.6.0"
NUM_EXAMPLES = 652
NUM_RIGHT = 562  # 56 of the others are about raw HTML, which the page shows as text

# Converts the parser's tree to the HTML of the examples.
TO_HTML = r"""
async (examples) => {
  const { parse } = await import("/blocks.js");
  const escape = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
  const address = (text) => encodeURI(text.replace(/%(?![0-9A-Fa-f]{2})/g, "%25")).replace(/%25([0-9A-Fa-f]{2})/g, "%$1").replaceAll("&", "&amp;");
  const plain = (nodes) => nodes.map((node) => typeof node === "string" ? node : node.type === "break" ? "\n" : node.code ?? plain(node.children ?? [])).join("");
  const title = (node) => node.title === undefined ? "" : ` title="${escape(node.title)}"`;
  const inline = (nodes) => nodes.map((node) => {
    if (typeof node === "string") return escape(node);
    switch (node.type) {
      case "code": return `<code>${escape(node.code)}</code>`;
      case "strong": case "em": return `<${node.type}>${inline(node.children)}</${node.type}>`;
      case "strike": return `~${inline(node.children)}~`;
      case "break": return "<br />\n";
      case "math": return escape(`$${node.math}$`);
      case "image": return `<img src="${address(node.target)}" alt="${escape(plain(node.children))}"${title(node)} />`;
      default: return node.bare ? escape(node.target) : `<a href="${address(node.target)}"${title(node)}>${inline(node.children)}</a>`;
    }
  }).join("");
  const item = (list) => ({ children }) => children.length === 0 ? "<li></li>\n" : "<li>" + children.map((child, at) =>
    list.tight && child.type === "paragraph" ? inline(child.children) + (at < children.length - 1 ? "\n" : "") : (at === 0 ? "\n" : "") + block(child)).join("") + "</li>\n";
  const block = (node) => {
    switch (node.type) {
      case "code": return `<pre><code${node.language ? ` class="language-${escape(node.language)}"` : ""}>${escape(node.code)}${node.code ? "\n" : ""}</code></pre>\n`;
      case "heading": return `<h${node.level}>${inline(node.children)}</h${node.level}>\n`;
      case "rule": return "<hr />\n";
      case "quote": return `<blockquote>\n${node.children.map(block).join("")}</blockquote>\n`;
      case "list": {
        const tag = node.ordered ? "ol" : "ul";
        return `<${tag}${node.ordered && node.start !== 1 ? ` start="${node.start}"` : ""}>\n${node.children.map(item(node)).join("")}</${tag}>\n`;
      }
      case "paragraph": return `<p>${inline(node.children)}</p>\n`;
      default: return node.type;
    }
  };
  return examples.map(({ markdown }) => parse(markdown).map(block).join(""));
}
"""


@pytest.fixture(scope="module")
def examples(tmp_path_factory):
    folder = tmp_path_factory.mktemp("commonmark")
    pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:", "-d", str(folder), PACKAGE]
    run = subprocess.run(pip, capture_output=True, text=True)
    archives = list(folder.iterdir())
    if run.returncode != 0 or not archives:
        reason = f"{PACKAGE} cannot be fetched: {run.stderr[-300:]}"
        pytest.fail(reason) if os.environ.get("CI") == "true" else pytest.skip(reason)
    if zipfile.is_zipfile(archives[0]):
        archive = zipfile.ZipFile(archives[0])
        name = next(name for name in archive.namelist() if name.endswith("specification/commonmark.json"))
        return json.loads(archive.read(name))
    with tarfile.open(archives[0]) as archive:
        name = next(name for name in archive.getnames() if name.endswith("specification/commonmark.json"))
        return json.load(archive.extractfile(name))


def test_examples_of_commonmark(page, examples):
    assert len(examples) == NUM_EXAMPLES
    given = page.evaluate(TO_HTML, examples)
    wrong = [example["example"] for example, html in zip(examples, given) if html != example["html"]]
    assert len(examples) - len(wrong) >= NUM_RIGHT, f"wrong: {wrong}"


def test_no_text_takes_the_parser_long(page):
    seconds = page.evaluate("""async () => {
      const { parse } = await import("/blocks.js");
      const start = performance.now();
      for (const text of ["[".repeat(5000), "*a ".repeat(5000), "`".repeat(5000) + " a", "> ".repeat(3000) + "a", "- ".repeat(3000) + "a", "a|".repeat(5000) + "\\n-|-", "![](".repeat(3000), "<".repeat(5000), "$a".repeat(3000)]) parse(text);
      return (performance.now() - start) / 1000;
    }""")
    assert seconds < 20, seconds
