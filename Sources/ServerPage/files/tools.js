// Tools of the servers that the administrator configured: which there are, and which of them a chat uses.
import { toolServers } from "./client.js";
import { element } from "./dom.js";
import { $, page } from "./state.js";
import { store } from "./store.js";

let servers = []; // [{ name, state, error, tools: [{ name, description, parameters }] }]

const keyOf = (server, tool) => `${server}/${tool}`;
const plain = (text) => text.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 60);

// The tools that are on in a chat: [{ key, server, name, seen, description, parameters }]. `seen` is the name for the model, where names
// that two servers use are preceded by the server's.
export function toolsOf(chat) {
  const on = new Set(chat?.tools ?? []), used = new Set();
  const found = servers.flatMap((server) => server.tools.map((tool) => ({ ...tool, server: server.name, key: keyOf(server.name, tool.name) }))).filter((tool) => on.has(tool.key));
  const isShared = (name) => found.filter((tool) => tool.name === name).length > 1;
  return found.map((tool) => {
    const name = plain(isShared(tool.name) ? `${tool.server}_${tool.name}` : tool.name);
    let seen = name;
    for (let number = 2; used.has(seen); number++) seen = `${name}_${number}`;
    used.add(seen);
    return { ...tool, seen };
  });
}

export function showToolsOf(chat) {
  const button = $("open-tools"), count = toolsOf(chat).length;
  button.hidden = servers.length === 0;
  button.querySelector("span").textContent = count > 0 ? String(count) : "";
  button.title = count > 0 ? `Tools (${count} on)` : "Tools";
}

function turn(chat, key, isOn) {
  const others = (chat.tools ?? []).filter((other) => other !== key);
  chat.tools = isOn ? [...others, key] : others;
  if (!isOn) chat.consents = (chat.consents ?? []).filter((other) => other !== key);
  if (chat.messages.length > 0) store.save(chat);
  showToolsOf(chat);
}

function serverElement(chat, server) {
  const note = { connecting: "connecting…", failed: server.error, ready: server.tools.length === 0 ? "no tools" : "" }[server.state] ?? "";
  return element("fieldset", {}, element("legend", {}, server.name), note ? element("p", { class: "quiet" }, note) : null,
    ...server.tools.map((tool) => {
      const key = keyOf(server.name, tool.name);
      const box = element("input", { type: "checkbox", checked: chat.tools?.includes(key) ?? false, onchange: () => turn(chat, key, box.checked) });
      return element("label", {}, box, element("span", {}, element("strong", {}, tool.name), ` ${tool.description}`));
    }));
}

function showServers() {
  $("tool-servers").replaceChildren(...servers.map((server) => serverElement(page.chat, server)));
}

// Reads the list; again while a server is connecting.
export async function readTools() {
  try {
    servers = await toolServers(store.settings);
  } catch (error) {
    servers = [];
    if (error.status === 503) setTimeout(readTools, 1000); // the model is loading
  }
  showToolsOf(page.chat);
  if ($("tools").open) showServers();
  if (servers.some((server) => server.state === "connecting")) setTimeout(readTools, 500);
}

export function startTools() {
  $("open-tools").addEventListener("click", () => {
    showServers();
    $("tools").showModal();
    readTools();
  });
  readTools();
}
