// What the parts of the page share: the chat that is shown, the answer in flight, the model, and how to show all of it again.
import { store } from "./store.js";

export const $ = (id) => document.getElementById(id);

// running: { chat, message, abort }; model: { name, context }; attached: [{ name, text }]
export const page = { chat: null, running: null, model: null, attached: [] };

// The settings of a chat: those of all chats, and its own above them.
export function settingsOf(chat) {
  return { ...store.settings, ...(chat.settings ?? {}) };
}
