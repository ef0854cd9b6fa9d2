"""The load of mixed clients, with few requests: no answer is wrong, and one that is would be noticed."""
import subprocess
import sys

import pytest
from conftest import PROGRAM, ROOT

sys.path.insert(0, str(ROOT / "Tools/bench/mixed"))
import kinds  # noqa: E402
import mixed_clients  # noqa: E402


def test_every_kind_of_client_gets_its_answer():
    count = 2 * len(kinds.KINDS)
    done = subprocess.run([sys.executable, ROOT / "Tools/bench/mixed/mixed_clients.py", "--program", PROGRAM, "--requests", str(count),
                           "--seed", "7"], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = {line.split()[0]: line.split()[1:3] for line in done.stdout.splitlines()[1:len(kinds.KINDS) + 1]}
    assert rows == {kind.__name__: ["2", "0"] for kind in kinds.KINDS} and len(rows) >= 20


class Quiet:
    """A server that answers everything in the same way."""
    client = None

    def resident_bytes(self):
        return 1


def test_wrong_and_lost_answers_are_counted(monkeypatch):
    def steady(_client, number):
        return number

    def lost(_client, _number):
        raise kinds.Wrong("lost")

    def changing(_client, _number):
        changing.count += 1
        return changing.count

    changing.count = 0
    monkeypatch.setattr(mixed_clients, "KINDS", [steady, changing])
    load = mixed_clients.Load(Quiet(), 30, 0)
    load.alone()
    load.run(3)
    assert load.wrong == {changing: 15} and [len(load.seconds[kind]) for kind in (steady, changing)] == [15, 15]
    monkeypatch.setattr(mixed_clients, "KINDS", [lost])
    load = mixed_clients.Load(Quiet(), 4, 0)
    with pytest.raises(kinds.Wrong):
        load.alone()
    load.run(1)
    assert load.wrong == {lost: 4}
