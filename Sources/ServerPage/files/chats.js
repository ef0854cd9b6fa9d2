// The list of conversations: open, rename, delete with undo, search.
import { element, iconButton } from "./dom.js";
import { showComposer } from "./composer.js";
import { showMessages } from "./messages.js";
import { showModelOf } from "./model.js";
import { $, page, runOf } from "./state.js";
import { store } from "./store.js";
import { toast } from "./toast.js";
import { showToolsOf } from "./tools.js";

export function showConversations() {
  const wanted = $("search").value.trim().toLowerCase();
  const matches = (chat) => !wanted || chat.title.toLowerCase().includes(wanted) || chat.messages.some((message) => message.content.toLowerCase().includes(wanted));
  $("conversations").replaceChildren(...store.chats.filter((chat) => chat.messages.length > 0 && matches(chat)).map((chat) =>
    element("div", { class: chat.id === page.chat?.id ? "conversation current" : "conversation" },
      element("button", { class: "open", type: "button", title: chat.title, onclick: () => openChat(chat), ondblclick: () => rename(chat) }, element("span", {}, chat.title || "New chat")),
      iconButton("edit", `Rename ${chat.title || "chat"}`, (event) => rename(chat, event.currentTarget.parentElement)),
      iconButton("trash", `Delete ${chat.title || "chat"}`, () => removeChat(chat)))));
}

export function openChat(chat) {
  page.chat = chat;
  document.body.classList.remove("menu-open");
  $("title").textContent = chat.title || "New chat";
  showModelOf(chat);
  showToolsOf(chat);
  document.title = chat.title ? `${chat.title} · Pagoda` : "Pagoda";
  $("input").value = store.draft(chat);
  showConversations();
  showMessages();
  showComposer();
  $("input").focus();
}

export function newChat() {
  openChat(store.chats.find((chat) => chat.messages.length === 0) ?? store.create());
}

function removeChat(chat) {
  runOf(chat)?.abort.abort();
  store.remove(chat);
  afterRemoval([chat], "Chat deleted");
}

export function removeAll() {
  for (const running of page.runs.values()) running.abort.abort();
  const chats = store.chats.filter((chat) => chat.messages.length > 0);
  for (const chat of chats) store.remove(chat);
  afterRemoval(chats, `${chats.length} chats deleted`);
}

function afterRemoval(chats, text) {
  chats.some((chat) => chat.id === page.chat.id) ? newChat() : showConversations();
  toast(text, "Undo", () => {
    for (const chat of [...chats].reverse()) store.save(chat);
    openChat(chats[0]);
  });
}

// Replaces the title by a text field.
function rename(chat, row = $("conversations").querySelector(".current")) {
  const field = element("input", { class: "rename", value: chat.title, "aria-label": "Title of the chat", maxLength: 200 });
  const done = (isKept) => {
    if (isKept && field.value.trim()) {
      chat.title = field.value.trim();
      store.save(chat);
    }
    if (chat.id === page.chat.id) $("title").textContent = chat.title || "New chat";
    showConversations();
  };
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== "Escape") return;
    event.stopPropagation();
    field.onblur = null;
    done(event.key === "Enter");
  });
  row.replaceChildren(field);
  field.select();
  field.onblur = () => done(true);
}
