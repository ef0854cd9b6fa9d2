"""Prefixes from another server over HTTP: found there, separated by key, and never a wrong token on failure."""
import asyncio
import os
import random
import re
import socket
import threading
import time
import urllib.error
import urllib.request

import behaviour
import pytest
from replicas import Replica, prefix_files, wait_until

# A transfer is used however slow the machine is.
PATIENT = ("--prefix-peer-share", "1000")
ROUNDS = int(os.environ.get("PAGODA_PEER_ROUNDS", "8"))


def metric(replica, name):
    text = urllib.request.urlopen(replica.url + "/metrics").read().decode()
    return float(re.search(rf"^pagoda:prefix_peer_{name}\{{[^}}]*\}} (\S+)$", text, re.MULTILINE).group(1))


def long_question(seed):
    words = "river stone amber quiet lantern orchard violet harbour copper meadow winter thread".split()
    draw = random.Random(seed)
    return "Here is a list: " + " ".join(draw.choice(words) for _ in range(450)) + ". What colour is the sky?"


def ask(replica, question, key=None):
    async def run():
        async with behaviour.session() as client:
            headers = {"Authorization": f"Bearer {key}"} if key else {}
            return await behaviour.ask(client, replica.url, [{"role": "user", "content": question}], headers=headers)
    return asyncio.run(run())


def text_and_cached(answer):
    return answer.text, answer.usage["prompt_tokens_details"]["cached_tokens"]


class Giver:
    """A server that others fetch from, and its folder."""

    def __init__(self, tmp_path, *options, secret=b"s" * 32):
        self.secret = tmp_path / "secret"
        self.secret.write_bytes(secret)
        self.folder = tmp_path / "giver"
        self.replica = Replica("giver", "--prefix-cache-dir", str(self.folder), "--prefix-secret", str(self.secret), *options)

    def ask(self, question, key=None):
        """Returns when the files of the answer have been written; the last one leads to the answer's end."""
        before = prefix_files(self.folder)
        answer = ask(self.replica, question, key)

        def is_written():
            return any(tokens >= answer.usage["prompt_tokens"] and name not in before
                       for name, tokens in prefix_files(self.folder).items())
        wait_until(is_written, "the files of the answer")
        return answer.text


class Proxy:
    """Forwards connections to a port, and corrupts the answers of the next one on request."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.target = 0
        self.spoil = None  # (kind of fault, after how many bytes), for the next connection that requests a file
        self.on_bytes = lambda: None
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        try:
            server = socket.create_connection(("127.0.0.1", self.target))
        except OSError:
            client.close()
            return
        is_file = threading.Event()

        def upstream():
            try:
                while data := client.recv(65536):
                    if data.startswith(b"GET"):
                        is_file.set()
                    server.sendall(data)
                server.shutdown(socket.SHUT_WR)
            except OSError:
                pass
        threading.Thread(target=upstream, daemon=True).start()
        passed, spoil = 0, None
        try:
            while data := server.recv(65536):
                if is_file.is_set() and spoil is None and self.spoil:
                    spoil, self.spoil = self.spoil, None
                if spoil and passed + len(data) > spoil[1]:
                    at = max(0, spoil[1] - passed)
                    if spoil[0] == "cut":
                        client.sendall(data[:at])
                        break
                    if spoil[0] == "kill":
                        self.on_bytes()
                    if spoil[0] == "flip":
                        data = data[:at] + bytes([data[at] ^ 0x20]) + data[at + 1:]
                    spoil = ("none", 1 << 60)
                passed += len(data)
                client.sendall(data)
        except OSError:
            pass
        for end in (client, server):  # close() alone would not end the connections while upstream() waits in recv()
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            end.close()


def test_a_prompt_read_on_one_server_is_found_by_another(tmp_path):
    giver = Giver(tmp_path)
    taker = Replica("taker", "--prefix-cache-dir", str(tmp_path / "taker"), "--prefix-secret", str(giver.secret),
                    "--prefix-peers", giver.replica.url, *PATIENT)
    stranger_secret = tmp_path / "other"
    stranger_secret.write_bytes(b"t" * 32)
    stranger = Replica("stranger", "--prefix-cache-dir", str(tmp_path / "stranger"), "--prefix-secret", str(stranger_secret),
                       "--prefix-peers", giver.replica.url)
    try:
        question = long_question(1)
        expected = giver.ask(question)
        text, cached = text_and_cached(ask(taker, question))
        assert text == expected
        assert cached >= 256 and metric(taker, "files_total") > 0 and metric(taker, "failures_total") == 0
        text, cached = text_and_cached(ask(stranger, question))
        assert (text, cached) == (expected, 0), "a server with another secret was given a prefix"
        assert metric(stranger, "failures_total") == 1
        for path, token in (("/v1/prefix/files/" + "0" * 32 + ".pagoda-prefix", None), ("/v1/prefix/files/../secret", "x")):
            request = urllib.request.Request(giver.replica.url + path, headers={"x-pagoda-peer": token} if token else {})
            with pytest.raises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(request)
            assert refused.value.code == 401
    finally:
        for replica in (giver.replica, taker, stranger):
            replica.stop()


def test_a_key_finds_only_its_own_prefixes_elsewhere(tmp_path):
    keys = ("--api-key", "first-key", "--api-key", "second-key")
    giver = Giver(tmp_path, *keys)
    taker = Replica("taker", "--prefix-cache-dir", str(tmp_path / "taker"), "--prefix-secret", str(giver.secret),
                    "--prefix-peers", giver.replica.url, *PATIENT, *keys)
    try:
        question = long_question(2)
        expected = giver.ask(question, "first-key")
        assert text_and_cached(ask(taker, question, "second-key")) == (expected, 0)
        text, cached = text_and_cached(ask(taker, question, "first-key"))
        assert text == expected and cached >= 256
    finally:
        giver.replica.stop()
        taker.stop()


def test_cut_changed_and_killed_transfers_never_change_an_answer(tmp_path):
    seed = int(os.environ.get("PAGODA_TEST_SEED", random.SystemRandom().randrange(1 << 30)))
    print(f"seed {seed}")
    draw = random.Random(seed)
    giver, proxy = Giver(tmp_path), Proxy()
    proxy.target = giver.replica.port
    proxy.on_bytes = giver.replica.kill
    taker = Replica("taker", "--prefix-cache-dir", str(tmp_path / "taker"), "--prefix-secret", str(giver.secret),
                    "--prefix-peers", f"http://127.0.0.1:{proxy.port}", *PATIENT)
    num_spoilt = num_brought = 0
    try:
        for number in range(ROUNDS):
            question = long_question(1000 * seed + number)
            expected = giver.ask(question)
            size = sum(f.stat().st_size for f in giver.folder.glob("*.pagoda-prefix")) // len(prefix_files(giver.folder))
            # The first is truncated, the second complete: so both occur in any number of rounds.
            fault = ["cut", None][number] if number < 2 else draw.choice(["cut", "cut", "flip", "flip", None, "kill"])
            proxy.spoil = fault and (fault, draw.randrange(size))
            text, cached = text_and_cached(ask(taker, question))
            assert text == expected, f"round {number}: another answer after {fault}"
            num_spoilt += fault is not None and proxy.spoil is None
            num_brought += cached >= 256
            proxy.spoil = None
            if giver.replica.process.poll() is not None:
                giver.replica.start()
            time.sleep(0.6)  # until the peer is queried again
        assert num_spoilt > 0 and num_brought > 0, f"{num_spoilt} transfers spoilt, {num_brought} whole"
        print(f"{num_spoilt} of {ROUNDS} transfers met a fault, {num_brought} prefixes were found")
    finally:
        giver.replica.stop()
        taker.stop()
