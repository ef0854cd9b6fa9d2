// The message field: grows with its text, keeps a draft, accepts text files and images (picked, dropped or pasted), sends and stops.
import { send } from "./answers.js";
import { element, icon, iconButton } from "./dom.js";
import { fenced, readText } from "./files.js";
import { isImage, readImage, thumbnail } from "./images.js";
import { $, attachedTo, page, runOf, setAttached } from "./state.js";
import { store } from "./store.js";
import { toast } from "./toast.js";

export function showComposer() {
  const chat = page.chat;
  const busy = runOf(chat) !== undefined;
  const attached = attachedTo(chat);
  $("send").replaceChildren(icon(busy ? "stop" : "send"));
  $("send").setAttribute("aria-label", busy ? "Stop" : "Send");
  $("send").title = busy ? "Stop (Esc)" : "Send (Enter)";
  $("send").disabled = !busy && $("input").value.trim() === "" && attached.length === 0;
  $("status").textContent = busy ? "Answering; Esc stops" : "Enter sends, Shift+Enter starts a new line, ? shows all shortcuts";
  $("status").parentElement.classList.toggle("busy", busy);
  $("attached").replaceChildren(...attached.map((file) => element("span", { class: "chip" }, file.image ? thumbnail(file.image) : file.name,
    iconButton("close", `Remove ${file.name}`, () => {
      setAttached(chat, attachedTo(chat).filter((other) => other !== file));
      showComposer();
    }))));
  const input = $("input");
  input.style.height = "auto";
  input.style.height = `${input.scrollHeight}px`;
}

function submit() {
  const running = runOf(page.chat);
  if (running) return running.abort.abort();
  const content = $("input").value.trim();
  const attached = attachedTo(page.chat);
  const images = attached.filter((file) => file.image).map((file) => file.image);
  if (!content && attached.length === 0) return;
  const files = attached.filter((file) => !file.image);
  $("input").value = "";
  setAttached(page.chat, []);
  send(files.map(fenced).join("") + content, images, content || files[0]?.name);
}

// To the chat that is visible now, even if another one is when the files have been read.
async function attach(files) {
  const chat = page.chat;
  for (const file of files) {
    if (isImage(file)) {
      const image = canSee() ? await readImage(file) : null;
      if (image) setAttached(chat, [...attachedTo(chat), { name: image.name, image }]);
      continue;
    }
    const text = await readText(file);
    if (text !== null) setAttached(chat, [...attachedTo(chat), { name: file.name, text }]);
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
    if (!runOf(page.chat)) submit();
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
