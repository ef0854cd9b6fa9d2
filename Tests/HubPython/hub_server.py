"""A hub for tests: the API, listing and files of one model as huggingface.co serves them, with faults on request."""
import functools
import hashlib
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

COMMIT = "0123456789abcdef0123456789abcdef01234567"
LARGE_BYTES = 100_000  # files of this size and above are in large file storage, on another server


class HubFile:
    def __init__(self, data):
        self.data = data
        self.is_large = len(data) >= LARGE_BYTES
        self.git_hash = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
        self.sha256 = hashlib.sha256(data).hexdigest()

    @property
    def etag(self):
        return self.sha256 if self.is_large else self.git_hash


@functools.cache
def files_of(folder):
    return {path.name: HubFile(path.read_bytes()) for path in sorted(Path(folder).iterdir())}


class Hub:
    """Serves `files` as ORG/NAME on one port, and the content of large files on another, like the real hub.

    `faults` maps a path (or "api") to a list of callables, consumed one per request: fault(handler, file, begin) writes the
    response itself. `log` contains (server, method, path, headers) of every request.
    """

    def __init__(self, folder, name="pagoda/mini", token=None):
        self.files = dict(files_of(folder))
        self.name, self.token = name, token
        self.faults, self.log, self.lock = {}, [], threading.Lock()
        self.page_size = 1000
        self.tree_override = None
        self.storage = self._start("storage")
        self.front = self._start("hub")
        # Two names for one machine, so that the storage has a different host name from the hub.
        self.url = f"http://127.0.0.1:{self.front.server_port}"
        self.storage_url = f"http://localhost:{self.storage.server_port}"

    def _start(self, kind):
        handler = type("Handler", (Handler,), {"hub": self, "kind": kind})
        server = QuietServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        return server

    def stop(self):
        for server in (self.front, self.storage):
            server.shutdown()
            server.server_close()

    def next_fault(self, key):
        with self.lock:
            waiting = self.faults.get(key)
            return waiting.pop(0) if waiting else None

    def requests(self, part, server=None):
        with self.lock:
            return [entry for entry in self.log if part in entry[2] and server in (None, entry[0])]


class QuietServer(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False  # a stalled handler would delay the end of the test

    def handle_error(self, request, client_address):
        """Silent: clients that hang up or are killed are expected here."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.answer()

    def do_GET(self):
        self.answer()

    def answer(self):
        with self.hub.lock:
            self.hub.log.append((self.kind, self.command, self.path, {k.lower(): v for k, v in self.headers.items()}))
        try:
            self.storage() if self.kind == "storage" else self.front()
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def front(self):
        hub, path = self.hub, unquote(urlsplit(self.path).path)
        if hub.token and self.headers.get("Authorization") != f"Bearer {hub.token}":
            return self.error(401, "RepoNotFound" if not self.headers.get("Authorization") else "")
        fault = hub.next_fault("api") if path.startswith("/api/") else None
        if fault:
            return fault(self, None, 0)
        if match := re.fullmatch(r"/api/models/([^/]+/[^/]+)(?:/revision/(.+))?", path):
            return self.revision(match[1], match[2] or "main")
        if match := re.fullmatch(r"/api/models/([^/]+/[^/]+)/tree/(.+?)/?", path):
            return self.tree(match[1], match[2])
        if match := re.fullmatch(r"/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path):
            return self.resolve(match[1], match[2], match[3])
        self.error(404)

    def known(self, name, revision):
        if name != self.hub.name:
            self.error(404, "RepoNotFound")
        elif revision not in ("main", COMMIT):
            self.error(404, "RevisionNotFound")
        else:
            return True

    def revision(self, name, revision):
        if self.known(name, revision):
            siblings = [{"rfilename": path} for path in self.hub.files]
            self.json({"id": name, "modelId": name, "sha": COMMIT, "private": False, "siblings": siblings, "tags": []})

    def tree(self, name, revision):
        if not self.known(name, revision):
            return
        if self.hub.tree_override is not None:
            return self.json(self.hub.tree_override)
        rows = []
        for path, file in self.hub.files.items():
            row = {"type": "file", "path": path, "size": len(file.data), "oid": file.git_hash}
            if file.is_large:
                row["lfs"] = {"oid": file.sha256, "size": len(file.data), "pointerSize": 134}
            rows.append(row)
        match = re.search(r"cursor=(\d+)", self.path)
        begin = int(match[1]) if match else 0
        end = begin + self.hub.page_size
        link = {}
        if end < len(rows):
            base = re.sub(r"&cursor=\d+", "", self.path)
            link = {"Link": f'<{self.hub.url}{base}&cursor={end}>; rel="next"'}
        self.json(rows[begin:end], link)

    def resolve(self, name, revision, path):
        if not self.known(name, revision):
            return
        file = self.hub.files.get(path)
        if file is None:
            return self.error(404, "EntryNotFound")
        headers = {"X-Repo-Commit": COMMIT, "ETag": f'"{file.etag}"', "Accept-Ranges": "bytes"}
        if file.is_large:
            location = f"{self.hub.storage_url}/content/{path}"
            headers |= {"X-Linked-Etag": f'"{file.sha256}"', "X-Linked-Size": str(len(file.data)), "Location": location}
            return self.reply(302, b"", headers)
        self.content(path, file, headers)

    def storage(self):
        path = unquote(self.path).removeprefix("/content/")
        self.content(path, self.hub.files[path], {"ETag": f'"{self.hub.files[path].sha256}"', "Accept-Ranges": "bytes"})

    def content(self, path, file, headers):
        match = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        begin = int(match[1]) if match else 0
        fault = self.hub.next_fault(path) if self.command == "GET" else None
        if fault:
            return fault(self, file, begin)
        if begin >= len(file.data) > 0:
            return self.reply(416, b"", {"Content-Range": f"bytes */{len(file.data)}"})
        if match:
            headers["Content-Range"] = f"bytes {begin}-{len(file.data) - 1}/{len(file.data)}"
        self.reply(206 if match else 200, file.data[begin:], headers)

    def json(self, value, headers=None):
        self.reply(200, json.dumps(value).encode(), {"Content-Type": "application/json", **(headers or {})})

    def error(self, status, code=""):
        self.reply(status, b'{"error": "no"}', {"X-Error-Code": code} if code else {})

    def reply(self, status, body, headers):
        self.head(status, {"Content-Length": str(len(body)), **headers})
        if self.command != "HEAD":
            self.wfile.write(body)

    def head(self, status, headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()


# Faults: errors of a server, a proxy or a network in one request.

def status(code, **headers):
    def fault(handler, file, begin):
        handler.reply(code, b"trouble", {name.replace("_", "-"): value for name, value in headers.items()})
    return fault


def whole_file_to_a_range(handler, file, begin):
    handler.reply(200, file.data, {})


def wrong_range(handler, file, begin):
    handler.reply(206, file.data[1:], {"Content-Range": f"bytes 1-{len(file.data) - 1}/{len(file.data)}"})


def short_body(share=0.5):
    """Announces the full length, sends a part, closes the connection."""
    def fault(handler, file, begin):
        rest = file.data[begin:]
        ranged = {"Content-Range": f"bytes {begin}-{len(file.data) - 1}/{len(file.data)}"} if begin else {}
        handler.head(206 if begin else 200, {"Content-Length": str(len(rest)), **ranged})
        handler.wfile.write(rest[:int(len(rest) * share)])
        handler.close_connection = True
    return fault


def wrong_bytes(handler, file, begin):
    """The right length, with one bit flipped."""
    data = bytearray(file.data)
    data[len(data) // 2] ^= 1
    handler.reply(200, bytes(data), {})


def portal_page(handler, file, begin):
    """A log-in page with status 200, as captive portals send it."""
    handler.reply(200, b"<html>Please log in</html>", {"Content-Type": "text/html"})


def stall(share=0.3):
    """Sends a part, then nothing until the client leaves."""
    def fault(handler, file, begin):
        rest = file.data[begin:]
        ranged = {"Content-Range": f"bytes {begin}-{len(file.data) - 1}/{len(file.data)}"} if begin else {}
        handler.head(206 if begin else 200, {"Content-Length": str(len(rest)), **ranged})
        handler.wfile.write(rest[:int(len(rest) * share)])
        handler.wfile.flush()
        handler.connection.recv(1)
        handler.close_connection = True
    return fault


def held(released, share=0.2):
    """Sends a part, then a byte now and then until `released` is set, then the rest."""
    def fault(handler, file, begin):
        rest = file.data[begin:]
        ranged = {"Content-Range": f"bytes {begin}-{len(file.data) - 1}/{len(file.data)}"} if begin else {}
        handler.head(206 if begin else 200, {"Content-Length": str(len(rest)), **ranged})
        sent = int(len(rest) * share)
        handler.wfile.write(rest[:sent])
        while not released.wait(0.1):
            handler.wfile.write(rest[sent:sent + 1])
            sent += 1
        handler.wfile.write(rest[sent:])
    return fault


def redirect(location):
    def fault(handler, file, begin):
        handler.reply(302, b"", {"Location": location})
    return fault
