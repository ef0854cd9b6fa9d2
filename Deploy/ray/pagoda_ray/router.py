"""PrefixRouter: asks the replicas how much of a prompt they have cached, and sends it where it costs least."""
import asyncio
import logging
import random

import aiohttp
from ray.serve.request_router import PendingRequest, RequestRouter, RunningReplica

from pagoda_ray import VERSION, policy
from pagoda_ray.prompt import conversation_key

logger = logging.getLogger("ray.serve")


class PrefixRouter(RequestRouter):
    """Runs in the process of each handle (the front). Requests carry `prefix` (the body for /v1/prefix) and `headers`
    as keyword arguments; without them, and when no replica answers in time, two random replicas are compared by their
    queues, as Ray does by default."""

    def initialize_state(self, load_tokens=policy.LOAD_TOKENS, timeout_s=0.25, max_asked=8, expect_version=VERSION):
        self.load_tokens = load_tokens
        self.timeout = aiohttp.ClientTimeout(total=timeout_s)
        self.max_asked = max_asked
        self.expect_version = expect_version
        self.recent = policy.Recent()
        self.in_flight = policy.InFlight()
        self.client = None  # belongs to the event loop of the router

    async def choose_replicas(self, candidate_replicas: list[RunningReplica],
                              pending_request: PendingRequest | None = None) -> list[list[RunningReplica]]:
        fields = pending_request.kwargs.get("prefix") if pending_request else None
        excluded = pending_request.kwargs.get("exclude", ()) if pending_request else ()
        by_name = {r.replica_id.unique_id: r for r in candidate_replicas}
        left = {name: r for name, r in by_name.items() if name not in excluded} or by_name
        if fields is None or len(left) == 1:
            return self.power_of_two(left)
        headers = pending_request.kwargs.get("headers", {})
        key = conversation_key(fields, headers.get("x-session-id"))
        asked = policy.candidates_to_ask(list(left), self.recent.get(key), self.max_asked)
        offers = [o for o in await asyncio.gather(*(self.ask(left[name], name, fields, headers) for name in asked)) if o]
        if not offers:
            return self.power_of_two(left)
        order = policy.ranked(self.in_flight.counted_in(offers), self.load_tokens)
        self.recent.add(key, order[0].replica)
        self.in_flight.choose(pending_request.metadata.internal_request_id, order[0].replica)
        return [[left[offer.replica]] for offer in order]

    def on_request_routed(self, pending_request, replica_id, result):
        self.in_flight.send(pending_request.metadata.internal_request_id, replica_id.unique_id)

    def on_request_completed(self, replica_id, internal_request_id):
        self.in_flight.end(internal_request_id)

    @staticmethod
    def power_of_two(replicas):
        """Two at random; the base class chooses the one with the shorter queue."""
        return [random.sample(list(replicas.values()), min(2, len(replicas)))]

    async def ask(self, replica, name, fields, headers):
        url = replica.replica_metadata.get("url")
        if not url:
            return None
        if self.client is None:
            self.client = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), timeout=self.timeout)
        keys = {k: v for k, v in headers.items() if k in ("authorization", "x-api-key")}
        try:
            expect = {"x-pagoda-expect-version": self.expect_version} if self.expect_version else {}
            async with self.client.post(url + "/v1/prefix", json=fields, headers={**keys, **expect}) as response:
                answer = await response.json()
                if response.status == 412:
                    logger.warning("replica %s is refused: %s", name, answer["error"]["message"])
                if response.status != 200:
                    return None
        except (aiohttp.ClientError, asyncio.TimeoutError, ValueError):
            return None
        return policy.Offer(name, answer["prompt_tokens"], answer["cached_tokens"], answer["running"],
                            answer["queue_length"])
