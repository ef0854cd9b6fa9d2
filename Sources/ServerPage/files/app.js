// The chat page: conversations, the composer, and answers as they come.
import { answer, modelName } from "./client.js";
import { copy, element, icon, iconButton } from "./dom.js";
import { render } from "./markdown.js";
import { store } from "./store.js";

const $ = (id) => document.getElementById(id);
const page = { chat: null, running: null }; // running: { chat, abort }

// Conversations

function showConversations() {
  const wanted = $("search").value.trim().toLowerCase();
  const matches = (chat) => !wanted || chat.title.toLowerCase().includes(wanted) || chat.messages.some((message) => message.content.toLowerCase().includes(wanted));
  $("conversations").replaceChildren(...store.chats.filter((chat) => chat.messages.length > 0 && matches(chat)).map((chat) =>
    element("div", { class: chat === page.chat ? "conversation current" : "conversation" },
      element("button", { class: "open", type: "button", onclick: () => openChat(chat), ondblclick: () => rename(chat) }, element("span", {}, chat.title || "New chat")),
      iconButton("trash", "Delete chat", () => removeChat(chat)))));
}

function openChat(chat) {
  page.chat = chat;
  document.body.classList.remove("menu-open");
  $("title").textContent = chat.title || "New chat";
  document.title = chat.title ? `${chat.title} · Pagoda` : "Pagoda";
  showConversations();
  showMessages();
  showComposer();
  $("input").focus();
}

function newChat() {
  const empty = store.chats.find((chat) => chat.messages.length === 0);
  openChat(empty ?? store.create());
}

function removeChat(chat) {
  if (page.running?.chat === chat) page.running.abort.abort();
  store.remove(chat);
  if (chat === page.chat) newChat();
  else showConversations();
}

function rename(chat) {
  const title = prompt("Title", chat.title);
  if (!title?.trim()) return;
  chat.title = title.trim().slice(0, 120);
  store.save(chat);
  openChat(chat);
}

// Messages

function showMessages() {
  const list = page.chat.messages.map((message, index) => messageElement(message, index));
  $("messages").replaceChildren(...(list.length > 0 ? list : [welcome()]));
  toEnd(true);
}

function welcome() {
  const questions = ["What is the capital of Japan?", "What is 12 plus 30?", "write a quicksort in python", "Write a 2-sentence apple story."];
  const mark = icon("pagoda");
  mark.setAttribute("class", "mark");
  return element("div", { class: "welcome" }, mark, element("h2", {}, "What would you like to know?"),
    element("p", { class: "quiet" }, "The model runs on this server; chats stay in this browser."),
    element("div", { class: "suggestions" }, ...questions.map((question) => element("button", { type: "button", onclick: () => send(question) }, question))));
}

function messageElement(message, index) {
  const node = element("article", { class: `message ${message.role}`, "aria-label": message.role === "user" ? "You" : "Answer" });
  if (message.role === "user") {
    node.append(element("div", { class: "body" }, message.content),
      element("div", { class: "tools" }, iconButton("edit", "Edit and send again", () => edit(node, message, index)), copyButton(message)));
    return node;
  }
  const thinking = element("details", { class: "thinking" }, element("summary"), element("div"));
  node.append(thinking, element("div", { class: "body" }), element("div", { class: "tools" }));
  updateAnswer(node, message, page.running?.message === message);
  return node;
}

function copyButton(message) {
  const button = iconButton("copy", "Copy", () => copy(message.content, button));
  return button;
}

function updateAnswer(node, message, isRunning) {
  const [thinking, body, tools] = node.children;
  thinking.hidden = !message.reasoning;
  if (message.reasoning) {
    thinking.children[0].textContent = isRunning && !message.content ? "Thinking…" : "Thoughts";
    thinking.children[1].textContent = message.reasoning;
  }
  body.classList.toggle("waiting", isRunning && !message.content && !message.reasoning);
  render(body, message.content);
  if (isRunning) return tools.replaceChildren();
  const problem = message.error ? element("div", { class: "error", role: "alert" }, message.error) : null;
  node.querySelector(".error")?.remove();
  if (problem) body.after(problem);
  tools.replaceChildren(copyButton(message), iconButton("again", "Answer again", () => regenerate(message)),
    element("span", { class: "stats" }, statistics(message)));
}

function statistics({ stats, finish, stopped }) {
  const parts = [];
  if (stopped) parts.push("stopped");
  if (finish === "length") parts.push("cut at the token limit");
  if (stats?.rate) parts.push(`${stats.rate.toFixed(stats.rate < 10 ? 1 : 0)} tok/s`);
  if (stats?.first !== undefined) parts.push(`first after ${stats.first.toFixed(2)} s`);
  if (stats?.tokens) parts.push(`${stats.tokens} tokens`);
  if (stats?.prompt) parts.push(`${stats.cached} of ${stats.prompt} prompt tokens from cache`);
  return parts.join(" · ");
}

function edit(node, message, index) {
  if (page.running) return;
  const text = element("textarea", { rows: Math.min(12, message.content.split("\n").length + 1), value: message.content, "aria-label": "Edit message" });
  const done = () => {
    const content = text.value.trim();
    if (!content) return;
    page.chat.messages.length = index;
    showMessages();
    send(content);
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

function regenerate(message) {
  if (page.running) return;
  const index = page.chat.messages.indexOf(message);
  if (index < 0) return;
  page.chat.messages.length = index;
  showMessages();
  run(page.chat);
}

// Answers

function send(content) {
  if (page.running) return;
  const chat = page.chat;
  chat.messages.push({ role: "user", content });
  if (!chat.title) chat.title = content.split("\n")[0].slice(0, 60);
  store.save(chat);
  openChat(chat);
  run(chat);
}

function request(chat, settings) {
  const system = settings.system?.trim() ? [{ role: "system", content: settings.system }] : [];
  const turns = chat.messages.filter((message) => message.content || message.reasoning);
  return [...system, ...turns.map(({ role, content, reasoning }) => role === "assistant" && reasoning ? { role, content, reasoning_content: reasoning } : { role, content })];
}

async function run(chat) {
  const settings = store.settings;
  const messages = request(chat, settings);
  const message = { role: "assistant", content: "", reasoning: "" };
  const abort = new AbortController();
  page.running = { chat, message, abort };
  chat.messages.push(message);
  showMessages();
  showComposer();
  const times = { start: performance.now() };
  let due = false, saved = 0;
  const draw = () => {
    due = false;
    const node = chat === page.chat ? $("messages").children[chat.messages.indexOf(message)] : null;
    if (!node) return;
    const atEnd = isAtEnd();
    updateAnswer(node, message, page.running?.message === message);
    if (atEnd) toEnd();
  };
  try {
    for await (const change of answer(messages, settings, abort.signal)) {
      if (change.text || change.reasoning) {
        times.last = performance.now();
        times.first ??= times.last;
        message.content += change.text ?? "";
        message.reasoning += change.reasoning ?? "";
      }
      if (change.finish) message.finish = change.finish;
      if (change.usage) message.stats = measured(times, change.usage);
      if (!due) {
        due = true;
        requestAnimationFrame(draw);
      }
      if (performance.now() - saved > 1000) {
        saved = performance.now();
        store.save(chat);
      }
    }
  } catch (error) {
    if (abort.signal.aborted) message.stopped = true;
    else message.error = error.message === "Failed to fetch" ? "the server cannot be reached" : error.message;
  }
  page.running = null;
  if (store.chats.includes(chat)) store.save(chat);
  draw();
  showConversations();
  showComposer();
}

function measured(times, usage) {
  const tokens = usage.completion_tokens;
  const seconds = (times.last - times.first) / 1000;
  return { tokens, prompt: usage.prompt_tokens, cached: usage.prompt_tokens_details?.cached_tokens ?? 0,
    first: times.first === undefined ? undefined : (times.first - times.start) / 1000, rate: tokens > 1 && seconds > 0.02 ? (tokens - 1) / seconds : undefined };
}

function isAtEnd() {
  const list = $("messages");
  return list.scrollHeight - list.scrollTop - list.clientHeight < 80;
}

function toEnd() {
  const list = $("messages");
  list.scrollTop = list.scrollHeight;
}

// Composer

function showComposer() {
  const busy = page.running !== null;
  const label = busy ? "Stop" : "Send";
  $("send").replaceChildren(icon(busy ? "stop" : "send"));
  $("send").setAttribute("aria-label", label);
  $("send").title = busy ? "Stop (Esc)" : "Send (Enter)";
  $("send").disabled = !busy && $("input").value.trim() === "";
  $("status").textContent = busy ? "Answering; Esc stops" : "Enter sends, Shift+Enter starts a new line";
  $("status").parentElement.classList.toggle("busy", busy);
}

function grow() {
  const input = $("input");
  input.style.height = "auto";
  input.style.height = `${input.scrollHeight}px`;
  showComposer();
}

function submit() {
  if (page.running) return page.running.abort.abort();
  const content = $("input").value.trim();
  if (!content) return;
  $("input").value = "";
  grow();
  send(content);
}

$("composer").addEventListener("submit", (event) => {
  event.preventDefault();
  submit();
});
$("input").addEventListener("input", grow);
$("input").addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  if (!page.running) submit();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !$("settings").open) {
    document.body.classList.remove("menu-open");
    page.running?.abort.abort();
  }
  if (event.altKey && event.key.toLowerCase() === "n") {
    event.preventDefault();
    newChat();
  }
  if (event.key === "/" && !/INPUT|TEXTAREA|SELECT/.test(document.activeElement.tagName)) {
    event.preventDefault();
    $("input").focus();
  }
});

// Settings and theme

function openSettings() {
  const form = $("settings").querySelector("form");
  for (const [name, value] of Object.entries(store.settings)) if (form.elements[name]) form.elements[name].value = value;
  $("settings").showModal();
}

// Kept as they are typed: "close" may come later than the next key, which may send a message.
$("settings").addEventListener("input", () => {
  const form = $("settings").querySelector("form");
  const { theme } = store.settings;
  store.settings = { ...Object.fromEntries(new FormData(form)), theme };
});
$("settings").addEventListener("close", () => showModel());
$("delete-all").addEventListener("click", () => {
  if (!confirm("Delete all chats of this browser?")) return;
  page.running?.abort.abort();
  store.removeAll();
  $("settings").close();
  newChat();
});
$("open-settings").addEventListener("click", openSettings);
$("theme").addEventListener("click", () => {
  const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
  const current = store.settings.theme ?? (isDark ? "dark" : "light");
  const theme = current === "dark" ? "light" : "dark";
  store.settings = { ...store.settings, theme };
  document.documentElement.dataset.theme = theme;
});
$("new-chat").addEventListener("click", newChat);
$("search").addEventListener("input", showConversations);
$("menu").addEventListener("click", () => document.body.classList.toggle("menu-open"));
$("shade").addEventListener("click", () => document.body.classList.remove("menu-open"));

async function showModel() {
  try {
    const { name, context } = await modelName(store.settings);
    $("model").textContent = `${name} · ${context.toLocaleString("en")} tokens`;
  } catch (error) {
    $("model").textContent = error.message;
    if (error.status === 503) setTimeout(showModel, 1000); // the model is loading
  }
}

if (store.settings.theme) document.documentElement.dataset.theme = store.settings.theme;
showModel();
store.chats.length > 0 ? openChat(store.chats[0]) : newChat();
