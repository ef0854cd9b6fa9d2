// Markdown to elements, for text that is still growing: blocks that have not changed keep their elements.
import { copy, element, icon } from "./dom.js";

// Shows `text` inside `parent`.
export function render(parent, text) {
  const blocks = split(text);
  const shown = parent.blocks ?? [];
  let same = 0;
  while (same < blocks.length && same < shown.length && blocks[same].source === shown[same]) same++;
  while (parent.childNodes.length > same) parent.lastChild.remove();
  for (const block of blocks.slice(same)) parent.append(build(block));
  parent.blocks = blocks.map((block) => block.source);
}

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([^`]*)$/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*$/;
const RULE = /^ {0,3}([-*_])( *\1){2,} *$/;
const ITEM = /^( *)([-*+]|\d{1,9}[.)])\s+(.*)$/;
const QUOTE = /^ {0,3}> ?(.*)$/;
const TABLE_RULE = /^ *\|? *:?-+:? *(\| *:?-+:? *)*\|? *$/;

// Blocks as { kind, source, ... }; the source decides whether an element can stay.
function split(text) {
  const lines = text.split("\n");
  const blocks = [];
  const add = (kind, from, to, more) => blocks.push({ kind, source: kind + "\n" + lines.slice(from, to).join("\n"), lines: lines.slice(from, to), ...more });
  let at = 0;
  while (at < lines.length) {
    const line = lines[at];
    const fence = line.match(FENCE);
    let end = at + 1;
    if (line.trim() === "") {
      at++;
      continue;
    } else if (fence) {
      while (end < lines.length && !(lines[end].trim().startsWith(fence[1]) && lines[end].trim().replaceAll(fence[1][0], "") === "")) end++;
      add("code", at, Math.min(end + 1, lines.length), { language: fence[2].trim(), code: lines.slice(at + 1, end).join("\n") });
      end++;
    } else if (HEADING.test(line)) {
      add("heading", at, end);
    } else if (RULE.test(line)) {
      add("rule", at, end);
    } else if (QUOTE.test(line)) {
      while (end < lines.length && QUOTE.test(lines[end])) end++;
      add("quote", at, end);
    } else if (ITEM.test(line)) {
      while (end < lines.length && (ITEM.test(lines[end]) || /^\s{2,}\S/.test(lines[end]) || (lines[end].trim() === "" && end + 1 < lines.length && (ITEM.test(lines[end + 1]) || /^\s{2,}\S/.test(lines[end + 1]))))) end++;
      add("list", at, end);
    } else if (line.includes("|") && end < lines.length && TABLE_RULE.test(lines[end]) && lines[end].includes("-")) {
      end++;
      while (end < lines.length && lines[end].includes("|")) end++;
      add("table", at, end);
    } else {
      while (end < lines.length && lines[end].trim() !== "" && !FENCE.test(lines[end]) && !HEADING.test(lines[end]) && !QUOTE.test(lines[end]) && !ITEM.test(lines[end]) && !RULE.test(lines[end])) end++;
      add("paragraph", at, end);
    }
    at = end;
  }
  return blocks;
}

function build(block) {
  switch (block.kind) {
    case "code": return codeBlock(block);
    case "heading": {
      const [, marks, text] = block.lines[0].match(HEADING);
      return element(`h${Math.min(marks.length, 4)}`, {}, ...inline(text));
    }
    case "rule": return element("hr");
    case "quote": {
      const quote = element("blockquote");
      render(quote, block.lines.map((line) => line.match(QUOTE)[1]).join("\n"));
      return quote;
    }
    case "list": return list(block.lines);
    case "table": return table(block.lines);
    default: return element("p", {}, ...inline(block.lines.join("\n")));
  }
}

function codeBlock({ language, code }) {
  const button = element("button", { type: "button" }, icon("copy"), "Copy");
  button.addEventListener("click", () => copy(code, button));
  return element("div", { class: "codeblock" },
    element("header", {}, element("span", {}, language || "text"), button),
    element("pre", {}, element("code", {}, code)));
}

// Items of one level; what is indented further belongs to the item above it.
function list(lines) {
  const [, indent, mark] = lines[0].match(ITEM);
  const ordered = /\d/.test(mark);
  const node = element(ordered ? "ol" : "ul");
  if (ordered) node.start = parseInt(mark, 10);
  let content = null;
  const flush = () => {
    if (!content) return;
    const item = element("li");
    render(item, content.join("\n"));
    node.append(item);
  };
  for (const line of lines) {
    const match = line.match(ITEM);
    if (match && match[1].length <= indent.length) {
      flush();
      content = [match[3]];
    } else if (content) {
      content.push(line.replace(/^ {1,4}/, ""));
    }
  }
  flush();
  return node;
}

function table(lines) {
  const cells = (line) => line.trim().replace(/^\||\|$/g, "").split("|").map((cell) => cell.trim());
  const row = (line, tag) => element("tr", {}, ...cells(line).map((cell) => element(tag, {}, ...inline(cell))));
  return element("div", { class: "table" }, element("table", {},
    element("thead", {}, row(lines[0], "th")), element("tbody", {}, ...lines.slice(2).map((line) => row(line, "td")))));
}

const INLINE = /(`+)([^]*?[^`])\1(?!`)|!?\[([^\]\n]*)\]\(([^)\s]*)[^)]*\)|\*\*(?=\S)([^]*?\S)\*\*|~~(?=\S)([^]*?\S)~~|(?<![\w*])\*(?=[^\s*])([^]*?[^\s*])\*(?![\w*])|(?<![\w_])_(?=[^\s_])([^]*?[^\s_])_(?![\w_])|(https?:\/\/[^\s<>()]+[^\s<>().,;:!?'"])|( {2,}\n)/g;

// Text with emphasis, code and links, as nodes. Images are shown as links: nothing is loaded from elsewhere.
function inline(text) {
  const nodes = [];
  let last = 0;
  for (const match of text.matchAll(INLINE)) {
    if (match.index > last) nodes.push(text.slice(last, match.index));
    const [whole, ticks, code, label, target, strong, struck, em1, em2, bare] = match;
    if (ticks) nodes.push(element("code", {}, code.trim() || code));
    else if (label !== undefined) nodes.push(link(target, label || target, whole));
    else if (strong !== undefined) nodes.push(element("strong", {}, ...inline(strong)));
    else if (struck !== undefined) nodes.push(element("s", {}, ...inline(struck)));
    else if (em1 !== undefined || em2 !== undefined) nodes.push(element("em", {}, ...inline(em1 ?? em2)));
    else if (bare) nodes.push(link(bare, bare, bare));
    else nodes.push(element("br"));
    last = match.index + whole.length;
  }
  if (last < text.length) nodes.push(text.slice(last));
  return nodes;
}

// Addresses of the web only; anything else stays the text it was.
function link(target, label, source) {
  if (!/^https?:\/\//i.test(target)) return source;
  return element("a", { href: target, target: "_blank", rel: "noopener noreferrer" }, label);
}
