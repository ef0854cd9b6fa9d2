// The message field: grows with its text, keeps a draft, accepts text files, sends and stops.
import { send } from "./answers.js";
import { element, icon, iconButton } from "./dom.js";
import { fenced, readText } from "./files.js";
import { $, page } from "./state.js";
import { store } from "./store.js";

export function showComposer() {
  const busy = page.running !== null;
  $("send").replaceChildren(icon(busy ? "stop" : "send"));
  $("send").setAttribute("aria-label", busy ? "Stop" : "Send");
  $("send").title = busy ? "Stop (Esc)" : "Send (Enter)";
  $("send").disabled = !busy && $("input").value.trim() === "";
  $("status").textContent = busy ? "Answering; Esc stops" : "Enter sends, Shift+Enter starts a new line, ? shows all shortcuts";
  $("status").parentElement.classList.toggle("busy", busy);
  $("attached").replaceChildren(...page.attached.map((file) => element("span", { class: "chip" }, file.name,
    iconButton("close", `Remove ${file.name}`, () => {
      page.attached = page.attached.filter((other) => other !== file);
      showComposer();
    }))));
  const input = $("input");
  input.style.height = "auto";
  input.style.height = `${input.scrollHeight}px`;
}

function submit() {
  if (page.running) return page.running.abort.abort();
  const content = $("input").value.trim();
  if (!content) return;
  const files = page.attached.map(fenced).join("");
  $("input").value = "";
  page.attached = [];
  send(files + content);
}

async function attach(files) {
  for (const file of files) {
    const text = await readText(file);
    if (text !== null) page.attached.push({ name: file.name, text });
  }
  showComposer();
  $("input").focus();
}

export function startComposer() {
  $("composer").addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  $("input").addEventListener("input", () => {
    store.keepDraft(page.chat, $("input").value);
    showComposer();
  });
  $("input").addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    if (!page.running) submit();
  });
  $("attach").addEventListener("click", () => $("files").click());
  $("files").addEventListener("change", async () => {
    await attach([...$("files").files]);
    $("files").value = "";
  });
  $("composer").addEventListener("dragover", (event) => event.preventDefault());
  $("composer").addEventListener("drop", (event) => {
    event.preventDefault();
    attach([...event.dataTransfer.files]);
  });
}
