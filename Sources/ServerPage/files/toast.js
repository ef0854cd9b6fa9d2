// Short notes at the bottom of the page, with one action such as Undo.
import { element } from "./dom.js";

export function toast(text, label, action) {
  const container = document.getElementById("toasts");
  const note = element("div", { class: "toast" }, element("span", {}, text));
  const timer = setTimeout(() => note.remove(), 10_000);
  if (label) {
    note.append(element("button", { type: "button", onclick: () => {
      clearTimeout(timer);
      note.remove();
      action();
    } }, label));
  }
  container.replaceChildren(note); // one at a time: only the newest action can be undone
}
