// Markdown to elements, for text that is still growing: blocks that have not changed keep their elements.
import { parse } from "./blocks.js";
import { copy, element, icon } from "./dom.js";
import { highlight } from "./highlight.js";
import { math } from "./math.js";

// Shows `text` inside `parent`.
export function render(parent, text) {
  const blocks = parse(text);
  // A link definition at the end may change earlier blocks.
  const sources = blocks.map((block) => JSON.stringify(block));
  const shown = parent.blocks ?? [];
  let same = 0;
  while (same < blocks.length && same < shown.length && sources[same] === shown[same]) same++;
  while (parent.childNodes.length > same) parent.lastChild.remove();
  for (const block of blocks.slice(same)) parent.append(build(block));
  parent.blocks = sources;
}

function build(block) {
  switch (block.type) {
    case "code": return codeBlock(block);
    case "heading": return element(`h${Math.min(block.level + 1, 6)}`, { class: `h${block.level}` }, ...inline(block.children));
    case "rule": return element("hr");
    case "quote": return element("blockquote", {}, ...block.children.map(build));
    case "list": return list(block);
    case "table": return table(block);
    case "math": return element("div", { class: "math", tabIndex: 0 }, math(block.math, true));
    default: return element("p", {}, ...inline(block.children));
  }
}

function codeBlock({ language, code }) {
  const button = element("button", { type: "button", "aria-label": "Copy code" }, icon("copy"), "Copy");
  button.addEventListener("click", () => copy(code, button));
  const chunks = highlight(code, language).map((chunk) => (typeof chunk === "string" ? chunk : element("span", { class: `c-${chunk.kind}` }, chunk.text)));
  return element("div", { class: "codeblock" },
    element("div", { class: "codehead" }, element("span", {}, language || "text"), button),
    element("pre", { tabIndex: 0 }, element("code", {}, ...chunks)));
}

function list({ ordered, start, tight, children }) {
  const node = element(ordered ? "ol" : "ul");
  if (ordered && start !== 1) node.start = start;
  for (const item of children) {
    const task = item.children[0]?.type === "paragraph" ? taskMark(item.children[0]) : null;
    const parts = item.children.flatMap((child) => (tight && child.type === "paragraph" ? inline(child.children) : [build(child)]));
    node.append(element("li", task ? { class: "task" } : {}, task, ...parts));
  }
  return node;
}

// "[x] done": a read-only checkbox.
function taskMark(paragraph) {
  const first = paragraph.children[0];
  const match = typeof first === "string" ? first.match(/^\[([ xX])\] /) : null;
  if (!match) return null;
  paragraph.children[0] = first.slice(4);
  return element("input", { type: "checkbox", disabled: true, checked: match[1] !== " ", "aria-label": match[1] === " " ? "to do" : "done" });
}

function table({ align, head, body }) {
  const row = (cells, tag) => element("tr", {}, ...cells.map((cell, index) => element(tag, align[index] ? { class: `to-${align[index]}` } : {}, ...inline(cell))));
  return element("div", { class: "table", tabIndex: 0 }, element("table", {},
    element("thead", {}, row(head, "th")), element("tbody", {}, ...body.map((cells) => row(cells, "td")))));
}

// Images are shown as links: nothing is loaded from elsewhere.
function inline(nodes) {
  return nodes.flatMap((node) => {
    if (typeof node === "string") return [node];
    switch (node.type) {
      case "code": return [element("code", {}, node.code)];
      case "strong": return [element("strong", {}, ...inline(node.children))];
      case "em": return [element("em", {}, ...inline(node.children))];
      case "strike": return [element("s", {}, ...inline(node.children))];
      case "break": return [element("br")];
      case "math": return [math(node.math, false)];
      default: return link(node);
    }
  });
}

// Accepts only web addresses; anything else stays text.
function link({ target, title, children }) {
  const label = children.length > 0 ? inline(children) : [target];
  if (!/^(https?:\/\/|mailto:)/i.test(target)) return label;
  return [element("a", { href: target, target: "_blank", rel: "noopener noreferrer", ...(title ? { title } : {}) }, ...label)];
}
