// The status page: reads /metrics once a second while the page is visible, and draws the last two minutes.
import { element } from "./dom.js";
import { store } from "./store.js";

const $ = (id) => document.getElementById(id);
const LENGTH = 120; // readings that are drawn
const MAX_LANES = 96;
const readings = [];

function parse(text) {
  const values = { time: performance.now() };
  for (const line of text.split("\n")) {
    const [, name, value] = line.match(/^([A-Za-z_:][\w:]*)(?:\{[^}]*\})? ([-+\d.eE]+)$/) ?? [];
    if (name) values[name] = (values[name] ?? 0) + Number(value);
  }
  return values;
}

const rate = (name, now, before) => Math.max(0, ((now[name] ?? 0) - (before[name] ?? 0)) / ((now.time - before.time) / 1000));

// An area under the numbers; the right end is now.
function draw(id, numbers, top) {
  const points = numbers.map((number, at) => `${(600 - (numbers.length - 1 - at) * (600 / (LENGTH - 1))).toFixed(1)},${(118 - (number / top) * 112).toFixed(1)}`);
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  if (points.length > 0) path.setAttribute("d", `M${points[0].split(",")[0]},118L${points.join("L")}L600,118Z`);
  $(id).replaceChildren(path);
}

function show() {
  const now = readings.at(-1), before = readings.at(-2);
  const running = now["vllm:num_requests_running"] ?? 0, waiting = now["vllm:num_requests_waiting"] ?? 0;
  const lanes = [...Array(Math.min(running, MAX_LANES)).fill("running"), ...Array(Math.min(waiting, MAX_LANES)).fill("queued")];
  $("requests").replaceChildren(...lanes.map((kind) => element("span", { class: kind, title: kind })));
  $("n-requests").textContent = `${running} answering, ${waiting} waiting, ${now["vllm:num_preemptions_total"] ?? 0} preempted so far`;
  const speeds = readings.slice(1).map((reading, at) => rate("pagoda:generated_tokens_total", reading, readings[at]));
  draw("speed", speeds, Math.max(1, ...speeds));
  if (before) $("n-speed").textContent = `${Math.round(speeds.at(-1))} generated, ${Math.round(rate("pagoda:computed_tokens_total", now, before))} computed, ${Math.round(rate("pagoda:engine_steps_total", now, before))} steps`;
  draw("memory", readings.map((reading) => reading["vllm:kv_cache_usage_perc"] ?? 0), 1);
  $("n-memory").textContent = `${((now["vllm:kv_cache_usage_perc"] ?? 0) * 100).toFixed(1)} %`;
  const asked = now["vllm:prefix_cache_queries_total"] ?? 0, found = now["vllm:prefix_cache_hits_total"] ?? 0;
  $("prefix").value = asked > 0 ? found / asked : 0;
  $("n-prefix").textContent = `${found.toLocaleString("en")} of ${asked.toLocaleString("en")} tokens`;
}

async function read() {
  if (!document.hidden) {
    try {
      const { key, theme } = store.settings;
      if (theme) document.documentElement.dataset.theme = theme;
      const response = await fetch("/metrics", { headers: key ? { Authorization: `Bearer ${key}` } : {} });
      if (!response.ok) throw new Error(response.status === 401 ? "the server asks for an API key; enter it in the settings of the chats" : `the server answered with status ${response.status}`);
      readings.push(parse(await response.text()));
      if (readings.length > LENGTH) readings.shift();
      $("state").textContent = "live";
      show();
    } catch (error) {
      $("state").textContent = error instanceof TypeError ? "the server cannot be reached" : error.message;
    }
  }
  setTimeout(read, 1000);
}

read();
