"""The contract behind every router: conversations stay together, streams are complete, and failures stay local."""
import asyncio
import http.client
import json
import time

import aiohttp

from replicas import MODEL, wait_until

FAMILIES = 8
TURNS = 8
LONG = 2000  # tokens of a stream that is still running when the last concurrent one begins
TOPICS = ["rivers", "mountains", "trains", "bread", "music", "stars", "gardens", "ships"]


class Broken(Exception):
    """A stream that ended early."""


class Answer:
    def __init__(self, replica=None):
        self.replica = replica
        self.text = ""
        self.usage = {}
        self.is_whole = False


def first_question(topic):
    """Prompts that differ from the first word on, and are long enough for a cache hit to be unambiguous."""
    return f"{topic.capitalize()}: " + " ".join(f"tell me fact {n} about {topic} and why it matters." for n in range(12))


async def ask(client, url, messages, on_chunk=None, headers=None, **options):
    """One streamed chat; raises Broken if it ends early."""
    body = {"model": MODEL, "messages": messages, "stream": True, "stream_options": {"include_usage": True},
            "temperature": 0, "max_tokens": 8, **options}
    try:
        async with client.post(url + "/v1/chat/completions", json=body, headers=headers) as response:
            if response.status != 200:
                raise Broken(f"status {response.status}: {(await response.text())[:300]}")
            answer = Answer(response.headers.get("x-pagoda-replica"))
            async for line in response.content:
                if not line.startswith(b"data: "):
                    continue
                data = line[6:].strip()
                if data == b"[DONE]":
                    answer.is_whole = True
                    continue
                chunk = json.loads(data)
                if "error" in chunk:
                    raise Broken(str(chunk["error"]))
                answer.usage = chunk.get("usage") or answer.usage
                for choice in chunk.get("choices", []):
                    delta = choice.get("delta", {})
                    answer.text += (delta.get("content") or "") + (delta.get("reasoning_content") or "")
                if on_chunk:
                    on_chunk(answer)
    except (aiohttp.ClientError, asyncio.TimeoutError, ValueError) as error:
        raise Broken(repr(error)) from error
    if not answer.is_whole:
        raise Broken("the stream ended before its end mark")
    return answer


def session(key=None):
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    return aiohttp.ClientSession(headers=headers, connector=aiohttp.TCPConnector(limit=0, force_close=True),
                                 timeout=aiohttp.ClientTimeout(total=600))


async def conversation(client, url, topic, gate, wait_for_router):
    """TURNS turns of one family; returns (prompt tokens, cached tokens, replica) of each."""
    messages, rows = [], []
    for turn in range(TURNS):
        question = first_question(topic) if turn == 0 else f"And what else, for the {turn}. time, about {topic}?"
        messages.append({"role": "user", "content": question})
        async with gate:
            wait_for_router()
            answer = await ask(client, url, messages)
        messages.append({"role": "assistant", "content": answer.text})
        cached = (answer.usage.get("prompt_tokens_details") or {}).get("cached_tokens", 0)
        rows.append((answer.usage["prompt_tokens"], cached, answer.replica))
    return rows


async def all_families(url, at_once=4, wait_for_router=lambda: None):
    """All conversations, `at_once` turns at a time, each sent after `wait_for_router()`, which may block."""
    gate = asyncio.Semaphore(at_once)
    async with session() as client:
        return await asyncio.gather(*(conversation(client, url, topic, gate, wait_for_router) for topic in TOPICS[:FAMILIES]))


def second_turn_hits(families):
    """Families whose second turn found most of the first in the cache: a prefix shared by all prompts does not count."""
    return sum(rows[1][1] >= 0.7 * rows[0][0] for rows in families)


def check_streams(url, direct_url):
    """The router returns the same text as a replica itself."""
    async def run():
        async with session() as client:
            for topic in TOPICS[:3]:
                messages = [{"role": "user", "content": f"What do you know about {topic}?"}]
                routed = await ask(client, url, messages, max_tokens=60)
                direct = await ask(client, direct_url, messages, max_tokens=60)
                assert routed.text == direct.text and routed.usage["completion_tokens"] > 5
    asyncio.run(run())


def check_cancel(url, running):
    """When a client disconnects, its answer ends in the engine within a second; the best of ten tries counts, because the
    machine may be busy. `running` returns the number of answers that the replicas are generating."""
    async def start_and_leave():
        """When the client disconnected, or None if its answer had already ended: its first tokens may arrive late."""
        begun = asyncio.Event()
        async with session() as client:
            task = asyncio.create_task(ask(client, url, [{"role": "user", "content": "Hello!"}],
                                           lambda answer: answer.text and begun.set(), max_tokens=8000, ignore_eos=True))
            waiting = asyncio.create_task(begun.wait())
            await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED, timeout=300)
            assert begun.is_set(), "no chunk came: " + repr(task)
            is_running = running() == 1
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        return time.monotonic() if is_running else None

    seconds = []
    for _ in range(10):
        left = asyncio.run(start_and_leave())
        wait_until(lambda: running() == 0, "the end of the answer in the engine")
        if left is None:
            continue
        seconds.append(time.monotonic() - left)
        if seconds[-1] < 1:
            return
    raise AssertionError(f"the engine continued for {seconds} s")


def check_kill(url, kill, others_name, count=8, last_event=""):
    """Kills one replica while answers are generated: only its own streams break, and later requests succeed. A stream
    that began early may have ended before the kill, but not all of them. `kill()` ends it; `others_name()` is the name
    of the remaining one; `last_event` is in the error event that ends a broken stream, if the router sends one."""
    async def run():
        async with session() as client:
            begun = [asyncio.Event() for _ in range(count)]
            seen = [None] * count

            def chunk(index):
                def note(answer):
                    seen[index] = answer.replica
                    begun[index].set()
                return note
            tasks = [asyncio.create_task(ask(
                client, url, [{"role": "user", "content": f"{TOPICS[i % 8]} {i}: tell me more."}], chunk(i),
                max_tokens=LONG, ignore_eos=True)) for i in range(count)]
            await asyncio.wait_for(asyncio.gather(*(event.wait() for event in begun)), 300)
            stays = others_name()
            assert any(name != stays for name in seen) and stays in seen, f"of {seen} none, or all, on {stays}"
            kill()
            results = await asyncio.gather(*tasks, return_exceptions=True)
            for name, result in zip(seen, results):
                if isinstance(result, Broken):
                    assert name != stays, f"a stream of the other replica broke: {result!r}"
                    assert last_event in str(result), result
                else:
                    assert isinstance(result, Answer) and result.usage["completion_tokens"] == LONG, repr(result)
            assert any(isinstance(result, Broken) for result in results), "no stream of the ended replica broke"
            for i in range(8):
                answer = await ask(client, url, [{"role": "user", "content": f"After that, {TOPICS[i]}?"}])
                assert answer.is_whole
    asyncio.run(run())


def check_restart(url, restart, at_once=4):
    """Clients send requests continuously while `restart()` restarts one replica after another; no request may fail."""
    async def run():
        failures, done, stop = [], 0, asyncio.Event()

        async def client_loop(number):
            nonlocal done
            async with session() as client:
                turn = 0
                while not stop.is_set():
                    turn += 1
                    try:
                        await ask(client, url, [{"role": "user", "content": f"{TOPICS[number]} {turn}?"}], max_tokens=24,
                                  ignore_eos=True)
                        done += 1
                    except Broken as error:
                        failures.append(str(error))
        clients = [asyncio.create_task(client_loop(n)) for n in range(at_once)]
        await asyncio.get_running_loop().run_in_executor(None, restart)
        stop.set()
        await asyncio.gather(*clients)
        assert not failures, f"{len(failures)} of {done + len(failures)} failed: {failures[:3]}"
        assert done >= 2 * at_once
    asyncio.run(run())


def check_client_address(url, log):
    """A request from another address of this machine: the replica's access log has it, and the router's beside it."""
    host, port = url.removeprefix("http://").split(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=300, source_address=("127.0.0.2", 0))
    connection.request("GET", "/v1/models", headers={"X-Forwarded-For": "192.0.2.1"})
    assert connection.getresponse().status == 200
    connection.close()

    def found():
        lines = map(json.loads, log.read_text().splitlines())
        return [line for line in lines if (line["address"], line.get("proxy")) == ("127.0.0.2", "127.0.0.1")]
    wait_until(found, "the line of the client")
