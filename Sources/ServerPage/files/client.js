// Talking to the server: one answer as a stream of changes.

function headers(settings) {
  const all = { "Content-Type": "application/json" };
  if (settings.key) all.Authorization = `Bearer ${settings.key}`;
  return all;
}

export async function modelName(settings) {
  const response = await fetch("/v1/models", { headers: headers(settings) });
  if (!response.ok) throw Object.assign(new Error(await reason(response)), { status: response.status });
  const model = (await response.json()).data[0];
  return { name: model.id, context: model.max_model_len };
}

async function reason(response) {
  try {
    return (await response.json()).error.message;
  } catch {
    return `the server answered with status ${response.status}`;
  }
}

function body(messages, settings) {
  const request = { messages, stream: true, stream_options: { include_usage: true } };
  for (const name of ["temperature", "top_p", "top_k", "max_tokens", "seed"]) {
    if (settings[name] !== undefined && settings[name] !== "") request[name] = Number(settings[name]);
  }
  if (settings.thinking) request.enable_thinking = settings.thinking === "on";
  return JSON.stringify(request);
}

// Yields { text }, { reasoning }, { finish } and { usage } until the answer ends; throws what the server says.
export async function* answer(messages, settings, signal) {
  const response = await fetch("/v1/chat/completions", { method: "POST", headers: headers(settings), body: body(messages, settings), signal });
  if (!response.ok) throw new Error(await reason(response));
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let held = "";
  while (true) {
    const { done, value } = await reader.read();
    if (done) throw new Error("the connection ended before the answer did");
    held += value;
    const events = held.split("\n\n");
    held = events.pop();
    for (const event of events) {
      if (!event.startsWith("data: ")) continue;
      const data = event.slice(6);
      if (data === "[DONE]") return;
      const chunk = JSON.parse(data);
      if (chunk.error) throw new Error(chunk.error.message);
      const choice = chunk.choices[0];
      if (choice?.delta.content) yield { text: choice.delta.content };
      if (choice?.delta.reasoning_content) yield { reasoning: choice.delta.reasoning_content };
      if (choice?.finish_reason) yield { finish: choice.finish_reason };
      if (chunk.usage) yield { usage: chunk.usage };
    }
  }
}
