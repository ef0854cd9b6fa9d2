"""`pagoda pull` with a failing hub, network or disk: it ends with a verified model or a clear error."""
import resource
import signal
import threading

import pytest
from conftest import MINI, PATIENCE, SHARD, Harness, wait_until
from hub_server import (COMMIT, Hub, held, portal_page, redirect, short_body, stall, status, whole_file_to_a_range, wrong_bytes,
                        wrong_range)

SMALL = "config.json"


def leave_partial(harness, data):
    harness.repository.joinpath("blobs").mkdir(parents=True, exist_ok=True)
    path = harness.repository / "blobs" / (harness.hub.files[SHARD].etag + ".incomplete")
    path.write_bytes(data)
    return path


def ranges(harness):
    return [entry[3].get("range") for entry in harness.hub.requests(f"/content/{SHARD}")]


@pytest.mark.parametrize("file", [SHARD, SMALL])
@pytest.mark.parametrize("fault", [
    short_body(), short_body(0), wrong_bytes, portal_page, status(500), status(503), status(429, Retry_After="0.2"), wrong_range,
], ids=["short", "empty", "bit", "portal", "500", "503", "429", "range"])
def test_a_pull_recovers_from_one_fault(harness, file, fault):
    harness.hub.faults[file] = [fault]
    harness.pull_succeeds()
    assert not harness.hub.faults[file]


def test_a_stalled_transfer_is_resumed(harness):
    harness.hub.faults[SHARD] = [stall()]
    harness.pull_succeeds(HF_HUB_DOWNLOAD_TIMEOUT="5")
    assert int(ranges(harness)[1][6:-1]) > 1_000_000


def test_a_truncated_transfer_is_resumed_where_it_stopped(harness):
    harness.hub.faults[SHARD] = [short_body(), short_body()]
    harness.pull_succeeds()
    size = len(harness.hub.files[SHARD].data)
    first, second, third = ranges(harness)
    assert first is None
    assert 0 < int(second[6:-1]) < int(third[6:-1]) < size


def test_a_partial_file_is_continued(harness):
    data = harness.hub.files[SHARD].data
    leave_partial(harness, data[:5_000_000])
    harness.pull_succeeds()
    assert ranges(harness) == ["bytes=5000000-"]


def test_a_full_partial_file_is_checked_and_not_fetched(harness):
    leave_partial(harness, harness.hub.files[SHARD].data)
    harness.pull_succeeds()
    assert ranges(harness) == []


@pytest.mark.parametrize("fault", [status(416), whole_file_to_a_range], ids=["416", "200"])
def test_a_range_that_is_not_served_begins_again(harness, fault):
    leave_partial(harness, harness.hub.files[SHARD].data[:5_000_000])
    harness.hub.faults[SHARD] = [fault]
    harness.pull_succeeds()


@pytest.mark.parametrize("change", ["other", "longer"])
def test_a_partial_file_of_something_else_does_no_harm(harness, change):
    data = harness.hub.files[SHARD].data
    leave_partial(harness, b"x" * 1000 if change == "other" else data + b"x")
    harness.pull_succeeds()


@pytest.mark.parametrize("file,kind", [(SHARD, "sha256"), (SMALL, "git sha1")], ids=["large", "small"])
def test_bytes_that_stay_wrong_are_an_error(harness, file, kind):
    harness.hub.faults[file] = [wrong_bytes] * 9
    harness.pull_fails(file, kind, "thrown away")
    harness.hub.faults.clear()
    harness.pull_succeeds()


def test_a_hub_that_stays_down_is_an_error_and_received_bytes_are_kept(harness):
    harness.hub.faults[SHARD] = [short_body()] + [status(502)] * 9
    harness.pull_fails("502", "attempts", arguments=["--retries", "2"])
    assert list(harness.repository.glob("blobs/*.incomplete"))
    harness.hub.faults.clear()
    harness.pull_succeeds()
    assert ranges(harness)[-1] is not None


def test_a_pull_recovers_from_an_api_that_fails_for_a_while(harness):
    harness.hub.faults["api"] = [status(500), status(429, Retry_After="0.1")]
    harness.pull_succeeds()


@pytest.mark.parametrize("answer,words", [
    (status(401), ["401", "HF_TOKEN"]), (status(403), ["403", "HF_TOKEN"]), (status(404), ["404", "not found"]),
    (status(403, X_Error_Code="GatedRepo"), ["requested", "HF_TOKEN"]), (portal_page, ["as a hub does"]), (status(418), ["418"]),
], ids=["401", "403", "404", "gated", "portal", "418"])
def test_refusals_are_clear_and_not_repeated(harness, answer, words):
    harness.hub.faults["api"] = [answer] * 9
    harness.pull_fails(harness.hub.name, *words)
    assert len(harness.hub.log) == 1 and not harness.cache.exists()


def test_wrong_names_are_clear(harness):
    run = harness.run("pull", "pagoda/none")
    assert run.returncode == 1 and "pagoda/none" in run.stderr and "404" in run.stderr
    run = harness.run("pull", "pagoda/mini@v9")
    assert run.returncode == 1 and "no revision 'v9'" in run.stderr


def test_a_wrong_token_is_clear_and_not_shown(tmp_path):
    hub = Hub(MINI, token="hf_right")
    harness = Harness(hub, tmp_path)
    run = harness.pull_fails("token", HF_TOKEN="hf_wrong")
    assert "hf_wrong" not in run.stderr
    hub.stop()


def test_a_hub_that_is_not_there_is_clear(harness):
    run = harness.pull_fails(harness.hub.name, "127.0.0.1 cannot be reached", arguments=["--retries", "1"], HF_ENDPOINT="http://127.0.0.1:9")
    assert "is kept" not in run.stderr, "nothing was received"
    harness.pull_fails("HF_ENDPOINT", HF_ENDPOINT="ftp://x")


def test_a_disk_that_is_too_small_is_refused_before_the_first_byte(harness):
    harness.hub.tree_override = [{"type": "file", "path": "model.safetensors", "size": 1, "oid": "0" * 40,
                                "lfs": {"oid": "0" * 64, "size": 1 << 49}}]
    harness.pull_fails("free", "GiB", "HF_HUB_CACHE")
    assert not harness.hub.requests("resolve") and not harness.cache.exists(), "a refused download leaves nothing"


def test_a_disk_that_fills_up_is_an_error_and_the_rest_comes_later(harness):
    """A file size limit simulates a full disk: a write fails in the middle."""
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4_000_000, 4_000_000))
    harness.pull_fails("too large", preexec=limit)
    assert max(path.stat().st_size for path in harness.repository.glob("blobs/*.incomplete")) == 4_000_000
    harness.pull_succeeds()
    assert ranges(harness)[-1] == "bytes=4000000-"


def test_two_pulls_at_once_fetch_every_file_once(harness):
    released = threading.Event()
    harness.hub.faults[SHARD] = [held(released)]
    pulls = [harness.start("pull", harness.hub.name) for _ in range(2)]
    wait_until(lambda: len(harness.hub.requests("/tree/")) == 2, "the second pull")
    released.set()
    for process in pulls:
        _, errors = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, errors
    harness.check_complete()
    assert len(harness.hub.requests("/content/")) == 4, "three shards and the tokenizer"


def test_rm_does_not_take_files_from_under_a_pull(harness):
    released = threading.Event()
    harness.hub.faults[SHARD] = [held(released)]
    process = harness.start("pull", harness.hub.name)
    wait_for_partial(harness)
    run = harness.run("rm", harness.hub.name)
    assert run.returncode == 1 and "another process" in run.stderr
    released.set()
    assert process.wait(timeout=PATIENCE) == 0
    harness.check_complete()


def wait_for_partial(harness):
    partial = harness.repository / f"blobs/{harness.hub.files[SHARD].etag}.incomplete"
    wait_until(lambda: partial.exists() and partial.stat().st_size > 1_000_000, "a partial file")


def test_a_killed_pull_is_continued(harness):
    harness.hub.faults[SHARD] = [held(threading.Event())]
    process = harness.start("pull", harness.hub.name)
    wait_for_partial(harness)
    process.kill()
    process.wait()
    harness.check_hashes()
    assert not (harness.repository / "refs/main").exists()
    run = harness.run("generate", "--model", harness.hub.name, "-p", "x")
    assert run.returncode == 1 and "pagoda pull" in run.stderr
    harness.pull_succeeds()
    assert int(ranges(harness)[-1][6:-1]) > 1_000_000


def test_ctrl_c_ends_a_pull_and_keeps_received_bytes(harness):
    harness.hub.faults[SHARD] = [held(threading.Event())]
    process = harness.start("pull", harness.hub.name)
    wait_for_partial(harness)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=PATIENCE) == 130
    harness.pull_succeeds()
    assert int(ranges(harness)[-1][6:-1]) > 1_000_000


def test_a_circle_of_redirects_is_an_error(harness):
    harness.hub.faults[SMALL] = [redirect(f"{harness.hub.url}/{harness.hub.name}/resolve/{COMMIT}/{SMALL}")] * 99
    harness.pull_fails("circle")


def test_a_server_that_cuts_everything_and_continues_nothing_is_given_up(harness):
    """Each attempt restarts; getting as far as before is not progress."""
    def cut_from_the_beginning(handler, file, begin):
        short_body()(handler, file, 0)
    harness.hub.faults[SHARD] = [cut_from_the_beginning] * 99
    harness.pull_fails("attempts", arguments=["--retries", "3"])
    assert len(harness.hub.faults[SHARD]) > 90


def test_a_redirect_within_the_hub_keeps_the_token(tmp_path):
    hub = Hub(MINI, token="hf_secret")
    harness = Harness(hub, tmp_path)
    hub.faults[SMALL] = [redirect(f"{hub.url}/{hub.name}/resolve/{COMMIT}/{SMALL}")]
    harness.pull_succeeds(HF_TOKEN="hf_secret")
    hub.stop()


@pytest.mark.parametrize("seconds", ["0.001", "0.002", "0.003", "0.005", "0.008"])
def test_a_timeout_between_two_redirects_is_an_error_and_no_crash(harness, seconds):
    harness.hub.faults["api"] = [redirect(f"{harness.hub.url}/api/models/{harness.hub.name}")] * 99
    harness.pull_fails(arguments=["--retries", "3"], HF_HUB_DOWNLOAD_TIMEOUT=seconds)
