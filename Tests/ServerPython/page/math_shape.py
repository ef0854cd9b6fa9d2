"""What two renderings of a formula must share: the characters in their order, and how many fractions, roots, scripts and cells there are."""
import html
import unicodedata

PARTS = {"mfrac": "fraction", "msqrt": "root", "mroot": "root", "mtr": "row", "mtd": "cell"}
LOW, HIGH = ("msub", "munder", "msubsup", "munderover"), ("msup", "mover", "msubsup", "munderover")
# Characters that look the same, or that only one of the renderers writes out.
SAME = {"−": "-", "∣": "|", "∥": "‖", "‖": "‖", "∗": "*", "⋆": "*", "…": "...", "′": "'", "‾": "¯", "―": "¯", "ˉ": "¯", "ϵ": "ε", "ϕ": "φ", "∅": "∅", "⟺": "⇔",
        "⟹": "⇒", "⃗": "→", "^": "^", "ˆ": "^", "˜": "~", "∼": "~", "∙": "•", "․": ".", "_": "¯", "⧵": "\\", "″": "''", "⟂": "⊥", "·": "⋅", "⟶": "→", "ℏ": "ħ", "∖": "\\", "˙": "˙"}


def shape(tree):
    """Of an element tree of MathML."""
    counts = dict.fromkeys(["fraction", "root", "row", "cell", "low", "high"], 0)
    text = ""
    for node in tree.iter():
        name = node.tag.split("}")[-1]
        if name in PARTS:
            counts[PARTS[name]] += 1
        counts["low"] += name in LOW
        counts["high"] += name in HIGH
        text += html.unescape(node.text or "")
    # Letters of other fonts are compared as such: double-struck R is not R.
    plain = "".join(SAME.get(character, character) for character in unicodedata.normalize("NFC", text))
    ignored = "\u2061\u2062\u2063\u200b\u2003\u00a0 \n\t"
    return {"text": "".join(character for character in plain if character not in ignored), **counts}
