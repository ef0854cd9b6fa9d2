// The name and the context of the server's model, in the header.
import { modelName } from "./client.js";
import { element } from "./dom.js";
import { showMessages, showMeter } from "./messages.js";
import { $, page } from "./state.js";
import { store } from "./store.js";

export async function showModel() {
  try {
    const before = page.model?.name;
    page.model = await modelName(store.settings);
    $("model").replaceChildren(page.model.name, element("span", { class: "context" }, ` · ${page.model.context.toLocaleString("en")} tokens`));
    if (page.chat?.messages.length === 0 && before !== page.model.name) showMessages();
    else if (page.chat) showMeter();
  } catch (error) {
    $("model").textContent = error.message;
    if (error.status === 503 || error.status === 0) setTimeout(showModel, error.status ? 1000 : 5000); // loading, or away
  }
}
