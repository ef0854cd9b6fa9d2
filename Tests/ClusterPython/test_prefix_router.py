"""PrefixRouter without a Ray cluster: its decisions with the answers of real replicas, and without any."""
import asyncio
from types import SimpleNamespace

import behaviour
from replicas import free_port
from pagoda_ray import scaling
from pagoda_ray.prompt import prefix_body
from pagoda_ray.router import PrefixRouter


def router(**options):
    made = object.__new__(PrefixRouter)  # Ray's own state is not needed for a decision
    made.initialize_state(**options)
    return made


def candidate(name, url):
    return SimpleNamespace(replica_id=SimpleNamespace(unique_id=name), replica_metadata={"url": url})


def choose(made, candidates, messages, **more):
    request = None
    if messages is not None:
        body = prefix_body("/v1/chat/completions", b'{"messages": []}')
        request = SimpleNamespace(kwargs={"prefix": {**body, "messages": messages}, "headers": {}, **more},
                                  metadata=SimpleNamespace(internal_request_id="1"))

    async def run():
        try:
            return await made.choose_replicas(candidates, request)
        finally:
            if made.client is not None:
                await made.client.close()
                made.client = None
    return [[replica.replica_id.unique_id for replica in rank] for rank in asyncio.run(run())]


class TestPrefixRouter:
    messages = [{"role": "user", "content": behaviour.first_question("rivers")}]

    def candidates(self, replicas):
        return [candidate(replica.name, replica.url) for replica in replicas]

    def test_the_replica_that_has_the_prefix_is_first(self, replicas):
        async def ask():
            async with behaviour.session() as client:
                return await behaviour.ask(client, replicas[1].url, self.messages)
        answer = asyncio.run(ask())
        later = [*self.messages, {"role": "assistant", "content": answer.text}, {"role": "user", "content": "And?"}]
        for _ in range(5):
            assert choose(router(timeout_s=60), self.candidates(replicas), later) == [["replica-2"], ["replica-1"]]
        assert choose(router(timeout_s=60), self.candidates(replicas), later, exclude=["replica-2"]) == [["replica-1"]]

    def test_a_replica_that_is_gone_is_not_chosen(self, replicas):
        gone = candidate("gone", f"http://127.0.0.1:{free_port()}")
        for _ in range(5):
            order = choose(router(timeout_s=60), [gone, *self.candidates(replicas)], self.messages)
            assert len(order) == 2 and ["gone"] not in order

    def test_when_none_answers_two_are_compared_by_their_queues(self):
        dead = [candidate(f"r{n}", f"http://127.0.0.1:{free_port()}") for n in range(4)]
        for messages in (self.messages, None):
            order = choose(router(), dead, messages)
            assert len(order) == 1 and len(set(order[0])) == 2

    def test_replicas_of_another_version_make_no_offer(self, replicas):
        order = choose(router(timeout_s=60, expect_version="9.9.9"), self.candidates(replicas), self.messages)
        assert len(order) == 1, "an offer was taken from another version"


def test_the_number_of_replicas_follows_what_the_engines_report():
    def context(metrics):
        return SimpleNamespace(aggregated_metrics=metrics, target_num_replicas=3,
                               config=SimpleNamespace(target_ongoing_requests=8))
    busy = {"running": {"a": 16, "b": 16}, "queue_length": {"a": 10, "b": 0}}
    assert scaling.by_queue_length(context(busy)) == (6, {})
    assert scaling.by_queue_length(context({"running": {"a": 0}, "queue_length": {"a": 0}})) == (1, {})
    assert scaling.by_queue_length(context({})) == (3, {}), "without reports nothing changes"
