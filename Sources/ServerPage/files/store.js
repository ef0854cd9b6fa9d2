// Conversations and settings in the browser's storage; nothing of them is kept by the server.

const CHATS = "pagoda.chats", SETTINGS = "pagoda.settings";

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
    return false; // full: the chat goes on, and is lost with the page
  }
}

let chats = read(CHATS, []);

export const store = {
  get chats() { return chats; },

  find(id) { return chats.find((chat) => chat.id === id); },

  create() {
    const chat = { id: crypto.randomUUID?.() ?? String(Date.now() + Math.random()), title: "", time: Date.now(), messages: [] };
    chats.unshift(chat);
    return chat;
  },

  // Puts a chat first and keeps it. A chat without messages is not worth keeping.
  save(chat) {
    chat.time = Date.now();
    chats = [chat, ...chats.filter((other) => other !== chat)].filter((other) => other.messages.length > 0 || other === chat);
    return write(CHATS, chats.filter((other) => other.messages.length > 0));
  },

  remove(chat) {
    chats = chats.filter((other) => other !== chat);
    write(CHATS, chats);
  },

  removeAll() {
    chats = [];
    write(CHATS, chats);
  },

  get settings() { return read(SETTINGS, {}); },
  set settings(value) { write(SETTINGS, value); },
};
