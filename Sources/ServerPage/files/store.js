// Conversations, drafts and settings in the browser's storage; the server keeps none of them. Each chat has its own storage
// key, so that two tabs do not overwrite each other's chats, and a tab is notified when another one changes a chat.

import { spill, spilled, unspill } from "./overflow.js";

const CHAT = "pagoda.chat.", DRAFT = "pagoda.draft.", SETTINGS = "pagoda.settings", OLD = "pagoda.chats";

function read(key, otherwise) {
  try {
    return JSON.parse(localStorage.getItem(key)) ?? otherwise;
  } catch {
    return otherwise;
  }
}

function write(key, value) {
  try {
    localStorage.setItem(key, JSON.stringify(value));
    return true;
  } catch {
    return false; // storage is full
  }
}

const newID = () => crypto.randomUUID?.() ?? `${Date.now()}-${Math.random().toString(36).slice(2)}`;

// A chat is a tree of messages: each has the id of its parent, and `leaf` is the last message of the visible branch.
function fromList({ id, title, time, messages }) {
  let parent = null;
  const nodes = messages.map((message) => {
    const node = { ...message, id: newID(), parent };
    parent = node.id;
    return node;
  });
  return { id: id ?? newID(), title: title ?? "", time: time ?? Date.now(), messages: nodes, leaf: parent };
}

function isChat(chat) {
  return chat && typeof chat.id === "string" && Array.isArray(chat.messages);
}

// Calls of tools, with the lengths of the answer and of the thoughts before them.
const isRound = (round) => round && Number.isInteger(round.text) && Number.isInteger(round.thought) && Array.isArray(round.calls)
  && round.calls.every((call) => call && [call.id, call.name, call.arguments, call.state].every((value) => typeof value === "string") && isText(call.result));

const isText = (value) => value === undefined || typeof value === "string";

// Whether every part of an imported chat is what the page expects. Parents come before their children, so that there are no loops.
function isSound(chat) {
  if (!isChat(chat) || !isText(chat.title) || chat.messages.length === 0) return false;
  const ids = new Set([null]), isTree = chat.leaf !== undefined;
  return chat.messages.every((message) => {
    if (!message || !["user", "assistant"].includes(message.role) || typeof message.content !== "string" || !isText(message.reasoning)) return false;
    if (message.images !== undefined && !(Array.isArray(message.images) && message.images.every((image) => image && typeof image.name === "string"))) return false;
    if (message.rounds !== undefined && !(Array.isArray(message.rounds) && message.rounds.every(isRound))) return false;
    if (!isTree) return true;
    if (typeof message.id !== "string" || ids.has(message.id) || !ids.has(message.parent)) return false;
    return ids.add(message.id);
  }) && (!isTree || (chat.leaf !== null && ids.has(chat.leaf)));
}

const loaded = Object.keys(localStorage).filter((key) => key.startsWith(CHAT)).map((key) => read(key, null)).filter(isChat);
const spills = (await spilled()).filter(isChat);
for (const chat of spills) {
  const at = loaded.findIndex((other) => other.id === chat.id);
  if (at < 0) loaded.push(chat);
  else if (loaded[at].time < chat.time) loaded[at] = chat;
}
const old = read(OLD, null);
if (Array.isArray(old)) {
  for (const chat of old.filter(isChat).map(fromList)) {
    loaded.push(chat);
    write(CHAT + chat.id, chat);
  }
  localStorage.removeItem(OLD);
}

const unsaved = new Set(), inDatabase = new Set(spills.map((chat) => chat.id)); // ids of chats
let whenFull = () => {};
let hasWarned = false;

// Writes a chat to the storage, or to the database if that is full; the last copy there stays until the new one is safe.
async function keep(chat) {
  if (write(CHAT + chat.id, chat)) {
    if (inDatabase.delete(chat.id)) unspill(chat.id);
    unsaved.delete(chat.id);
    hasWarned = unsaved.size > 0 && hasWarned;
    return;
  }
  unsaved.add(chat.id);
  const isKept = await spill(chat).then(() => true, () => false);
  if (isKept) {
    inDatabase.add(chat.id);
    unsaved.delete(chat.id);
  }
  if (!hasWarned || !isKept) whenFull(isKept);
  hasWarned = true;
}

let chats = loaded.sort((a, b) => b.time - a.time);

export const store = {
  newID,
  get chats() { return chats; },

  find(id) { return chats.find((chat) => chat.id === id); },

  create() {
    const chat = { id: newID(), title: "", time: Date.now(), messages: [], leaf: null };
    chats.unshift(chat);
    return chat;
  },

  // Moves a chat to the front and saves it. A chat without messages is not saved.
  save(chat) {
    chat.time = Date.now();
    chats = [chat, ...chats.filter((other) => other.id !== chat.id)].filter((other) => other.messages.length > 0 || other === chat);
    if (chat.messages.length > 0) keep(chat);
  },

  remove(chat) {
    chats = chats.filter((other) => other.id !== chat.id);
    localStorage.removeItem(CHAT + chat.id);
    unsaved.delete(chat.id);
    inDatabase.delete(chat.id);
    unspill(chat.id);
  },

  isSound,

  // Calls back when the storage is full, with whether the database has kept the chat.
  onFull(callback) { whenFull = callback; },

  get hasUnsaved() { return unsaved.size > 0; },

  // Imports chats; returns their number. Which tools may be called without asking is not taken from a file.
  add(list) {
    const added = list.filter(isChat).map((chat) => ({ ...(chat.leaf === undefined ? fromList(chat) : chat), tools: undefined, consents: undefined }));
    for (const chat of added) this.save({ ...chat, id: this.find(chat.id) ? newID() : chat.id });
    return added.length;
  },

  draft(chat) { return localStorage.getItem(DRAFT + (chat.messages.length > 0 ? chat.id : "new")) ?? ""; },

  keepDraft(chat, text) {
    const key = DRAFT + (chat.messages.length > 0 ? chat.id : "new");
    try {
      text ? localStorage.setItem(key, text) : localStorage.removeItem(key);
    } catch {
      // storage is full: the draft is lost when the page closes
    }
  },

  get settings() { return read(SETTINGS, {}); },
  set settings(value) { write(SETTINGS, value); },

  // Calls back with the id of each chat that another tab changed or removed.
  onChange(callback) {
    addEventListener("storage", (event) => {
      if (!event.key?.startsWith(CHAT)) return;
      const id = event.key.slice(CHAT.length);
      const chat = read(event.key, null);
      chats = chats.filter((other) => other.id !== id);
      if (isChat(chat)) chats = [chat, ...chats].sort((a, b) => b.time - a.time);
      callback(id);
    });
  },
};
