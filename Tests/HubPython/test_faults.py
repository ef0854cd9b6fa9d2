"""`pagoda pull` with a failing hub, network or disk: it ends with a verified model or a clear error."""
import resource
import signal
import time

import pytest
from conftest import MINI, SHARD, Harness
from hub_server import (COMMIT, Hub, portal_page, redirect, short_body, slow, stall, status, whole_file_to_a_range, wrong_bytes,
                        wrong_range)

SMALL = "config.json"


def leave_partial(house, data):
    house.repository.joinpath("blobs").mkdir(parents=True, exist_ok=True)
    path = house.repository / "blobs" / (house.hub.files[SHARD].etag + ".incomplete")
    path.write_bytes(data)
    return path


def ranges(house):
    return [entry[3].get("range") for entry in house.hub.requests(f"/content/{SHARD}")]


@pytest.mark.parametrize("file", [SHARD, SMALL])
@pytest.mark.parametrize("fault", [
    short_body(), short_body(0), wrong_bytes, portal_page, status(500), status(503), status(429, Retry_After="0.2"), wrong_range,
], ids=["short", "empty", "bit", "portal", "500", "503", "429", "range"])
def test_one_fault_is_got_over(house, file, fault):
    house.hub.faults[file] = [fault]
    house.pulls_well()
    assert not house.hub.faults[file]


def test_a_transfer_that_stalls_goes_on(house):
    house.hub.faults[SHARD] = [stall(30)]
    house.pulls_well(HF_HUB_DOWNLOAD_TIMEOUT="1")
    assert int(ranges(house)[1][6:-1]) > 1_000_000


def test_a_cut_transfer_goes_on_where_it_stopped(house):
    house.hub.faults[SHARD] = [short_body(), short_body()]
    house.pulls_well()
    size = len(house.hub.files[SHARD].data)
    first, second, third = ranges(house)
    assert first is None
    assert 0 < int(second[6:-1]) < int(third[6:-1]) < size


def test_a_partial_file_is_continued(house):
    data = house.hub.files[SHARD].data
    leave_partial(house, data[:5_000_000])
    house.pulls_well()
    assert ranges(house) == ["bytes=5000000-"]


def test_a_full_partial_file_is_checked_and_not_fetched(house):
    leave_partial(house, house.hub.files[SHARD].data)
    house.pulls_well()
    assert ranges(house) == []


@pytest.mark.parametrize("fault", [status(416), whole_file_to_a_range], ids=["416", "200"])
def test_a_range_that_is_not_served_begins_again(house, fault):
    leave_partial(house, house.hub.files[SHARD].data[:5_000_000])
    house.hub.faults[SHARD] = [fault]
    house.pulls_well()


@pytest.mark.parametrize("change", ["other", "longer"])
def test_a_partial_file_of_something_else_does_no_harm(house, change):
    data = house.hub.files[SHARD].data
    leave_partial(house, b"x" * 1000 if change == "other" else data + b"x")
    house.pulls_well()


@pytest.mark.parametrize("file,kind", [(SHARD, "sha256"), (SMALL, "git sha1")], ids=["large", "small"])
def test_bytes_that_stay_wrong_are_an_error(house, file, kind):
    house.hub.faults[file] = [wrong_bytes] * 9
    house.refuses(file, kind, "thrown away")
    house.hub.faults.clear()
    house.pulls_well()


def test_a_hub_that_stays_down_is_an_error_and_what_came_is_kept(house):
    house.hub.faults[SHARD] = [short_body()] + [status(502)] * 9
    house.refuses("502", "attempts", arguments=["--retries", "2"])
    assert list(house.repository.glob("blobs/*.incomplete"))
    house.hub.faults.clear()
    house.pulls_well()
    assert ranges(house)[-1] is not None


def test_an_api_that_fails_for_a_while_is_got_over(house):
    house.hub.faults["api"] = [status(500), status(429, Retry_After="0.1")]
    house.pulls_well()


@pytest.mark.parametrize("answer,words", [
    (status(401), ["401", "HF_TOKEN"]), (status(403), ["403", "HF_TOKEN"]), (status(404), ["404", "not found"]),
    (status(403, X_Error_Code="GatedRepo"), ["asked for", "HF_TOKEN"]), (portal_page, ["as a hub does"]), (status(418), ["418"]),
], ids=["401", "403", "404", "gated", "portal", "418"])
def test_refusals_are_clear_and_not_repeated(house, answer, words):
    house.hub.faults["api"] = [answer] * 9
    house.refuses(house.hub.name, *words)
    assert len(house.hub.log) == 1 and not house.cache.exists()


def test_wrong_names_are_clear(house):
    run = house.run("pull", "pagoda/none")
    assert run.returncode == 1 and "pagoda/none" in run.stderr and "404" in run.stderr
    run = house.run("pull", "pagoda/mini@v9")
    assert run.returncode == 1 and "no revision 'v9'" in run.stderr


def test_a_wrong_token_is_clear_and_not_shown(tmp_path):
    hub = Hub(MINI, token="hf_right")
    house = Harness(hub, tmp_path)
    run = house.refuses("token", HF_TOKEN="hf_wrong")
    assert "hf_wrong" not in run.stderr
    hub.stop()


def test_a_hub_that_is_not_there_is_clear(house):
    house.refuses(house.hub.name, "attempts", arguments=["--retries", "1"], HF_ENDPOINT="http://127.0.0.1:9")
    house.refuses("HF_ENDPOINT", HF_ENDPOINT="ftp://x")


def test_a_disk_that_is_too_small_is_refused_before_the_first_byte(house):
    house.hub.tree_override = [{"type": "file", "path": "model.safetensors", "size": 1, "oid": "0" * 40,
                                "lfs": {"oid": "0" * 64, "size": 1 << 49}}]
    house.refuses("free", "GB", "HF_HUB_CACHE")
    assert not house.hub.requests("resolve")


def test_a_disk_that_fills_up_is_an_error_and_the_rest_comes_later(house):
    """A file size limit simulates a full disk: a write fails in the middle."""
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4_000_000, 4_000_000))
    house.refuses("too large", preexec=limit)
    assert max(path.stat().st_size for path in house.repository.glob("blobs/*.incomplete")) == 4_000_000
    house.pulls_well()
    assert ranges(house)[-1] == "bytes=4000000-"


def test_two_pulls_at_once_fetch_every_file_once(house):
    house.hub.faults[SHARD] = [slow(1)]
    pulls = [house.start("pull", house.hub.name) for _ in range(2)]
    for process in pulls:
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors
    house.check_complete()
    assert len(house.hub.requests("/content/")) == 3, "two shards and the tokenizer"


def test_rm_does_not_take_files_from_under_a_pull(house):
    house.hub.faults[SHARD] = [slow(2)]
    process = house.start("pull", house.hub.name)
    wait_for_partial(house)
    run = house.run("rm", house.hub.name)
    assert run.returncode == 1 and "another process" in run.stderr
    assert process.wait(timeout=60) == 0
    house.check_complete()


def wait_for_partial(house):
    for _ in range(1000):
        for path in house.repository.glob(f"blobs/{house.hub.files[SHARD].etag}.incomplete"):
            if path.stat().st_size > 1_000_000:
                return
        time.sleep(0.01)
    raise AssertionError("no bytes came")


def test_a_killed_pull_is_continued(house):
    house.hub.faults[SHARD] = [slow(20)]
    process = house.start("pull", house.hub.name)
    wait_for_partial(house)
    process.kill()
    process.wait()
    house.check_no_lies()
    assert not (house.repository / "refs/main").exists()
    run = house.run("generate", "--model", house.hub.name, "-p", "x")
    assert run.returncode == 1 and "pagoda pull" in run.stderr
    house.pulls_well()
    assert int(ranges(house)[-1][6:-1]) > 1_000_000


def test_ctrl_c_ends_a_pull_and_keeps_what_came(house):
    house.hub.faults[SHARD] = [slow(20)]
    process = house.start("pull", house.hub.name)
    wait_for_partial(house)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=10) == 130
    house.pulls_well()
    assert int(ranges(house)[-1][6:-1]) > 1_000_000


def test_a_circle_of_redirects_is_an_error(house):
    house.hub.faults[SMALL] = [redirect(f"{house.hub.url}/{house.hub.name}/resolve/{COMMIT}/{SMALL}")] * 99
    house.refuses("circle")


def test_a_server_that_cuts_everything_and_continues_nothing_is_given_up(house):
    """Each attempt restarts; getting as far as before is not progress."""
    def cut_from_the_beginning(handler, file, begin):
        short_body()(handler, file, 0)
    house.hub.faults[SHARD] = [cut_from_the_beginning] * 99
    house.refuses("attempts", arguments=["--retries", "3"])
    assert len(house.hub.faults[SHARD]) > 90


def test_a_redirect_within_the_hub_keeps_the_token(tmp_path):
    hub = Hub(MINI, token="hf_secret")
    house = Harness(hub, tmp_path)
    hub.faults[SMALL] = [redirect(f"{hub.url}/{hub.name}/resolve/{COMMIT}/{SMALL}")]
    house.pulls_well(HF_TOKEN="hf_secret")
    hub.stop()
