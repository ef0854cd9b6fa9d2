"""The routing decision alone: where a prompt costs least, how many replicas to query, how many there should be."""
import random

from pagoda_ray import policy, prompt, scaling


def offer(replica, cached=0, running=0, queue=0, tokens=1000):
    return policy.Offer(replica, tokens, cached, running, queue)


def test_the_cached_prefix_wins_until_the_load_outweighs_it():
    names = [o.replica for o in policy.ranked([offer("a"), offer("b", cached=900), offer("c", cached=500)])]
    assert names == ["b", "c", "a"]
    assert policy.ranked([offer("a"), offer("b", cached=900, running=4)])[0].replica == "a"  # 250 tokens for each
    assert policy.ranked([offer("a"), offer("b", cached=900, queue=3)])[0].replica == "b"
    long = 100_000
    assert policy.ranked([offer("a", tokens=long), offer("b", 900, 2, tokens=long)])[0].replica == "a"  # at most 512
    assert policy.ranked([offer("a", tokens=long), offer("b", 900, 1, tokens=long)])[0].replica == "b"


def test_equal_offers_are_spread():
    rng = random.Random(1)
    firsts = {policy.ranked([offer("a"), offer("b"), offer("c")], rng=rng)[0].replica for _ in range(50)}
    assert firsts == {"a", "b", "c"}


def test_requests_on_their_way_count():
    in_flight = policy.InFlight()
    counts = {"a": 0, "b": 0}
    for request in range(8):
        first = policy.ranked(in_flight.counted_in([offer("a"), offer("b")]))[0].replica
        in_flight.choose(request, first)
        counts[first] += 1
    assert counts == {"a": 4, "b": 4}


def test_a_request_counts_once_and_until_it_ends():
    now = [0.0]
    in_flight = policy.InFlight(seconds=5, clock=lambda: now[0])
    in_flight.choose(1, "b")
    in_flight.send(1, "a")  # the first choice refused it
    in_flight.choose(2, "a")  # and this one's client disconnected before it was sent
    assert in_flight.counted_in([offer("a")]) == [offer("a", queue=2)]
    assert in_flight.counted_in([offer("b")]) == [offer("b")]
    reported = offer("a", running=2, queue=1)
    assert in_flight.counted_in([reported]) == [reported]
    now[0] = 6.0
    assert in_flight.counted_in([offer("a")]) == [offer("a", queue=1)]
    in_flight.end(1)
    in_flight.end(1)
    assert in_flight.counted_in([offer("a")]) == [offer("a")]


def test_of_many_replicas_those_that_may_know_the_prompt_are_asked():
    replicas = [f"r{n}" for n in range(64)]
    asked = policy.candidates_to_ask(replicas, ["r7", "gone", "r9"], 8, random.Random(3))
    assert len(set(asked)) == 8 and asked[:2] == ["r7", "r9"]
    assert policy.candidates_to_ask(replicas[:5], [], 8) == replicas[:5]


def test_the_memory_of_conversations_is_bounded():
    recent = policy.Recent(capacity=3, per_key=2)
    for key in "abcd":
        recent.add(key, "r1")
    recent.add("b", "r2")
    recent.add("b", "r3")
    assert recent.get("a") == [] and recent.get("b") == ["r3", "r2"] and len(recent.replicas) == 3


def test_turns_of_one_conversation_have_one_key():
    first = {"messages": [{"role": "system", "content": "S"}, {"role": "user", "content": "A"}]}
    later = {"messages": first["messages"] + [{"role": "assistant", "content": "x"}, {"role": "user", "content": "B"}]}
    other = {"messages": [{"role": "system", "content": "S"}, {"role": "user", "content": "C"}]}
    assert prompt.conversation_key(first) == prompt.conversation_key(later) != prompt.conversation_key(other)
    assert prompt.conversation_key(first, "x") == prompt.conversation_key(other, "x")
    assert prompt.conversation_key({**first, "prompt_cache_key": "k"}) == prompt.conversation_key({"prompt_cache_key": "k"})


def test_only_bodies_with_a_prompt_are_asked_about():
    assert prompt.prefix_body("/v1/chat/completions", b'{"messages": []}') == {"messages": [], "api": "chat"}
    assert prompt.prefix_body("/v1/models", b"{}") is None
    for body in (b"", b"{", b"[1]", b'"x"', b"\xff"):
        assert prompt.prefix_body("/v1/completions", body) is None


def test_replicas_are_added_while_answers_wait():
    assert scaling.desired_replicas(running=0, queue_length=0, target=8) == 1
    assert scaling.desired_replicas(running=16, queue_length=0, target=8) == 2
    assert scaling.desired_replicas(running=16, queue_length=9, target=8) == 4
