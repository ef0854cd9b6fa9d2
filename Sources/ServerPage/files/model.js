// The server's models: shows the one of the visible chat in the header, and lets the user pick another if there are several.
import { models, suggestions } from "./client.js";
import { element } from "./dom.js";
import { showMessages, showMeter } from "./messages.js";
import { $, page } from "./state.js";
import { store } from "./store.js";

// The model that answers in a chat: its own, or the one that was picked last, or the server's first.
export function modelOf(chat) {
  const named = (name) => page.models.find((model) => model.name === name);
  return named(chat?.model) ?? named(store.settings.model) ?? page.models[0];
}

export function showModelOf(chat) {
  const model = modelOf(chat);
  if (!model) return;
  page.model = model;
  const context = element("span", { class: "context" }, ` · ${model.context.toLocaleString("en")} tokens`);
  if (page.models.length === 1) return $("model").replaceChildren(model.name, context);
  const choice = element("select", { id: "models", "aria-label": "Model", onchange: () => pick(choice.value) },
    ...page.models.map(({ name }) => element("option", { value: name, selected: name === model.name }, name)));
  $("model").replaceChildren(choice, context);
}

function pick(name) {
  page.chat.model = name;
  store.settings = { ...store.settings, model: name };
  if (page.chat.messages.length > 0) store.save(page.chat);
  showModelOf(page.chat);
  showMeter();
}

export async function showModel() {
  try {
    const before = page.model?.name;
    const list = await models(store.settings);
    page.suggestions = list.length === 1 && list[0].name === "pagoda-mini" ? await suggestions(store.settings) : [];
    page.models = list;
    showModelOf(page.chat);
    if (page.chat?.messages.length === 0 && before !== page.model.name) showMessages();
    else if (page.chat) showMeter();
  } catch (error) {
    $("model").textContent = error.message;
    if (error.status === 503 || error.status === 0) setTimeout(showModel, error.status ? 1000 : 5000); // loading, or unreachable
  }
}
