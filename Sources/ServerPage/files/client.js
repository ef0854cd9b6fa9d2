// Talks to the server: one answer as a stream of changes.

function headers(settings) {
  const all = { "Content-Type": "application/json" };
  if (settings.key) all.Authorization = `Bearer ${settings.key}`;
  return all;
}

// The server's models, without their other names: [{ name, context, images }].
export async function models(settings) {
  const response = await reach("/v1/models", { headers: headers(settings) });
  if (!response.ok) throw await refusal(response);
  return (await response.json()).data.filter((model) => (model.root ?? model.id) === model.id).map((model) => ({ name: model.id, context: model.max_model_len, images: model.input_modalities?.includes("image") ?? false }));
}

// Models that fit the server's machine, if it has only the demo model: [{ command, memory_bytes, limit_bytes, context }].
export async function suggestions(settings) {
  try {
    const response = await fetch("/suggestions", { headers: headers(settings) });
    return response.ok ? (await response.json()).suggestions : [];
  } catch {
    return [];
  }
}

// The servers of tools that the administrator configured: [{ name, state, error, tools: [{ name, description, parameters }] }].
export async function toolServers(settings) {
  const response = await reach("/tools", { headers: headers(settings) });
  if (!response.ok) throw await refusal(response);
  return (await response.json()).servers;
}

// Calls a tool: { content, is_error }.
export async function callTool(call, settings, signal) {
  const response = await reach("/tools/call", { method: "POST", headers: headers(settings), body: JSON.stringify(call), signal });
  if (!response.ok) throw await refusal(response);
  return response.json();
}

async function reason(response) {
  if (response.status === 401) return "This server requires an API key.";
  try {
    return (await response.json()).error.message;
  } catch {
    return `the server answered with status ${response.status}`;
  }
}

async function refusal(response) {
  return Object.assign(new Error(await reason(response)), { status: response.status });
}

// fetch() reports "Failed to fetch" or "NetworkError"; users need to know what to do.
async function reach(path, options) {
  try {
    return await fetch(path, options);
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw Object.assign(new Error("The server cannot be reached. Is `pagoda serve` still running?"), { status: 0 });
  }
}

function body(messages, settings) {
  const request = { messages, stream: true, stream_options: { include_usage: true }, return_progress: true };
  request.truncation = settings.full === "stop" ? "disabled" : "auto";
  for (const name of ["temperature", "top_p", "top_k", "max_tokens", "seed"]) {
    if (settings[name] !== undefined && settings[name] !== "") request[name] = Number(settings[name]);
  }
  if (settings.model) request.model = settings.model;
  if (settings.continues) Object.assign(request, { continue_final_message: true, add_generation_prompt: false });
  if (settings.tools?.length > 0) {
    request.tools = settings.tools.map(({ seen, description, parameters }) => ({ type: "function", function: { name: seen, description, parameters } }));
    if (settings.isLast) request.tool_choice = "none";
  }
  if (settings.thinking) request.enable_thinking = settings.thinking === "on";
  return JSON.stringify(request);
}

async function next(reader, signal) {
  try {
    return await reader.read();
  } catch (error) {
    if (signal.aborted) throw error;
    return { done: true };
  }
}

// Yields { omitted }, { progress }, { text }, { reasoning }, { call }, { finish } and { usage } until the answer ends; throws the server's error.
export async function* answer(messages, settings, signal) {
  const response = await reach("/v1/chat/completions", { method: "POST", headers: headers(settings), body: body(messages, settings), signal });
  if (!response.ok) throw await refusal(response);
  const omitted = Number(response.headers.get("x-pagoda-omitted-messages") ?? 0);
  if (omitted > 0) yield { omitted };
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let held = "";
  while (true) {
    const { done, value } = await next(reader, signal);
    if (done) throw Object.assign(new Error("The connection ended before the answer did."), { status: 0 });
    held += value;
    const events = held.split("\n\n");
    held = events.pop();
    for (const event of events) {
      if (!event.startsWith("data: ")) continue;
      const data = event.slice(6);
      if (data === "[DONE]") return;
      const chunk = JSON.parse(data);
      if (chunk.error) throw new Error(chunk.error.message);
      if (chunk.prompt_progress) yield { progress: chunk.prompt_progress };
      const choice = chunk.choices[0];
      if (choice?.delta.content) yield { text: choice.delta.content };
      if (choice?.delta.reasoning_content) yield { reasoning: choice.delta.reasoning_content };
      for (const { index, id, function: part } of choice?.delta.tool_calls ?? []) yield { call: { index, id, name: part?.name, text: part?.arguments } };
      if (choice?.finish_reason) yield { finish: choice.finish_reason };
      if (chunk.usage) yield { usage: chunk.usage };
    }
  }
}
