// Shared state of the page: the chat that is shown, the answer in flight, the model, and how to render all of it.
import { store } from "./store.js";

export const $ = (id) => document.getElementById(id);

// running: { chat, message, abort }; model: { name, context }; suggestions: models that fit the server's machine; attached: [{ name, text }]
export const page = { chat: null, running: null, model: null, suggestions: [], attached: [] };

// The settings of a chat: those of all chats, and its own above them.
export function settingsOf(chat) {
  return { ...store.settings, ...(chat.settings ?? {}) };
}
