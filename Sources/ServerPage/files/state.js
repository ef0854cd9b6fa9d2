// Shared state of the page: the visible chat, the answer in flight, the model, and the function that renders all of it.
import { store } from "./store.js";

export const $ = (id) => document.getElementById(id);

// running: { chat, message, abort }; model: { name, context, images }; suggestions: models that fit the server's machine; attached: [{ name, text }] or [{ name, image }]
export const page = { chat: null, running: null, model: null, suggestions: [], attached: [] };

// The settings of a chat: its own override those of all chats.
export function settingsOf(chat) {
  return { ...store.settings, ...(chat.settings ?? {}) };
}
