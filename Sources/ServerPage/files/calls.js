// Calls of tools in an answer: asks for consent, makes them, shows them, and writes them as the model reads them again.
import { callTool } from "./client.js";
import { element } from "./dom.js";
import { store } from "./store.js";

// After so many rounds of calls the model has to answer without tools.
export const MAX_ROUNDS = 10;

// Adds a part of a call, as it is streamed, to the calls of a round: { id, name, arguments, state, result }. `state` is "waiting",
// "running", "done", "failed" or "refused".
export function addCall(calls, { index, id, name, text }) {
  const call = (calls[index] ??= { id: "", name: "", arguments: "", state: "waiting" });
  call.id ||= id ?? "";
  call.name += name ?? "";
  call.arguments += text ?? "";
}

// Makes the calls of a round in turn. Each gets a result, which for one that failed or was refused says so.
export async function makeCalls(running, calls, settings, draw) {
  const { chat, message, abort } = running;
  message.rounds = [...(message.rounds ?? []), { text: message.content.length, thought: message.reasoning?.length ?? 0, calls }];
  for (const call of calls) {
    if (abort.signal.aborted) finish(call, "refused", "Error: the user stopped before this call.");
    else await make(call, running, settings, draw);
    store.save(chat);
    draw();
  }
  if (abort.signal.aborted) throw new DOMException("stopped", "AbortError");
  if (message.content.trim()) message.content += "\n\n"; // what follows the calls is another paragraph
}

function finish(call, state, result) {
  Object.assign(call, { state, result });
}

async function make(call, running, settings, draw) {
  const tool = settings.tools.find(({ seen }) => seen === call.name);
  if (!tool) return finish(call, "failed", `Error: there is no tool named ${call.name}.`);
  const values = parsed(call.arguments);
  if (!values) return finish(call, "failed", "Error: the arguments are not a JSON object.");
  if (!(await isAllowed(call, tool, running, draw))) return finish(call, "refused", "Error: the user refused this call.");
  call.state = "running";
  draw();
  try {
    const { content, is_error } = await callTool({ server: tool.server, name: tool.name, arguments: values }, settings, running.abort.signal);
    finish(call, is_error ? "failed" : "done", is_error ? `Error: ${content}` : content);
  } catch (error) {
    finish(call, "failed", running.abort.signal.aborted ? "Error: the user stopped this call." : `Error: ${error.message}`);
  }
}

function parsed(text) {
  try {
    const value = JSON.parse(text || "{}");
    return value && typeof value === "object" && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

// Waits for the user unless the tool may always be called in this chat.
async function isAllowed(call, tool, running, draw) {
  const { chat, abort } = running;
  if (chat.consents?.includes(tool.key)) return true;
  const answer = await new Promise((done) => {
    running.question = { call, tool, done };
    abort.signal.addEventListener("abort", () => done("refuse"), { once: true });
    draw();
  });
  running.question = null;
  if (answer === "always") chat.consents = [...(chat.consents ?? []), tool.key];
  return answer !== "refuse";
}

// An answer as messages: the part before each round with its calls, their results, and the rest.
export function turnsOf({ role, content, reasoning = "", rounds = [] }) {
  const out = [];
  let text = 0, thought = 0;
  const part = (end, endOfThought) => {
    const thoughts = reasoning.slice(thought, endOfThought);
    return { role, content: content.slice(text, end), ...(thoughts ? { reasoning_content: thoughts } : {}) };
  };
  for (const round of rounds) {
    const before = part(round.text, round.thought);
    const calls = round.calls.map(({ id, name, arguments: values }) => ({ id, type: "function", function: { name, arguments: parsed(values) ? values || "{}" : "{}" } }));
    out.push({ ...before, content: before.content.trim(), tool_calls: calls });
    out.push(...round.calls.map(({ id, result }) => ({ role: "tool", tool_call_id: id, content: result ?? "Error: the call was interrupted." })));
    [text, thought] = [round.text, round.thought];
  }
  const rest = part();
  if (rounds.length > 0) rest.content = rest.content.trimStart();
  if (rounds.length === 0 || rest.content || rest.reasoning_content) out.push(rest);
  return out;
}

// `running` is the answer in flight if it is this message.
export function showCalls(node, message, running) {
  const calls = (message.rounds ?? []).flatMap((round) => round.calls), asked = running?.question;
  const shown = JSON.stringify([calls.map(({ state }) => state), asked?.call.id, running !== undefined]);
  if (node.dataset.shown === shown) return;
  node.dataset.shown = shown;
  const open = [...node.querySelectorAll(".call")].map((call) => call.open);
  node.replaceChildren(...calls.map((call, index) => (call === asked?.call ? question(asked) : callElement(call, running !== undefined, open[index]))));
}

// A call without a result, in an answer that has ended, was interrupted when the page closed.
function callElement({ name, arguments: values, state, result }, isRunning, isOpen = false) {
  const words = result === undefined && !isRunning ? "interrupted" : state;
  return element("details", { class: `call ${words}`, open: isOpen }, element("summary", {}, `${name} · ${words}`),
    element("pre", {}, values), result === undefined ? null : element("pre", { class: "result" }, result));
}

function question({ call, tool, done }) {
  const button = (label, kind, answer) => element("button", { type: "button", class: kind, onclick: () => done(answer) }, label);
  return element("section", { class: "question", "aria-label": "Consent to a call" }, element("p", {}, "Run ", element("strong", {}, tool.name), ` of ${tool.server}?`),
    element("pre", {}, call.arguments), element("div", {}, button("Allow once", "primary", "once"), button("Always in this chat", "plain", "always"), button("Refuse", "plain", "refuse")));
}
