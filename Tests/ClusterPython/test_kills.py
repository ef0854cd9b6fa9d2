"""Random kills behind sglang-router and HAProxy, with keys: no request is lost and no answer is wrong."""
import asyncio

import kills
import pytest
from conftest import KEY


class Killed:
    replica_options = ("--api-key", KEY)

    def test_every_request_is_answered_right(self, router, replicas):
        expected = asyncio.run(kills.expected_answers(replicas[0].url, KEY))
        kills.run(router.url, KEY, expected, kills.kill_one(replicas))


class TestSglangRouter(Killed):
    router_options = ("--api-key", KEY)

    @pytest.fixture()
    def router(self, sglang_router):
        return sglang_router


class TestHAProxy(Killed):
    @pytest.fixture()
    def router(self, haproxy):
        return haproxy
