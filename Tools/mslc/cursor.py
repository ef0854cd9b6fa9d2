"""Cursor: the significant tokens of a file by index, and the replacements collected for them."""
from tokens import Tok, significant

CLOSERS = {"(": ")", "[": "]", "{": "}"}


class Cursor:
    """State: all tokens, the indices of the significant ones, and token index -> replacement text."""

    def __init__(self, toks):
        self.toks, self.sig = toks, significant(toks)
        self.replace = {}

    def s(self, k):
        return self.toks[self.sig[k]] if 0 <= k < len(self.sig) else Tok("op", "", 0, "?")

    def group(self, k, end):
        return [self.s(j) for j in range(k, end)]

    def find(self, k):
        """The token that closes the group opened at k."""
        opener, depth = self.s(k).text, 0
        for j in range(k, len(self.sig)):
            t = self.s(j).text
            depth += (t == opener) - (t == CLOSERS[opener])
            if depth == 0:
                return j
        raise SystemExit(f"{self.s(k).file}:{self.s(k).line}: unclosed {opener}")

    def find_angle(self, k):
        depth = 0
        for j in range(k, len(self.sig)):
            depth += {"<": 1, ">": -1, ">>": -2}.get(self.s(j).text, 0)
            if depth <= 0:
                return j
        raise SystemExit(f"{self.s(k).file}:{self.s(k).line}: unclosed <")

    def find_text(self, k, word):
        while self.s(k).text not in (word, ""):
            k += 1
        return k

    def blank(self, k0, k1, put=""):
        """Replaces tokens k0 .. k1 by one text, keeping line ends."""
        for j in range(self.sig[k0], self.sig[k1] + 1):
            if self.toks[j].kind != "nl":
                self.replace[j] = ""
        self.replace[self.sig[k0]] = put

    def wrap(self, k0, k1, before, after):
        """Inserts text before and after tokens k0 .. k1."""
        for k, form in ((k0, before + "{}"), (k1, "{}" + after)):
            i = self.sig[k]
            self.replace[i] = form.format(self.replace.get(i, self.toks[i].text))

    def mark(self, k0, k1, word, put):
        """The text for both GPUs has `put` in place of `word`, or of the whole lines of tokens k0 .. k1 if it is None."""
        self.marks[self.s(k0).file, self.s(k0).line] = (self.s(k1).line, word, put)

    def is_attribute(self, k):
        return self.s(k).text == "[" and self.s(k + 1).text == "["

    def body(self):
        return "".join(self.replace.get(i, t.text) for i, t in enumerate(self.toks))
