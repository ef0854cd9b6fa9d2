// The message field: grows with its text, keeps a draft, accepts text files and images (picked, dropped or pasted), sends and stops.
import { send } from "./answers.js";
import { element, icon, iconButton } from "./dom.js";
import { fenced, readText } from "./files.js";
import { isImage, readImage, thumbnail } from "./images.js";
import { $, page } from "./state.js";
import { store } from "./store.js";
import { toast } from "./toast.js";

export function showComposer() {
  const busy = page.running !== null;
  $("send").replaceChildren(icon(busy ? "stop" : "send"));
  $("send").setAttribute("aria-label", busy ? "Stop" : "Send");
  $("send").title = busy ? "Stop (Esc)" : "Send (Enter)";
  $("send").disabled = !busy && $("input").value.trim() === "" && !page.attached.some((file) => file.image);
  $("status").textContent = busy ? "Answering; Esc stops" : "Enter sends, Shift+Enter starts a new line, ? shows all shortcuts";
  $("status").parentElement.classList.toggle("busy", busy);
  $("attached").replaceChildren(...page.attached.map((file) => element("span", { class: "chip" }, file.image ? thumbnail(file.image) : file.name,
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
  const images = page.attached.filter((file) => file.image).map((file) => file.image);
  if (!content && images.length === 0) return;
  const files = page.attached.filter((file) => !file.image).map(fenced).join("");
  $("input").value = "";
  page.attached = [];
  send(files + content, images);
}

async function attach(files) {
  for (const file of files) {
    if (isImage(file)) {
      const image = canSee() ? await readImage(file) : null;
      if (image) page.attached.push({ name: image.name, image });
      continue;
    }
    const text = await readText(file);
    if (text !== null) page.attached.push({ name: file.name, text });
  }
  showComposer();
  $("input").focus();
}

function canSee() {
  if (page.model?.images) return true;
  toast(page.model ? `${page.model.name} reads text only` : "The model is not loaded yet");
  return false;
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
  $("input").addEventListener("paste", (event) => {
    const files = [...(event.clipboardData?.files ?? [])].filter(isImage);
    if (files.length === 0) return;
    event.preventDefault();
    attach(files);
  });
  $("composer").addEventListener("dragover", (event) => event.preventDefault());
  $("composer").addEventListener("drop", (event) => {
    event.preventDefault();
    attach([...event.dataTransfer.files]);
  });
}
