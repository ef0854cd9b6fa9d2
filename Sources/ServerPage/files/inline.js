// Inline Markdown to a tree: escapes, code, emphasis by CommonMark's rules, links, line breaks, math.
// A node is a text, or { type, children } plus the fields of its type: target, title, code, math.
import { label } from "./blocks.js";

const ENTITIES = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0", copy: "©", reg: "®", hellip: "…", mdash: "—", ndash: "–", times: "×", deg: "°", euro: "€", auml: "ä", ouml: "ö", uuml: "ü", Auml: "Ä", Ouml: "Ö", Uuml: "Ü", szlig: "ß" };
const ESCAPE = /^\\([!-/:-@[-`{-~])/;
const ENTITY = /^&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([A-Za-z][A-Za-z0-9]{1,31}));/;
const AUTOLINK = /^<([A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*)>/;
const MAIL = /^<([A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*)>/;
const BARE = /^https?:\/\/[^\s<>"']*[^\s<>"'.,;:!?)\]*_~]/;
const PUNCTUATION = /[\p{P}\p{S}]/u;

export function parseInline(text, references = new Map()) {
  return new InlineParser(text, references).parse();
}

function unescape(text) {
  return text.replace(/\\([!-/:-@[-`{-~])/g, "$1").replace(/&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([A-Za-z][A-Za-z0-9]{1,31}));/g, (whole) => entity(whole) ?? whole);
}

function entity(text) {
  const [, decimal, hexadecimal, name] = text.match(ENTITY) ?? [];
  if (name) return ENTITIES[name];
  const code = decimal ? parseInt(decimal, 10) : parseInt(hexadecimal, 16);
  return code === 0 || code > 0x10ffff ? "\ufffd" : String.fromCodePoint(code);
}

class InlineParser {
  constructor(text, references) {
    this.text = text;
    this.references = references;
    this.at = 0;
    this.nodes = []; // texts, nodes, and delimiters { mark, count, opens, closes } and brackets { bracket, start }
  }

  parse() {
    while (this.at < this.text.length) this.step();
    return merged(emphasis(this.nodes));
  }

  get rest() { return this.text.slice(this.at); }

  take(count, ...nodes) {
    this.at += count;
    this.nodes.push(...nodes);
  }

  step() {
    const character = this.text[this.at];
    switch (character) {
      case "\\": return this.backslash();
      case "`": return this.code();
      case "*": case "_": case "~": return this.delimiter(character);
      case "[": return this.take(1, { bracket: "[", start: this.at + 1, active: true });
      case "!": return this.text[this.at + 1] === "[" ? this.take(2, { bracket: "![", start: this.at + 2, active: true }) : this.take(1, "!");
      case "]": return this.close();
      case "<": return this.angle();
      case "&": return this.entity();
      case "\n": return this.newline();
      case "$": return this.dollar();
      case "h": return this.bare();
      default: {
        const plain = this.rest.match(/^[^\\`*_~[\]!<&\n$h]+/)?.[0] ?? character;
        return this.take(plain.length, plain);
      }
    }
  }

  backslash() {
    const math = this.rest.match(/^\\\(([^]*?)\\\)/) ?? this.rest.match(/^\\\[([^]*?)\\\]/);
    if (math) return this.take(math[0].length, { type: "math", math: math[1] });
    if (this.text[this.at + 1] === "\n") {
      this.take(2, { type: "break" });
      return this.skipSpaces();
    }
    const escape = this.rest.match(ESCAPE);
    return escape ? this.take(2, { type: "escaped", text: escape[1] }) : this.take(1, "\\");
  }

  code() {
    const ticks = this.rest.match(/^`+/)[0];
    const end = new RegExp(`(?<!\`)${ticks}(?!\`)`, "g");
    end.lastIndex = this.at + ticks.length;
    const found = end.exec(this.text);
    if (!found) return this.take(ticks.length, ticks);
    let code = this.text.slice(this.at + ticks.length, found.index).replaceAll("\n", " ");
    if (/^ .* $/.test(code) && code.trim()) code = code.slice(1, -1);
    this.take(found.index + ticks.length - this.at, { type: "code", code });
  }

  delimiter(mark) {
    const run = this.rest.match(mark === "*" ? /^\*+/ : mark === "_" ? /^_+/ : /^~+/)[0];
    if (mark === "~" && run.length > 2) return this.take(run.length, run);
    const before = this.at === 0 ? "\n" : [...this.text.slice(Math.max(0, this.at - 2), this.at)].at(-1);
    const after = this.at + run.length >= this.text.length ? "\n" : [...this.text.slice(this.at + run.length, this.at + run.length + 2)][0];
    const spaceAfter = /\s/u.test(after), spaceBefore = /\s/u.test(before);
    const left = !spaceAfter && (!PUNCTUATION.test(after) || spaceBefore || PUNCTUATION.test(before));
    const right = !spaceBefore && (!PUNCTUATION.test(before) || spaceAfter || PUNCTUATION.test(after));
    const opens = mark === "_" ? left && (!right || PUNCTUATION.test(before)) : left;
    const closes = mark === "_" ? right && (!left || PUNCTUATION.test(after)) : right;
    this.take(run.length, { mark, count: run.length, original: run.length, opens, closes });
  }

  // Closes a link if the brackets and the following text form one.
  close() {
    const open = this.nodes.findLastIndex((node) => node.bracket);
    if (open < 0) return this.take(1, "]");
    const bracket = this.nodes[open];
    const found = bracket.active ? this.destination(bracket) : null;
    if (!found) {
      this.nodes[open] = bracket.bracket;
      return this.take(1, "]");
    }
    const children = merged(emphasis(this.nodes.splice(open + 1)));
    this.nodes.pop();
    this.nodes.push({ type: bracket.bracket === "[" ? "link" : "image", target: found.target, title: found.title, children });
    this.at = found.end;
    if (bracket.bracket === "[") for (const node of this.nodes) if (node.bracket === "[") node.active = false; // no link within a link
  }

  destination(bracket) {
    const after = this.text.slice(this.at + 1);
    const inline = after.match(/^\([ \t\n]*(?:<([^<>\n]*)>|((?:[^\s()\\]|\\.|\((?:[^\s()\\]|\\.|\([^\s()]*\))*\))*))(?:[ \t\n]+(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|\(((?:[^()\\]|\\.)*)\)))?[ \t\n]*\)/);
    if (inline) {
      const title = inline[3] ?? inline[4] ?? inline[5];
      return { target: unescape(inline[1] ?? inline[2]), title: title === undefined ? undefined : unescape(title), end: this.at + 1 + inline[0].length };
    }
    const named = after.match(/^\[((?:[^\]\\[]|\\.)*)\]/);
    const name = named?.[1] ? named[1] : this.text.slice(bracket.start, this.at);
    const reference = this.references.get(label(name));
    return reference ? { target: unescape(reference.target), title: reference.title === undefined ? undefined : unescape(reference.title), end: this.at + 1 + (named?.[0].length ?? 0) } : null;
  }

  angle() {
    const address = this.rest.match(AUTOLINK);
    if (address) return this.take(address[0].length, { type: "link", target: address[1], children: [address[1]] });
    const mail = this.rest.match(MAIL);
    if (mail) return this.take(mail[0].length, { type: "link", target: `mailto:${mail[1]}`, children: [mail[1]] });
    this.take(1, "<");
  }

  bare() {
    const address = this.at === 0 || !/\w/.test(this.text[this.at - 1]) ? this.rest.match(BARE) : null;
    if (address && !this.nodes.some((node) => node.bracket && node.active)) return this.take(address[0].length, { type: "link", target: address[0], children: [address[0]], bare: true });
    this.take(1, "h");
  }

  entity() {
    const found = this.rest.match(ENTITY);
    const text = found ? entity(found[0]) : undefined;
    text === undefined ? this.take(1, "&") : this.take(found[0].length, { type: "escaped", text });
  }

  newline() {
    const last = this.nodes.at(-1);
    const isHard = typeof last === "string" && / {2,}$/.test(last);
    if (typeof last === "string") this.nodes[this.nodes.length - 1] = last.replace(/ +$/, "");
    this.take(1, isHard ? { type: "break" } : "\n");
    this.skipSpaces();
  }

  skipSpaces() {
    while (this.text[this.at] === " ") this.at++;
  }

  // $x$ without spaces inside the dollar signs and without a digit after them, so that prices are not math.
  dollar() {
    const display = this.rest.match(/^\$\$([^$]+)\$\$/);
    if (display) return this.take(display[0].length, { type: "math", math: display[1] });
    const math = this.rest.match(/^\$(?=[^\s$])((?:[^$\\\n]|\\.)*?[^\s\\]|[^\s\\$])\$(?!\d)/);
    math ? this.take(math[0].length, { type: "math", math: math[1] }) : this.take(1, "$");
  }
}

// Pairs delimiters from the inside out. Brackets that no link used are text.
function emphasis(nodes) {
  nodes = nodes.map((node) => node.bracket ?? node);
  for (let closer = 0; closer < nodes.length; closer++) {
    const end = nodes[closer];
    if (!end.mark || !end.closes || end.count === 0) continue;
    const opener = findOpener(nodes, closer);
    if (opener < 0) continue;
    const begin = nodes[opener];
    const size = end.mark === "~" ? end.count : Math.min(begin.count, end.count) > 1 ? 2 : 1;
    const type = end.mark === "~" ? "strike" : size === 2 ? "strong" : "em";
    const inner = nodes.slice(opener + 1, closer);
    begin.count -= size;
    end.count -= size;
    nodes.splice(opener + 1, closer - opener - 1, { type, children: merged(inner) });
    closer = end.count > 0 ? opener + 1 : opener + 2; // the same closer again, if part of it is left
  }
  return nodes;
}

function findOpener(nodes, closer) {
  const end = nodes[closer];
  for (let at = closer - 1; at >= 0; at--) {
    const node = nodes[at];
    if (node.mark !== end.mark || !node.opens || node.count === 0) continue;
    if (end.mark === "~" && node.count !== end.count) continue;
    if ((node.closes || end.opens) && (node.original + end.original) % 3 === 0 && (node.original % 3 !== 0 || end.original % 3 !== 0)) continue;
    return at;
  }
  return -1;
}

// Unused delimiters and escapes become text; adjacent texts are merged.
function merged(nodes) {
  const out = [];
  for (const node of nodes) {
    const text = typeof node === "string" ? node : node.mark ? node.mark.repeat(node.count) : node.type === "escaped" ? node.text : null;
    if (text === null) out.push(node);
    else if (typeof out.at(-1) === "string") out[out.length - 1] += text;
    else if (text) out.push(text);
  }
  return out;
}
