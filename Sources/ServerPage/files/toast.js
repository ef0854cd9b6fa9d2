// Short notes at the bottom of the page, with one action such as Undo.
import { element } from "./dom.js";

export function toast(text, label, action) {
  const place = document.getElementById("toasts");
  const note = element("div", { class: "toast" }, element("span", {}, text));
  const timer = setTimeout(() => note.remove(), 10_000);
  if (label) {
    note.append(element("button", { type: "button", onclick: () => {
      clearTimeout(timer);
      note.remove();
      action();
    } }, label));
  }
  place.replaceChildren(note); // one at a time: the newest is the one to undo
}
