// Messages of the visible chat: their elements, their buttons, and the branches of the conversation.
import { copy, element, icon, iconButton } from "./dom.js";
import { run, send } from "./answers.js";
import { showCalls } from "./calls.js";
import { thumbnail } from "./images.js";
import { render } from "./markdown.js";
import { openSettings } from "./settings.js";
import { $, page, runOf } from "./state.js";
import { store } from "./store.js";
import { append, choose, path, siblings } from "./tree.js";

export function showMessages() {
  const list = path(page.chat).map((message) => messageElement(message));
  $("messages").replaceChildren(...(list.length > 0 ? list : [welcome()]));
  showMeter();
  toEnd();
}

const DEMO = ["What is the capital of Japan?", "What is 12 plus 30?", "write a quicksort in python", "How do I get a bigger model?"];
const REAL = ["Explain how a KV cache works, with an example.", "Write a haiku about autumn in the city.", "Review this function for bugs:", "Plan three days in Kyoto as a table."];

function welcome() {
  const isDemo = !page.model || page.model.name === "pagoda-mini";
  const mark = icon("pagoda");
  mark.setAttribute("class", "mark");
  const ask = (question) => (question.endsWith(":") ? fill(question) : send(question));
  return element("div", { class: "welcome" }, mark, element("h2", {}, "What would you like to know?"),
    element("p", { class: "quiet" }, "The model runs on this server; chats stay in this browser."),
    ...(page.model && isDemo ? demo() : []),
    element("div", { class: "suggestions" }, ...(isDemo ? DEMO : REAL).map((question) => element("button", { type: "button", onclick: () => ask(question) }, question))));
}

// Introduces the embedded model, and suggests real models that fit the server's machine.
function demo() {
  const gibibytes = (bytes) => `${(bytes / 2 ** 30).toFixed(bytes < 10 * 2 ** 30 ? 2 : 1)} GiB`;
  const [first] = page.suggestions;
  const text = "This is mini, a demo of 23 MB. ";
  if (!first) return [element("p", { class: "quiet" }, text, "It answers simple questions.")];
  return [element("p", { class: "quiet" }, `${text}Real models that fit this server, and their memory for a chat of ${first.context.toLocaleString("en")} tokens:`),
    element("table", { class: "quiet models" }, ...page.suggestions.map((model) => element("tr", {},
      element("td", {}, element("code", {}, model.command)), element("td", {}, `${gibibytes(model.memory_bytes)} of ${gibibytes(model.limit_bytes)}`))))];
}

function fill(text) {
  $("input").value = text + "\n";
  $("input").focus();
}

function messageElement(message) {
  const node = element("article", { class: `message ${message.role}`, "aria-label": message.role === "user" ? "You" : "Answer" });
  node.dataset.id = message.id;
  if (message.role === "user") {
    if (message.images) node.append(element("div", { class: "pictures" }, ...message.images.map(thumbnail)));
    node.append(element("div", { class: "body", hidden: !message.content }, message.content),
      element("div", { class: "tools" }, ...branches(message), iconButton("edit", "Edit and send again", () => edit(node, message)), copyButton(message)));
    return node;
  }
  const thinking = element("details", { class: "thinking" }, element("summary"), element("div"));
  node.append(thinking, element("div", { class: "calls" }), element("div", { class: "body" }), element("div", { class: "tools" }));
  updateAnswer(node, message, runOf(page.chat));
  return node;
}

function copyButton(message) {
  const button = iconButton("copy", "Copy", () => copy(message.content, button));
  return button;
}

// "‹ 2/3 ›" if there are other versions of the message or other answers; nothing is deleted.
function branches(message) {
  const all = siblings(page.chat, message);
  if (all.length < 2) return [];
  const at = all.findIndex((other) => other.id === message.id);
  const go = (step) => () => {
    if (runOf(page.chat)) return;
    choose(page.chat, all[at + step]);
    store.save(page.chat);
    showMessages();
  };
  const button = (name, label, step) => Object.assign(iconButton(name, label, go(step)), { disabled: !all[at + step] });
  return [element("span", { class: "branches" }, button("left", "Previous version", -1), `${at + 1}/${all.length}`, button("right", "Next version", 1))];
}

// `running` is the answer in flight of the message's chat.
export function updateAnswer(node, message, running) {
  const isRunning = running?.message === message;
  const thinking = node.querySelector(".thinking"), body = node.querySelector(".body"), tools = node.querySelector(".tools");
  thinking.hidden = !message.reasoning;
  if (message.reasoning) {
    thinking.children[0].textContent = isRunning && !message.content ? "Thinking…" : "Thoughts";
    thinking.children[1].textContent = message.reasoning;
  }
  showCalls(node.querySelector(".calls"), message, isRunning ? running : undefined);
  body.classList.toggle("waiting", isRunning && !running.question && !message.content && !message.reasoning);
  render(body, message.content);
  if (isRunning) return tools.replaceChildren(...reading(running.progress));
  node.querySelector(".error")?.remove();
  if (message.error) body.after(problem(message));
  tools.replaceChildren(...branches(message), copyButton(message), iconButton("again", "Answer again", () => regenerate(message)),
    ...(isCut(message) ? [element("button", { type: "button", class: "plain continue", onclick: () => proceed(message) }, "Continue")] : []),
    element("span", { class: "stats" }, statistics(message)));
}

// "reading 43 %, 12 s left" while the model reads a long prompt.
function reading(progress) {
  if (!progress) return [];
  const { total, cache, processed, time_ms } = progress;
  const left = processed > cache ? Math.ceil(((total - processed) * time_ms) / (processed - cache) / 1000) : null;
  return [element("span", { class: "stats", role: "status" }, `reading ${Math.floor((100 * processed) / total)} %${left === null ? "" : `, ${Math.max(left, 1)} s left`}`)];
}

// The error, with a button for the remedy.
function problem(message) {
  const box = element("div", { class: "error", role: "alert" }, element("span", {}, message.error));
  if (message.status === 401) box.append(element("button", { type: "button", class: "plain", onclick: () => openSettings("key") }, "Enter the key"));
  else if (message.status === 0 || message.status === 429 || message.status >= 500) box.append(element("button", { type: "button", class: "plain", onclick: () => regenerate(message) }, "Try again"));
  else if (message.status === 400) box.append(element("button", { type: "button", class: "plain", onclick: () => openSettings() }, "Settings"));
  return box;
}

function statistics({ stats, finish, stopped, omitted }) {
  const parts = [];
  if (omitted) parts.push(`the context is full: the oldest ${omitted} messages were left out`);
  if (stopped) parts.push("stopped");
  if (finish === "length") parts.push("cut at the token limit");
  if (stats?.rate) parts.push(`${stats.rate.toFixed(stats.rate < 10 ? 1 : 0)} tok/s`);
  if (stats?.first !== undefined) parts.push(`first after ${stats.first.toFixed(2)} s`);
  if (stats?.tokens) parts.push(`${stats.tokens} tokens`);
  if (stats?.images) parts.push(`${stats.images} tokens of images`);
  if (stats?.prompt) parts.push(`${stats.cached} of ${stats.prompt} prompt tokens from cache`);
  return parts.join(" · ");
}

function edit(node, message) {
  if (runOf(page.chat)) return;
  const text = element("textarea", { rows: Math.min(12, message.content.split("\n").length + 1), value: message.content, "aria-label": "Edit message" });
  const done = () => {
    const content = text.value.trim();
    if (!content && !message.images) return;
    const parent = page.chat.messages.find((other) => other.id === message.parent);
    append(page.chat, parent, { role: "user", content, ...(message.images ? { images: message.images } : {}) });
    store.save(page.chat);
    run(page.chat);
  };
  text.addEventListener("keydown", (event) => {
    if (event.key === "Escape") showMessages();
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      done();
    }
  });
  node.replaceChildren(element("div", { class: "editor" }, text, element("div", {},
    element("button", { type: "button", class: "plain", onclick: showMessages }, "Cancel"),
    element("button", { type: "button", class: "primary", onclick: done }, "Send"))));
  text.focus();
}

// Whether the last answer ended before the model ended it, so that there is more to come.
function isCut(message) {
  return (message.stopped || message.finish === "length") && (message.content || message.reasoning || message.rounds) && path(page.chat).at(-1) === message;
}

function proceed(message) {
  if (!runOf(page.chat)) run(page.chat, message);
}

// Generates another answer next to this one.
function regenerate(message) {
  if (runOf(page.chat)) return;
  page.chat.leaf = message.parent;
  // An answer that consists only of an error is not worth keeping as a version.
  if (message.error && !message.content) page.chat.messages = page.chat.messages.filter((other) => other !== message);
  run(page.chat);
}

// How much of the context the conversation uses.
export function showMeter() {
  const last = path(page.chat).findLast((message) => message.stats?.prompt);
  const used = last ? last.stats.prompt + last.stats.tokens : 0;
  const meter = $("meter");
  meter.hidden = !page.model || used === 0;
  if (meter.hidden) return;
  meter.max = page.model.context;
  meter.high = page.model.context * 0.8;
  meter.value = used;
  meter.title = `${used.toLocaleString("en")} of ${page.model.context.toLocaleString("en")} tokens of context`;
  meter.setAttribute("aria-label", meter.title);
}

export function isAtEnd() {
  const list = $("messages");
  return list.scrollHeight - list.scrollTop - list.clientHeight < 80;
}

export function toEnd() {
  const list = $("messages");
  list.scrollTop = list.scrollHeight;
}
