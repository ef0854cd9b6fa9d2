"""The commands of the server's pages in docs as typed, `pagoda bench serve`, and the program's exit paths."""
import json
import os
import re
import subprocess

import pytest
import requests
from conftest import PROGRAM, ROOT, Server, free_port


def documented_commands():
    """The shell blocks of the pages about the server."""
    text = "".join((ROOT / "docs" / page).read_text() for page in ["server.md", "api.md", "operations.md"])
    return [block for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL) if "curl" in block]


def test_curl_loops_work_as_typed(server, tmp_path):
    blocks = documented_commands()
    assert len(blocks) >= 2
    for block in blocks:
        command = block.replace("localhost:8080", server.url.removeprefix("http://"))
        run = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=300, cwd=tmp_path)
        assert run.returncode == 0, run.stderr
        kinds = {"/v1/embeddings": ['"embedding"'], "/v1/batches": ['"batch"']}
        wanted = next((words for route, words in kinds.items() if route in block), ["Paris", "choices"])
        assert any(word in run.stdout for word in wanted), run.stdout[:1000]


def test_the_embedded_model_answers_to_both_of_its_names(server):
    for name in ["mini", "pagoda-mini"]:
        body = {"model": name, "messages": [{"role": "user", "content": "hi"}], "max_tokens": 2}
        assert requests.post(server.url + "/v1/chat/completions", json=body).status_code == 200
    body["model"] = "maxi"
    assert requests.post(server.url + "/v1/chat/completions", json=body).status_code == 404


def test_sigterm_while_the_model_loads_ends_well():
    port = free_port()
    process = subprocess.Popen([PROGRAM, "serve", "--port", str(port), "--shape", "qwen3.5-2b"], stdout=subprocess.PIPE)
    while True:  # until it listens
        assert process.poll() is None
        try:
            assert requests.get(f"http://127.0.0.1:{port}/health").status_code == 503, "the model was loaded too soon"
            break
        except requests.ConnectionError:
            continue
    process.terminate()
    assert process.wait(timeout=300) == 0


def test_bench_serve_measures(server):
    command = [PROGRAM, "bench", "serve", "--base-url", server.url, "--num-prompts", "8", "--max-concurrency", "4",
               "--random-input-len", "16", "--random-output-len", "8", "--seed", "3"]
    table = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert table.returncode == 0, table.stderr
    for row in ["Successful requests:  ", "Output token throughput (tok/s):", "P99 TTFT (ms):", "Mean TPOT (ms):", "Median ITL (ms):"]:
        assert row in table.stdout, row
    result = json.loads(subprocess.run([*command, "--json"], capture_output=True, text=True, timeout=300).stdout)
    assert result["completed"] == 8 and result["failed"] == 0
    assert result["total_input_tokens"] == 8 * 16 and result["total_output_tokens"] == 8 * 8
    assert 0 < result["mean_ttft_ms"] <= result["p99_ttft_ms"]
    builtin = [PROGRAM, "bench", "serve", "--base-url", server.url, "--dataset-name", "builtin", "--num-prompts", "4",
               "--endpoint", "/v1/chat/completions", "--request-rate", "50", "--json"]
    assert json.loads(subprocess.run(builtin, capture_output=True, text=True, timeout=300).stdout)["completed"] == 4


def test_bench_serve_reads_sharegpt(server, tmp_path):
    file = tmp_path / "share.json"
    turns = [{"from": "human", "value": "What is the capital of France?"}, {"from": "gpt", "value": "Paris, of course."}]
    file.write_text(json.dumps([{"id": "1", "conversations": turns}, {"id": "2", "conversations": []}]))
    command = [PROGRAM, "bench", "serve", "--base-url", server.url, "--dataset-name", "sharegpt", "--dataset-path", file,
               "--num-prompts", "3", "--json"]
    assert json.loads(subprocess.run(command, capture_output=True, text=True, timeout=300).stdout)["completed"] == 3


@pytest.mark.parametrize("options", [
    ["--host", "0.0.0.0", "--port", "0"], ["--port", "70000"], ["--api-key="], ["extra"], ["--max-queue", "-1"],
])
def test_options_that_cannot_work_are_refused(options):
    run = subprocess.run([PROGRAM, "serve", *options], capture_output=True, text=True, timeout=300)
    assert run.returncode in (1, 64) and run.stderr.startswith("pagoda: error:")


def test_the_key_is_asked_for_and_not_shown():
    server = Server("--api-key", "s3cret", "--access-log", "-")
    assert requests.get(server.url + "/v1/models").status_code == 401
    assert requests.get(server.url + "/v1/models", headers={"Authorization": "Bearer s3cret"}).status_code == 200
    assert server.stop() == 0
    log = server.process.stderr.read()
    assert [json.loads(line)["status"] for line in log.splitlines() if line.startswith("{")] == [401, 200] and "s3cret" not in log


def test_a_log_that_is_not_read_does_not_stop_the_server():
    server = Server("--access-log", "-")  # its standard error is a pipe that is not read
    with requests.Session() as session:
        for _ in range(1500):  # 400 KB of log: six times what a pipe holds
            assert session.get(server.url + "/v1/models", timeout=120).status_code == 200
    assert server.stop() == 0


def test_keys_come_from_a_file(tmp_path):
    file = tmp_path / "keys"
    file.write_text("# who may ask\nanna k1 1\nben k2\n")
    server = Server("--api-key-file", str(file), "--access-log", str(tmp_path / "log"))
    ask = lambda key: requests.post(server.url + "/tokenize", json={"prompt": "a"}, headers={"Authorization": f"Bearer {key}"})
    assert [ask(key).status_code for key in ("k1", "k1", "k2", "k2", "k3")] == [200, 429, 200, 200, 401]
    assert server.stop() == 0
    log = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert [row["key"] for row in log] == ["anna", "anna", "ben", "ben", None]
    file.write_text("anna\n")
    run = subprocess.run([PROGRAM, "serve", "--api-key-file", file], capture_output=True, text=True, timeout=300)
    assert run.returncode == 1 and "line 1" in run.stderr


def test_a_socket_in_the_file_system(tmp_path):
    path = str(tmp_path / "pagoda.sock")
    process = subprocess.Popen([PROGRAM, "serve", "--unix", path], stdout=subprocess.PIPE, text=True)
    assert f"unix:{path}" in process.stdout.readline()
    answer = subprocess.run(["curl", "-s", "--unix-socket", path, "http://localhost/health"], capture_output=True, text=True)
    assert json.loads(answer.stdout)["status"] == "ok"
    process.terminate()
    assert process.wait(timeout=300) == 0 and not os.path.exists(path)


def test_memory_stays_flat_over_500_requests():
    # A small cache: its pages count as resident once they have been used.
    server = Server("--max-model-len", "512", "--num-kv-blocks", "128")

    def resident():
        status = open(f"/proc/{server.process.pid}/status").read()
        return int(re.search(r"VmRSS:\s+(\d+)", status).group(1))

    def load(count, seed):
        command = [PROGRAM, "bench", "serve", "--base-url", server.url, "--num-prompts", str(count), "--max-concurrency", "16",
                   "--random-input-len", "32", "--random-output-len", "4", "--seed", str(seed), "--json"]
        assert json.loads(subprocess.run(command, capture_output=True, text=True, timeout=300).stdout)["completed"] == count

    # Pools count as resident from their first use, and how soon every slot has been used depends on the schedule. A leak
    # grows in every round; a pool stops.
    load(700, seed=1)
    grown = []
    while not grown or (grown[-1] >= 2 * 1024 and len(grown) < 6):
        before = resident()
        load(500, seed=2 + len(grown))
        grown.append(resident() - before)
    assert server.stop() == 0
    assert grown[-1] < 2 * 1024, f"KiB more after each 500 requests: {grown}"


def test_files_for_comparisons_with_llama_are_read(tmp_path, monkeypatch):
    """Both programs read the same file in every comparison: its vocabulary has the result of each merge."""
    monkeypatch.syspath_prepend(str(ROOT / "Tools/bench"))
    from make_gguf import make_gguf

    for kind in ["BF16", "Q8_0", "Q4_0"]:
        path = tmp_path / f"{kind}.gguf"
        make_gguf("tiny", str(path), kind)
        run = subprocess.run([PROGRAM, "generate", "--model", path, "--max-tokens", "2", "--ignore-eos", "--raw", "word"],
                             capture_output=True, text=True, timeout=300)
        assert run.returncode == 0, run.stderr


def test_the_embedded_model_as_a_gguf_file_answers(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "Tools/bench"))
    from mini_gguf import make_mini

    path = tmp_path / "mini.gguf"
    make_mini(path, "Q8_0")
    run = subprocess.run([PROGRAM, "generate", "--model", path, "--temperature", "0", "--prompt", "What is the capital of France?"],
                         capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL)
    assert run.returncode == 0 and "Paris" in run.stdout, run.stdout + run.stderr
