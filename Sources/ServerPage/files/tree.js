// The tree of a chat: branches instead of deletion. Each message has the id of its parent; the visible branch ends at the
// chat's leaf.
import { store } from "./store.js";

// The messages of the visible branch, first to last.
export function path(chat) {
  const byID = new Map(chat.messages.map((message) => [message.id, message]));
  const out = [];
  for (let at = byID.get(chat.leaf); at && out.length <= chat.messages.length; at = byID.get(at.parent)) out.unshift(at);
  return out;
}

export function append(chat, parent, message) {
  const node = { ...message, id: store.newID(), parent: parent?.id ?? null };
  chat.messages.push(node);
  chat.leaf = node.id;
  return chat.messages.at(-1);
}

// Messages with the same parent: other answers to one question, other versions of one message.
export function siblings(chat, message) {
  return chat.messages.filter((other) => other.parent === message.parent && other.role === message.role);
}

// Shows the branch of a message up to the newest message below it.
export function choose(chat, message) {
  let at = message;
  for (;;) {
    const next = chat.messages.findLast((other) => other.parent === at.id);
    if (!next) break;
    at = next;
  }
  chat.leaf = at.id;
}
