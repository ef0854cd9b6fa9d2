"""Which replica gets a request: only the decision, without Ray and without a network."""
import random
import time
from collections import Counter
from dataclasses import dataclass, replace

# The cost of one running or waiting request for the next one, in tokens of prefill, but never more than a quarter of the
# prompt. Chosen with Tools/bench/cluster_bench: with much less, all conversations with one system prompt go where that
# is cached; with much more, conversations leave their prefixes.
LOAD_TOKENS = 512


@dataclass(frozen=True)
class Offer:
    """A replica's answer to `POST /v1/prefix`."""

    replica: str
    prompt_tokens: int
    cached_tokens: int
    running: int
    queue_length: int

    def cost(self, load_tokens=LOAD_TOKENS):
        """Tokens to compute before the answer starts, including those of other requests on the replica."""
        weight = min(load_tokens, self.prompt_tokens // 4)
        return self.prompt_tokens - self.cached_tokens + weight * (self.running + self.queue_length)


def ranked(offers, load_tokens=LOAD_TOKENS, rng=random):
    """The offers, the cheapest first; equals in random order, so that routers without common state spread."""
    shuffled = list(offers)
    rng.shuffle(shuffled)
    return sorted(shuffled, key=lambda offer: offer.cost(load_tokens))


class Recent:
    """The replicas that recently got prompts with the same start, so that not all of many need to be asked."""

    def __init__(self, capacity=65536, per_key=2):
        self.capacity = capacity
        self.per_key = per_key
        self.replicas = {}  # key -> replicas, the newest first; the dictionary's order is by last use

    def add(self, key, replica):
        others = [r for r in self.replicas.pop(key, []) if r != replica]
        self.replicas[key] = ([replica] + others)[: self.per_key]
        if len(self.replicas) > self.capacity:
            del self.replicas[next(iter(self.replicas))]

    def get(self, key):
        return self.replicas.get(key, [])


class InFlight:
    """Requests that this router has sent and that have not ended. A replica counts a request only once it has arrived, so
    without these counts a burst of requests would go to one replica. They are not added to the replica's own count, which
    would count requests twice."""

    def __init__(self, seconds=5, clock=time.monotonic):
        self.seconds = seconds  # after which a chosen request that was never sent no longer counts
        self.clock = clock
        self.requests = {}  # id -> (replica, when it was chosen, or None once it is sent)

    def choose(self, request, replica):
        self.requests[request] = (replica, self.clock())

    def send(self, request, replica):
        self.requests[request] = (replica, None)

    def end(self, request):
        self.requests.pop(request, None)

    def counted_in(self, offers):
        """The offers with at least the load that this router has put on each replica."""
        since = self.clock() - self.seconds
        self.requests = {r: entry for r, entry in self.requests.items() if entry[1] is None or entry[1] > since}
        own = Counter(replica for replica, _ in self.requests.values())
        return [replace(o, queue_length=max(o.queue_length, own[o.replica] - o.running)) for o in offers]


def candidates_to_ask(all_replicas, recent, max_asked, rng=random):
    """All replicas if they are few; otherwise those where the prompt may be cached, and random ones."""
    if len(all_replicas) <= max_asked:
        return list(all_replicas)
    recent_here = [replica for replica in recent if replica in all_replicas][:max_asked]
    others = [replica for replica in all_replicas if replica not in recent_here]
    return recent_here + rng.sample(others, max_asked - len(recent_here))
