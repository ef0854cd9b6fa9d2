// TeX's math as MathML, which browsers lay out themselves. Unknown commands are shown as typed.
import { ABOVE, ACCENTS, BELOW, FENCES, FONTS, FUNCTIONS, INTEGRALS, LARGE, LETTERS, LIMITS, OPERATORS, SPACES, styled } from "./symbols.js";

const SPACE = "http://www.w3.org/1998/Math/MathML";
const BRACKETS = { pmatrix: "()", bmatrix: "[]", Bmatrix: "{}", vmatrix: "||", Vmatrix: "∥∥", cases: "{", rcases: " }", dcases: "{" };
const SIZES = /^(?:[bB]ig{1,2})([lrm]?)$/;
const IGNORED = new Set("displaystyle textstyle scriptstyle scriptscriptstyle limits nolimits nonumber notag hline rm bf it cal mathstrut strut allowbreak relax".split(" "));

function make(tag, attributes, ...children) {
  const node = document.createElementNS(SPACE, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

const row = (nodes) => (nodes.length === 1 ? nodes[0] : make("mrow", {}, ...nodes));
const sign = (text, isStretchy) => make("mo", { stretchy: String(isStretchy) }, text);

// A <math> element for `source`.
export function math(source, isDisplay) {
  const reader = new Reader(source, isDisplay);
  return make("math", { display: isDisplay ? "block" : "inline", "aria-label": source }, make("mrow", {}, ...reader.row()));
}

class Reader {
  constructor(source, isDisplay) {
    this.tokens = source.replace(/(?<!\\)%[^\n]*/g, "").match(/\\[A-Za-z]+\*?|\\[^]|[0-9]+(?:\.[0-9]+)?|\s+|[^]/gu) ?? [];
    this.at = 0;
    this.isDisplay = isDisplay;
    this.depth = 0;
  }

  get next() { return this.tokens[this.at]; }

  skip() {
    while (this.next !== undefined && /^\s+$/.test(this.next)) this.at++;
  }

  // The nodes up to a closing token, which is consumed too.
  row(...ends) {
    const out = [];
    for (this.skip(); this.next !== undefined; this.skip()) {
      if (ends.includes(this.next)) {
        this.at++;
        break;
      }
      if (this.next === "\\over" || this.next === "\\choose") {
        const isChoice = this.tokens[this.at++] === "\\choose";
        const fraction = make("mfrac", isChoice ? { linethickness: "0" } : {}, row(out.splice(0)), row(this.row(...ends)));
        return isChoice ? [sign("(", true), fraction, sign(")", true)] : [fraction];
      }
      out.push(this.scripted());
    }
    return out;
  }

  // A group, or one sign: \frac12 is a half.
  argument() {
    this.skip();
    if (this.next === undefined || this.next === "}") return make("mrow", {});
    if (this.next !== "{") {
      if (/^[0-9]./.test(this.next)) this.tokens.splice(this.at, 1, this.next[0], this.next.slice(1));
      return this.atom();
    }
    if (this.depth >= 64) return make("mtext", {}, this.raw());
    this.at++;
    this.depth++;
    const nodes = this.row("}");
    this.depth--;
    return row(nodes);
  }

  optional() {
    this.skip();
    if (this.next !== "[") return null;
    this.at++;
    return row(this.row("]"));
  }

  scripted() {
    const first = this.at;
    const base = ["_", "^", "'"].includes(this.next) ? make("mrow", {}) : this.atom();
    let below = null, above = null, primes = "", hasLimits = this.hasLimits(base, this.tokens[first]);
    for (this.skip(); ["_", "^", "'", "\\limits", "\\nolimits"].includes(this.next); this.skip()) {
      const mark = this.tokens[this.at++];
      if (mark === "'") primes += "′";
      else if (mark === "_") below = this.argument();
      else if (mark === "^") above = this.argument();
      else hasLimits = mark === "\\limits";
    }
    if (primes) above = row([make("mo", {}, primes), ...(above ? [above] : [])]);
    if (!below && !above) return base;
    const [both, low, high] = hasLimits ? ["munderover", "munder", "mover"] : ["msubsup", "msub", "msup"];
    return below && above ? make(both, {}, base, below, above) : make(below ? low : high, {}, base, below ?? above);
  }

  // Whether indices are above and below the base, not beside it.
  hasLimits(base, token) {
    if (["munder", "mover"].includes(base.localName) && base.lastChild.localName === "mo" && /^[⏞⏟]$/.test(base.lastChild.textContent)) return true;
    const name = token?.slice(1) ?? "";
    return this.isDisplay && (LARGE[name] !== undefined || LIMITS.has(name) || name === "operatorname*" || name === "mathop");
  }

  atom() {
    const token = this.tokens[this.at++];
    if (token === "{") {
      this.at--;
      return this.argument();
    }
    if (token.startsWith("\\") && token.length > 1) return this.command(token.slice(1));
    if (/^[0-9]/.test(token)) return make("mn", {}, token);
    if (/^\p{L}/u.test(token)) return make("mi", {}, token);
    if (token === "~") return make("mspace", { width: SPACES["~"] });
    return make("mo", /^[()[\]|/]$/.test(token) ? { stretchy: "false" } : {}, { "-": "−", "*": "∗" }[token] ?? token);
  }

  command(name) {
    if (Object.hasOwn(LETTERS, name)) return make("mi", /^[Α-Ω]$/.test(LETTERS[name]) ? { mathvariant: "normal" } : {}, LETTERS[name]);
    if (Object.hasOwn(OPERATORS, name)) return make("mo", {}, OPERATORS[name]);
    if (Object.hasOwn(LARGE, name)) return make("mo", { largeop: "true" }, LARGE[name]);
    if (Object.hasOwn(INTEGRALS, name)) return make("mo", {}, INTEGRALS[name]);
    if (Object.hasOwn(FENCES, name)) return sign(FENCES[name], false);
    if (FUNCTIONS.has(name)) return make("mi", {}, { limsup: "lim sup", liminf: "lim inf" }[name] ?? name);
    if (Object.hasOwn(SPACES, name)) return make("mspace", { width: SPACES[name] });
    if (Object.hasOwn(ACCENTS, name)) return make("mover", { accent: "true" }, this.argument(), sign(ACCENTS[name], name.startsWith("wide")));
    if (Object.hasOwn(ABOVE, name)) return make("mover", {}, this.argument(), sign(ABOVE[name], true));
    if (Object.hasOwn(BELOW, name)) return make("munder", {}, this.argument(), sign(BELOW[name], true));
    if (Object.hasOwn(FONTS, name)) return this.inFont(FONTS[name]);
    if (IGNORED.has(name)) return make("mrow", {});
    const size = name.match(SIZES);
    if (size) return this.fence(true);
    return this.structure(name);
  }

  structure(name) {
    switch (name) {
      case "frac": case "dfrac": case "tfrac": case "cfrac": return make("mfrac", {}, this.argument(), this.argument());
      case "binom": case "dbinom": case "tbinom": return row([sign("(", true), make("mfrac", { linethickness: "0" }, this.argument(), this.argument()), sign(")", true)]);
      case "sqrt": return this.root();
      case "text": case "mbox": case "textbf": case "textit": case "textrm": case "textsf": case "texttt": case "hbox": return make("mtext", {}, this.raw().replace(/^ +| +$/g, "\u00a0")); // MathML trims spaces
      case "mathrm": case "operatorname": case "operatorname*": case "mathit": case "mathnormal": return this.word(name);
      case "mathop": case "mathbin": case "mathrel": case "mathord": case "ensuremath": case "smash": return this.argument();
      case "left": return this.pair();
      case "right": case "middle": return this.fence(true);
      case "begin": return this.environment();
      case "boxed": case "fbox": return make("mrow", { class: "boxed" }, this.argument());
      case "cancel": case "bcancel": case "xcancel": return make("mrow", { class: "cancelled" }, this.argument());
      case "overset": case "stackrel": { const above = this.argument(); return make("mover", {}, this.argument(), above); }
      case "underset": { const below = this.argument(); return make("munder", {}, this.argument(), below); }
      case "xrightarrow": case "xleftarrow": return this.arrow(name === "xrightarrow" ? "→" : "←");
      case "substack": return this.stack();
      case "not": return make("mo", {}, `${this.atom().textContent}\u0338`.normalize("NFC"));
      case "bmod": return make("mo", {}, "mod");
      case "pmod": case "mod": return this.modulus(name);
      case "phantom": case "hphantom": case "vphantom": return make("mphantom", {}, this.argument());
      case "color": this.raw(); return make("mrow", {});
      case "textcolor": case "colorbox": this.raw(); return this.argument();
      case "hspace": case "hspace*": case "vspace": case "label": this.raw(); return make("mspace", { width: ".33em" });
      case "tag": return make("mtext", {}, `\u2003(${this.raw()})`);
      case "\\": return make("mspace", { linebreak: "newline" });
    }
    if (name.length === 1) return make("mo", {}, name); // \% \$ \& \# \_
    return make("mtext", {}, `\\${name}`);
  }

  word(name) {
    const text = this.raw().replace(/\\[,;:! ]|~/g, " ").replace(/\\operatorname|\\mathrm|[{}]/g, "");
    return make("mi", name === "mathit" ? { mathvariant: "italic" } : { mathvariant: "normal" }, text.trim());
  }

  // Letters and digits of the argument in another font.
  inFont(font) {
    const node = this.argument();
    const change = (part) => {
      if (part.localName === "mi" || part.localName === "mn") {
        part.textContent = [...part.textContent].map((character) => styled(character, font)).join("");
        part.removeAttribute("mathvariant");
      } else [...part.children].forEach(change);
    };
    change(node);
    return node;
  }

  root() {
    const degree = this.optional();
    return degree ? make("mroot", {}, this.argument(), degree) : make("msqrt", {}, this.argument());
  }

  arrow(text) {
    const below = this.optional(), above = this.argument();
    return below ? make("munderover", {}, sign(text, true), below, above) : make("mover", {}, sign(text, true), above);
  }

  modulus(name) {
    const parts = [make("mo", {}, "mod"), make("mspace", { width: ".33em" }), this.argument()];
    return row([make("mspace", { width: "1em" }), ...(name === "pmod" ? [sign("(", false), ...parts, sign(")", false)] : parts)]);
  }

  // \left( ... \right): the fences grow with what is between them.
  pair() {
    const open = this.fence(true);
    if (this.depth >= 64) return open;
    this.depth++;
    const inner = this.row("\\right");
    this.depth--;
    const isClosed = this.tokens[this.at - 1] === "\\right";
    return make("mrow", {}, open, ...inner, ...(isClosed ? [this.fence(true)] : []));
  }

  fence(isStretchy) {
    this.skip();
    const token = this.tokens[this.at++] ?? ".";
    const name = token.slice(1);
    const text = token.startsWith("\\") ? FENCES[name] ?? OPERATORS[name] ?? name : { "<": "⟨", ">": "⟩", ".": "" }[token] ?? token;
    return sign(text, isStretchy);
  }

  // The characters of a group, verbatim.
  raw() {
    this.skip();
    if (this.next !== "{") return this.tokens[this.at++] ?? "";
    let text = "", depth = 0;
    do {
      const token = this.tokens[this.at++];
      if (token === "{" && depth++ === 0) continue;
      if (token === "}" && --depth === 0) break;
      text += token;
    } while (this.next !== undefined);
    return text.replace(/\\([%$&#_{} ])/g, "$1");
  }

  // Cells up to the end of an environment or of a group.
  cells(end) {
    const rows = [[[]]];
    for (this.skip(); this.next !== undefined; this.skip()) {
      if (this.next === end) {
        this.at++;
        break;
      }
      if (this.next === "&") {
        this.at++;
        rows.at(-1).push([]);
      } else if (this.next === "\\\\" || this.next === "\\cr") {
        this.at++;
        if (this.next === "[") this.optional();
        rows.push([[]]);
      } else rows.at(-1).at(-1).push(this.scripted());
    }
    return rows.filter((cells) => cells.length > 1 || cells[0].some((node) => node.localName !== "mrow" || node.childNodes.length > 0))
      .map((cells) => make("mtr", {}, ...cells.map((cell) => make("mtd", {}, ...cell))));
  }

  stack() {
    this.skip();
    if (this.next === "{") this.at++;
    return make("mtable", { class: "stack" }, ...this.cells("}"));
  }

  environment() {
    const name = this.raw().replace("*", "");
    if (this.depth >= 64) return make("mtext", {}, name);
    this.skip();
    if (name === "array" || name === "alignedat" || name === "alignat") this.raw();
    if (name.endsWith("matrix")) this.optional();
    const wasDisplay = this.isDisplay;
    this.depth++;
    const rows = this.cells("\\end");
    this.depth--;
    this.isDisplay = wasDisplay;
    if (this.next === "{") this.raw();
    const isLeft = name.endsWith("cases"), isAligned = /^(align|split|eqnarray)/.test(name);
    const table = make("mtable", isLeft ? { columnalign: "left", class: "left" } : isAligned ? { columnalign: "right left", class: "aligned" } : {}, ...rows);
    const [open = "", close = ""] = BRACKETS[name] ?? "";
    return row([...(open.trim() ? [sign(open, true)] : []), table, ...(close ? [sign(close, true)] : [])]);
  }
}
