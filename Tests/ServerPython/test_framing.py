"""Requests that break HTTP itself, sent as bytes: the right status in OpenAI's shape, and the next request works."""
import json
import os
import socket
import time
from urllib.parse import urlsplit

import pytest
import requests
from conftest import Server

HEAD = b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
GET = b"GET /health HTTP/1.1\r\nHost: localhost\r\n"

# name: (bytes, status, code)
CASES = {
    "no length": (HEAD + b"\r\n", 411, "length_required"),
    "a length in letters": (HEAD + b"Content-Length: abc\r\n\r\n{}", 400, "bad_framing"),
    "an empty length": (HEAD + b"Content-Length:\r\n\r\n{}", 400, "bad_framing"),
    "a negative length": (HEAD + b"Content-Length: -1\r\n\r\n{}", 400, "bad_framing"),
    "a length with a sign": (HEAD + b"Content-Length: +2\r\n\r\n{}", 400, "bad_framing"),
    "a length with letters": (HEAD + b"Content-Length: 2x\r\n\r\n{}", 400, "bad_framing"),
    "a hexadecimal length": (HEAD + b"Content-Length: 0x2\r\n\r\n{}", 400, "bad_framing"),
    "a list of lengths": (HEAD + b"Content-Length: 2, 2\r\n\r\n{}", 400, "bad_framing"),
    "two lengths": (HEAD + b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", 400, "bad_framing"),
    "a huge length": (HEAD + b"Content-Length: 999999999999\r\n\r\n{}", 413, "request_too_large"),
    "a length beyond 64 bits": (HEAD + b"Content-Length: " + b"9" * 30 + b"\r\n\r\n{}", 413, "request_too_large"),
    "a length and chunks": (HEAD + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", 400, "bad_framing"),
    "chunks and a length": (HEAD + b"Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n2\r\n{}\r\n0\r\n\r\n", 400, "bad_framing"),
    "chunked twice": (HEAD + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400, "bad_framing"),
    "chunked, then another coding": (HEAD + b"Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n", 400, "bad_framing"),
    "an unknown coding": (HEAD + b"Transfer-Encoding: gzip\r\n\r\n{}", 501, "unsupported_transfer_coding"),
    "an unknown coding in chunks": (HEAD + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501, "unsupported_transfer_coding"),
    "a chunk size of -2": (CHUNKED + b"-2\r\n{}\r\n0\r\n\r\n", 400, "bad_framing"),
    "a second chunk size of -2": (CHUNKED + b"2\r\n{}\r\n-2\r\n{}\r\n0\r\n\r\n", 400, "bad_framing"),
    "a chunk size in letters": (CHUNKED + b"zz\r\n{}\r\n0\r\n\r\n", 400, "bad_framing"),
    "an empty chunk size": (CHUNKED + b"\r\n{}\r\n0\r\n\r\n", 400, "bad_framing"),
    "a chunk size of 0x2": (CHUNKED + b"0x2\r\n{}\r\n0\r\n\r\n", 400, "bad_framing"),
    "a huge chunk size": (CHUNKED + b"7fffffffffffffff\r\n{}\r\n0\r\n\r\n", 413, "request_too_large"),
    "a chunk size beyond 64 bits": (CHUNKED + b"f" * 30 + b"\r\n{}\r\n0\r\n\r\n", 413, "request_too_large"),
    "an endless chunk extension": (CHUNKED + b"2;" + b"a" * 9000 + b"\r\n{}\r\n0\r\n\r\n", 400, "bad_framing"),
    "a chunk longer than its size": (CHUNKED + b"2\r\n{}{}\r\n0\r\n\r\n", 400, "bad_framing"),
    "a chunk line ended by LF": (CHUNKED + b"2\n{}\n0\n\n", 400, "bad_framing"),
    "a trailer without a colon": (CHUNKED + b"2\r\n{}\r\n0\r\nnonsense\r\n\r\n", 400, "bad_framing"),
    "a huge trailer": (CHUNKED + b"2\r\n{}\r\n0\r\nx: " + b"a" * 100_000 + b"\r\n\r\n", 431, "headers_too_large"),
    "101 headers": (GET + b"".join(b"x-%d: 1\r\n" % i for i in range(100)) + b"\r\n", 431, "headers_too_large"),
    "10000 headers": (GET + b"x: 1\r\n" * 10_000 + b"\r\n", 431, "headers_too_large"),
    "a header of 9 KB": (GET + b"x: " + b"a" * 9000 + b"\r\n\r\n", 431, "headers_too_large"),
    "a header of 1 MB": (GET + b"x: " + b"a" * 1_000_000 + b"\r\n\r\n", 431, "headers_too_large"),
    "a header name of 1 MB": (GET + b"a" * 1_000_000 + b": 1\r\n\r\n", 431, "headers_too_large"),
    "a path of 9 KB": (b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", 414, "uri_too_long"),
    "a path of 1 MB": (b"GET /" + b"a" * 1_000_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", 414, "uri_too_long"),
    "a query of 9 KB": (b"GET /?" + b"a" * 9000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", 414, "uri_too_long"),
    "a method of 1 MB": (b"A" * 1_000_000 + b" / HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, "bad_framing"),
    "no version": (b"GET /health\r\nHost: localhost\r\n\r\n", 400, "bad_framing"),
    "nonsense": (b"nonsense\r\n\r\n", 400, "bad_framing"),
    "a space in the path": (b"GET /hea lth HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, "bad_framing"),
    "a bad method": (b"G(T /health HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, "bad_framing"),
    "a space before the method": (b" GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, "bad_framing"),
    "a bad version": (b"GET /health HTTQ/1.1\r\nHost: localhost\r\n\r\n", 400, "bad_framing"),
    "version 0.9": (b"GET /health HTTP/0.9\r\nHost: localhost\r\n\r\n", 505, "http_version_not_supported"),
    "version 3.0": (b"GET /health HTTP/3.0\r\nHost: localhost\r\n\r\n", 505, "http_version_not_supported"),
    "HTTP/2 with prior knowledge": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505, "http_version_not_supported"),
    "the hello of TLS": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(range(200)), 400, "bad_framing"),
    "no host": (b"GET /health HTTP/1.1\r\n\r\n", 400, "bad_host"),
    "two hosts": (GET + b"Host: localhost\r\n\r\n", 400, "bad_host"),
    "an empty host": (b"GET /health HTTP/1.1\r\nHost:\r\n\r\n", 400, "bad_host"),
    "a header without a colon": (GET + b"nonsense\r\n\r\n", 400, "bad_framing"),
    "a header without a name": (GET + b": 1\r\n\r\n", 400, "bad_framing"),
    "a space before the colon": (GET + b"x : 1\r\n\r\n", 400, "bad_framing"),
    "a folded header": (GET + b"x: 1\r\n 2\r\n\r\n", 400, "bad_framing"),
    "a NUL in a header": (GET + b"x: a\0b\r\n\r\n", 400, "bad_framing"),
    "a NUL in the path": (b"GET /he\0alth HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, "bad_framing"),
    "a CR in a header": (GET + b"x: a\rb\r\n\r\n", 400, "bad_framing"),
    "lines ended by LF": (b"GET /health HTTP/1.1\nHost: localhost\n\n", 400, "bad_framing"),
}


class Raw:
    """A connection that sends raw bytes and reads answers."""

    def __init__(self, server, timeout=120):
        parts = urlsplit(server.url)
        self.socket = socket.create_connection((parts.hostname, parts.port), timeout=timeout)
        self.file = self.socket.makefile("rb")

    def send(self, data):
        self.socket.sendall(data)

    def answer(self):
        """Status, headers with names in lower case, and body."""
        line = self.file.readline()
        assert line, "the server hung up without an answer"
        status = int(line.split()[1])
        headers = {}
        while (line := self.file.readline().strip()):
            name, value = line.decode().split(":", 1)
            headers[name.lower()] = value.strip()
        return status, headers, self.file.read(int(headers.get("content-length", 0)))

    def has_ended(self):
        return self.file.read() == b""

    def close(self):
        self.file.close()
        self.socket.close()


def check_refusal(raw, status, code):
    got, headers, body = raw.answer()
    assert (got, headers["content-type"]) == (status, "application/json"), body
    error = json.loads(body)["error"]
    assert error["code"] == code and error["message"] and error["type"] == "invalid_request_error" and "param" in error
    return headers


@pytest.mark.parametrize("name", CASES)
def test_broken_requests_are_refused(server, name):
    data, status, code = CASES[name]
    raw = Raw(server)
    raw.send(data)
    headers = check_refusal(raw, status, code)
    if code not in ("length_required", "bad_host"):  # errors other than framing leave the connection usable
        assert headers["connection"].lower() == "close" and raw.has_ended()
    raw.close()
    assert requests.get(server.url + "/health").status_code == 200


def test_a_broken_request_after_good_ones_is_answered_after_them(server):
    raw = Raw(server)
    body = b'{"prompt":"Hello","max_tokens":3,"ignore_eos":true}'
    good = b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
    raw.send(good + body + GET + b"\r\n" + CHUNKED + b"-2\r\n{}\r\n" + GET + b"\r\n")
    assert [raw.answer()[0] for _ in range(2)] == [200, 200]
    check_refusal(raw, 400, "bad_framing")
    assert raw.has_ended()
    raw.close()


@pytest.mark.parametrize("part", [b"GET /hea", GET, HEAD + b"Content-Length: 1000\r\n\r\n{", CHUNKED, CHUNKED + b"2\r\n{", CHUNKED + b"2\r\n{}\r\n"])
def test_a_request_that_ends_too_early_is_refused(server, part):
    raw = Raw(server)
    raw.send(part)
    raw.socket.shutdown(socket.SHUT_WR)
    check_refusal(raw, 400, "incomplete_request")
    assert raw.has_ended()
    raw.close()


def test_chunks_without_an_end_time_out(server):
    raw = Raw(server)
    raw.send(CHUNKED + b"2\r\n{}\r\n")
    check_refusal(raw, 408, "request_timeout")
    assert raw.has_ended()
    raw.close()


def test_a_body_without_an_end_is_cut(server):
    """Endless chunks of 64 KiB: refused at four times the limit of 16 MiB, without reading further."""
    raw = Raw(server)
    raw.send(CHUNKED)
    chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    sent = 0
    try:
        while sent < 200 << 20:
            raw.send(chunk)
            sent += 0x10000
    except (BrokenPipeError, ConnectionResetError, TimeoutError):
        pass
    assert sent < 200 << 20
    raw.close()
    assert requests.get(server.url + "/health").status_code == 200


def test_a_client_that_keeps_sending_can_still_read_the_answer(server):
    raw = Raw(server)
    raw.send(CASES["a huge length"][0])
    raw.socket.recv(1, socket.MSG_PEEK)  # the response has arrived
    for _ in range(64):
        raw.send(b"x" * 0x10000)
    check_refusal(raw, 413, "request_too_large")
    raw.close()


def test_bodies_may_come_a_byte_at_a_time(server):
    raw = Raw(server)
    body = b'{"prompt":"Hello","max_tokens":3,"ignore_eos":true}'
    data = b"\r\n" + HEAD.replace(b"chat/", b"") + b"tRaNsFer-Encoding:\tChunked \r\nCookie: a=b\r\n\r\n"
    data += b"".join(b"%03X;name=\"value\"\r\n%c\r\n" % (1, byte) for byte in body) + b"0\r\nx: y\r\n\r\n"
    raw.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for byte in data:
        raw.send(bytes([byte]))
    status, _, answer = raw.answer()
    assert status == 200 and json.loads(answer)["usage"]["completion_tokens"] == 3
    raw.send(GET + b"\r\n")  # the connection stays open
    assert raw.answer()[0] == 200
    raw.close()


def test_many_arguments_and_cookies_are_no_error(server):
    raw = Raw(server)
    cookies = b"Cookie: " + b"; ".join(b"c%d=%d" % (i, i) for i in range(700)) + b"\r\n"
    raw.send(b"GET /health?" + b"&" * 7000 + b" HTTP/1.1\r\nHost: localhost\r\n" + cookies + b"\r\n")
    assert raw.answer()[0] == 200
    raw.close()


def test_the_largest_head_that_is_allowed_is_no_error(server):
    raw = Raw(server)
    raw.send(GET + b"".join(b"x-%02d: %s\r\n" % (i, b"a" * 154) for i in range(99)) + b"\r\n")
    assert raw.answer()[0] == 200
    raw.close()


def test_expect_is_answered_before_the_body(server):
    raw = Raw(server)
    body = b'{"prompt":"Hello","max_tokens":3,"ignore_eos":true}'
    raw.send(HEAD.replace(b"chat/", b"") + b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(body))
    assert raw.answer()[0] == 100
    raw.send(body)
    assert raw.answer()[0] == 200
    raw.close()


def test_no_descriptor_is_left_behind():
    server = Server()

    def descriptors():
        return len(os.listdir(f"/proc/{server.process.pid}/fd"))

    def break_off(count):
        for index in range(count):
            raw = Raw(server)
            raw.send(list(CASES.values())[index % len(CASES)][0])
            if index % 3:
                raw.answer()
            raw.close()

    break_off(20)  # triggers one-time allocations
    for _ in range(600):
        if requests.get(server.url + "/metrics").status_code == 200 and descriptors() < 40:
            break
        time.sleep(0.1)
    before = descriptors()
    break_off(200)
    for _ in range(600):
        if (after := descriptors()) <= before:
            break
        time.sleep(0.1)
    assert server.stop() == 0
    assert after <= before, f"{before} before, {after} after"
