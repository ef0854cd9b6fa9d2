// One lane per request: its state in words, and a bar of its cached, read and generated tokens.
import { element } from "./dom.js";

const rows = new Map(); // by request
const LEAST = 64; // the bars are scaled to at least this many answer tokens

function words(lane) {
  if (lane.state === "waiting") return `${lane.prompt} tokens to read`;
  if (lane.state === "preempted") return `gave way after ${lane.generated} tokens of its answer`;
  if (lane.state === "reading") return `${Math.min(lane.computed, lane.prompt)} of ${lane.prompt} tokens${lane.cached > 0 ? `, ${lane.cached} from the cache` : ""}`;
  return `${lane.generated} tokens${lane.cached > 0 ? `, ${lane.cached} of ${lane.prompt} from the cache` : ""}`;
}

function makeRow() {
  const parts = { name: element("span", { class: "name" }), state: element("span", { class: "state" }), words: element("span", { class: "words" }) };
  for (const kind of ["cached", "read", "answered"]) parts[kind] = element("span", { class: kind });
  const bar = element("span", { class: "bar", "aria-hidden": "true" }, parts.cached, parts.read, parts.answered);
  parts.row = element("li", {}, parts.name, parts.state, bar, parts.words);
  return parts;
}

function fill(parts, lane, longest) {
  parts.name.textContent = `#${lane.id}`;
  parts.state.textContent = lane.state;
  parts.row.className = lane.state;
  parts.words.textContent = words(lane);
  const isRunning = lane.state === "reading" || lane.state === "answering";
  const read = isRunning ? Math.min(lane.computed, lane.prompt) : 0;
  const cached = isRunning ? Math.min(lane.cached, read) : 0;
  parts.cached.style.width = `${(cached / lane.prompt) * 50}%`;
  parts.read.style.width = `${((read - cached) / lane.prompt) * 50}%`;
  parts.answered.style.width = `${Math.min(1, lane.generated / longest) * 50}%`;
}

export const lanes = {
  show(list) {
    const longest = Math.max(LEAST, ...list.map((lane) => lane.generated));
    const known = new Set(list.map((lane) => lane.id));
    for (const [id, parts] of rows) {
      if (known.has(id)) continue;
      parts.row.remove();
      rows.delete(id);
    }
    const parent = document.getElementById("lanes");
    list.sort((a, b) => a.id - b.id).forEach((lane, index) => {
      if (!rows.has(lane.id)) rows.set(lane.id, makeRow());
      const parts = rows.get(lane.id);
      fill(parts, lane, longest);
      if (parent.children[index] !== parts.row) parent.insertBefore(parts.row, parent.children[index] ?? null);
    });
  },
};
