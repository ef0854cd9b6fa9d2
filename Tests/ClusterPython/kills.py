"""Requests through a router while replicas are killed at random: every answer is right, or there is an honest error."""
import asyncio
import os
import random
import time
import uuid

import behaviour
from replicas import wait_until

# Tools/test.sh sends fewer; PAGODA_KILL_REQUESTS=1000 is the full run.
REQUESTS = int(os.environ.get("PAGODA_KILL_REQUESTS", "120"))
CLIENTS = 6
PROMPTS = 40


def body(number):
    """Request `number` of a few dozen: streamed, with a seed, so that its answer is always the same."""
    return {"messages": [{"role": "user", "content": f"{behaviour.TOPICS[number % 8]} {number}: what is it?"}],
            "seed": number, "temperature": 0.7, "max_tokens": 12, "ignore_eos": True}


async def expected_answers(url, key):
    async with behaviour.session(key) as client:
        return [(await behaviour.ask(client, url, **body(number))).text for number in range(PROMPTS)]


class Outcome:
    def __init__(self):
        self.right, self.broken, self.retries, self.kills = 0, 0, 0, 0

    def __str__(self):
        return f"{self.right} right, {self.broken} streams cut and asked again, {self.retries} refused and asked again, {self.kills} kills"


async def ask_until_answered(client, url, number, expected, outcome):
    """As a client does: a stream that breaks, or an error, is asked again. An answer that ends whole must be right, and one
    that breaks must be the beginning of the right one."""
    for _ in range(200):
        seen = []
        try:
            answer = await behaviour.ask(client, url, on_chunk=seen.append, **body(number))
        except behaviour.Broken:
            text = seen[-1].text if seen else ""
            assert expected.startswith(text), f"request {number}: {text!r} is no beginning of {expected!r}"
            if seen:
                outcome.broken += 1
            else:
                outcome.retries += 1
            await asyncio.sleep(0.2)
            continue
        assert answer.text == expected, f"request {number}: {answer.text!r} instead of {expected!r}"
        outcome.right += 1
        return
    raise AssertionError(f"request {number} was never answered")


def run(url, key, expected, kill, seed=None):
    """Sends REQUESTS requests; `kill(random)` ends one replica without warning and brings it back, in another thread,
    again and again until all are answered."""
    seed = seed if seed is not None else uuid.uuid4().int >> 96
    print(f"seed {seed}")
    rng, outcome, numbers, done = random.Random(seed), Outcome(), iter(range(REQUESTS)), asyncio.Event()

    async def client():
        async with behaviour.session(key) as session:
            for number in numbers:
                await ask_until_answered(session, url, number % PROMPTS, expected[number % PROMPTS], outcome)

    async def killer():
        while not done.is_set():
            await asyncio.sleep(rng.uniform(0, 1.5))
            await asyncio.get_running_loop().run_in_executor(None, kill, rng)
            outcome.kills += 1

    async def all_of_it():
        killing = asyncio.create_task(killer())
        try:
            await asyncio.gather(*(client() for _ in range(CLIENTS)))
        finally:
            done.set()
            await killing
    begin = time.monotonic()
    asyncio.run(all_of_it())
    print(f"{outcome} in {time.monotonic() - begin:.0f} s")
    assert outcome.right == REQUESTS and outcome.kills > 0
    return outcome


def kill_one(replicas):
    """Kills a random replica and restarts it; the next kill waits until it serves."""
    def kill(rng):
        replica = rng.choice(replicas)
        replica.kill()
        replica.start()
    return kill


def kill_process(processes):
    """Kills one of the processes that `processes()` finds by name, and waits until another one is in its place."""
    def kill(rng):
        before = processes()
        name = rng.choice(sorted(before))
        os.kill(before[name], 9)
        wait_until(lambda: len(set(processes()) - {name}) >= 2, f"another replica in the place of {name}")
    return kill
