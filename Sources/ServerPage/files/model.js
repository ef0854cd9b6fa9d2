// Shows the name and the context length of the server's model in the header.
import { modelName, suggestions } from "./client.js";
import { element } from "./dom.js";
import { showMessages, showMeter } from "./messages.js";
import { $, page } from "./state.js";
import { store } from "./store.js";

export async function showModel() {
  try {
    const before = page.model?.name;
    const model = await modelName(store.settings);
    page.suggestions = model.name === "pagoda-mini" ? await suggestions(store.settings) : [];
    page.model = model;
    $("model").replaceChildren(page.model.name, element("span", { class: "context" }, ` · ${page.model.context.toLocaleString("en")} tokens`));
    if (page.chat?.messages.length === 0 && before !== page.model.name) showMessages();
    else if (page.chat) showMeter();
  } catch (error) {
    $("model").textContent = error.message;
    if (error.status === 503 || error.status === 0) setTimeout(showModel, error.status ? 1000 : 5000); // loading, or unreachable
  }
}
