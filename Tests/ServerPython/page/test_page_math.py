"""Formulas of the page have the characters and the structure that another renderer gives them (Tools/fixtures/math_fixtures.py)."""
import json
import xml.etree.ElementTree as xml

from chat_page import browser, expect, page, refusals, show  # noqa: F401: fixtures
from conftest import ROOT
from math_shape import shape

EXPECTED = json.loads((ROOT / "Tests/Fixtures/math/expected.json").read_text())


def drawn(page, formulas):
    texts = page.evaluate("""async (formulas) => {
      const { math } = await import("/math.js");
      return formulas.map((tex) => new XMLSerializer().serializeToString(math(tex, true)));
    }""", formulas)
    return [xml.fromstring(text) for text in texts]


def test_formulas_are_as_another_renderer_has_them(page):
    assert len(EXPECTED) >= 200
    trees = drawn(page, [row["tex"] for row in EXPECTED])
    wrong = [(row, found) for row, found in zip(EXPECTED, map(shape, trees)) if {"tex": row["tex"], **found} != row]
    assert wrong == [], f"{len(wrong)} formulas differ: " + "\n".join(map(str, wrong))


def test_formulas_in_a_text(page):
    show(page, "Inline \\[x^2\\] and \\(y\\) and $\\mathbb{R}$, not \\[ alone.\n\n\\[\\boxed{\\left(\\frac12\\right)}\\]\n\n"
               "$$\\underbrace{a}_{b}$$\n\n" + "$" + "{" * 500 + "$ and $" + "\\left(" * 500 + "$")
    body = page.locator(".assistant .body")
    expect(body.locator("math")).to_have_count(7)
    expect(body.locator("math .boxed mfrac")).to_have_count(1)
    expect(body).to_contain_text("not [ alone.")
    assert page.locator("math .boxed").evaluate("box => getComputedStyle(box).borderTopStyle") == "solid"
