// Markdown to a tree of blocks: CommonMark's containers and leaves, tables, and display math. Raw HTML stays text.
// A block is { type, children } plus the fields of its type: level, language, code, ordered, start, tight, head, body, align,
// math; isApart is true if a blank line precedes it.
import { parseInline } from "./inline.js";

const FENCE = /^( {0,3})(`{3,}(?=[^`]*$)|~{3,})[ \t]*(.*?)[ \t]*$/;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$/;
const RULE = /^ {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const MARKER = /^( {0,3})([-*+]|(\d{1,9})([.)]))(?=[ \t]|$)/;
const QUOTE = /^ {0,3}> ?/;
const TABLE_RULE = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;
const DEFINITION = /^ {0,3}\[((?:[^\]\\[]|\\.)+)\]:[ \t]*(?:<([^<>]*)>|(\S+))(?:[ \t]+(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|\(((?:[^)\\]|\\.)*)\)))?[ \t]*$/;
const MATH = /^ {0,3}(\$\$|\\\[)[ \t]*(.*)$/;
const MAX_DEPTH = 24; // nesting of quotes and lists

const isBlank = (line) => /^[ \t]*$/.test(line);

export function parse(text) {
  const lines = text.replace(/\r\n?/g, "\n").split("\n").map(expandTabs);
  const references = new Map();
  const tree = blocks(lines, references, 0);
  fillInline(tree, references);
  return tree;
}

// A tab at the start of a line extends to the next multiple of four columns.
function expandTabs(line) {
  let out = "";
  let at = 0;
  for (; at < line.length && (line[at] === " " || line[at] === "\t"); at++) out += line[at] === "\t" ? " ".repeat(4 - (out.length % 4)) : " ";
  return out + line.slice(at);
}

const indentOf = (line) => line.length - line.trimStart().length;

function blocks(lines, references, depth) {
  const out = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at];
    if (isBlank(line)) {
      at++;
      continue;
    }
    const from = at;
    const block = (depth < MAX_DEPTH ? container(lines, at, references, depth) : null) ?? leaf(lines, at, references);
    at = block.end;
    delete block.end;
    if (block.type === "none") continue;
    block.isApart = from > 0 && isBlank(lines[from - 1]);
    out.push(block);
  }
  return out;
}

function container(lines, at, references, depth) {
  if (indentOf(lines[at]) > 3 || RULE.test(lines[at])) return null;
  if (QUOTE.test(lines[at])) return quote(lines, at, references, depth);
  return MARKER.test(lines[at]) ? list(lines, at, references, depth) : null;
}

// A line without a marker may continue a paragraph of the quote.
function quote(lines, at, references, depth) {
  const inner = [];
  let end = at;
  for (; end < lines.length; end++) {
    if (QUOTE.test(lines[end])) inner.push(expandTabs(lines[end].replace(QUOTE, "")));
    else if (isBlank(lines[end]) || !continues(inner) || interrupts(lines[end])) break;
    else inner.push(lazy(lines[end]));
  }
  return { type: "quote", children: blocks(inner, references, depth + 1), end };
}

// In a lazy continuation line, a heading underline has no meaning.
const lazy = (line) => line.trimStart().replace(/^(=+|-+)[ \t]*$/, "\\$1");

// Whether the last line belongs to a paragraph, at any nesting depth.
function continues(lines) {
  let fence = null;
  for (const line of lines) {
    const match = inside(line).match(FENCE);
    if (match && (!fence || (match[2][0] === fence[0] && match[2].length >= fence.length && !match[3]))) fence = fence ? null : match[2];
  }
  if (fence || lines.length === 0) return false;
  const last = inside(lines.at(-1));
  return !isBlank(last) && !HEADING.test(last) && !RULE.test(last) && !FENCE.test(last) && !(indentOf(last) > 3 && (lines.length < 2 || isBlank(lines.at(-2))));
}

function inside(line) {
  for (;;) {
    const rest = QUOTE.test(line) ? line.replace(QUOTE, "") : MARKER.test(line) && !RULE.test(line) ? line.replace(MARKER, "").replace(/^ /, "") : line;
    if (rest === line) return line;
    line = rest;
  }
}

// Whether a line ends the paragraph above it.
function interrupts(line) {
  if (indentOf(line) > 3) return false;
  if (HEADING.test(line) || RULE.test(line) || QUOTE.test(line) || FENCE.test(line) || /^ {0,3}(\$\$|\\\[)/.test(line)) return true;
  const marker = line.match(MARKER);
  return marker !== null && !isBlank(line.slice(marker[0].length)) && (marker[3] === undefined || Number(marker[3]) === 1);
}

function list(lines, at, references, depth) {
  const first = lines[at].match(MARKER);
  const kind = first[4] ?? first[2];
  const items = [];
  let end = at, loose = false, blankBefore = false;
  while (end < lines.length) {
    const marker = indentOf(lines[end]) > 3 || RULE.test(lines[end]) ? null : lines[end].match(MARKER);
    if (!marker || (marker[4] ?? marker[2]) !== kind) break;
    const item = listItem(lines, end, marker);
    if (blankBefore) loose = true;
    const children = blocks(item.lines, references, depth + 1);
    if (children.slice(1).some((child) => child.isApart)) loose = true;
    items.push({ type: "item", children });
    end = item.end;
    let next = end;
    while (next < lines.length && isBlank(lines[next])) next++;
    blankBefore = next > end || item.endsBlank;
    if (next >= lines.length) break;
    const follows = indentOf(lines[next]) > 3 || RULE.test(lines[next]) ? null : lines[next].match(MARKER);
    if (!follows || (follows[4] ?? follows[2]) !== kind) break;
    end = next;
  }
  return { type: "list", ordered: first[3] !== undefined, start: Number(first[3] ?? 1), tight: !loose, children: items, end };
}

function listItem(lines, at, marker) {
  const rest = lines[at].slice(marker[0].length);
  const gap = isBlank(rest) || indentOf(rest) > 4 ? 1 : indentOf(rest);
  const indent = marker[0].length + gap;
  const inner = [rest.slice(Math.min(gap, rest.length))];
  let end = at + 1;
  if (isBlank(rest) && end < lines.length && isBlank(lines[end])) return { lines: inner, end, endsBlank: true };
  for (; end < lines.length; end++) {
    if (isBlank(lines[end])) inner.push("");
    else if (indentOf(lines[end]) >= indent) inner.push(lines[end].slice(indent));
    else if (inner.at(-1) !== "" && continues(inner) && !interrupts(lines[end]) && !(indentOf(lines[end]) < 4 && MARKER.test(lines[end]))) inner.push(lazy(lines[end]));
    else break;
  }
  let endsBlank = false;
  while (inner.length > 1 && inner.at(-1) === "") {
    inner.pop();
    endsBlank = true;
  }
  return { lines: inner, end, endsBlank };
}

function leaf(lines, at, references) {
  const line = lines[at];
  if (indentOf(line) > 3) return indentedCode(lines, at);
  const fence = line.match(FENCE);
  if (fence) return fencedCode(lines, at, fence);
  const heading = line.match(HEADING);
  if (heading) return { type: "heading", level: heading[1].length, text: heading[2] === undefined || /^#+$/.test(heading[2]) ? "" : heading[2], end: at + 1 };
  if (RULE.test(line)) return { type: "rule", end: at + 1 };
  const math = line.match(MATH);
  if (math) return mathBlock(lines, at, math);
  if (line.includes("|") && at + 1 < lines.length && TABLE_RULE.test(lines[at + 1]) && cells(line).length === cells(lines[at + 1]).length) return table(lines, at);
  const definition = line.match(DEFINITION);
  if (definition) {
    const name = label(definition[1]);
    if (!references.has(name)) references.set(name, { target: definition[2] ?? definition[3], title: definition[4] ?? definition[5] ?? definition[6] });
    return { type: "none", end: at + 1 };
  }
  return paragraph(lines, at);
}

export const label = (text) => text.trim().replace(/\s+/g, " ").toLowerCase().toUpperCase();

function indentedCode(lines, at) {
  let end = at;
  while (end < lines.length && (isBlank(lines[end]) || indentOf(lines[end]) > 3)) end++;
  while (isBlank(lines[end - 1])) end--;
  return { type: "code", language: "", code: lines.slice(at, end).map((line) => line.slice(4)).join("\n"), end };
}

function fencedCode(lines, at, [, indent, mark, language]) {
  const close = new RegExp(`^ {0,3}${mark[0] === "`" ? "`" : "~"}{${mark.length},}[ \\t]*$`);
  let end = at + 1;
  while (end < lines.length && !close.test(lines[end])) end++;
  const last = end === lines.length && lines[end - 1] === "" && end > at + 1 ? end - 1 : end; // unclosed: ends with the text
  const code = lines.slice(at + 1, last).map((line) => line.slice(Math.min(indentOf(line), indent.length))).join("\n");
  return { type: "code", language: language.split(/\s/)[0].replace(/\\([!-/:-@[-`{-~])/g, "$1"), code, end: Math.min(end + 1, lines.length) };
}

// $$ ... $$ and \[ ... \], on one line or several.
function mathBlock(lines, at, [, open, first]) {
  const close = open === "$$" ? "$$" : "\\]";
  if (first.includes(close)) {
    const rest = first.slice(first.indexOf(close) + 2);
    return isBlank(rest) ? { type: "math", math: first.slice(0, first.indexOf(close)), end: at + 1 } : paragraph(lines, at);
  }
  let end = at + 1;
  while (end < lines.length && !lines[end].includes(close)) end++;
  const last = end < lines.length ? lines[end].slice(0, lines[end].indexOf(close)) : "";
  return { type: "math", math: [first, ...lines.slice(at + 1, end), last].join("\n").trim(), end: Math.min(end + 1, lines.length) };
}

// A pipe after a backslash, or within code, is part of its cell.
function cells(line) {
  const row = line.trim().replace(/^\|/, "").replace(/(^|[^\\])\|$/, "$1");
  const out = [""];
  for (let at = 0; at < row.length; at++) {
    if (row[at] === "\\" && row[at + 1] === "|") {
      out[out.length - 1] += "|";
      at++;
    } else if (row[at] === "|") out.push("");
    else out[out.length - 1] += row[at];
  }
  return out.map((cell) => cell.trim());
}

function table(lines, at) {
  const align = cells(lines[at + 1]).map((cell) => (cell.endsWith(":") ? (cell.startsWith(":") ? "center" : "right") : cell.startsWith(":") ? "left" : null));
  let end = at + 2;
  while (end < lines.length && !isBlank(lines[end]) && !interrupts(lines[end])) end++;
  const row = (line) => align.map((_, index) => cells(line)[index] ?? "");
  return { type: "table", align, head: row(lines[at]), body: lines.slice(at + 2, end).map(row), end };
}

function paragraph(lines, at) {
  let end = at + 1;
  for (; end < lines.length && !isBlank(lines[end]); end++) {
    const underline = lines[end].match(/^ {0,3}(=+|-+)[ \t]*$/);
    if (underline) return { type: "heading", level: underline[1][0] === "=" ? 1 : 2, text: text(lines, at, end), end: end + 1 };
    if (interrupts(lines[end])) break;
  }
  return { type: "paragraph", text: text(lines, at, end), end };
}

const text = (lines, from, to) => lines.slice(from, to).map((line) => line.trimStart()).join("\n").trimEnd();

function fillInline(tree, references) {
  for (const block of tree) {
    if (block.text !== undefined) block.children = parseInline(block.text, references);
    else if (block.type === "table") {
      block.head = block.head.map((cell) => parseInline(cell, references));
      block.body = block.body.map((row) => row.map((cell) => parseInline(cell, references)));
    } else if (block.children) fillInline(block.children, references);
  }
}
