// The status page: while it is visible, draws the events of /status/events and the values that only /metrics has.
import { events } from "./events.js";
import { lanes } from "./lanes.js";
import { store } from "./store.js";

const $ = (id) => document.getElementById(id);
const LENGTH = 240; // points drawn: samples of about two minutes
const STEPS = 150; // steps drawn
const points = [];
let steps = [];
let last;

const headers = () => (store.settings.key ? { Authorization: `Bearer ${store.settings.key}` } : {});
const count = (number) => Math.round(number).toLocaleString("en");

function path(d, name) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", "path");
  element.setAttribute("d", d);
  if (name) element.setAttribute("class", name);
  return element;
}

// Draws the area under the numbers; the right end is the present.
function draw(id, numbers, top) {
  const at = (index) => (600 - (numbers.length - 1 - index) * (600 / (LENGTH - 1))).toFixed(1);
  const line = numbers.map((number, index) => `${at(index)},${(118 - (number / top) * 112).toFixed(1)}`);
  $(id).replaceChildren(...(line.length > 0 ? [path(`M${at(0)},118L${line.join("L")}L600,118Z`)] : []));
}

// Draws a column per step: prompt tokens at the bottom, answer tokens on top.
function drawSteps() {
  const top = Math.max(8, ...steps.map((step) => step.read + step.answering + step.drafts));
  const width = 600 / STEPS;
  const columns = { read: "", answered: "" };
  steps.forEach((step, index) => {
    const x = (600 - (steps.length - index) * width).toFixed(1);
    const column = (from, to) => `M${x},${(118 - (from / top) * 112).toFixed(1)}V${(118 - (to / top) * 112).toFixed(1)}h${(width * 0.8).toFixed(1)}V${(118 - (from / top) * 112).toFixed(1)}Z`;
    if (step.read > 0) columns.read += column(0, step.read);
    columns.answered += column(step.read, step.read + step.answering + step.drafts);
  });
  $("steps").replaceChildren(path(columns.read, "read"), path(columns.answered, "answered"));
  const step = steps.at(-1);
  if (step) $("n-steps").textContent = `step ${count(step.step)}: ${(step.us / 1000).toFixed(1)} ms, prompt tokens read: ${count(step.read)}, answers continued: ${count(step.answering)}, drafts: ${count(step.drafts)}`;
}

function show(event) {
  const now = { ...event, time: performance.now() };
  const rate = (name) => (last && now.time > last.time ? Math.max(0, (now[name] - last[name]) / ((now.time - last.time) / 1000)) : 0);
  const kinds = (kind) => now.lanes.filter((lane) => lane.state === kind).length;
  const used = now.blocks > 0 ? 1 - now.free_blocks / now.blocks : 0;
  lanes.show(now.lanes);
  $("legend").hidden = now.lanes.length === 0;
  const [preempted, reading] = [kinds("preempted"), kinds("reading")];
  const isIdle = now.running === 0 && now.waiting === 0;
  $("n-requests").textContent = isIdle ? `idle: no request is running or waiting (${count(now.preemptions_total)} preempted so far)` : `${Math.max(0, now.running - reading)} answering, ${reading} reading, ${Math.max(0, now.waiting - preempted)} waiting, ${preempted} preempted (${count(now.preemptions_total)} so far)`;
  if (last) points.push({ speed: rate("generated_tokens_total"), used });
  if (points.length > LENGTH) points.shift();
  draw("speed", points.map((point) => point.speed), Math.max(1, ...points.map((point) => point.speed)));
  draw("memory", points.map((point) => point.used), 1);
  $("n-speed").textContent = `${count(rate("generated_tokens_total"))} generated, ${count(rate("computed_tokens_total"))} computed, ${count(rate("steps_total"))} steps`;
  $("n-memory").textContent = `${(used * 100).toFixed(1)} %: ${count(now.blocks - now.free_blocks)} of ${count(now.blocks)} blocks; ${count(now.cached_blocks)} hold tokens that a prompt can find`;
  $("checkpoints").value = now.max_checkpoints > 0 ? now.checkpoints / now.max_checkpoints : 0;
  $("n-checkpoints").textContent = `${count(now.checkpoints)} of ${count(now.max_checkpoints)}, ${(now.checkpoint_bytes / 1048576).toFixed(1)} MiB`;
  steps = [...steps, ...now.steps].slice(-STEPS);
  drawSteps();
  last = now;
}

function problem(error) {
  if (error.status === 401) return "the server requires an API key; enter it in the settings of the chats";
  if (error.status) return `the server answered with status ${error.status}`;
  return "the server cannot be reached";
}

async function readMetrics() {
  if (!document.hidden) {
    try {
      const response = await fetch("/metrics", { headers: headers() });
      const text = response.ok ? await response.text() : "";
      // The sum over all models.
      const value = (name) => [...text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? ([-+.\\deE]+)$`, "gm"))]
        .reduce((sum, match) => sum + Number(match[1]), 0);
      const asked = value("vllm:prefix_cache_queries_total"), found = value("vllm:prefix_cache_hits_total");
      $("prefix").value = asked > 0 ? found / asked : 0;
      if (text) $("n-prefix").textContent = `${count(found)} of ${count(asked)} tokens of the prompts that were answered`;
    } catch { /* the stream reports that the server cannot be reached */ }
  }
  setTimeout(readMetrics, 2000);
}

// One stream while the page is visible; the server records nothing while no page is watching.
async function watch() {
  if (document.hidden) return;
  const control = new AbortController();
  const stop = () => document.hidden && control.abort();
  document.addEventListener("visibilitychange", stop);
  try {
    for await (const event of events("/status/events", { headers: headers(), signal: control.signal })) {
      $("state").textContent = "live";
      show(event);
    }
    $("state").textContent = "the stream ended; connecting again";
  } catch (error) {
    if (!control.signal.aborted) $("state").textContent = problem(error);
  }
  document.removeEventListener("visibilitychange", stop);
  last = undefined;
  if (!document.hidden) setTimeout(watch, 1000);
}

if (store.settings.theme) document.documentElement.dataset.theme = store.settings.theme;
document.addEventListener("visibilitychange", () => { if (!document.hidden) watch(); });
watch();
readMetrics();
