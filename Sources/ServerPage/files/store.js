// Conversations, drafts and settings in the browser's storage; the server keeps none of them. Each chat has its own storage
// key, so that two tabs do not overwrite each other's chats, and a tab is notified when another one changes a chat.

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
    return false; // storage is full: the chat continues, and is lost when the page closes
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

const loaded = Object.keys(localStorage).filter((key) => key.startsWith(CHAT)).map((key) => read(key, null)).filter(isChat);
const old = read(OLD, null);
if (Array.isArray(old)) {
  for (const chat of old.filter(isChat).map(fromList)) {
    loaded.push(chat);
    write(CHAT + chat.id, chat);
  }
  localStorage.removeItem(OLD);
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
    return chat.messages.length === 0 || write(CHAT + chat.id, chat);
  },

  remove(chat) {
    chats = chats.filter((other) => other.id !== chat.id);
    localStorage.removeItem(CHAT + chat.id);
  },

  // Imports chats; returns their number.
  add(list) {
    const added = list.filter(isChat).map((chat) => (chat.leaf === undefined ? fromList(chat) : chat));
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
