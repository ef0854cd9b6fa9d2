"""The simulator of many replicas: the results are reproducible and rank the policies as expected."""
import os
import re
import subprocess

import pytest
from replicas import ROOT


def run(*arguments):
    folder = ROOT / "Tools/native"
    environment = dict(os.environ)
    if (ROOT / ".build/debug/CxxCore.build").is_dir():
        environment["SWIFT_OBJECTS"] = "../../.build/debug"  # the package's own objects: only the simulator is compiled
    subprocess.run(["make", "-s", "-C", str(folder), "cluster_bench"], check=True, env=environment, capture_output=True)
    program = ROOT / ".build/native/release/cluster_bench"
    return subprocess.run([str(program), *map(str, arguments)], check=True, capture_output=True, text=True).stdout


def rows(text):
    """By name of the policy: cached share, mean time to the first token, busiest replica over the mean."""
    found = re.findall(r"^\| ([a-z][^|]+) \| ([\d.]+) % \| ([\d.]+) \| [\d.]+ \| [\d.]+ \| ([\d.]+) ", text, re.MULTILINE)
    return {name: tuple(map(float, numbers)) for name, *numbers in found}


def test_small_clusters_show_what_routing_is_worth():
    text = run(100, 8, 3)
    assert text == run(100, 8, 3), "the simulation depends on something besides its seed"
    assert text != run(100, 8, 4)
    table = rows(text)
    assert len(table) == 10
    prefix, hashed = table["prefix router, 8 asked"], table["consistent hash"]
    blind = [table["random"], table["round robin"]]
    assert prefix[0] > 80 and all(prefix[0] > row[0] + 30 for row in blind)
    assert all(4 * prefix[1] < row[1] for row in blind), "answers begin several times sooner"
    assert prefix[0] > hashed[0] and prefix[1] < hashed[1]


@pytest.mark.parametrize("scenario", ["bursts", "failures", "mixed", "all"])
def test_the_prefix_router_stays_ahead_of_blind_policies(scenario):
    text = run(100, 8, 3, scenario)
    assert text == run(100, 8, 3, scenario), "the simulation depends on something besides its seed"
    killed = re.search(r"(\d+) replicas were killed", text)
    assert (killed is not None and int(killed.group(1)) > 0) == (scenario in ("failures", "all"))
    table = rows(text)
    prefix = table["prefix router, 8 asked"]
    for name in ("random", "round robin", "shorter queue of two"):
        assert prefix[0] > table[name][0] + 10 and prefix[1] < table[name][1], name


def test_an_unknown_scenario_is_refused():
    with pytest.raises(subprocess.CalledProcessError):
        run(10, 2, 1, "nonesuch")
