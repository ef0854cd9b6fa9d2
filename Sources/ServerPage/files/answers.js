// Sends messages and shows answers as they arrive.
import { openChat, showConversations } from "./chats.js";
import { MAX_ROUNDS, addCall, makeCalls, turnsOf } from "./calls.js";
import { answer } from "./client.js";
import { showComposer } from "./composer.js";
import { imageURL, keepImages } from "./images.js";
import { modelOf } from "./model.js";
import { isAtEnd, showMessages, showMeter, toEnd, updateAnswer } from "./messages.js";
import { $, page, runOf, settingsOf } from "./state.js";
import { store } from "./store.js";
import { toolsOf } from "./tools.js";
import { append, path } from "./tree.js";

// `title` is that of a new chat.
export function send(content, images = [], title = content) {
  const chat = page.chat;
  if (runOf(chat)) return;
  store.keepDraft(chat, "");
  append(chat, path(chat).at(-1), { role: "user", content, ...(images.length > 0 ? { images } : {}) });
  if (!chat.title) chat.title = title.split("\n")[0].slice(0, 200) || images[0].name;
  store.save(chat);
  keepImages(images);
  openChat(chat);
  run(chat);
}

// Images come first, as Qwen's models were trained; those that the browser no longer has are left out.
async function contentOf({ content, images = [] }) {
  const urls = (await Promise.all(images.map(imageURL))).filter(Boolean);
  if (urls.length === 0) return content;
  return [...urls.map((url) => ({ type: "image_url", image_url: { url } })), { type: "text", text: content }];
}

async function request(turns, settings) {
  const system = settings.system?.trim() ? [{ role: "system", content: settings.system }] : [];
  const said = turns.filter((message) => message.content || message.reasoning || message.images || message.rounds);
  const lists = await Promise.all(said.map(async (message) => (message.role === "assistant" ? turnsOf(message) : [{ role: message.role, content: await contentOf(message) }])));
  return [...system, ...lists.flat()];
}

// Answers the last message of the visible branch, or continues `cut`, an answer that ended too early.
export async function run(chat, cut) {
  const settings = { ...settingsOf(chat), model: modelOf(chat)?.name, tools: toolsOf(chat) };
  const before = path(chat).filter((message) => message !== cut);
  const message = cut ?? append(chat, before.at(-1), { role: "assistant", content: "", reasoning: "" });
  for (const name of ["stopped", "error", "status", "finish"]) delete message[name];
  const abort = new AbortController();
  page.runs.set(chat.id, { chat, message, abort });
  showMessages();
  showComposer();
  let due = false, saved = 0;
  const draw = () => {
    due = false;
    const node = chat === page.chat ? $("messages").querySelector(`[data-id="${message.id}"]`) : null;
    if (!node) return;
    const atEnd = isAtEnd();
    updateAnswer(node, message, runOf(chat));
    if (atEnd) toEnd();
  };
  // One round: a part of the answer, which ends it, or calls tools whose results the next one reads.
  const round = async (number) => {
    const [times, calls] = [{ start: performance.now() }, []];
    const turn = { ...settings, isLast: number === MAX_ROUNDS, continues: number === 0 && cut !== undefined && turnsOf(cut).at(-1)?.role === "assistant" };
    for await (const change of answer(await request([...before, message], turn), turn, abort.signal)) {
      take(runOf(chat), message, change, times);
      if (change.call) addCall(calls, change.call);
      if (!due) {
        due = true;
        requestAnimationFrame(draw);
      }
      if (performance.now() - saved > 1000) {
        saved = performance.now();
        store.save(chat);
      }
    }
    if (calls.length > 0 && turn.isLast) throw new Error(`The model called tools ${MAX_ROUNDS} times without an answer.`);
    if (calls.length > 0) await makeCalls(runOf(chat), calls, settings, draw);
    return calls.length > 0;
  };
  try {
    for (let number = 0; await round(number); number++) store.save(chat);
  } catch (error) {
    if (abort.signal.aborted) message.stopped = true;
    else Object.assign(message, { error: error.message, status: error.status });
  }
  page.runs.delete(chat.id);
  if (store.find(chat.id)) store.save(chat);
  draw();
  if (chat === page.chat) showMeter();
  showConversations();
  showComposer();
}

function take(running, message, change, times) {
  if (change.omitted) message.omitted = change.omitted;
  if (change.progress) running.progress = change.progress;
  if (change.text || change.reasoning) {
    running.progress = null;
    times.last = performance.now();
    times.first ??= times.last;
    message.content += change.text ?? "";
    message.reasoning += change.reasoning ?? "";
  }
  if (change.finish) message.finish = change.finish;
  if (change.usage) message.stats = measured(times, change.usage);
}

function measured(times, usage) {
  const tokens = usage.completion_tokens;
  const seconds = (times.last - times.first) / 1000;
  return { tokens, prompt: usage.prompt_tokens, cached: usage.prompt_tokens_details?.cached_tokens ?? 0, images: usage.prompt_tokens_details?.image_tokens,
    first: times.first === undefined ? undefined : (times.first - times.start) / 1000, rate: tokens > 1 && seconds > 0.02 ? (tokens - 1) / seconds : undefined };
}
