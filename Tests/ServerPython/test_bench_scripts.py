"""The table of agents beside llama.cpp's server, which another `pagoda serve` stands in for here: both are driven, and faults are shown."""
import json
import os
import stat
import subprocess
import sys

import pytest
from conftest import PROGRAM, ROOT

STAND_IN = '''#!{python}
import os
import sys

given = dict(zip(sys.argv[1:], sys.argv[2:]))
assert given["-m"] == "model.gguf" and int(given["-c"]) == int(given["-np"]) * 4096 and "--jinja" in sys.argv, sys.argv
assert int(given["--threads-http"]) >= int("{agents}"), sys.argv
assert not {cores} or os.sched_getaffinity(0) == {cores}
os.execv("{program}", ["{program}", "serve", "--port", given["--port"], "--max-num-seqs", given["-np"]])
'''


# Answers until it gets work.
BROKEN = '''#!{python}
import http.server
import os
import sys


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = b'{{"data": [{{"id": "model"}}]}}'
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        print("an assertion failed", file=sys.stderr, flush=True)
        os._exit(3)


http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[sys.argv.index("--port") + 1])), Handler).serve_forever()
'''


def run(tmp_path, *options, script=STAND_IN, cores=None):
    agents = options[options.index("--agents") + 1]
    llama = tmp_path / "llama-server"
    llama.write_text(script.format(python=sys.executable, program=PROGRAM, agents=agents, cores=cores or "{}"))
    llama.chmod(llama.stat().st_mode | stat.S_IXUSR)
    return subprocess.run([sys.executable, ROOT / "Tools/bench/agents_beside_llama.py", "--llama", llama, "--gguf", "model.gguf", "--pagoda", PROGRAM,
                           "--model", "mini", "--context", "4096", "--slots", "4", "--threads", "2", "--rounds", "2", *options],
                          capture_output=True, text=True, timeout=900, check=False, env=os.environ)


def test_both_servers_are_in_the_table(tmp_path):
    kept = tmp_path / "rows.json"
    done = run(tmp_path, "--agents", "3", "--turns", "2", "--agent-options", "--output-len 8 --system-words 40 --forks 0", "--json", str(kept))
    assert done.returncode == 0, done.stderr
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in done.stdout.splitlines()]
    assert [line[0] for line in lines[2:]] == ["Pagoda, round 1", "llama.cpp, round 1", "Pagoda, round 2", "llama.cpp, round 2",
                                               "**Pagoda, median**", "**llama.cpp, median**"]
    assert {len(line) for line in lines} == {10}
    rows = json.loads(kept.read_text())
    for found in rows.values():
        assert [(row["completed"], row["failed"], len(row["by_turn"])) for row in found] == [(6, 0, 2)] * 2
        assert all(row["first_p50"] == row["by_turn"][0]["median_ttft_ms"] / 1000 > 0 for row in found)


def test_a_server_that_does_not_start_is_named(tmp_path):
    done = run(tmp_path, "--agents", "1", "--turns", "1", "--context", "100")  # the second server refuses so small a context
    assert done.returncode != 0 and "llama-server ended with" in done.stderr and "AssertionError" in done.stderr, done.stderr


def test_a_server_that_ends_during_its_load_is_named(tmp_path):
    done = run(tmp_path, "--agents", "2", "--turns", "1", "--agent-options", "--output-len 4 --system-words 10 --forks 0", script=BROKEN)
    assert done.returncode != 0 and "llama-server ended with 3" in done.stderr and "an assertion failed" in done.stderr, done.stderr


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system cannot pin programs")
def test_servers_and_clients_have_their_cores(tmp_path):
    core = min(os.sched_getaffinity(0))
    done = run(tmp_path, "--agents", "1", "--turns", "1", "--agent-options", "--output-len 4 --system-words 10", "--cores", str(core), "--load-cores",
               str(core), cores={core})
    assert done.returncode == 0, done.stderr
