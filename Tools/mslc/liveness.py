"""The most 32-bit words that are alive at once in a function of LLVM's text form."""
import re

NAME = re.compile(r"%[\w.]+")
POINTER = 2  # words of an address
NEAR = "ptr addrspace(3)"  # of threadgroup memory: one word


def words(kind):
    """32-bit words of a type; predicates and small integers take one."""
    kind = kind.strip()
    if m := re.match(r"[<\[](\d+) x (.*)[>\]]$", kind):
        inner = bits(m[2])
        return (int(m[1]) * inner + 31) // 32 if inner else int(m[1]) * words(m[2])
    if kind.startswith("ptr"):
        return 1 if kind.startswith(NEAR) else POINTER
    return max(1, (bits(kind) + 31) // 32)


def bits(kind):
    if m := re.match(r"i(\d+)$", kind):
        return int(m[1])
    return {"float": 32, "half": 16, "double": 64}.get(kind, 0)


def result(text):
    """The type of an instruction's value."""
    if m := re.match(r"(?:load|atomicrmw \w+)(?: volatile)? ((?:<[^>]*>|\[[^\]]*\]|ptr|\w+))", text):
        return m[1]
    if m := re.search(r"^\w+.* to ((?:<[^>]*>|ptr|\w+))", text):
        return m[1] if not text.startswith(("call", "tail")) else "i32"
    if text.startswith(("icmp", "fcmp")):
        return "i1"
    if text.startswith("getelementptr"):
        return NEAR if NEAR in text else "ptr"
    if m := re.match(r"extractelement <\d+ x (\w+)>", text):
        return m[1]
    if m := re.search(r"(<\d+ x \w+>|\[\d+ x \w+\]|\bptr addrspace\(3\)|\bptr\b|\bi\d+\b|\bfloat\b|\bhalf\b)", text):
        return m[1]
    return "i32"


class Function:
    def __init__(self, lines, struct_sizes):
        self.blocks, self.next, self.size, self.root = [[]], {}, {}, {}
        labels, at = {"entry": 0}, 0
        for line in lines:
            if m := re.match(r'^"?([\w.]+)"?:', line):
                self.blocks.append([])
                labels["%" + m[1]] = len(self.blocks) - 1
            elif line.startswith("  ") and not line.startswith("    "):
                self.blocks[-1].append(line.strip())
            elif self.blocks[-1] and line.startswith("    "):
                self.blocks[-1][-1] += " " + line.strip()  # of a switch
        self.phi_uses = {}  # (block, value): read at the end of that block
        self.parsed = [[self.parse(text, struct_sizes, labels, at) for text in block] for at, block in enumerate(self.blocks)]
        for at, block in enumerate(self.blocks):
            ends = block[-1] if block else ""
            self.next[at] = [labels[n] for n in re.findall(r"label (%[\w.]+)", ends) if n in labels]

    def parse(self, text, struct_sizes, labels, at):
        """(defined, used) names, with addresses inside an alloca replaced by the alloca."""
        own, _, rest = text.partition(" = ") if text.startswith("%") else ("", "", text)
        rest = re.sub(r"^(tail|musttail|notail) ", "", rest)
        names = [n for n in NAME.findall(rest.split(", !")[0]) if n not in labels]
        if rest.startswith("alloca"):
            kind = re.match(r'alloca (.*?)(?:, align.*)?$', rest)[1]
            self.root[own], self.size[own] = own, struct_sizes(kind)
            return "", []
        if "llvm.lifetime" in rest:
            place = self.root.get(names[-1], "")
            return (place, []) if "lifetime.start" in rest else ("", [place] if place else [])
        if rest.startswith("phi"):
            for value, source in re.findall(r"\[ (%[\w.]+), (%[\w.]+) \]", rest):
                self.phi_uses.setdefault(labels.get(source, 0), []).append(value)
            self.size[own] = words(result(rest))
            return own, []
        if rest.startswith("getelementptr") and names and names[0] in self.root:
            self.root[own] = self.root[names[0]]
            return "", []
        if own:
            fixed = rest.startswith("getelementptr") and len(names) == 1  # an address plus a constant
            self.size[own] = 0 if fixed else words(result(rest))
        return own, [self.root.get(n, n) for n in names]

    def most_alive(self):
        alive_in = [frozenset()] * len(self.blocks)
        changed = True
        while changed:
            changed = False
            for at in reversed(range(len(self.blocks))):
                start = self.walk(at, alive_in)[0]
                if start != alive_in[at]:
                    alive_in[at], changed = start, True
        return max(self.walk(at, alive_in)[1] for at in range(len(self.blocks)))

    def walk(self, at, alive_in):
        """Backwards through a block: what is alive at its begin, and the most words inside it."""
        alive = set().union(*(alive_in[n] for n in self.next[at])) if self.next[at] else set()
        alive |= {self.root.get(v, v) for v in self.phi_uses.get(at, []) if v in self.size or v in self.root}
        total = sum(self.size[n] for n in alive)
        most = total
        for own, used in reversed(self.parsed[at]):
            if own in alive:
                alive.remove(own)
                total -= self.size[own]
            for name in used:
                if name in self.size and name not in alive:  # not of arguments, which are uniform
                    alive.add(name)
                    total += self.size[name]
            most = max(most, total)
        return frozenset(alive), most


def most_alive(lines, header=""):
    sizes = dict(re.findall(r'^(%"?[\w.:]+"?) = type \{ (.*) \}$', header, re.M))

    def size(kind):
        if (m := re.match(r"\[(\d+) x (.*)\]$", kind)) and not bits(m[2]):
            return int(m[1]) * size(m[2])
        if kind in sizes:
            return sum(size(part) for part in re.split(r", (?![^<\[]*[>\]])", sizes[kind]))
        return words(kind)

    return Function(lines, size).most_alive()
