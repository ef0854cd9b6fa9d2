// Shared state of the page: the visible chat, the answers in flight, the models, and what is attached to the next messages.
import { store } from "./store.js";

export const $ = (id) => document.getElementById(id);

// runs: answers in flight by the chat's id, { chat, message, abort, progress, question }; models: [{ name, context, images }], and the one of the
// visible chat; suggestions: models that fit the server's machine
export const page = { chat: null, runs: new Map(), models: [], model: null, suggestions: [] };

// The answer of a chat that is in flight.
export const runOf = (chat) => page.runs.get(chat?.id);

// Files and images for the next message of each chat: [{ name, text }] or [{ name, image }].
const attached = new Map();
export const attachedTo = (chat) => attached.get(chat.id) ?? [];
export const setAttached = (chat, files) => attached.set(chat.id, files);

// The settings of a chat: its own override those of all chats.
export function settingsOf(chat) {
  return { ...store.settings, ...(chat.settings ?? {}) };
}
