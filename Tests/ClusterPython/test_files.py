"""The files in Deploy for other programs: container files, units, Ray's package; each is validated as its reader would."""
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import yaml
from replicas import PROGRAM, ROOT, free_port, read_json, wait_until

CONTAINER = ROOT / "Deploy/container/Containerfile"
UNIT = ROOT / "Deploy/systemd/pagoda.service"


def check_serve_config(config):
    from pagoda_ray.app import build
    from ray.serve.schema import ServeDeploySchema
    parsed = ServeDeploySchema.model_validate(config)
    assert parsed.applications[0].import_path == "pagoda_ray.app:build"
    build(config["applications"][0]["args"])  # refuses unknown arguments


def test_the_configuration_for_serve_deploy_is_good():
    config = yaml.safe_load((ROOT / "Deploy/ray/serve.yaml").read_text())
    check_serve_config(config)
    config["applications"][0]["args"]["modle"] = "x"
    with pytest.raises(ValueError, match="modle"):
        check_serve_config(config)


def test_as_many_replicas_on_ray_as_cores_can_start():
    """Ray starts nothing without a free CPU; each engine reserves one by default."""
    from pagoda_ray.app import build
    front = build({"num_replicas": 2})._bound_deployment
    engine = front.init_args[0]._bound_deployment
    assert engine.ray_actor_options["num_cpus"] == 1 and front.ray_actor_options["num_cpus"] == 0


def container_instruction(name):
    """The last instruction of that name, in its JSON form."""
    text = CONTAINER.read_text().replace("\\\n", " ")
    line = [line for line in text.splitlines() if line.startswith(name + " ")][-1]
    return json.loads(line[line.index("["):])


def test_the_container_files_pass_the_linter():
    linter = Path(sys.executable).parent / "hadolint"
    files = sorted(str(path) for path in CONTAINER.parent.glob("Containerfile*"))
    assert len(files) == 3
    result = subprocess.run([str(linter), "--no-color", *files], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout
    broken = subprocess.run([str(linter), "--no-color", "-"], input="FROM debian:latest\nRUN cd /var\n",
                            capture_output=True, text=True)
    assert broken.returncode != 0, "the linter finds nothing"


def test_the_container_file_of_a_release_runs_the_same_way():
    """It differs only in where the program comes from: the .deb, not a build."""
    text = (ROOT / "Tools/package/Containerfile.in").read_text().replace("@DEB@", "pagoda_1.2.3_amd64.deb").replace(
        "@DEBIAN_IMAGE@", "docker.io/library/debian:bookworm-slim")
    linter = Path(sys.executable).parent / "hadolint"
    result = subprocess.run([str(linter), "--no-color", "-"], input=text, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout
    names = ("USER ", "WORKDIR /var", "ENV ", "VOLUME ", "EXPOSE ", "STOPSIGNAL ", "HEALTHCHECK ", "CMD ")
    ours, built = ([line for line in each.splitlines() if line.startswith(names)] for each in (text, CONTAINER.read_text()))
    assert ours == built and len(ours) == len(names)


@pytest.fixture()
def check_images(tmp_path):
    """Runs Tools/checks/images.py on a copy of the files, with a registry that knows one digest."""
    shutil.copytree(ROOT / "Deploy", tmp_path / "Deploy", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "skopeo").write_text(f"#!/bin/sh\necho sha256:{'5' * 64}\n")
    (tmp_path / "skopeo").chmod(0o755)

    def run(*options):
        return subprocess.run([sys.executable, ROOT / "Tools/checks/images.py", *options, tmp_path], capture_output=True, text=True,
                              env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"})
    return run


def test_a_release_has_base_images_with_digests(check_images, tmp_path):
    listing = tmp_path / "Deploy/container/images.txt"
    listing.write_text(re.sub("@sha256:.*", "", listing.read_text()))
    assert check_images().returncode == 0, "between releases, tags get security updates"
    refused = check_images("--release")
    assert refused.returncode == 1 and "SWIFT_IMAGE has no digest" in refused.stderr
    assert check_images("--pin").returncode == 0 and listing.read_text().count(f"@sha256:{'5' * 64}\n") == 4
    assert check_images("--release").returncode == 0, "the container files keep their tags as defaults"


@pytest.mark.parametrize("name, old, new, reason", [
    ("container/Containerfile", "debian:bookworm-slim", "debian:trixie-slim", "DEBIAN_IMAGE is docker.io/library/debian:trixie-slim"),
    ("kubernetes/deployment.yaml", "image: pagoda:0.1.0", "image: registry.example.org/pagoda:0.1.0", "name it by its digest"),
    ("container/images.txt", "RAY_IMAGE", "RAI_IMAGE", "RAY_IMAGE is not in images.txt"),
])
def test_images_that_differ_or_have_only_a_tag_are_found(check_images, tmp_path, name, old, new, reason):
    path = tmp_path / "Deploy" / name
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    found = check_images()
    assert found.returncode == 1 and reason in found.stderr, found.stderr


def container_environment(folder):
    line = next(line for line in CONTAINER.read_text().splitlines() if line.startswith("ENV "))
    pairs = dict(word.split("=") for word in line.split()[1:])
    return {**os.environ, **pairs, "HOME": str(folder), "PAGODA_PREFIX_CACHE_DIR": str(folder / "prefixes")}


def run_container(folder, *arguments):
    """The last stage's commands, with the program of this build and another folder."""
    command = [PROGRAM if word == "/usr/local/bin/pagoda" else word for word in container_instruction("ENTRYPOINT")]
    return subprocess.Popen([*command, *(arguments or container_instruction("CMD"))], stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL, env=container_environment(folder))


def test_the_container_runs_and_its_health_check_passes(tmp_path):
    port = str(free_port())
    health = [word.replace("8080", port) for word in container_instruction("HEALTHCHECK")]
    process = run_container(tmp_path, *container_instruction("CMD"), "--port", port, "--api-key", "key")
    try:
        wait_until(lambda: subprocess.run(health).returncode == 0, "a good health check")
        assert (tmp_path / "prefixes").is_dir()
    finally:
        process.terminate()
        assert process.wait(timeout=300) == 0


def test_the_container_runs_both_roles_of_a_pipeline(tmp_path):
    """Its folder for prefixes is a default, which a pipeline does not use."""
    stage_port, port = free_port(), free_port()
    stage = run_container(tmp_path, "stage", "--listen", f"127.0.0.1:{stage_port}", "--threads", "1")
    first = None
    try:
        def answers():
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", stage_port)) == 0
        wait_until(answers, "the stage")
        first = run_container(tmp_path, "serve", "--host", "127.0.0.1", "--port", str(port), "--threads", "1",
                              "--pipeline-stages", f"127.0.0.1:{stage_port}")
        wait_until(lambda: read_json(f"http://127.0.0.1:{port}/readyz")[0] == 200, "the pipeline")
    finally:
        for process in filter(None, (first, stage)):
            process.terminate()
            process.wait(timeout=300)


def test_the_container_installs_the_libraries_that_the_program_needs():
    needed = re.findall(r"NEEDED.*\[(.+)\]", subprocess.run(["readelf", "-d", str(PROGRAM)], capture_output=True,
                                                            text=True, check=True).stdout)
    found = dict(re.findall(r"^\s+(\S+) .* => (\S+)$", subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True,
                                                                      text=True, check=True).stdout, re.MULTILINE))
    base = {"libc6", "libgcc-s1"}  # part of every Debian system
    for library in needed:
        if library.startswith(("libswift", "lib_", "libFoundation", "libdispatch", "libBlocksRuntime", "libXCTest")):
            continue  # static in the container's build
        assert library in found, f"{library} is nowhere"
        owner = subprocess.run(["dpkg", "-S", str(Path(found[library]).resolve())], capture_output=True, text=True).stdout
        package = owner.split(":")[0]
        assert package in base or re.search(rf"[ \n]{re.escape(package)}[ \n]", CONTAINER.read_text()), (library, package)


def test_pods_and_units_have_time_to_drain():
    """The wait for answers in flight must be shorter than the time until the kill."""
    pod = next(yaml.safe_load_all((ROOT / "Deploy/kubernetes/deployment.yaml").read_text()))["spec"]["template"]["spec"]
    drain = int(re.search(r"PAGODA_DRAIN=(\d+)", CONTAINER.read_text()).group(1))
    assert pod["terminationGracePeriodSeconds"] > drain + 5
    stop = int(re.search(r"TimeoutStopSec=(\d+)", UNIT.read_text()).group(1))
    assert stop > int(re.search(r"--drain (\d+)", UNIT.read_text()).group(1))


@pytest.mark.parametrize("unit, command", [(UNIT, "serve"), (UNIT.with_name("pagoda-stage.service"), "stage")])
def test_the_units_use_options_that_there_are(unit, command):
    options = subprocess.run([str(PROGRAM), command, "--help"], capture_output=True, text=True, check=True).stdout
    line = re.search(rf"ExecStart=\S+ {command} (.*)", unit.read_text()).group(1)
    found = re.findall(r"(--[a-z-]+)", line) + ["--" + name.lower().replace("_", "-") for name in re.findall(
        r"PAGODA_(?!OPTIONS|API_KEY)([A-Z_]+)=", unit.read_text())]
    assert len(found) > 2
    for option in found:
        assert option in options, option


def test_a_service_manager_is_told_when_the_server_is_ready_and_stops(tmp_path):
    """Type=notify: systemd waits for READY=1 at the socket in NOTIFY_SOCKET."""
    assert "Type=notify\n" in UNIT.read_text()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        manager.settimeout(300)
        process = subprocess.Popen([PROGRAM, "serve", "--port", str(free_port()), "--threads", "1"], stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, env={**os.environ, "NOTIFY_SOCKET": str(tmp_path / "notify")})
        try:
            assert manager.recv(100) == b"READY=1"
            assert b"serving" in process.stdout.readline()
            process.terminate()
            assert manager.recv(100) == b"STOPPING=1" and process.wait(timeout=300) == 0
        finally:
            process.kill()
            process.wait()


def test_the_package_for_ray_leaves_no_files_behind(tmp_path):
    def listing():
        return sorted(str(path) for path in (ROOT / "Deploy/ray").rglob("*") if "__pycache__" not in path.parts)
    before = listing()
    subprocess.run([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir",
                    str(tmp_path), str(ROOT / "Deploy/ray")], check=True)
    assert listing() == before
    names = zipfile.ZipFile(next(tmp_path.glob("pagoda_ray-*.whl"))).namelist()
    assert {f"pagoda_ray/{path.name}" for path in (ROOT / "Deploy/ray/pagoda_ray").glob("*.py")} <= set(names)


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="there is no systemd here")
@pytest.mark.parametrize("name", ["pagoda.service", "pagoda-stage.service"])
def test_the_units_are_ones_that_systemd_reads(tmp_path, name):
    unit = tmp_path / name
    unit.write_text(UNIT.with_name(name).read_text().replace("/usr/local/bin/pagoda", "/bin/true"))
    result = subprocess.run(["systemd-analyze", "verify", "--man=no", str(unit)], capture_output=True, text=True)
    assert result.returncode == 0 and name not in result.stderr, result.stderr
