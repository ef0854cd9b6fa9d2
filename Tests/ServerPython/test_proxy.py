"""The server behind nginx and Caddy with the configurations of docs/operations.md: TLS in front, a socket in the file system behind."""
import json
import os
import re
import shutil
import subprocess
import sys

import pytest
import requests
from conftest import LONG, MODEL, PROGRAM, ROOT, free_port, wait_for

PLACES = "/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin:/opt/homebrew/bin:" + os.environ.get("PATH", "")
PROXIES = {name: shutil.which(name, path=PLACES) for name in ("nginx", "caddy")}


def documented(language, changes):
    """The configuration from the page, with the paths and the port of this test."""
    block = re.search(rf"```{language}\n(.*?)```", (ROOT / "docs/operations.md").read_text(), re.DOTALL).group(1)
    for old, new in changes.items():
        assert old in block
        block = block.replace(old, new)
    return block


def nginx(folder, port):
    block = documented("nginx", {
        "/run/pagoda/pagoda.sock": f"{folder}/pagoda.sock", "443 ssl": f"127.0.0.1:{port} ssl",
        "/etc/ssl/llm.pem": f"{folder}/llm.pem", "/etc/ssl/llm.key": f"{folder}/llm.key", "llm.example.org": "localhost"})
    temporary = "".join(f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    user = "user root;" if os.geteuid() == 0 else ""  # otherwise its workers would run as another user
    (folder / "nginx.conf").write_text(
        f"{user} daemon off; pid {folder}/pid; error_log stderr; events {{}} http {{ access_log off; {temporary} {block} }}")
    return [PROXIES["nginx"], "-e", "stderr", "-p", folder, "-c", folder / "nginx.conf"]


def caddy(folder, port):
    block = documented("caddyfile", {
        "/run/pagoda/pagoda.sock": f"{folder}/pagoda.sock",
        "llm.example.org {": f"https://localhost:{port} {{\n  tls {folder}/llm.pem {folder}/llm.key"})
    (folder / "Caddyfile").write_text(f"{{\n  admin off\n  auto_https disable_redirects\n}}\n{block}")
    return [PROXIES["caddy"], "run", "--config", folder / "Caddyfile", "--adapter", "caddyfile"]


@pytest.fixture(scope="module", params=[nginx, caddy], ids=lambda kind: kind.__name__)
def proxy(request, tmp_path_factory):
    if not PROXIES[request.param.__name__] or not shutil.which("openssl"):
        pytest.skip(f"{request.param.__name__} and openssl are not installed")
    folder = tmp_path_factory.mktemp("p")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
                    "subjectAltName=DNS:localhost", "-keyout", folder / "llm.key", "-out", folder / "llm.pem"],
                   check=True, capture_output=True)
    port = free_port()
    command = request.param(folder, port)
    server = subprocess.Popen([PROGRAM, "serve", "--unix", folder / "pagoda.sock", "--trusted-proxies", "unix", "--access-log",
                               folder / "access.log"], stdout=subprocess.PIPE, text=True)
    assert "unix:" in server.stdout.readline()
    front = subprocess.Popen(command, env={**os.environ, "HOME": str(folder), "XDG_DATA_HOME": str(folder)})
    session = requests.Session()
    session.trust_env = False  # no other certificates than this one
    session.verify = str(folder / "llm.pem")
    session.url = f"https://localhost:{port}"
    session.log = folder / "access.log"

    def answers():
        assert front.poll() is None, "the proxy did not start"
        try:
            return session.get(session.url + "/health").ok
        except requests.ConnectionError:
            return False

    wait_for(answers, "proxy")
    yield session
    front.terminate()
    front.wait(timeout=120)
    server.terminate()
    assert server.wait(timeout=120) == 0


def test_answers_and_the_page_come_through(proxy):
    body = {"messages": [{"role": "user", "content": "What is the capital of France?"}]}
    for _ in range(20):  # also on connections that the proxy keeps open
        answer = proxy.post(proxy.url + "/v1/chat/completions", json=body)
        assert answer.status_code == 200 and "Paris" in answer.json()["choices"][0]["message"]["content"]
    assert proxy.get(proxy.url + "/v1/models").json()["data"][0]["id"] == MODEL
    page = proxy.get(proxy.url + "/", headers={"Origin": proxy.url})
    assert page.status_code == 200 and "<html" in page.text


def test_streams_are_not_collected_by_the_proxy(proxy):
    body = {**LONG, "messages": [{"role": "user", "content": "Hello!"}], "stream": True}
    with proxy.post(proxy.url + "/v1/chat/completions", json=body, stream=True) as answer:
        lines = (line for line in answer.iter_lines() if line.startswith(b"data: {"))
        first = json.loads(next(lines)[6:])
        assert first["choices"][0]["delta"] is not None
        assert json.loads(next(lines)[6:])["choices"][0]["delta"]["content"]  # so the engine has started
        running = proxy.get(proxy.url + "/health").json()["running"]
        assert running == 1, "the stream's first events are here while the answer is being made"


def test_a_client_that_leaves_the_proxy_ends_its_answer(proxy):
    wait_for(lambda: proxy.get(proxy.url + "/health").json()["running"] == 0, "end of the answer of a client that left")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have one loopback address")
def test_the_log_has_the_clients_address(proxy):
    class Elsewhere(requests.adapters.HTTPAdapter):
        def init_poolmanager(self, *arguments, **options):
            super().init_poolmanager(*arguments, **options, source_address=("127.0.0.2", 0))

    with requests.Session() as client:
        client.trust_env, client.verify = False, proxy.verify
        client.mount("https://", Elsewhere())
        assert client.get(proxy.url + "/v1/models?from=elsewhere", headers={"X-Forwarded-For": "192.0.2.1"}).ok

    def line():
        found = [json.loads(text) for text in proxy.log.read_text().splitlines()]
        return [entry for entry in found if entry["address"] == "127.0.0.2"]
    wait_for(line, "line of the client")
    assert line()[0]["proxy"] == "unix" and line()[0]["path"] == "/v1/models"


def test_bodies_above_the_limit_are_refused_by_the_proxy(proxy):
    assert proxy.post(proxy.url + "/tokenize", data=b" " * (17 << 20), headers={"Content-Type": "application/json"}).status_code == 413
