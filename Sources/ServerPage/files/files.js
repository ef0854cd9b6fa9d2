// Files: attaches text files to a message, exports chats and imports them.
import { element } from "./dom.js";
import { takeImages, withImages } from "./images.js";
import { store } from "./store.js";
import { toast } from "./toast.js";
import { path } from "./tree.js";

const MAX_BYTES = 512 * 1024;

// The content of a text file; otherwise shows a note and returns null.
export async function readText(file) {
  if (file.size > MAX_BYTES) return note(`${file.name} is larger than ${MAX_BYTES / 1024} KiB`);
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
    return text.includes("\0") ? note(`${file.name} is not a text file`) : text;
  } catch {
    return note(`${file.name} is not a text file`);
  }
}

function note(text) {
  toast(text);
  return null;
}

// A fence longer than any in the text.
export function fenced({ name, text }) {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map((match) => match[0].length));
  const fence = "`".repeat(longest + 1);
  return `${name}:\n${fence}\n${text.replace(/\n$/, "")}\n${fence}\n\n`;
}

function download(name, type, text) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = element("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

const fileName = (chat) => (chat.title || "chat").replace(/[^\p{L}\p{N} _-]/gu, "").trim().slice(0, 60) || "chat";

export function exportMarkdown(chat) {
  const system = chat.settings?.system ? `> ${chat.settings.system.replaceAll("\n", "\n> ")}\n\n` : "";
  const turns = path(chat).map(({ role, content, images = [] }) => `## ${role === "user" ? "You" : "Answer"}\n\n${images.map((image) => `[image ${image.name}]\n\n`).join("")}${content}\n`);
  download(`${fileName(chat)}.md`, "text/markdown", `# ${chat.title || "Chat"}\n\n${system}${turns.join("\n")}`);
}

export async function exportJSON(list, name) {
  const chats = await withImages(list);
  download(`${name}.json`, "application/json", JSON.stringify({ format: "pagoda-chats", version: 1, chats }, null, 1));
}

export const exportChat = (chat) => exportJSON([chat], fileName(chat));

// Returns the number of imported chats.
export async function importChats(file) {
  try {
    const { format, chats } = JSON.parse(await file.text());
    if (format !== "pagoda-chats" || !Array.isArray(chats)) throw new Error();
    if (!chats.every(store.isSound)) {
      toast(`${file.name} is damaged; nothing was imported`);
      return 0;
    }
    await takeImages(chats);
    const count = store.add(chats);
    toast(count === 1 ? "One chat was imported" : `${count} chats were imported`);
    return count;
  } catch {
    toast(`${file.name} holds no chats that this page exported`);
    return 0;
  }
}
