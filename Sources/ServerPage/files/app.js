// The chat page: starts its parts and handles the keyboard shortcuts that work everywhere.
import { newChat, openChat, showConversations } from "./chats.js";
import { startComposer } from "./composer.js";
import { forgetUnused } from "./images.js";
import { showModel } from "./model.js";
import { startSettings } from "./settings.js";
import { $, page } from "./state.js";
import { store } from "./store.js";

const isTyping = () => /INPUT|TEXTAREA|SELECT/.test(document.activeElement.tagName);

document.addEventListener("keydown", (event) => {
  const isDialog = document.querySelector("dialog[open]") !== null;
  if (event.key === "Escape" && !isDialog) {
    document.body.classList.remove("menu-open");
    page.running?.abort.abort();
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
  if (id !== page.chat.id || page.running?.chat === page.chat) return showConversations();
  const chat = store.find(id);
  if (!chat) return newChat();
  const draft = $("input").value;
  openChat(chat);
  $("input").value = draft;
});

if (store.settings.theme) document.documentElement.dataset.theme = store.settings.theme;
startComposer();
startSettings();
store.chats.length > 0 ? openChat(store.chats[0]) : newChat();
showModel();
forgetUnused();
