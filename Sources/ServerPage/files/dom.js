// Creates elements. Text always stays text: nothing on this page parses HTML.

export function element(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "class") node.className = value;
    else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name in node) node[name] = value;
    else node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child != null));
  return node;
}

export function icon(name) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  const use = document.createElementNS(space, "use");
  use.setAttribute("href", `#i-${name}`);
  svg.append(use);
  svg.setAttribute("aria-hidden", "true");
  return svg;
}

export function iconButton(name, label, action) {
  return element("button", { class: "icon", type: "button", title: label, "aria-label": label, onclick: action }, icon(name));
}

// Copies to the clipboard and briefly shows a confirmation.
export async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    return;
  }
  const before = [...button.childNodes];
  button.replaceChildren(icon("check"), ...(before.length > 1 ? [document.createTextNode("Copied")] : []));
  setTimeout(() => button.replaceChildren(...before), 1200);
}
