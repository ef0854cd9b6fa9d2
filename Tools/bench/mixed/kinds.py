"""Kinds of clients of a server: each sends one numbered request, checks the answer, and returns what must be the same each time."""
import base64
import gzip
import http.client
import json
import re
import struct
import time
import zlib

COUNTRIES = {"France": "Paris", "Japan": "Tokyo", "Peru": "Lima"}
SCHEMA = {"type": "object", "properties": {"name": {"type": "string", "maxLength": 8}, "age": {"type": "integer", "minimum": 0, "maximum": 150}},
          "required": ["name", "age"], "additionalProperties": False}
TOOL = {"type": "function", "function": {"name": "get_weather", "description": "Current weather of a city", "parameters": {
    "type": "object", "properties": {"city": {"type": "string", "maxLength": 20}}, "required": ["city"], "additionalProperties": False}}}


class Wrong(Exception):
    """An answer that is not what it must be."""


def expect(condition, *found):
    if not condition:
        raise Wrong(" ".join(str(part)[:300] for part in found))


class Client:
    def __init__(self, host, port):
        self.host, self.port = host, port

    def send(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection(self.host, self.port, timeout=600)
        data = json.dumps(body).encode() if isinstance(body, dict) else body
        connection.request(method, path, data, {"Content-Type": "application/json", **(headers or {})})
        return connection, connection.getresponse()

    def call(self, method, path, body=None, headers=None, status=200):
        connection, response = self.send(method, path, body, headers)
        text = response.read()
        connection.close()
        expect(response.status == status, path, response.status, text)
        return text

    def post(self, path, body, **options):
        return json.loads(self.call("POST", path, body, **options))

    def events(self, path, body):
        """The data of the events of a stream, or its lines of JSON."""
        text = self.call("POST", path, body).decode()
        lines = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith(("data: ", "{"))]
        return [json.loads(line) for line in lines if line != "[DONE]"]


def country(number):
    return sorted(COUNTRIES)[number % len(COUNTRIES)]


def question(number):
    return [{"role": "user", "content": f"What is the capital of {country(number)}?"}]


def chat_body(number, **fields):
    return {"messages": question(number), "temperature": 0, "max_tokens": 24, **fields}


def capital(number, text):
    expect(COUNTRIES[country(number)] in text, f"the capital of {country(number)} is not in", repr(text))
    return text


def chat(client, number):
    return capital(number, client.post("/v1/chat/completions", chat_body(number))["choices"][0]["message"]["content"])


def chat_stream(client, number):
    events = client.events("/v1/chat/completions", chat_body(number, stream=True))
    text = "".join(event["choices"][0]["delta"].get("content") or "" for event in events if event["choices"])
    expect(text == chat(client, number), "a stream differs from a whole answer:", text)
    return text


def chat_sampled(client, number):
    answer = client.post("/v1/chat/completions", chat_body(number, temperature=1, seed=number, n=2))
    return [choice["message"]["content"] for choice in answer["choices"]]


def chat_logprobs(client, number):
    rows = client.post("/v1/chat/completions", chat_body(number, logprobs=True, top_logprobs=3))["choices"][0]["logprobs"]["content"]
    for row in rows:
        expect(row["token"] in [other["token"] for other in row["top_logprobs"]], "the sampled token is not among the best:", row)
    return [(row["token"], row["logprob"]) for row in rows]


def chat_tools(client, number):
    answer = client.post("/v1/chat/completions", {**chat_body(number, tools=[TOOL], tool_choice="required"), "max_tokens": 64})["choices"][0]
    (call,) = answer["message"]["tool_calls"]
    values = json.loads(call["function"]["arguments"])
    expect(call["function"]["name"] == "get_weather" and set(values) == {"city"} and len(values["city"]) <= 20, call)
    return call["function"]


def chat_schema(client, number):
    form = {"type": "json_schema", "json_schema": {"name": "person", "schema": SCHEMA, "strict": True}}
    answer = client.post("/v1/chat/completions", {**chat_body(number, response_format=form, seed=number, temperature=1), "max_tokens": 80})["choices"][0]
    if answer["finish_reason"] == "stop":
        value = json.loads(answer["message"]["content"])
        expect(set(value) == {"name", "age"} and len(value["name"]) <= 8 and 0 <= value["age"] <= 150, value)
    return answer["message"]["content"]


def chat_regex(client, number):
    text = client.post("/v1/chat/completions", chat_body(number, guided_regex="[a-f]{3}-[0-9]{4}", seed=number, temperature=1))["choices"][0]["message"]["content"]
    expect(re.fullmatch("[a-f]{3}-[0-9]{4}", text), text)
    return text


def picture(number):
    """A PNG of 32 x 32 pixels of one colour."""
    row = b"\0" + bytes([(255, 0, 0), (0, 128, 0), (0, 0, 255)][number % 3]) * 32
    chunk = lambda name, data: struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))  # noqa: E731
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 32, 32, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(row * 32)) + chunk(b"IEND", b"")


def chat_image(client, number):
    url = "data:image/png;base64," + base64.b64encode(picture(number)).decode()
    parts = [{"type": "image_url", "image_url": {"url": url}}, {"type": "text", "text": "What do you see?"}]
    answer = client.post("/v1/chat/completions", {"messages": [{"role": "user", "content": parts}], "temperature": 0, "max_tokens": 24})
    expect(answer["usage"]["prompt_tokens_details"]["image_tokens"] > 0, answer["usage"])
    return answer["choices"][0]["message"]["content"]


def chat_gzip(client, number):
    body = gzip.compress(json.dumps(chat_body(number)).encode())
    text = client.call("POST", "/v1/chat/completions", body, {"Content-Encoding": "gzip"})
    return capital(number, json.loads(text)["choices"][0]["message"]["content"])


def completions(client, number):
    body = {"prompt": f"{country(number)} is", "max_tokens": 8, "temperature": 0, "echo": True, "logprobs": 1}
    choice = client.post("/v1/completions", body)["choices"][0]
    expect(choice["text"].startswith(body["prompt"]), choice["text"])
    return choice["text"], choice["logprobs"]["token_logprobs"]


def completions_stream(client, number):
    events = client.events("/v1/completions", {"prompt": f"{country(number)} is", "max_tokens": 8, "temperature": 0, "stream": True})
    return "".join(event["choices"][0]["text"] for event in events if event["choices"])


def responses(client, number):
    answer = client.post("/v1/responses", {"input": question(number), "temperature": 0, "max_output_tokens": 24})
    text = "".join(part["text"] for item in answer["output"] if item["type"] == "message" for part in item["content"])
    client.call("DELETE", f"/v1/responses/{answer['id']}")
    return capital(number, text)


def responses_stream(client, number):
    events = client.events("/v1/responses", {"input": question(number), "temperature": 0, "max_output_tokens": 24, "stream": True, "store": False})
    return capital(number, "".join(event["delta"] for event in events if event["type"] == "response.output_text.delta"))


def anthropic(client, number):
    answer = client.post("/v1/messages", chat_body(number), headers={"anthropic-version": "2023-06-01"})
    return capital(number, "".join(part["text"] for part in answer["content"] if part["type"] == "text"))


def anthropic_stream(client, number):
    events = client.events("/v1/messages", chat_body(number, stream=True))
    return capital(number, "".join(event["delta"].get("text", "") for event in events if event["type"] == "content_block_delta"))


def ollama_chat(client, number):
    lines = client.events("/api/chat", {"model": "mini", "messages": question(number), "options": {"temperature": 0, "num_predict": 24}})
    expect(lines[-1]["done"], lines[-1])
    return capital(number, "".join(line["message"]["content"] for line in lines))


def ollama_generate(client, number):
    body = {"model": "mini", "prompt": question(number)[0]["content"], "stream": False, "options": {"temperature": 0, "num_predict": 24}}
    return capital(number, client.post("/api/generate", body)["response"])


def llama_completion(client, number):
    return client.post("/completion", {"prompt": f"{country(number)} is", "n_predict": 8, "temperature": 0})["content"]


def embeddings(client, number):
    row = client.post("/v1/embeddings", {"input": country(number)})["data"][0]["embedding"]
    expect(abs(sum(value * value for value in row) - 1) < 1e-3, "the length of the vector is", sum(value * value for value in row))
    return row


def rerank(client, number):
    rows = client.post("/v1/rerank", {"query": country(number), "documents": list(COUNTRIES.values())})["results"]
    return [(row["index"], row["relevance_score"]) for row in rows]


def tokenize(client, number):
    text = f"Ünïcode {country(number)} 東京 {number}"
    ids = client.post("/tokenize", {"prompt": text, "add_special_tokens": False})["tokens"]
    expect(client.post("/detokenize", {"tokens": ids})["prompt"] == text, ids)
    return ids


def batches(client, number):
    """A file with two requests, one of which is refused; fetched when the batch has ended."""
    lines = [{"custom_id": name, "method": "POST", "url": "/v1/chat/completions", "body": body}
             for name, body in (("good", chat_body(number)), ("bad", {"messages": 5}))]
    content = "".join(json.dumps(line) + "\n" for line in lines)
    form = ''.join(f'--cut\r\nContent-Disposition: form-data; name="{name}"{extra}\r\n\r\n{value}\r\n' for name, extra, value in
                   (("purpose", "", "batch"), ("file", '; filename="in.jsonl"', content))) + "--cut--\r\n"
    file = json.loads(client.call("POST", "/v1/files", form.encode(), {"Content-Type": "multipart/form-data; boundary=cut"}))["id"]
    batch = client.post("/v1/batches", {"input_file_id": file, "endpoint": "/v1/chat/completions", "completion_window": "24h"})
    while batch["status"] not in ("completed", "failed"):
        time.sleep(0.05)
        batch = json.loads(client.call("GET", f"/v1/batches/{batch['id']}"))
    counts = batch["request_counts"]
    expect((batch["status"], counts["completed"], counts["failed"]) == ("completed", 1, 1), batch)
    (line,) = client.call("GET", f"/v1/files/{batch['output_file_id']}/content").splitlines()
    for name in (file, batch["output_file_id"], batch["error_file_id"]):
        client.call("DELETE", f"/v1/files/{name}")
    return capital(number, json.loads(line)["response"]["body"]["choices"][0]["message"]["content"])


def cut(client, number):
    """Closes the connection before the answer, or in the middle of it."""
    connection, response = client.send("POST", "/v1/chat/completions", {**chat_body(number, stream=True, ignore_eos=True), "max_tokens": 400})
    response.read(1 + 97 * (number % 5))
    connection.close()


BAD = [(b"{", 400), (b'{"messages": 5}', 400), (b"[]", 400), (b'{"messages": [], "temperature": 9}', 400), (b"", 400),
       (b'{"model": "none", "messages": [{"role": "user", "content": "x"}]}', 404)]


def bad(client, number):
    body, status = BAD[number % len(BAD)]
    error = json.loads(client.call("POST", "/v1/chat/completions", body, status=status))["error"]
    expect(error["message"], error)
    client.call("GET", "/nothing", status=404)
    return error["message"]


KINDS = [chat, chat_stream, chat_sampled, chat_logprobs, chat_tools, chat_schema, chat_regex, chat_image, chat_gzip, completions,
         completions_stream, responses, responses_stream, anthropic, anthropic_stream, ollama_chat, ollama_generate, llama_completion,
         embeddings, rerank, tokenize, batches, cut, bad]
