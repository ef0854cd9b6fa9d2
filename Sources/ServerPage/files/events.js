// Server-sent events with custom request headers, which EventSource cannot send.

// Yields the data of each event, parsed; throws an error with `status` if the server refuses.
export async function* events(path, options) {
  const response = await fetch(path, options);
  if (!response.ok) throw Object.assign(new Error(`status ${response.status}`), { status: response.status });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let held = "";
  while (true) {
    const { done, value } = await reader.read();
    if (done) return;
    held += value;
    const parts = held.split("\n\n");
    held = parts.pop();
    for (const part of parts) {
      const data = part.split("\n").filter((line) => line.startsWith("data: ")).map((line) => line.slice(6)).join("\n");
      if (data) yield JSON.parse(data);
    }
  }
}
