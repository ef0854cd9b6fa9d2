"""Two replicas behind sglang-router, and behind HAProxy, as Deploy starts them."""
import asyncio
import csv
import json
import socket
import subprocess
import uuid

import behaviour
import pytest
from conftest import ACCESS_LOG
from replicas import PROGRAM, read_json, wait_until


class Routed:
    """The tests of one router; `router` is its fixture's value."""

    def running(self, replicas):
        return sum(replica.running() for replica in replicas)

    def test_streams_are_whole(self, router, replicas):
        behaviour.check_streams(router.url, replicas[0].url)

    def test_a_client_that_leaves_ends_its_answer(self, router, replicas):
        behaviour.check_cancel(router.url, lambda: self.running(replicas))

    def test_a_rolling_restart_loses_nothing(self, router, replicas):
        def restart():
            for replica in replicas:
                assert replica.drain() == 0
                replica.start()
                self.wait_until_used(router, replica)
        behaviour.check_restart(router.url, restart)

    def wait_until_used(self, router, replica):
        """The router has found that the replica is back: it sends requests there again."""
        async def is_used():
            async with behaviour.session() as client:
                answers = await asyncio.gather(*(
                    behaviour.ask(client, router.url, [{"role": "user", "content": f"{uuid.uuid4()} {uuid.uuid4()}"}],
                                  max_tokens=2) for _ in range(4)))
            return any(answer.replica == replica.name for answer in answers)
        wait_until(lambda: asyncio.run(is_used()), f"the return of {replica.name}")

    def test_a_killed_replica_takes_only_its_own_streams(self, router, replicas):
        behaviour.check_kill(router.url, replicas[0].kill, lambda: replicas[1].name)
        replicas[0].start()
        self.wait_until_used(router, replicas[0])


class TestConversationsBehindSglangRouter:
    def test_they_stay_where_their_prefix_is(self, sglang_router, replicas):
        families = asyncio.run(behaviour.all_families(sglang_router.url))
        assert behaviour.second_turn_hits(families) >= 0.9 * behaviour.FAMILIES, families
        assert {rows[-1][2] for rows in families} == {r.name for r in replicas}, "all families on one replica"

    def test_a_load_shows_what_each_replica_found_in_its_cache(self, sglang_router, replicas):
        result = subprocess.run(
            [str(PROGRAM), "bench", "serve", "--base-url", sglang_router.url, "--endpoint", "/v1/chat/completions",
             "--dataset-name", "prefix_repetition", "--prefix-repetition-num-prefixes", "4",
             "--prefix-repetition-prefix-len", "100", "--random-input-len", "10", "--random-output-len", "4",
             "--num-prompts", "32", "--max-concurrency", "4", "--json"], capture_output=True, text=True, check=True)
        rows = {row["name"]: row for row in json.loads(result.stdout)["replicas"]}
        assert set(rows) == {r.name for r in replicas}
        assert sum(row["completed"] for row in rows.values()) == 32
        assert all(row["hit_rate"] > 0.3 for row in rows.values()), rows

    def test_the_router_knows_the_model(self, sglang_router):
        status, models = read_json(sglang_router.url + "/v1/models")
        assert status == 200 and "pagoda-mini" in str(models)

    def test_bad_requests_take_no_replica_out(self, sglang_router):
        async def run():
            async with behaviour.session() as client:
                for _ in range(30):
                    async with client.post(sglang_router.url + "/v1/chat/completions", json={
                            "model": "nonesuch", "messages": [{"role": "user", "content": "Hello!"}]}) as response:
                        assert response.status == 404
                assert (await behaviour.ask(client, sglang_router.url, [{"role": "user", "content": "Hello!"}])).is_whole
        asyncio.run(run())


def server_rows(path):
    """HAProxy's table of servers, one dictionary per row."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        connection.sendall(b"show stat\n")
        text = "".join(iter(lambda: connection.recv(1 << 16).decode(), ""))
    return list(csv.DictReader(text.removeprefix("# ").splitlines()))


class TestConversationsBehindHAProxy:
    """Each request is sent once HAProxy counts none as running: it may count one slightly longer than the client, and the
    bound on load would send the next one elsewhere."""

    def wait_until_idle(self, haproxy):
        def is_idle():
            rows = [row for row in server_rows(haproxy.statistics) if row["svname"].startswith("replica")]
            return len(rows) == 2 and all(row["status"] == "UP" and row["scur"] == "0" for row in rows)
        wait_until(is_idle, "an idle HAProxy")

    def test_they_keep_their_replica_when_load_is_even(self, haproxy, replicas):
        """With bounded load some turns go to the other replica; one conversation at a time never does."""
        families = asyncio.run(behaviour.all_families(haproxy.url, at_once=1,
                                                      wait_for_router=lambda: self.wait_until_idle(haproxy)))
        assert behaviour.second_turn_hits(families) >= 0.9 * behaviour.FAMILIES, families
        assert {rows[-1][2] for rows in families} == {r.name for r in replicas}, "all families on one replica"

    def test_a_session_goes_by_its_name(self, haproxy):
        async def run():
            async with behaviour.session() as client:
                for name in ("a", "b", "c", "d"):
                    answers = []
                    for n in range(4):
                        self.wait_until_idle(haproxy)
                        answers.append(await behaviour.ask(client, haproxy.url, [{"role": "user", "content": f"question {n}"}],
                                                           headers={"x-session-id": name}))
                    assert len({answer.replica for answer in answers}) == 1, "".join(haproxy.lines[-20:])
        asyncio.run(run())


class TestAddressesBehindHAProxy:
    replica_options = ("--access-log", ACCESS_LOG, "--trusted-proxies", "127.0.0.1")

    def test_the_replicas_log_the_clients(self, haproxy, access_log):
        behaviour.check_client_address(haproxy.url, access_log)


class TestSglangRouter(Routed):
    @pytest.fixture()
    def router(self, sglang_router):
        return sglang_router


class TestHAProxy(Routed):
    @pytest.fixture()
    def router(self, haproxy):
        return haproxy
