"""HTTPS by certificate files, with the official client, curl and openssl: answers, streams, large bodies, renewal, and what is refused."""
import contextlib
import json
import re
import signal
import socket
import ssl
import subprocess
import threading

import httpx
import openai
import pytest
import requests
from conftest import MODEL, PROGRAM, user, wait_for


def certificate(folder, name):
    cert, key = folder / f"{name}.pem", folder / f"{name}.key"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                    "-subj", f"/CN={name}", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key, "-out", cert],
                   check=True, capture_output=True)
    return cert, key


class Secure:
    def __init__(self, folder):
        self.cert, self.key = certificate(folder, "first")
        self.process = subprocess.Popen(
            [PROGRAM, "serve", "--port", "0", "--tls-cert", self.cert, "--tls-key", self.key], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        self.url = re.search(r"https://[^ ]+/", line).group().rstrip("/")
        self.port = int(self.url.rsplit(":", 1)[1])

    def client(self):
        return openai.OpenAI(base_url=self.url + "/v1", api_key="none", max_retries=0,
                             http_client=httpx.Client(verify=ssl.create_default_context(cafile=self.cert), timeout=300))


@pytest.fixture(scope="module")
def secure(tmp_path_factory):
    running = Secure(tmp_path_factory.mktemp("tls"))
    yield running
    running.process.terminate()
    assert running.process.wait(timeout=120) == 0


def test_answers_and_streams(secure):
    client = secure.client()
    question = {"model": MODEL, "messages": user("What is the capital of France?")}
    whole = client.chat.completions.create(**question).choices[0].message.content
    assert "Paris" in whole
    chunks = client.chat.completions.create(**question, stream=True)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices) == whole
    page = subprocess.run(["curl", "-s", "--cacert", secure.cert, secure.url + "/"], capture_output=True, text=True, check=True)
    assert "<title>Pagoda</title>" in page.stdout


def test_large_bodies_both_ways_on_one_connection(secure):
    """Records are larger than the reads of the event loop, which must not wait for a socket that has nothing more to report."""
    text = "hello " * 100_000
    with requests.Session() as session:
        for _ in range(3):
            answer = session.post(secure.url + "/tokenize", json={"prompt": text}, verify=secure.cert)
            assert answer.json()["count"] > 50_000 and len(answer.content) > 300_000
        assert session.get(secure.url + "/health", verify=secure.cert).status_code == 200


def test_pipelined_requests_in_one_record(secure):
    context = ssl.create_default_context(cafile=secure.cert)
    with context.wrap_socket(socket.create_connection(("127.0.0.1", secure.port)), server_hostname="localhost") as plain:
        plain.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n" * 200)
        received = b""
        while received.count(b"HTTP/1.1 200") < 200:
            part = plain.recv(65536)
            assert part, received[-200:]
            received += part


def test_old_protocols_and_plain_http_are_refused(secure):
    with pytest.raises(requests.ConnectionError):
        requests.get(f"http://127.0.0.1:{secure.port}/health", timeout=60)
    old = subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{secure.port}", "-tls1_1"], input="", capture_output=True, text=True)
    assert old.returncode != 0
    new = subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{secure.port}", "-tls1_3"], input="", capture_output=True, text=True)
    assert "TLSv1.3" in new.stdout
    for garbage in (b"\x16\x03\x01\xff\xff" + b"a" * 70_000, b"\x00" * 10, b"\x16\x03\x01\x00\x05hello"):
        with socket.create_connection(("127.0.0.1", secure.port)) as client, contextlib.suppress(OSError):
            client.sendall(garbage)  # the server may close before it has read all of it
            client.shutdown(socket.SHUT_WR)
            client.settimeout(60)
            while client.recv(4096):
                pass
    assert requests.get(secure.url + "/health", verify=secure.cert).json()["status"] == "ok"


def test_clients_that_leave_during_handshake_or_answer(secure):
    def leave(after):
        context = ssl.create_default_context(cafile=secure.cert)
        with context.wrap_socket(socket.create_connection(("127.0.0.1", secure.port)), server_hostname="localhost") as client:
            body = json.dumps({"messages": user("Hello!"), "stream": True, "ignore_eos": True, "max_tokens": 8000}).encode()
            client.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                           b"Content-Length: %d\r\n\r\n" % len(body) + body)
            client.recv(after)

    threads = [threading.Thread(target=leave, args=(1 + 300 * number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for _ in range(8):
        socket.create_connection(("127.0.0.1", secure.port)).close()
    for thread in threads:
        thread.join()
    idle = {"status": "ok", "running": 0, "waiting": 0}
    wait_for(lambda: requests.get(secure.url + "/health", verify=secure.cert).json() == idle, "idle server")


def test_a_renewed_certificate_is_read_again(secure, tmp_path):
    def subject():
        return ssl.get_server_certificate(("127.0.0.1", secure.port))

    before, (cert, key) = subject(), certificate(tmp_path, "second")
    with requests.Session() as session:
        session.get(secure.url + "/health", verify=secure.cert)
        old_cert, old_key = secure.cert.read_bytes(), secure.key.read_bytes()
        secure.cert.write_bytes(cert.read_bytes())
        secure.process.send_signal(signal.SIGHUP)  # the key does not belong to it
        for line in secure.process.stderr:
            if "old certificate stays in use" in line:
                break
        assert subject() == before
        secure.key.write_bytes(key.read_bytes())
        secure.process.send_signal(signal.SIGHUP)
        for line in secure.process.stderr:
            if "read again" in line:
                break
        assert subject() != before
        assert session.get(secure.url + "/health", verify=secure.cert).status_code == 200
    secure.cert.write_bytes(old_cert)
    secure.key.write_bytes(old_key)


def test_bad_files_are_named(tmp_path):
    cert, key = certificate(tmp_path, "one")
    other = certificate(tmp_path, "two")[1]

    def refused(*options):
        run = subprocess.run([PROGRAM, "serve", "--port", "0", *map(str, options)], capture_output=True, text=True, timeout=120)
        assert run.returncode != 0
        return run.stderr

    assert "need each other" in refused("--tls-cert", cert)
    assert str(tmp_path / "none.pem") in refused("--tls-cert", tmp_path / "none.pem", "--tls-key", key)
    assert "key" in refused("--tls-cert", cert, "--tls-key", other)
    assert str(cert) in refused("--tls-cert", cert, "--tls-key", cert)
