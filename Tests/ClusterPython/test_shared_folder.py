"""Two replicas with one prefix folder: a chat that started on one continues on the other without being recomputed."""
import asyncio
import re
import urllib.request

import behaviour
from replicas import Replica, prefix_files, wait_until


def metric(replica, name):
    text = urllib.request.urlopen(replica.url + "/metrics").read().decode()
    return float(re.search(rf"^{re.escape(name)}(?:\{{[^}}]*\}})? (\S+)$", text, re.MULTILINE).group(1))


def turn(replica, messages, question):
    async def run():
        async with behaviour.session() as client:
            return await behaviour.ask(client, replica.url, [*messages, {"role": "user", "content": question}])
    answer = asyncio.run(run())
    messages += [{"role": "user", "content": question}, {"role": "assistant", "content": answer.text}]
    return answer


def cached(answer):
    return answer.usage["prompt_tokens_details"]["cached_tokens"]


def test_a_chat_moves_between_processes(tmp_path):
    folder = tmp_path / "prefixes"
    replicas = [Replica(name, "--prefix-cache-dir", str(folder)) for name in ("replica-1", "replica-2")]
    alone = Replica("alone")
    try:
        moving, staying = [], []
        for number, topic in enumerate(behaviour.TOPICS[:6]):
            question = behaviour.first_question(topic) if number == 0 else f"And now something about {topic}."
            answer = turn(replicas[number % 2], moving, question)
            expected = turn(alone, staying, question)
            assert answer.text == expected.text, "an answer depends on where its prefix came from"
            if number > 0:
                assert cached(answer) >= 0.7 * prompt_tokens, f"turn {number} found {cached(answer)} of {prompt_tokens} tokens"
            prompt_tokens = answer.usage["prompt_tokens"]
            wait_until(lambda: max(prefix_files(folder).values(), default=0) >= prompt_tokens, "the file of the answer's end")
        assert all(metric(replica, "pagoda:prefix_disk_reads_total") > 0 for replica in replicas)
        assert all(metric(replica, "pagoda:prefix_disk_bad_files_total") == 0 for replica in replicas)
    finally:
        for replica in [*replicas, alone]:
            replica.stop()
