// The settings, for all chats or for the current one. Only valid values are saved and used.
import { removeAll, openChat } from "./chats.js";
import { showModel } from "./model.js";
import { exportChat, exportJSON, exportMarkdown, importChats } from "./files.js";
import { $, page } from "./state.js";
import { store } from "./store.js";
import { readTools } from "./tools.js";

const form = () => $("settings").querySelector("form");
const isForChat = () => form().elements.scope.value === "chat";

export function openSettings(focus) {
  form().elements.scope.value = page.chat.settings ? "chat" : "all";
  fill();
  $("settings").showModal();
  if (focus) form().elements[focus].focus();
}

function fill() {
  const values = isForChat() ? { ...store.settings, ...page.chat.settings } : store.settings;
  for (const field of fields()) field.value = values[field.name] ?? "";
}

const fields = () => [...form().elements].filter((field) => field.name && !["scope"].includes(field.name));

// Saves values while they are typed: the "close" event may arrive after the next key, which may send a message. The server's
// API key applies to all chats.
function keep(event) {
  const field = event.target;
  if (field.name === "scope") return fill();
  if (!field.name || !field.checkValidity()) return;
  if (isForChat() && field.name !== "key") {
    page.chat.settings = { ...page.chat.settings, [field.name]: field.value };
    store.save(page.chat);
  } else store.settings = { ...store.settings, [field.name]: field.value };
}

export const exportAll = () => exportJSON(store.chats.filter((chat) => chat.messages.length > 0), "pagoda-chats");

export function startSettings() {
  $("settings").addEventListener("input", keep);
  $("settings").addEventListener("close", () => {
    showModel();
    readTools();
  });
  $("open-settings").addEventListener("click", () => openSettings());
  $("delete-all").addEventListener("click", () => {
    $("settings").close();
    removeAll();
  });
  $("export-markdown").addEventListener("click", () => exportMarkdown(page.chat));
  $("export-json").addEventListener("click", () => exportChat(page.chat));
  $("export-all").addEventListener("click", exportAll);
  $("import").addEventListener("click", () => $("import-file").click());
  $("import-file").addEventListener("change", async () => {
    const [file] = $("import-file").files;
    if (file && (await importChats(file)) > 0) {
      $("settings").close();
      openChat(store.chats[0]);
    }
    $("import-file").value = "";
  });
  $("theme").addEventListener("click", () => {
    const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
    const theme = (store.settings.theme ?? (isDark ? "dark" : "light")) === "dark" ? "light" : "dark";
    store.settings = { ...store.settings, theme };
    document.documentElement.dataset.theme = theme;
  });
}
