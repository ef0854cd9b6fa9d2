"""What routers do when replicas refuse: full ones, none at all, and replicas with keys."""
import asyncio
import json
import urllib.error
import urllib.request

import behaviour
import pytest
from conftest import KEY
from replicas import MODEL, read_json, wait_until


def statuses(url, count, key=None):
    """The statuses of that many requests at once."""
    async def one(client, number):
        body = {"model": MODEL, "messages": [{"role": "user", "content": f"{number}: tell me more."}], "max_tokens": 24,
                "ignore_eos": True}
        async with client.post(url + "/v1/chat/completions", json=body) as response:
            await response.read()
            return response.status

    async def run():
        async with behaviour.session(key) as client:
            return await asyncio.gather(*(one(client, number) for number in range(count)))
    return asyncio.run(run())


class TestFullReplicas:
    """Each replica takes three requests, of which it runs two."""
    replica_options = ("--max-num-seqs", "2", "--max-queue", "1")
    router_options = ("MAXCONN=3",)

    def test_requests_wait_in_haproxy_for_a_replica_with_room(self, haproxy, replicas):
        assert 429 in statuses(replicas[0].url, 24), "a replica alone refuses what it has no room for"
        assert statuses(haproxy.url, 24) == [200] * 24


class TestNoReplica:
    def test_haproxy_answers_in_json_and_says_when_to_try_again(self, haproxy, replicas):
        for replica in replicas:
            replica.kill()
        request = urllib.request.Request(haproxy.url + "/v1/chat/completions", b"{}", {"Content-Type": "application/json"})
        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(request, timeout=300)
        error = caught.value
        assert error.code == 503 and error.headers["Content-Type"] == "application/json"
        assert int(error.headers["Retry-After"]) > 0 and json.loads(error.read())["error"]["code"] == "no_replica"
        replicas[0].start()
        wait_until(lambda: read_json(haproxy.url + "/health")[0] == 200, "the service")


class KeyedReplicas:
    replica_options = ("--api-key", KEY)

    def test_the_model_has_its_name_and_chats_need_the_key(self, sglang_router):
        # Two replicas are found before both have been asked for their names.
        wait_until(lambda: {worker["model_id"] for worker in self.workers(sglang_router)} == {MODEL}, "the model's name")
        assert MODEL in str(read_json(sglang_router.url + "/v1/models")[1])
        assert statuses(sglang_router.url, 4, KEY) == [200] * 4
        assert statuses(sglang_router.url, 2) == [401] * 2 and statuses(sglang_router.url, 2, "wrong") == [401] * 2

    def workers(self, router):
        request = urllib.request.Request(router.url + "/workers", headers={"Authorization": f"Bearer {KEY}"})
        return json.loads(urllib.request.urlopen(request, timeout=300).read())["workers"]


class TestKeysOfClients(KeyedReplicas):
    """The router has no key: it forwards the clients'."""


class TestKeyOfTheRouter(KeyedReplicas):
    """The router demands the key itself, and adds it to every request."""
    router_options = ("--api-key", KEY)
