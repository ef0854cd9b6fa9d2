// The chat page: starts its parts and handles the keyboard shortcuts that work everywhere.
import { newChat, openChat, showConversations } from "./chats.js";
import { startComposer } from "./composer.js";
import { forgetUnused } from "./images.js";
import { showModel } from "./model.js";
import { exportAll, startSettings } from "./settings.js";
import { $, page, runOf } from "./state.js";
import { store } from "./store.js";
import { toast } from "./toast.js";
import { startTools } from "./tools.js";

const isTyping = () => /INPUT|TEXTAREA|SELECT/.test(document.activeElement.tagName);

document.addEventListener("keydown", (event) => {
  const isDialog = document.querySelector("dialog[open]") !== null;
  if (event.key === "Escape" && !isDialog) {
    document.body.classList.remove("menu-open");
    runOf(page.chat)?.abort.abort();
  }
  if (event.altKey && event.key.toLowerCase() === "n") {
    event.preventDefault();
    newChat();
  }
  if (isTyping() || isDialog || event.ctrlKey || event.metaKey) return;
  if (event.key === "/") {
    event.preventDefault();
    $("input").focus();
  }
  if (event.key === "?") $("keys").showModal();
});

$("new-chat").addEventListener("click", newChat);
$("search").addEventListener("input", showConversations);
$("show-keys").addEventListener("click", () => $("keys").showModal());
$("menu").addEventListener("click", () => document.body.classList.toggle("menu-open"));
$("shade").addEventListener("click", () => document.body.classList.remove("menu-open"));

// Another tab changed or removed a chat.
store.onChange((id) => {
  if (id !== page.chat.id || runOf(page.chat)) return showConversations();
  const chat = store.find(id);
  if (!chat) return newChat();
  const draft = $("input").value;
  openChat(chat);
  $("input").value = draft;
});

// Nothing is lost unnoticed: what does not fit into the storage is kept in the database, and otherwise the page warns before it closes.
store.onFull((isKept) => toast(isKept
  ? "The browser's storage is full. New messages are kept in its database; export or delete old chats."
  : "The browser has no room left: these messages are lost when the page closes.", "Export all", exportAll));
addEventListener("beforeunload", (event) => { if (store.hasUnsaved) event.preventDefault(); });

if (store.settings.theme) document.documentElement.dataset.theme = store.settings.theme;
startComposer();
startSettings();
startTools();
store.chats.length > 0 ? openChat(store.chats[0]) : newChat();
showModel();
forgetUnused();
